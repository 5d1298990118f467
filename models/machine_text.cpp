// Machine as text for people.
#include <algorithm>
#include <array>
#include <cstdio>

#include "models/machine.hpp"
#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

constexpr int most_gpus_shown = 16;  // a wider matrix does not fit a terminal
constexpr std::size_t most_links_shown = 100;

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

std::string shown(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6g", value);
  return buffer.data();
}

// The mark has a column of its own, so the source need not repeat it.
std::string without_mark(const std::string& source) {
  const std::string mark = "assumed: ";
  return source.rfind(mark, 0) == 0 ? source.substr(mark.size()) : source;
}

// Left-aligned columns; the last is not padded.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += "  ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += c + 1 == row.size() ? row[c] : padded(row[c], widths[c] + 2);
    }
    text += '\n';
  }
  return text;
}

// As `nvidia-smi topo -m` writes it, from the way that traffic takes.
std::string pair_text(const Graph& graph, int from, int to) {
  if (from == to) return "X";
  const std::optional<Path> path = path_between(graph, from, to);
  if (!path) return "none";
  const LinkClass link_class = detail::class_of(graph, *path);
  if (link_class != LinkClass::nvlink) return detail::link_class_name(link_class);
  const Graph::Link& first = graph.links[static_cast<std::size_t>(path->front() / 2)];
  if (graph.type(first).kind == LinkKind::nvlink) return "NV" + std::to_string(first.lanes);
  return path->size() == 1 ? "xGMI" : "xGMI*" + std::to_string(path->size());
}

std::string pairs_text(const Machine& machine, const Graph& graph) {
  if (machine.pair_class.empty() && machine.graph.empty())
    return "pairs: every pair of GPUs of a node by nvlink, all lanes\n";
  if (machine.gpus_per_node > most_gpus_shown) return "pairs: as given (see the JSON form)\n";
  const std::vector<int> gpus = graph.all(VertexKind::gpu);
  std::vector<std::vector<std::string>> rows(1, {""});
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
    rows[0].push_back("GPU" + std::to_string(gpu));
  for (std::size_t from = 0; from < gpus.size(); ++from) {
    rows.push_back({"GPU" + std::to_string(from)});
    for (const int to : gpus) rows.back().push_back(pair_text(graph, gpus[from], to));
  }
  return "pairs:\n" + table_text(rows);
}

const char* mark(const Quantity& quantity) { return quantity.measured ? "measured" : "assumed"; }

// What one node's links are, each type's numbers once, and which vertices they join.
std::string links_text(const Graph& graph) {
  if (graph.links.empty()) return "links of a node: none\n";
  std::vector<std::vector<std::string>> types = {
      {"type", "kind", "GB/s a lane, each way", "us", "", "source"}};
  for (const LinkType& type : graph.types) {
    const std::string back = type.gbps_back ? " (back " + shown(type.gbps_back->value) + ")" : "";
    types.push_back({type.name, link_kind_names()[static_cast<std::size_t>(type.kind)],
                     shown(type.gbps.value) + back, "+" + shown(type.latency_us.value),
                     mark(type.gbps), without_mark(type.gbps.source)});
  }
  std::vector<std::vector<std::string>> links;
  for (const Graph::Link& link : graph.links) {
    if (links.size() == most_links_shown) break;
    const auto name = [&](int vertex) {
      return graph.vertices[static_cast<std::size_t>(vertex)].name;
    };
    links.push_back({name(link.a), name(link.b),
                     std::to_string(link.lanes) + " x " + graph.type(link).name,
                     shown(hop_gbps(graph, 2 * static_cast<Hop>(links.size()))) + " GB/s"});
  }
  std::string text = "links of a node, by type (us: beyond flag_us and nic_latency_us):\n" +
                     table_text(types) + "links of a node (" + std::to_string(graph.links.size()) +
                     "):\n" + table_text(links);
  if (graph.links.size() > links.size()) text += "  ... (see the JSON form)\n";
  return text;
}

std::string nics_text(const Machine& machine) {
  if (machine.nics_per_node == 0) return "NICs: none, so one node only\n";
  std::string text =
      "NICs: " + std::to_string(machine.nics_per_node) + " per node; nearest to GPU 0, 1, ...:";
  for (const int nic : machine.nic_of_gpu) text += ' ' + (nic < 0 ? "none" : std::to_string(nic));
  return text + "\n";
}

std::string span_text(const Span& span) {
  return std::to_string(span.low) +
         (span.low == span.high ? "" : " to " + std::to_string(span.high));
}

// What the calibrated numbers rest on.
std::string calibration_text(const Calibration& calibration) {
  std::vector<std::vector<std::string>> rows = {
      {"number", "median error", "worst error", "samples", "bytes", "blocks"}};
  for (const auto& [key, fit] : calibration.fits) {
    rows.push_back({key, shown(fit.median_error_percent) + " %",
                    shown(fit.worst_error_percent) + " %", std::to_string(fit.samples),
                    span_text(fit.bytes), span_text(fit.blocks)});
  }
  return "calibration: " + calibration.date + ", " + calibration.backend + ", " +
         calibration.device + ", " + std::to_string(calibration.pes) +
         " PEs; the other numbers are those of " + calibration.base + "\n" + table_text(rows);
}

}  // namespace

std::string to_text(const Machine& machine) {
  std::string text = "machine " + machine.name + ": " + std::to_string(machine.pes()) + " GPUs (" +
                     std::to_string(machine.nodes) + " x " + std::to_string(machine.gpus_per_node) +
                     ")\n";
  if (!machine.description.empty()) text += machine.description + "\n";
  const Graph graph = node_graph(machine);
  text += pairs_text(machine, graph) + nics_text(machine) + detail::fabric_text(machine) +
          links_text(graph) + "numbers:\n";
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<std::string>> meanings;
  for (const detail::NumberKey& number : detail::number_table()) {
    const auto found = machine.numbers.find(number.key);
    if (found == machine.numbers.end()) continue;
    const Quantity& quantity = found->second;
    rows.push_back({number.key, shown(quantity.value), number.unit, mark(quantity),
                    without_mark(quantity.source)});
    meanings.push_back({number.key, number.meaning});
  }
  text += table_text(rows);
  if (machine.calibration) text += calibration_text(*machine.calibration);
  return text + "meanings (GB/s: 1e9 bytes a second):\n" + table_text(meanings);
}

}  // namespace sym::models
