// Why a mutant that is proved to make no difference makes none.
#pragma once

#include <functional>
#include <string>

#include "experiments/sym/mutate_trial.hpp"

namespace sym::command {

struct Reason {
  bool holds = false;    // false: the proof has no reason, so the mutant has survived
  bool vacuous = false;  // there is nothing to order here
  std::string text;
};

// `group` of the mutant. Where its orders say too little, `by_trial` names what makes it needless,
// or nothing.
Reason reason_of(const std::string& group, const Orders& orders,
                 const std::function<std::string()>& by_trial);

}  // namespace sym::command
