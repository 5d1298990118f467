// FaultGuard: what a fibre does wrong ends the fibre, and not the process. While one lives, the
// signals of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) that come while its thread runs a
// fibre abandon that fibre; and so does a fibre that computes for too long between two marks.
// Others' faults go to whoever handled them before.
//
// Each thread may have its own. Not under the address and thread sanitizers, which want to see
// faults themselves: there a guard only resumes.
#pragma once

#include <memory>

#include "backends/fiber/fiber.hpp"

namespace sym::fiber {

class FaultGuard {
 public:
  // `stretch_s`: CPU time of the thread between two marks, or a tenth of the wall time; it may take
  // a quarter longer to be seen. 0: no limit.
  explicit FaultGuard(double stretch_s);
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;

  // Whether this build can.
  static bool works();

  // Fiber::resume, which is a mark. Returns 0, or the signal that ended the fibre: it is abandoned,
  // and what it held is lost. too_long: its CPU time is over; asleep: its wall time; both after so
  // many `stretches`, never if that is 0.
  static constexpr int too_long = -1;
  static constexpr int asleep = -2;
  static constexpr int asleep_stretches = 10;
  int resume(Fiber& fiber, int stretches);
  void mark();
  // After a signal: what the fibre wanted to reach, and its stack pointer.
  const void* address() const;
  const void* stack_pointer() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sym::fiber
