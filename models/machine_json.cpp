// Machine <-> JSON. The format, with every key: models/machines/dgx-h100.json; a machine with
// pair_class and pair_lanes: `sym machine TOPOLOGY.txt --out F.json`.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "models/json_parts.hpp"
#include "models/json_reader.hpp"
#include "models/machine.hpp"
#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

using detail::JsonAt;
using detail::read_whole;

constexpr int most_gpus = 4096;  // per node; pair_class holds its square
constexpr int most_lanes = 1024;

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
  const std::vector<std::string>& names = detail::link_class_names();
  const std::string word = detail::read_choice(at, names);
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
      const bool nvlink = detail::pair_class_of(machine, row, column) == LinkClass::nvlink;
      return read_whole(at, nvlink ? 1 : 0, nvlink ? most_lanes : 0);
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

// The graph says itself how many GPUs and NICs there are, and which are near each other.
void read_wiring(const JsonAt& root, Machine& machine) {
  if (!root.has("graph")) {
    machine.gpus_per_node = read_whole(root.member("gpus_per_node"), 1, most_gpus);
    read_pairs(root, machine);
    read_nics(root, machine);
    return;
  }
  for (const char* key :
       {"gpus_per_node", "pair_class", "pair_lanes", "nic_of_gpu", "nic_class", "nics_per_node"}) {
    if (root.has(key)) root.member(key).refuse("is given beside graph; one of the two is accepted");
  }
  machine.graph = detail::read_graph(root.member("graph"));
  detail::count_devices(machine);
  if (machine.gpus_per_node < 1 || machine.gpus_per_node > most_gpus) {
    root.member("graph").refuse("has " + std::to_string(machine.gpus_per_node) +
                                " vertices of kind gpu; 1 to " + std::to_string(most_gpus) +
                                " are accepted");
  }
}

Quantity read_number(const JsonAt& at, bool must_be_whole) {
  if (must_be_whole) read_whole(at.member("value"), 1, std::numeric_limits<int>::max());
  return detail::read_quantity(at);
}

void read_numbers(const JsonAt& at, Machine& machine) {
  std::vector<std::string> accepted;
  for (const detail::NumberKey& number : detail::number_table()) accepted.emplace_back(number.key);
  at.only_keys(accepted);
  for (const std::string& key : detail::required_keys(machine)) {
    if (!machine.numbers.contains(key)) at.member(key);
  }
  for (const detail::NumberKey& number : detail::number_table()) {
    if (!at.has(number.key)) continue;
    if (number.needed == detail::Needed::with_nics && machine.nics_per_node == 0) {
      at.member(number.key)
          .refuse(
              "is given but the machine has no NICs; nics_per_node above 0 is accepted with it");
    }
    machine.numbers[number.key] = read_number(at.member(number.key), number.whole);
  }
}

// What the file does not state is as on the machine that it names.
void inherit_numbers(const JsonAt& at, Machine& machine) {
  const std::string name = detail::read_choice(at, machine_names());
  thread_local int depth = 0;
  if (++depth > 8) {
    depth = 0;
    at.refuse("leads back to itself, or through more than 8 machines; a shorter chain is accepted");
  }
  const Machine other = load_machine(name);
  --depth;
  for (const detail::NumberKey& number : detail::number_table()) {
    const auto found = other.numbers.find(number.key);
    if (found == other.numbers.end()) continue;
    if (number.needed == detail::Needed::with_nics && machine.nics_per_node == 0) continue;
    machine.numbers[number.key] = {found->second.value, "assumed: as " + name, false};
  }
}

template <class Cell>
nlohmann::ordered_json matrix_json(int gpus, Cell cell) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (int row = 0; row < gpus; ++row) {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (int column = 0; column < gpus; ++column) cells.push_back(cell(row, column));
    rows.push_back(std::move(cells));
  }
  return rows;
}

}  // namespace

std::string detail::read_choice(const JsonAt& at, const std::vector<std::string>& accepted) {
  std::string word = at.text();
  if (std::find(accepted.begin(), accepted.end(), word) == accepted.end()) {
    at.refuse("is \"" + word + "\"; the nearest accepted word is \"" +
              nearest_name(word, accepted) + "\"");
  }
  return word;
}

int detail::read_whole(const JsonAt& at, int low, int high) {
  return static_cast<int>(at.whole(low, high));
}

Quantity detail::read_quantity(const JsonAt& at, Zero zero) {
  at.only_keys({"value", "source", "measured"});
  const JsonAt value = at.member("value");
  Quantity quantity;
  quantity.value = zero == Zero::accepted ? value.not_negative() : value.positive();
  quantity.source = at.member("source").text();
  quantity.measured = at.member("measured").truth();
  return quantity;
}

detail::OrderedJson detail::quantity_json(const Quantity& quantity) {
  return {{"value", quantity.value}, {"source", quantity.source}, {"measured", quantity.measured}};
}

Machine parse_machine_json(const std::string& text, const std::string& origin) {
  const nlohmann::json document = detail::parse_strict_json(text, origin);
  const JsonAt root(document, origin, "");
  root.only_keys({"name", "description", "like", "nodes", "gpus_per_node", "pair_class",
                  "pair_lanes", "nic_of_gpu", "nic_class", "nics_per_node", "graph", "fabric",
                  "numbers"});
  Machine machine;
  machine.name = root.member("name").text();
  if (root.has("description")) machine.description = root.member("description").text();
  read_wiring(root, machine);
  if (root.has("nodes")) {
    machine.nodes = read_whole(root.member("nodes"), 1,
                               std::numeric_limits<int>::max() / machine.gpus_per_node);
  }
  detail::read_fabric(root, machine);
  if (machine.fabric == "none" && machine.nodes > 1) {
    root.member("nodes").refuse(
        "is above 1 but fabric is \"none\"; 1 is accepted, or the fabric \"rail\"");
  }
  if (root.has("like")) inherit_numbers(root.member("like"), machine);
  read_numbers(root.member("numbers"), machine);
  detail::assume_fabric_numbers(machine);
  return machine;
}

std::string to_json(const Machine& machine) {
  nlohmann::ordered_json root;
  root["name"] = machine.name;
  if (!machine.description.empty()) root["description"] = machine.description;
  root["nodes"] = machine.nodes;
  const bool by_graph = !machine.graph.empty();
  if (by_graph) {
    root["graph"] = detail::graph_json(machine.graph);
  } else {
    root["gpus_per_node"] = machine.gpus_per_node;
  }
  if (!machine.pair_class.empty()) {
    root["pair_class"] = matrix_json(machine.gpus_per_node, [&](int row, int column) {
      return std::string(detail::link_class_name(detail::pair_class_of(machine, row, column)));
    });
  }
  if (!machine.pair_lanes.empty()) {
    root["pair_lanes"] = matrix_json(machine.gpus_per_node, [&](int row, int column) {
      return detail::pair_lanes_of(machine, row, column);
    });
  }
  root["fabric"] = detail::fabric_json(machine);
  if (!by_graph) root["nics_per_node"] = machine.nics_per_node;
  if (!by_graph && !machine.nic_of_gpu.empty()) root["nic_of_gpu"] = machine.nic_of_gpu;
  for (std::size_t i = 0; i < machine.nic_class.size(); ++i) {
    root["nic_class"][i / static_cast<std::size_t>(machine.nics_per_node)].push_back(
        detail::link_class_name(machine.nic_class[i]));
  }
  nlohmann::ordered_json& numbers = root["numbers"];
  numbers = nlohmann::ordered_json::object();
  for (const auto& [key, quantity] : machine.numbers) {
    numbers[key] = detail::quantity_json(quantity);
    // Counts are read back as whole numbers only.
    const auto& table = detail::number_table();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&name = key](const auto& n) { return name == n.key; });
    if (found != table.end() && found->whole)
      numbers[key]["value"] = static_cast<std::int64_t>(quantity.value);
  }
  // Bytes that are no UTF-8 (a file's name) must not stop a conversion.
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sym::models
