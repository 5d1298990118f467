// Quantity: one number of a machine, and what it rests on. Its unit is in its key.
#pragma once

#include <string>

namespace sym::models {

struct Quantity {
  double value = 0;
  std::string source;     // a calibration run or a citation; "assumed: ..." where it is assumed
  bool measured = false;  // false: assumed
  bool operator==(const Quantity&) const = default;
};

}  // namespace sym::models
