// What the tests of the thread backend share: what a program throws, and host code in a block.
#pragma once

#include <functional>
#include <string>

#include "backends/thread/world.hpp"
#include "core/error.hpp"

namespace sym::thread {

// What the program's world throws at last, which must be an E.
template <class E>
std::string thrown(const ThreadOptions& options, const std::function<void(ThreadWorld&)>& program) {
  try {
    run_threads(options, program);
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another kind of error: ") + error.what();
  }
  return "nothing was thrown";
}

// Calls a function of the host from a block.
template <class F>
struct Calls {
  F* function;
  template <Block B>
  void operator()(B& block) const {
    (*function)(block);
  }
};
template <class F>
Calls(F*) -> Calls<F>;

}  // namespace sym::thread
