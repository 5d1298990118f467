// Finding a machine: by name, by file, and how many nodes of it.
#include "models/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "core/text.hpp"
#include "models/machine_detail.hpp"
#include "models/readers.hpp"

#ifndef SYM_MACHINES_DIR
#define SYM_MACHINES_DIR "models/machines"
#endif

namespace sym::models {
namespace {

namespace fs = std::filesystem;

// The environment wins over the compiled-in place, so that an installed or moved tree works.
std::string machines_dir() {
  const char* chosen = std::getenv("SYM_MACHINES");
  return chosen != nullptr && *chosen != '\0' ? chosen : SYM_MACHINES_DIR;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw std::invalid_argument(path + ": cannot be read; a readable file is accepted");
  return text;
}

// The content decides, not the file's ending: pasted text has any.
Machine read_machine_file(const std::string& path) {
  const std::string text = read_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') return parse_machine_json(text, path);
  if (first != std::string::npos && text[first] == '<') return detail::parse_xml(text, path);
  if (detail::is_astra_network(text)) return detail::parse_astra_network(text, path);
  return parse_topology_text(text, path);
}

Machine find_machine(const std::string& name_or_file) {
  const std::vector<std::string> names = machine_names();
  if (std::find(names.begin(), names.end(), name_or_file) != names.end()) {
    const std::string path = (fs::path(machines_dir()) / (name_or_file + ".json")).string();
    return parse_machine_json(read_file(path), path);
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(name_or_file, ignored);
  if (fs::is_directory(status)) {
    throw std::invalid_argument(name_or_file +
                                ": is a directory; a machine's name or a file is accepted");
  }
  // Not only regular files: `sym machine <(nvidia-smi topo -m)` is a pipe.
  if (fs::exists(status)) return read_machine_file(name_or_file);
  const std::string nearest = nearest_name(name_or_file, names);
  throw std::invalid_argument("machine '" + name_or_file + "': neither a name in " +
                              machines_dir() + " nor a file" +
                              (nearest.empty() ? "" : "; the nearest name is '" + nearest + "'") +
                              " (names: " + joined(names) + ")");
}

int node_count(const std::string& word, const std::string& whole) {
  int nodes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), nodes);
  if (error != std::errc() || end != word.data() + word.size() || nodes < 1) {
    throw std::invalid_argument(
        "machine '" + whole + "': '" + word +
        "' after * is no number of nodes; a whole number from 1 is accepted");
  }
  return nodes;
}

void multiply_nodes(Machine& machine, int factor) {
  if (factor > 1 && machine.fabric == "none") {
    throw std::invalid_argument("machine '" + machine.name + "': has no " +
                                (machine.nics_per_node == 0 ? "NICs" : "fabric") +
                                " to join nodes, so only *1 is accepted");
  }
  if (factor > 1 && (machine.fabric == "grid" || machine.fabric == "routes")) {
    throw std::invalid_argument("machine '" + machine.name + "': its fabric says which " +
                                std::to_string(machine.nodes) +
                                " nodes it joins, so only *1 is accepted");
  }
  const long long pes = static_cast<long long>(machine.pes()) * factor;
  if (pes > std::numeric_limits<int>::max()) {
    throw std::invalid_argument("machine '" + machine.name + "': *" + std::to_string(factor) +
                                " makes " + std::to_string(pes) + " GPUs; at most " +
                                std::to_string(std::numeric_limits<int>::max()) + " are accepted");
  }
  machine.nodes *= factor;
}

}  // namespace

double Machine::number(const std::string& key) const {
  const auto found = numbers.find(key);
  if (found != numbers.end()) return found->second.value;
  std::vector<std::string> keys;
  for (const auto& [name_of, quantity] : numbers) keys.push_back(name_of);
  throw std::invalid_argument("machine '" + name + "': has no number '" + key + "'; it has " +
                              joined(keys));
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  std::error_code ignored;  // no such directory: no names, and load_machine says where it looked
  for (const fs::directory_entry& entry : fs::directory_iterator(machines_dir(), ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Machine load_machine(const std::string& name_or_file) {
  const std::size_t star = name_or_file.rfind('*');
  Machine machine = find_machine(name_or_file.substr(0, star));
  if (star != std::string::npos) {
    multiply_nodes(machine, node_count(name_or_file.substr(star + 1), name_or_file));
  }
  return machine;
}

}  // namespace sym::models
