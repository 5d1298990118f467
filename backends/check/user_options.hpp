// The arguments of check_main.
#pragma once

#include <string>
#include <vector>

#include "backends/check/run.hpp"
#include "backends/report/findings.hpp"

namespace sym::check {

struct UserOptions {
  std::vector<int> pes{2};
  std::vector<std::string> schedules{"worst"};
  std::uint64_t runs = 1;  // seeds of a schedule that has one, from check.seed on
  CheckOptions check;      // pes and schedule aside
  report::Files files;
  bool help = false, coverage = false;

  // What repeats a run of these options: with the same build and seed it takes the same decisions.
  std::vector<std::string> arguments_of(const CheckOptions& run) const;
  struct Given {  // what changes a run
    std::string name, value;
    std::vector<std::string> schedules;  // that it is for; none: all
  };
  std::vector<Given> given;
};

// Throws UsageError, saying what would be accepted.
UserOptions parse_user_options(const std::vector<std::string>& arguments);
std::string user_help();

// Whether seeds make a difference to it.
bool is_seeded(const std::string& schedule);

}  // namespace sym::check
