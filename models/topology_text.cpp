// `nvidia-smi topo -m` text -> Machine: wiring from the matrix, numbers assumed.
#include <stdexcept>
#include <utility>

#include "models/machine.hpp"
#include "models/machine_detail.hpp"
#include "models/pcie_tree.hpp"
#include "models/topology_words.hpp"

namespace sym::models {
namespace {

// Nearest by class; among equally near ones the least used so far, as NCCL spreads GPUs over NICs.
std::vector<int> nearest_nics(const detail::TopologyMatrix& matrix) {
  const auto nics = static_cast<std::size_t>(matrix.nics());
  std::vector<int> nearest;
  std::vector<int> uses(nics, 0);
  if (nics == 0) return std::vector<int>(static_cast<std::size_t>(matrix.gpus), -1);
  for (const std::vector<detail::Cell>& cells : matrix.cells) {
    const auto rank = [&](std::size_t nic) {
      return std::pair(cells[static_cast<std::size_t>(matrix.gpus) + nic].link_class, uses[nic]);
    };
    std::size_t best = 0;
    for (std::size_t nic = 1; nic < nics; ++nic) {
      if (rank(nic) < rank(best)) best = nic;
    }
    ++uses[best];
    nearest.push_back(static_cast<int>(best));
  }
  return nearest;
}

std::string description_of(const detail::TopologyMatrix& matrix) {
  std::string nics;
  for (const std::string& name : matrix.nic_names) nics += (nics.empty() ? "" : ", ") + name;
  return "Wiring from the text of `nvidia-smi topo -m`; NICs: " + (nics.empty() ? "none" : nics) +
         ". All numbers are assumed.";
}

}  // namespace

Machine parse_topology_text(const std::string& text, const std::string& origin) {
  const detail::TopologyMatrix matrix = detail::read_topology_matrix(text, origin);
  Machine machine;
  machine.name = detail::file_stem(origin);
  machine.description = description_of(matrix);
  machine.gpus_per_node = matrix.gpus;
  machine.nics_per_node = matrix.nics();
  machine.nic_of_gpu = nearest_nics(matrix);
  machine.fabric = matrix.nics() > 0 ? "rail" : "none";
  for (const std::vector<detail::Cell>& cells : matrix.cells) {
    for (std::size_t nic = static_cast<std::size_t>(matrix.gpus); nic < cells.size(); ++nic)
      machine.nic_class.push_back(cells[nic].link_class);
    for (std::size_t peer = 0; peer < static_cast<std::size_t>(matrix.gpus); ++peer) {
      machine.pair_class.push_back(cells[peer].link_class);
      machine.pair_lanes.push_back(cells[peer].lanes);
    }
  }
  const auto said = [&matrix](const detail::Misfit& misfit) {
    return "row " + matrix.names[static_cast<std::size_t>(misfit.gpu)] + ", column " +
           matrix.names[static_cast<std::size_t>(misfit.other)] + " " + misfit.text();
  };
  if (const auto misfit = detail::pcie_misfit(machine, detail::Devices::gpus)) {
    const int line = matrix.lines[static_cast<std::size_t>(misfit->gpu)];
    throw std::invalid_argument(origin + ":" + std::to_string(line) + ": " + said(*misfit) +
                                detail::fits_a_tree);
  }
  if (const auto misfit = detail::pcie_misfit(machine, detail::Devices::all))
    machine.description +=
        " NICs do not fit one PCIe tree, and their ways are as if they did: " + said(*misfit) + ".";
  detail::assume_numbers(machine);
  return machine;
}

}  // namespace sym::models
