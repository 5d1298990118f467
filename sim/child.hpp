// run_in_child: a simulated point in a process of its own, because SimGrid allows one engine each.
// That also makes identical reruns identical, and lets two points run at a time.
#pragma once

#include <functional>
#include <string>

namespace sym::sim {

// A forked child that runs `body` and sends back the string that it returned.
class Child {
 public:
  // Starts it. Throws Failure if there is no process for it.
  explicit Child(const std::function<std::string()>& body);
  ~Child();  // ends the child if nobody waited for it
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  // Waits for the string; once. An exception of the body is thrown here again, as the same kind of
  // sym::Error (or as Failure, with what() kept). A child that dies is a Failure that says how.
  std::string finish();

 private:
  int answer_ = -1;  // file descriptor
  int process_ = -1;
};

inline std::string run_in_child(const std::function<std::string()>& body) {
  return Child(body).finish();
}

}  // namespace sym::sim
