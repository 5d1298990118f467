// The kinds of findings: what a suppression may name, and what a rule of a report means.
#pragma once

#include <map>
#include <string>

namespace sym::report {

// Each kind, as Finding::kind has it, with what it means in one sentence. A kind that is new in a
// backend belongs here, or nobody can accept it.
const std::map<std::string, std::string>& kinds();

}  // namespace sym::report
