// what_if: a machine with some of its numbers changed; machine_list: many machines in one word.
#pragma once

#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::models {

// Changes, separated by commas: NAME=Fx multiplies, NAME=V sets a number in its unit. NAME is a
// number's key (number_keys()), or one of these, which stand for all numbers that it takes:
//   nvlink   ports, copy engines, NVLink and Infinity Fabric links   pcie, socket   those links
//   nic      NICs, and the links of a grid or of listed routes       fabric         what joins
//   leaves, hbm, sm, gemm, latency                                           routers and groups
// A changed number is assumed, and its source says from what; the machine's name says the changes.
// Throws std::invalid_argument where a name is unknown or the machine has nothing of it, or a value
// is none.
Machine what_if(const Machine& machine, const std::string& changes);

// "dgx-h100*1:64,dgx-a100*2:8:x4" -> dgx-h100*1, *2, *4, ... *64, dgx-a100*2, *8: the factor is 2
// if it is not given, and the last count is always there. A file's name may hold no comma.
std::vector<std::string> machine_list(const std::string& text);

}  // namespace sym::models
