// The wiring of a node <-> JSON: pairs and NICs, or a graph.
#include <algorithm>

#include "models/json_parts.hpp"
#include "models/machine_detail.hpp"
#include "models/pcie_tree.hpp"

namespace sym::models::detail {
namespace {

constexpr int most_gpus = 4096;  // per node; pair_class holds its square
constexpr int most_wired_lanes = 1024;

// "the GPUs of a node" reads as "each of the 2 GPUs of a node".
std::vector<JsonAt> sized(const JsonAt& at, int count, const std::string& what) {
  std::vector<JsonAt> elements = at.elements();
  if (elements.size() != static_cast<std::size_t>(count)) {
    at.refuse("has " + std::to_string(elements.size()) + " elements; one for each of the " +
              std::to_string(count) + what.substr(3) + " is accepted");
  }
  return elements;
}

LinkClass read_class(const JsonAt& at) {
  const std::vector<std::string>& names = link_class_names();
  const std::string word = read_choice(at, names);
  return static_cast<LinkClass>(std::find(names.begin(), names.end(), word) - names.begin());
}

// A symmetric matrix of rows. `read` turns an element into a value and knows row and column.
template <class T, class Read>
std::vector<T> read_matrix(const JsonAt& at, int gpus, Read read) {
  std::vector<T> cells;
  const std::vector<JsonAt> rows = sized(at, gpus, "the GPUs of a node");
  for (int row = 0; row < gpus; ++row) {
    const std::vector<JsonAt> elements =
        sized(rows[static_cast<std::size_t>(row)], gpus, "the GPUs of a node");
    for (int column = 0; column < gpus; ++column) {
      const JsonAt& element = elements[static_cast<std::size_t>(column)];
      cells.push_back(read(element, row, column));
      const std::size_t mirrored =
          static_cast<std::size_t>(column) * static_cast<std::size_t>(gpus) +
          static_cast<std::size_t>(row);
      if (column < row && cells[mirrored] != cells.back()) {
        element.refuse("differs from [" + std::to_string(column) + "][" + std::to_string(row) +
                       "]; a symmetric matrix is accepted");
      }
    }
  }
  return cells;
}

void read_pairs(const JsonAt& root, Machine& machine) {
  if (root.has("pair_class")) {
    const auto read = [](const JsonAt& at, int row, int column) {
      const LinkClass link_class = read_class(at);
      if ((link_class == LinkClass::self) != (row == column)) {
        at.refuse("is \"" + at.text() + "\"; \"self\" is accepted on the diagonal and only there");
      }
      return link_class;
    };
    machine.pair_class =
        read_matrix<LinkClass>(root.member("pair_class"), machine.gpus_per_node, read);
  }
  if (root.has("pair_lanes")) {
    const auto read = [&](const JsonAt& at, int row, int column) {
      const bool nvlink = pair_class_of(machine, row, column) == LinkClass::nvlink;
      return read_whole(at, nvlink ? 1 : 0, nvlink ? most_wired_lanes : 0);
    };
    machine.pair_lanes = read_matrix<int>(root.member("pair_lanes"), machine.gpus_per_node, read);
  }
}

void read_nics(const JsonAt& root, Machine& machine) {
  if (root.has("nics_per_node"))
    machine.nics_per_node = read_whole(root.member("nics_per_node"), 0, most_gpus);
  if (root.has("nic_of_gpu")) {
    const JsonAt at = root.member("nic_of_gpu");
    for (const JsonAt& nic : sized(at, machine.gpus_per_node, "the GPUs of a node")) {
      machine.nic_of_gpu.push_back(read_whole(nic, -1, machine.nics_per_node - 1));
    }
  } else if (machine.nics_per_node > 0) {
    root.refuse("lacks the key 'nic_of_gpu', which is required where nics_per_node is above 0");
  } else {
    machine.nic_of_gpu.assign(static_cast<std::size_t>(machine.gpus_per_node), -1);
  }
  if (!root.has("nic_class")) return;
  for (const JsonAt& row :
       sized(root.member("nic_class"), machine.gpus_per_node, "the GPUs of a node")) {
    for (const JsonAt& cell : sized(row, machine.nics_per_node, "the NICs of a node")) {
      const LinkClass link_class = read_class(cell);
      if (link_class < LinkClass::pix)
        cell.refuse("is \"" + cell.text() + "\"; pix, pxb, phb, node and sys are accepted");
      machine.nic_class.push_back(link_class);
    }
  }
}

template <class Cell>
OrderedJson matrix_json(int gpus, Cell cell) {
  OrderedJson rows = OrderedJson::array();
  for (int row = 0; row < gpus; ++row) {
    OrderedJson cells = OrderedJson::array();
    for (int column = 0; column < gpus; ++column) cells.push_back(cell(row, column));
    rows.push_back(std::move(cells));
  }
  return rows;
}

}  // namespace

// The graph says itself how many GPUs and NICs there are, and which are near each other.
void read_wiring(const JsonAt& root, Machine& machine) {
  if (!root.has("graph")) {
    machine.gpus_per_node = read_whole(root.member("gpus_per_node"), 1, most_gpus);
    read_pairs(root, machine);
    read_nics(root, machine);
    if (const auto misfit = pcie_misfit(machine, Devices::gpus)) {
      root.member("pair_class")
          .elements()[static_cast<std::size_t>(misfit->gpu)]
          .elements()[static_cast<std::size_t>(misfit->other)]
          .refuse(misfit->text() + fits_a_tree);
    }
    return;
  }
  for (const char* key :
       {"gpus_per_node", "pair_class", "pair_lanes", "nic_of_gpu", "nic_class", "nics_per_node"}) {
    if (root.has(key)) root.member(key).refuse("is given beside graph; one of the two is accepted");
  }
  machine.graph = read_graph(root.member("graph"));
  count_devices(machine);
  if (machine.gpus_per_node < 1 || machine.gpus_per_node > most_gpus) {
    root.member("graph").refuse("has " + std::to_string(machine.gpus_per_node) +
                                " vertices of kind gpu; 1 to " + std::to_string(most_gpus) +
                                " are accepted");
  }
}

void write_wiring(const Machine& machine, OrderedJson& root) {
  const bool by_graph = !machine.graph.empty();
  if (by_graph) {
    root["graph"] = graph_json(machine.graph);
  } else {
    root["gpus_per_node"] = machine.gpus_per_node;
  }
  if (!machine.pair_class.empty()) {
    root["pair_class"] = matrix_json(machine.gpus_per_node, [&](int row, int column) {
      return std::string(link_class_name(pair_class_of(machine, row, column)));
    });
  }
  if (!machine.pair_lanes.empty()) {
    root["pair_lanes"] = matrix_json(machine.gpus_per_node, [&](int row, int column) {
      return pair_lanes_of(machine, row, column);
    });
  }
  if (!by_graph) root["nics_per_node"] = machine.nics_per_node;
  if (!by_graph && !machine.nic_of_gpu.empty()) root["nic_of_gpu"] = machine.nic_of_gpu;
  for (std::size_t i = 0; i < machine.nic_class.size(); ++i) {
    root["nic_class"][i / static_cast<std::size_t>(machine.nics_per_node)].push_back(
        link_class_name(machine.nic_class[i]));
  }
}

}  // namespace sym::models::detail
