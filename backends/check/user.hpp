// For kernels of users: the schedules that are worth running, and a whole program around one host
// program, so that "my kernel under the checker" is one line of CMake and one command.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/check/run.hpp"

namespace sym::check {

using Program = std::function<void(fiber::FiberWorld&)>;

// Worst, fifo, and of random and pct `seeds` seeds each, from base.seed on; all else is base's.
std::vector<CheckOptions> usual_schedules(const CheckOptions& base, std::uint64_t seeds);

// run_check, with what the program throws on a PE as a finding of kind "exception", before what the
// run found besides: wrong data often is a race that was found as well. A deadlock of the other PEs
// says no more than that one has ended, and is left out then.
CheckReport check_program(const CheckOptions& options, const Program& program);

// The main() of a checked kernel. Runs `program` under what the arguments name (--help says them),
// prints each finding once, with the commands that repeat it, a line for each world and schedule,
// and which op sites ran; each new finding leaves a replay file in the current folder, and
// `replay FILE` takes its decisions again; with --shrink it makes the run smaller. A program says
// that its data is wrong by throwing (Failure, or anything else). Returns the exit status: 0 clean;
// 1 a finding, an exception, a run that a budget or a suppressed finding ended before its end, or
// one in which nothing ran; 2 bad arguments or files. Of replay: 1 the same findings, word for
// word; 2 others, or a file that is not this program's.
int check_main(int argc, char** argv, const Program& program);

}  // namespace sym::check
