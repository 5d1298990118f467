// What the files that implement models/machine.hpp share. Not for other folders.
#pragma once

#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::models::detail {

// When a machine must state a number.
enum class Needed { always, with_nics, with_pcie_pairs, with_dragonfly, optional };

struct NumberKey {
  const char* key;
  const char* unit;
  Needed needed;
  bool whole;  // counts, which must be whole numbers
  const char* meaning;
  double most = 1e12;  // 1 of a share
};

// The one table of number keys, sorted by key.
const std::vector<NumberKey>& number_table();

// What is wrong with a value of the key, and what would be accepted; "": nothing is.
std::string value_fault(const std::string& key, double value);

// The keys that `machine` must hold, given its NICs and pair classes.
std::vector<std::string> required_keys(const Machine& machine);

const char* link_class_name(LinkClass link_class);
// The names above in the order of LinkClass.
const std::vector<std::string>& link_class_names();

// The class of a way between two GPUs, as `nvidia-smi topo -m` names it; xGMI counts as nvlink.
LinkClass class_of(const Graph& graph, const Path& path);

// The fabric for people: form, links with their rates, what is assumed.
std::string fabric_text(const Machine& machine);

// "dir/name.txt" -> "name".
std::string file_stem(const std::string& path);

// Pairs as a machine states them: an empty pair_class means nvlink between different GPUs.
LinkClass pair_class_of(const Machine& machine, int from, int to);
int pair_lanes_of(const Machine& machine, int from, int to);  // 0 where the machine does not say

// gpus_per_node, nics_per_node and nic_of_gpu of a machine that has a graph.
void count_devices(Machine& machine);

// Numbers that a fabric needs and the machine does not state, marked as assumed.
void assume_fabric_numbers(Machine& machine);

// Fills machine.numbers for a machine read from another program's file, whose wiring is already
// set. Such a file holds few rates or none, so all are assumed and say from what.
void assume_numbers(Machine& machine);
// Whether a machine that has no such number may take that of another: not of switches, which
// differ.
inline bool is_inherited(const std::string& key) { return key != "nvls_efficiency"; }

}  // namespace sym::models::detail
