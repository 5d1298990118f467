// explore: every execution of a small program that the memory model allows, up to the order of
// events that do not conflict.
#pragma once

#include <functional>

#include "backends/check/run.hpp"

namespace sym::check {

struct Exploration {
  bool reduce = true;   // false: tries every order of events that may touch shared things
  bool whole = false;   // ... and of all other events of kernels
  bool pieces = false;  // payloads of more than 8 bytes arrive in up to four pieces, in any order
  std::function<void()> begin;                    // before each execution
  std::function<void(const fiber::Engine&)> end;  // after each that is no repetition of others
};

// Runs `program` on every PE, again and again, each time in another order; each execution has an
// engine and a race detector of its own. The program must depend on nothing but its arguments and
// what its verbs give it: it is called anew each time, and throws Failure where it does something
// else. A budget, the bound, or an execution of more than a million events makes the search
// `incomplete`.
//
// Of the options it takes pes, bound, resident_blocks, the knob wrap, verb_seconds, mutation,
// most_steps (events of all executions), most_seconds, wrong, stop_at_first (which ends the
// search); and decisions, which stand for the one execution that they describe: at each event that
// has others beside it, which one of them, in the order that Search::choose gives them; where the
// list ends, the first. The report has each finding once, and the decisions of the first execution
// that had one, or wrong data.
CheckReport explore(const CheckOptions& options,
                    const std::function<void(fiber::FiberWorld&)>& program,
                    const Exploration& how = {});

}  // namespace sym::check
