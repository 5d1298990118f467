#include "sim/node_ways.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace sym::sim {
namespace {

constexpr int most_gpus_for_pruning = 128;  // all pairs of links, each with all pairs of GPUs

// Both ascending.
bool is_subset(const std::vector<int>& inner, const std::vector<int>& outer) {
  return inner.size() <= outer.size() &&
         std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

double latency_s(const models::Graph& graph, const models::Path& path) {
  double us = 0;
  for (const models::Hop hop : path) us += models::hop_latency_us(graph, hop);
  return us * 1e-6;
}

}  // namespace

// Resources: hops of the graph (2 * links of them), then ports out, ports in, NICs out, NICs in.
NodeWays::NodeWays(const models::Machine& machine, int gpus, bool with_nics) : gpus_(gpus) {
  const models::Graph graph = models::node_graph(machine);
  ways_.resize(static_cast<std::size_t>(gpus_) * static_cast<std::size_t>(gpus_ + 4));
  add_resources(machine, graph, with_nics);
  join_gpus(machine, graph);
  if (with_nics) join_nics(machine, graph);
  if (machine.numbers.contains("nvls_efficiency")) join_switch(graph);
  keep_what_binds();
}

void NodeWays::add_resources(const models::Machine& machine, const models::Graph& graph,
                             bool with_nics) {
  for (std::size_t link = 0; link < graph.links.size(); ++link) {
    const models::Graph::Link& ends = graph.links[link];
    const auto name = [&](int v) { return graph.vertices[static_cast<std::size_t>(v)].name; };
    const models::Hop hop = 2 * static_cast<models::Hop>(link);
    const double there = models::hop_gbps(graph, hop) * 1e9;
    const double back = models::hop_gbps(graph, hop + 1) * 1e9;
    resources_.push_back({there, name(ends.a) + ">" + name(ends.b), {}});
    resources_.push_back({back, name(ends.b) + ">" + name(ends.a), {}});
  }
  const double port = machine.number("port_gbps") * 1e9;
  for (const char* way : {" out", " in"}) {
    for (int gpu = 0; gpu < gpus_; ++gpu)
      resources_.push_back({port, "port of GPU " + std::to_string(gpu) + way, {}});
  }
  if (!with_nics) return;
  const double nic = machine.number("nic_gbps") * 1e9;
  for (const char* way : {" out", " in"}) {
    for (int i = 0; i < machine.nics_per_node; ++i)
      resources_.push_back({nic, "NIC " + std::to_string(i) + way, {}});
  }
}

void NodeWays::add_way(int way, const std::vector<int>& resources, double latency_s) {
  ways_[static_cast<std::size_t>(way)] = {resources, latency_s};
  for (const int resource : resources)
    resources_[static_cast<std::size_t>(resource)].ways.push_back(way);
}

void NodeWays::join_gpus(const models::Machine& machine, const models::Graph& graph) {
  const std::vector<int> gpus = graph.all(models::VertexKind::gpu);
  const int out = 2 * static_cast<int>(graph.links.size());
  const int in = out + gpus_;
  for (int a = 0; a < gpus_; ++a) {
    const auto paths = models::paths_from(graph, gpus[static_cast<std::size_t>(a)]);
    for (int b = 0; b < gpus_; ++b) {
      if (a == b) continue;
      const auto& path = paths[static_cast<std::size_t>(gpus[static_cast<std::size_t>(b)])];
      if (!path) {
        throw UsageError("machine " + machine.name + ": no link joins GPU " + std::to_string(a) +
                         " and GPU " + std::to_string(b) +
                         " of a node; fewer --pes, or a machine that joins them, are accepted");
      }
      std::vector<int> resources = {out + a};
      resources.insert(resources.end(), path->begin(), path->end());
      resources.push_back(in + b);
      add_way(way_of(a, b), resources, latency_s(graph, *path));
    }
  }
}

void NodeWays::join_nics(const models::Machine& machine, const models::Graph& graph) {
  const std::vector<int> gpus = graph.all(models::VertexKind::gpu);
  const std::vector<int> nics = graph.all(models::VertexKind::nic);
  const int nic_out = 2 * static_cast<int>(graph.links.size()) + 2 * gpus_;
  const int nic_in = nic_out + machine.nics_per_node;
  for (int a = 0; a < gpus_; ++a) {
    const int nic = machine.nic_of_gpu[static_cast<std::size_t>(a)];
    if (nic < 0) continue;
    const auto path = models::path_between(graph, gpus[static_cast<std::size_t>(a)],
                                           nics[static_cast<std::size_t>(nic)]);
    if (!path) continue;  // Platform refuses to use it
    std::vector<int> there(path->begin(), path->end());
    std::vector<int> back = {nic_in + nic};
    for (auto hop = path->rbegin(); hop != path->rend(); ++hop) back.push_back(*hop ^ 1);
    there.push_back(nic_out + nic);
    add_way(gpus_ * gpus_ + a, there, latency_s(graph, *path));
    add_way(gpus_ * gpus_ + gpus_ + a, back, latency_s(graph, *path));
  }
}

// Only if every GPU reaches the same switches by itself.
void NodeWays::join_switch(const models::Graph& graph) {
  const std::vector<int> gpus = graph.all(models::VertexKind::gpu);
  const std::vector<int> switches = graph.all(models::VertexKind::nvswitch);
  if (switches.size() != 1) return;
  const int out = 2 * static_cast<int>(graph.links.size());
  const int in = out + gpus_;
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    const auto path = models::path_between(graph, gpus[static_cast<std::size_t>(gpu)], switches[0]);
    if (!path) return;
    std::vector<int> there = {out + gpu};
    std::vector<int> back;
    there.insert(there.end(), path->begin(), path->end());
    for (auto hop = path->rbegin(); hop != path->rend(); ++hop) back.push_back(*hop ^ 1);
    back.push_back(in + gpu);
    add_way(gpus_ * (gpus_ + 2) + gpu, there, latency_s(graph, *path));
    add_way(gpus_ * (gpus_ + 3) + gpu, back, latency_s(graph, *path));
  }
  has_multicast_ = true;
}

// Link r can be left out if another link s carries at least its traffic at no higher rate: s is
// full before r is. Of two that do so to each other the first stays.
void NodeWays::keep_what_binds() {
  std::vector<int> index(resources_.size(), -1);
  const auto fills_first = [&](std::size_t s, std::size_t r) {
    const Resource& other = resources_[s];
    const Resource& one = resources_[r];
    if (s == r || other.bytes_per_s > one.bytes_per_s || !is_subset(one.ways, other.ways))
      return false;
    const bool same = other.bytes_per_s == one.bytes_per_s && other.ways.size() == one.ways.size();
    return !same || s < r;
  };
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    bool binds = !resources_[r].ways.empty();
    for (std::size_t s = 0; binds && gpus_ <= most_gpus_for_pruning && s < resources_.size(); ++s)
      binds = !fills_first(s, r);
    if (!binds) continue;
    index[r] = static_cast<int>(rates_.size());
    rates_.push_back(resources_[r].bytes_per_s);
    names_.push_back(resources_[r].name);
  }
  for (Way& way : ways_) {
    std::vector<int> links;
    for (const int resource : way.links) {
      if (index[static_cast<std::size_t>(resource)] >= 0)
        links.push_back(index[static_cast<std::size_t>(resource)]);
    }
    way.links = std::move(links);
  }
  resources_.clear();
}

const NodeWays::Way& NodeWays::between(int from_gpu, int to_gpu) const {
  return ways_[static_cast<std::size_t>(way_of(from_gpu, to_gpu))];
}

const NodeWays::Way& NodeWays::to_nic(int gpu) const {
  return ways_[static_cast<std::size_t>(gpus_ * gpus_ + gpu)];
}

const NodeWays::Way& NodeWays::from_nic(int gpu) const {
  return ways_[static_cast<std::size_t>(gpus_ * gpus_ + gpus_ + gpu)];
}

const NodeWays::Way& NodeWays::to_switch(int gpu) const {
  return ways_[static_cast<std::size_t>(gpus_ * (gpus_ + 2) + gpu)];
}

const NodeWays::Way& NodeWays::from_switch(int gpu) const {
  return ways_[static_cast<std::size_t>(gpus_ * (gpus_ + 3) + gpu)];
}

}  // namespace sym::sim
