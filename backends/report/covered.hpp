// Which op sites a run covered, for people.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sym::report {

// (file:line, verb), as the engine counts them.
using Sites = std::set<std::pair<std::string, std::string>>;

// "core/collective/ring.hpp:36,41,60 core/collective/barrier.hpp:21": each file once, with its
// lines, on at most `most_lines` lines of a terminal. What does not fit is counted, with a word on
// how to see all of it.
std::vector<std::string> covered_lines(const Sites& sites, std::size_t most_lines = 2);

}  // namespace sym::report
