// What check_main does once it knows its arguments: runs, prints, writes files, replays.
#pragma once

#include <string>
#include <vector>

#include "backends/check/user.hpp"
#include "backends/check/user_options.hpp"
#include "backends/report/replay_file.hpp"

namespace sym::check {

// All worlds and schedules that the options name. `name` is how the program was called. Returns the
// exit status. Throws UsageError for files that cannot be read or written.
int run_session(const UserOptions& options, const Program& program, const std::string& name);

// `arguments` are those of `replay`: FILE [--shrink] [--out G]. The run of a finding's file, again:
// 1 if it has the same findings, word for word, 2 if not. With --shrink a smaller run that has the
// finding, written to G or a file of its own name, and what the two PEs of the finding did, side by
// side: 1. Throws UsageError for a file of another program or build, or one that was edited.
int replay_session(const std::vector<std::string>& arguments, const Program& program,
                   const std::string& name);

// What a replay file must have been written by: this program, made of these sources.
report::Identity replay_identity();

}  // namespace sym::check
