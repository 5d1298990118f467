// Machine <-> JSON. The format, with every key: models/machines/dgx-h100.json; a machine with
// pair_class and pair_lanes: `sym machine TOPOLOGY.txt --out F.json`.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "models/calibration_json.hpp"
#include "models/json_parts.hpp"
#include "models/json_reader.hpp"
#include "models/machine.hpp"
#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

using detail::JsonAt;
using detail::read_whole;

Quantity read_number(const JsonAt& at, const detail::NumberKey& number) {
  if (number.whole) read_whole(at.member("value"), 1, std::numeric_limits<int>::max());
  Quantity quantity = detail::read_quantity(at);
  const std::string fault = detail::value_fault(number.key, quantity.value);
  if (!fault.empty()) at.member("value").refuse(fault);
  return quantity;
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
    machine.numbers[number.key] = read_number(at.member(number.key), number);
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
    if (!detail::is_inherited(number.key)) continue;
    if (number.needed == detail::Needed::with_nics && machine.nics_per_node == 0) continue;
    machine.numbers[number.key] = {found->second.value, "assumed: as " + name, false};
  }
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
                  "numbers", "calibration"});
  Machine machine;
  machine.name = root.member("name").text();
  if (root.has("description")) machine.description = root.member("description").text();
  detail::read_wiring(root, machine);
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
  if (root.has("calibration")) detail::read_calibration(root.member("calibration"), machine);
  detail::assume_fabric_numbers(machine);
  return machine;
}

std::string to_json(const Machine& machine) {
  nlohmann::ordered_json root;
  root["name"] = machine.name;
  if (!machine.description.empty()) root["description"] = machine.description;
  root["nodes"] = machine.nodes;
  detail::write_wiring(machine, root);
  root["fabric"] = detail::fabric_json(machine);
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
  if (machine.calibration) root["calibration"] = detail::calibration_json(*machine.calibration);
  // Bytes that are no UTF-8 (a file's name) must not stop a conversion.
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sym::models
