// The arguments of check_main.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/check/run.hpp"

namespace sym::check {

struct UserOptions {
  std::vector<int> pes{2};
  std::vector<std::string> schedules{"worst"};
  std::uint64_t runs = 1;  // seeds of a schedule that has one, from check.seed on
  CheckOptions check;      // pes and schedule aside
  bool help = false;
  // What changes each run and was given: name and value, for the command that repeats one.
  std::vector<std::pair<std::string, std::string>> given;
};

// Throws UsageError, saying what would be accepted.
UserOptions parse_user_options(const std::vector<std::string>& arguments);
std::string user_help();

}  // namespace sym::check
