// run_in_child: a simulated point in a process of its own, because SimGrid allows one engine each.
// That also makes identical reruns identical, and lets two points run at a time.
#pragma once

#include <functional>
#include <string>

namespace sym::sim {

// Forks, runs `body` in the child, and returns the string that it returned. An exception of the body
// is thrown here again, as the same kind of sym::Error (or as Failure, with what() kept). A child
// that dies is a Failure that says how.
std::string run_in_child(const std::function<std::string()>& body);

}  // namespace sym::sim
