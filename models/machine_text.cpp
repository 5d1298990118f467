// Machine as text for people.
#include <algorithm>
#include <array>
#include <cstdio>

#include "models/machine.hpp"
#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

constexpr int most_gpus_shown = 16;  // a wider matrix does not fit a terminal

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

std::string number_text(double value) {
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

std::string pair_text(const Machine& machine, int from, int to) {
  const int lanes = detail::pair_lanes_of(machine, from, to);
  if (from == to) return "X";
  if (lanes > 0) return "NV" + std::to_string(lanes);
  return detail::link_class_name(detail::pair_class_of(machine, from, to));
}

std::string pairs_text(const Machine& machine) {
  if (machine.pair_class.empty())
    return "pairs: every pair of GPUs of a node by nvlink, all lanes\n";
  if (machine.gpus_per_node > most_gpus_shown) return "pairs: as given (see the JSON form)\n";
  std::vector<std::vector<std::string>> rows(1, {""});
  for (int gpu = 0; gpu < machine.gpus_per_node; ++gpu)
    rows[0].push_back("GPU" + std::to_string(gpu));
  for (int from = 0; from < machine.gpus_per_node; ++from) {
    rows.push_back({"GPU" + std::to_string(from)});
    for (int to = 0; to < machine.gpus_per_node; ++to)
      rows.back().push_back(pair_text(machine, from, to));
  }
  return "pairs:\n" + table_text(rows);
}

std::string nics_text(const Machine& machine) {
  if (machine.nics_per_node == 0) return "NICs: none, so one node only\n";
  std::string text =
      "NICs: " + std::to_string(machine.nics_per_node) + " per node; nearest to GPU 0, 1, ...:";
  for (const int nic : machine.nic_of_gpu) text += ' ' + (nic < 0 ? "none" : std::to_string(nic));
  return text + "\nfabric: " + machine.fabric + "\n";
}

}  // namespace

std::string to_text(const Machine& machine) {
  std::string text = "machine " + machine.name + ": " + std::to_string(machine.pes()) + " GPUs (" +
                     std::to_string(machine.nodes) + " x " + std::to_string(machine.gpus_per_node) +
                     ")\n";
  if (!machine.description.empty()) text += machine.description + "\n";
  text += pairs_text(machine) + nics_text(machine) + "numbers:\n";
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<std::string>> meanings;
  for (const detail::NumberKey& number : detail::number_table()) {
    const auto found = machine.numbers.find(number.key);
    if (found == machine.numbers.end()) continue;
    const Quantity& quantity = found->second;
    rows.push_back({number.key, number_text(quantity.value), number.unit,
                    quantity.measured ? "measured" : "assumed", without_mark(quantity.source)});
    meanings.push_back({number.key, number.meaning});
  }
  return text + table_text(rows) + "meanings (GB/s: 1e9 bytes a second):\n" + table_text(meanings);
}

}  // namespace sym::models
