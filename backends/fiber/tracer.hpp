// Tracer: is told what happens, in order, for somebody who wants to read it.
#pragma once

#include <cstddef>

namespace sym::fiber {

struct Agent;
struct Transfer;
struct Finding;

class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual void begin() {}              // of a run
  virtual void verb(const Agent&) {}   // the agent goes on to do its step
  virtual void woken(const Agent&) {}  // what the agent was blocked on has come
  virtual void source_read(const Transfer&) {}
  virtual void delivered(const Transfer&) {}  // a payload's last piece, or a signal
  virtual void reported(const Finding&) {}
};

}  // namespace sym::fiber
