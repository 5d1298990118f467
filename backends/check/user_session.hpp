// What check_main does once it knows its arguments: runs, prints, writes files, replays.
#pragma once

#include <string>

#include "backends/check/user.hpp"
#include "backends/check/user_options.hpp"

namespace sym::check {

// All worlds and schedules that the options name. `name` is how the program was called. Returns the
// exit status. Throws UsageError for files that cannot be read or written.
int run_session(const UserOptions& options, const Program& program, const std::string& name);

// The run of a finding's file, again: 1 if it has the same findings, word for word, 2 if not.
// Throws UsageError for a file of another program or build, or one that was edited.
int replay_session(const std::string& file, const Program& program);

}  // namespace sym::check
