// Fiber: a stackful execution context that its owner resumes and that suspends itself.
//
// Not thread-safe: a fiber runs on the thread that resumes it, one at a time. Destroying a
// suspended fiber abandons its stack (nothing on it is unwound): after a finding, user code is
// never run again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace sym::fiber {

// Stacks of one size, reused: by this pool, and by later ones of the same thread, which keeps a
// number of them. `guarded` puts inaccessible pages below each, wider than most frames are (two
// kernel maps a stack, so at most about 32,000 of them).
class StackPool {
 public:
  StackPool(std::size_t bytes, bool guarded);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  std::byte* take();  // lowest usable address
  void give_back(std::byte* stack);
  std::size_t bytes() const { return bytes_; }
  // True if `address` lies in a guard page of this pool: a stack overflow. May be called by signal
  // handlers.
  bool guards(const void* address) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::size_t bytes_ = 0;
  bool guarded_;
};

class Fiber {
 public:
  explicit Fiber(StackPool& pool);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Gives the fiber its body; it runs from the first resume(). Requires that none is running.
  void start(std::function<void()> body);
  // Runs the body until it suspends or ends. An exception must not leave the body.
  void resume();
  // Called by the body: back to the resumer.
  void suspend();
  // Leaves the body for good, unwinding nothing: back to the resumer. Called in place of the body,
  // also by a signal handler that interrupted it, on whatever stack.
  [[noreturn]] void abandon();
  bool ended() const { return ended_; }
  // Whether `address` lies on its stack.
  bool holds(const void* address) const;
  // A hash of what a suspended body has on its stack, registers included: a body that suspends
  // twice with the same one will go on the same way, if nothing else has changed.
  std::uint64_t fingerprint() const;

 private:
  struct Switch;
  void run_body();
  StackPool& pool_;
  std::byte* stack_ = nullptr;
  std::function<void()> body_;
  std::unique_ptr<Switch> switch_;
  bool ended_ = true;
};

}  // namespace sym::fiber
