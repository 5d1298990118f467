// The engine's findings as programs keep, print and write them.
#pragma once

#include <vector>

#include "backends/fiber/options.hpp"
#include "backends/report/finding.hpp"

namespace sym::check {

report::Finding found_of(const fiber::Finding& finding);
std::vector<report::Finding> found_of(const std::vector<fiber::Finding>& findings);

}  // namespace sym::check
