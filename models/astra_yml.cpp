// A network file of ASTRA-sim's analytical backends -> Machine.
//
//   topology: [ Switch, Ring ]      one word for each dimension, the innermost first
//   npus_count: [ 8, 4 ]
//   bandwidth: [ 400.0, 50.0 ]      GB/s of each link, each way
//   latency: [ 936.25, 2000.0 ]     ns of each link
//
// The first dimension is the inside of a node, the others are a grid between nodes: NPU i of a node
// has a NIC of its own on copy i of that grid.
#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>

#include "core/text.hpp"
#include "models/machine_detail.hpp"
#include "models/readers.hpp"

namespace sym::models::detail {
namespace {

const std::vector<std::string> keys = {"topology", "npus_count", "bandwidth", "latency"};

struct Value {
  std::string text;
  int line = 0;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class AstraReader {
 public:
  AstraReader(const std::string& text, const std::string& origin) : origin_(origin) { read(text); }

  Machine machine() const {
    for (const std::string& key : keys) {
      if (!values_.contains(key)) refuse(1, "lacks the key '" + key + "', which is required");
    }
    const std::size_t dimensions = values_.at("topology").size();
    for (const std::string& key : keys) {
      const std::vector<Value>& list = values_.at(key);
      if (list.size() == dimensions && dimensions > 0) continue;
      refuse(line_of_.at(key), key + " has " + std::to_string(list.size()) +
                                   " elements and topology " + std::to_string(dimensions) +
                                   "; one for each dimension is accepted");
    }
    Machine machine;
    machine.name = file_stem(origin_);
    machine.description =
        "From a network file of ASTRA-sim: its links' rates and latencies; other numbers are "
        "assumed.";
    build_node(machine);
    build_grid(machine);
    return machine;
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& what) const {
    throw std::invalid_argument(origin_ + ":" + std::to_string(line) + ": " + what);
  }

  // "key: [a, b]", "key: a", or "key:" and lines "- a".
  void read(const std::string& text) {
    std::string key;
    int line = 0;
    for (std::size_t at = 0; at < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      read_line(trimmed(text.substr(at, std::min(end, text.find('#', at)) - at)), line + 1, key);
      at = end + 1;
    }
  }

  void read_line(const std::string& line, int number, std::string& key) {
    if (line.empty() || line == "---") return;
    if (line[0] == '-' && !key.empty()) {
      add(key, trimmed(line.substr(1)), number);
      return;
    }
    const std::size_t colon = line.find(':');
    key = trimmed(line.substr(0, colon));
    if (colon == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      refuse(number, "has the unknown key '" + key + "'; the nearest accepted key is '" +
                         nearest_name(key, keys) + "'");
    }
    if (!line_of_.emplace(key, number).second)
      refuse(number, "the key '" + key + "' is given twice");
    values_[key];
    std::string list = trimmed(line.substr(colon + 1));
    if (list.empty()) return;
    if (list.front() == '[') {
      if (list.back() != ']') refuse(number, key + " has a list that does not end in its line");
      list = list.substr(1, list.size() - 2);
    }
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      add(key, trimmed(list.substr(at, comma - at)), number);
      at = comma + 1;
    }
  }

  void add(const std::string& key, std::string word, int line) {
    const bool quoted =
        word.size() > 1 && (word[0] == '"' || word[0] == '\'') && word.back() == word[0];
    if (quoted) word = word.substr(1, word.size() - 2);
    values_[key].push_back({word, line});
  }

  double number(const char* key, std::size_t dimension, bool zero) const {
    const Value& value = values_.at(key)[dimension];
    double parsed = -1;
    const char* end = value.text.data() + value.text.size();
    const auto [stop, error] = std::from_chars(value.text.data(), end, parsed);
    if (error != std::errc() || stop != end || !(parsed >= 0) || !(parsed <= 1e12) ||
        (parsed == 0 && !zero)) {
      refuse(value.line, std::string(key) + " has '" + value.text + "'; a number " +
                             (zero ? "from 0" : "above 0") + " is accepted");
    }
    return parsed;
  }

  int count(std::size_t dimension) const {
    const double parsed = number("npus_count", dimension, false);
    if (parsed != static_cast<int>(parsed) || parsed > 1 << 20) {
      refuse(values_.at("npus_count")[dimension].line,
             "npus_count has '" + values_.at("npus_count")[dimension].text +
                 "'; a whole number from 1 to 1048576 is accepted");
    }
    return static_cast<int>(parsed);
  }

  std::string form(std::size_t dimension) const {
    static const std::map<std::string, std::string> forms = {
        {"Ring", "ring"}, {"FullyConnected", "full"}, {"Switch", "switch"}};
    const Value& value = values_.at("topology")[dimension];
    const auto found = forms.find(value.text);
    if (found == forms.end())
      refuse(value.line,
             "topology has '" + value.text + "'; Ring, FullyConnected and Switch are accepted");
    return found->second;
  }

  Quantity quantity(const char* key, std::size_t dimension) const {
    const bool is_latency = std::string(key) == "latency";
    const double value = number(key, dimension, is_latency);
    return {is_latency ? value * 1e-3 : value,
            "assumed: " + origin_ + ":" + std::to_string(values_.at(key)[dimension].line), false};
  }

  void build_node(Machine& machine) const {
    Graph& graph = machine.graph;
    const int gpus = count(0);
    if (gpus > 4096)
      refuse(line_of_.at("npus_count"),
             "has a node of " + std::to_string(gpus) + " NPUs; up to 4096 are accepted");
    const std::string shape = form(0);
    // In a ring an NPU passes on what is not for it, as a GPU does on xGMI.
    const LinkKind kind = shape == "ring" ? LinkKind::xgmi : LinkKind::nvlink;
    graph.types.push_back({shape, kind, quantity("bandwidth", 0), {}, quantity("latency", 0)});
    for (int gpu = 0; gpu < gpus; ++gpu)
      graph.vertices.push_back({"npu" + std::to_string(gpu), VertexKind::gpu});
    if (shape == "switch") {
      graph.vertices.push_back({"switch", VertexKind::nvswitch});
      for (int gpu = 0; gpu < gpus; ++gpu) graph.links.push_back({gpu, gpus, 0, 1});
    } else if (shape == "full") {
      for (int a = 0; a < gpus; ++a) {
        for (int b = a + 1; b < gpus; ++b) graph.links.push_back({a, b, 0, 1});
      }
    } else {
      for (int a = 0; a < gpus && gpus > 1 && (gpus > 2 || a == 0); ++a)
        graph.links.push_back({a, (a + 1) % gpus, 0, 1});
    }
  }

  // Links of one NPU in a dimension.
  static int fan(const std::string& form, int size) {
    if (form == "full") return size - 1;
    return form == "ring" ? std::min(size - 1, 2) : 1;
  }

  void build_grid(Machine& machine) const {
    const std::size_t dimensions = values_.at("topology").size();
    double nic = 0;
    long long nodes = 1;
    for (std::size_t d = 1; d < dimensions; ++d) {
      machine.shape.dimensions.push_back(
          {form(d), count(d), quantity("bandwidth", d), quantity("latency", d)});
      nodes *= count(d);
      if (nodes > 1 << 24)
        refuse(line_of_.at("npus_count"), "makes more than 16777216 nodes; fewer are accepted");
      nic += machine.shape.dimensions.back().gbps.value * fan(form(d), count(d));
    }
    const int gpus = static_cast<int>(machine.graph.all(VertexKind::gpu).size());
    if (nodes > 1) {
      const int type = static_cast<int>(machine.graph.types.size());
      machine.graph.types.push_back({"grid",
                                     LinkKind::pcie,
                                     {nic, "assumed: all links of an NPU between nodes", false},
                                     {},
                                     {}});
      for (int gpu = 0; gpu < gpus; ++gpu) {
        const int vertex = static_cast<int>(machine.graph.vertices.size());
        machine.graph.vertices.push_back({"nic" + std::to_string(gpu), VertexKind::nic});
        machine.graph.links.push_back({gpu, vertex, type, 1});
      }
      machine.fabric = "grid";
      machine.nodes = static_cast<int>(nodes);
    } else {
      machine.shape.dimensions.clear();
    }
    count_devices(machine);
    assume_numbers(machine);
    const double port = machine.shape.dimensions.empty() && gpus < 2
                            ? 0
                            : number("bandwidth", 0, false) * std::max(1, fan(form(0), gpus));
    for (const char* key : {"port_gbps", "port_oneway_gbps", "port_read_gbps", "copy_engine_gbps",
                            "copy_engine_oneway_gbps"}) {
      if (port > 0)
        machine.numbers[key] = {port, "assumed: all links of an NPU inside its node", false};
    }
    if (nodes > 1)
      machine.numbers["nic_gbps"] = {nic, "assumed: all links of an NPU between nodes", false};
  }

  std::string origin_;
  std::map<std::string, std::vector<Value>> values_;
  std::map<std::string, int> line_of_;
};

}  // namespace

bool is_astra_network(const std::string& text) {
  for (const std::string& key : keys) {
    const std::size_t at = text.find(key + ":");
    if (at != std::string::npos && (at == 0 || text[at - 1] == '\n')) return true;
  }
  return false;
}

Machine parse_astra_network(const std::string& text, const std::string& origin) {
  return AstraReader(text, origin).machine();
}

}  // namespace sym::models::detail
