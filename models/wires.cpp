#include "models/wires.hpp"

#include <algorithm>

namespace sym::models {

Wires::Wires(const Machine& machine, int pes) : pes_(pes) {
  if (machine.pair_class.empty() && machine.graph.empty()) return;
  const Graph graph = node_graph(machine);
  const std::vector<int> gpus = graph.all(VertexKind::gpu);
  for (Hop hop = 0; hop < 2 * static_cast<Hop>(graph.links.size()); ++hop)
    gbps_.push_back(hop_gbps(graph, hop));
  for (int from = 0; from < pes; ++from) {
    const auto paths = paths_from(graph, gpus[static_cast<std::size_t>(from)]);
    for (int to = 0; to < pes; ++to) {
      const auto& path = paths[static_cast<std::size_t>(gpus[static_cast<std::size_t>(to)])];
      ways_.push_back(path && from != to ? *path : Path{});
    }
  }
}

void Wires::add(Loads& loads, double bytes, const To& to) const {
  for (int pe = 0; pe < pes_ && !gbps_.empty(); ++pe) {
    for (const int hop : way(pe, to(pe))) loads[static_cast<std::size_t>(hop)] += bytes;
  }
}

double Wires::busiest_us(const Loads& loads) const {
  double longest = 0;
  for (std::size_t hop = 0; hop < loads.size(); ++hop)
    longest = std::max(longest, loads[hop] / (gbps_[hop] * 1e3));
  return longest;
}

Wires::To Wires::shift(int hop) const {
  return [pes = pes_, hop](int pe) { return (pe + hop) % pes; };
}

double Wires::us(double bytes, const To& to) const {
  Loads loads(gbps_.size(), 0);
  add(loads, bytes, to);
  return busiest_us(loads);
}

double Wires::shift_us(double bytes, int hop) const { return us(bytes, shift(hop)); }

double Wires::all_us(double bytes, int at_once) const {
  double sum = 0;
  for (int first = 1; first < pes_; first += at_once) {
    Loads loads(gbps_.size(), 0);
    for (int hop = first; hop < std::min(first + at_once, pes_); ++hop)
      add(loads, bytes, shift(hop));
    sum += busiest_us(loads);
  }
  return sum;
}

}  // namespace sym::models
