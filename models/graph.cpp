#include "models/graph.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

namespace sym::models {
namespace {

bool is_fast(LinkKind kind) { return kind == LinkKind::nvlink || kind == LinkKind::xgmi; }

// For each vertex the hops that leave it.
std::vector<std::vector<Hop>> hops_from(const Graph& graph) {
  std::vector<std::vector<Hop>> hops(graph.vertices.size());
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const int link = static_cast<int>(i);
    hops[static_cast<std::size_t>(graph.links[i].a)].push_back(2 * link);
    hops[static_cast<std::size_t>(graph.links[i].b)].push_back(2 * link + 1);
  }
  return hops;
}

const Graph::Link& link_of(const Graph& graph, Hop hop) {
  return graph.links[static_cast<std::size_t>(hop / 2)];
}

int end_of(const Graph& graph, Hop hop) {
  const Graph::Link& link = link_of(graph, hop);
  return hop % 2 == 0 ? link.b : link.a;
}

int start_of(const Graph& graph, Hop hop) { return end_of(graph, hop ^ 1); }

// May traffic that came over `in` leave `vertex` again over `out`?
bool passes(const Graph& graph, int vertex, Hop in, Hop out) {
  const VertexKind kind = graph.vertices[static_cast<std::size_t>(vertex)].kind;
  if (kind == VertexKind::nic) return false;
  if (kind != VertexKind::gpu) return true;
  return graph.type(link_of(graph, in)).kind == LinkKind::xgmi &&
         graph.type(link_of(graph, out)).kind == LinkKind::xgmi;
}

// The last hop on the way from `from` to each vertex by breadth-first search; -1: not reached.
std::vector<Hop> search(const Graph& graph, const std::vector<std::vector<Hop>>& hops, int from,
                        bool fast_only) {
  std::vector<Hop> last(graph.vertices.size(), -1);
  std::deque<int> queue = {from};
  while (!queue.empty()) {
    const int vertex = queue.front();
    queue.pop_front();
    for (const Hop hop : hops[static_cast<std::size_t>(vertex)]) {
      const int next = end_of(graph, hop);
      if (fast_only && !is_fast(graph.type(link_of(graph, hop)).kind)) continue;
      if (next == from || last[static_cast<std::size_t>(next)] >= 0) continue;
      const Hop in = last[static_cast<std::size_t>(vertex)];
      if (vertex != from && !passes(graph, vertex, in, hop)) continue;
      last[static_cast<std::size_t>(next)] = hop;
      queue.push_back(next);
    }
  }
  return last;
}

Path walk_back(const Graph& graph, const std::vector<Hop>& last, int from, int to) {
  Path path;
  for (int at = to; at != from; at = start_of(graph, path.back())) {
    path.push_back(last[static_cast<std::size_t>(at)]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string link_text(const Graph& graph, const Graph::Link& link) {
  const auto name = [&](int v) { return graph.vertices[static_cast<std::size_t>(v)].name; };
  return "'" + name(link.a) + "' to '" + name(link.b) + "'";
}

// Union-find over vertices.
int root_of(std::vector<int>& parent, int vertex) {
  while (parent[static_cast<std::size_t>(vertex)] != vertex) {
    int& up = parent[static_cast<std::size_t>(vertex)];
    up = parent[static_cast<std::size_t>(up)];
    vertex = up;
  }
  return vertex;
}

// PCIe is a tree, and what joins sockets is one vertex: a cycle has no one way through it.
std::string cycle_fault(const Graph& graph) {
  std::vector<int> parent(graph.vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const Graph::Link& link : graph.links) {
    if (is_fast(graph.type(link).kind)) continue;
    const int a = root_of(parent, link.a);
    const int b = root_of(parent, link.b);
    if (a == b) {
      return "the link " + link_text(graph, link) +
             " closes a cycle of PCIe links; a tree is accepted (several lanes are one link)";
    }
    parent[static_cast<std::size_t>(a)] = b;
  }
  return "";
}

std::string reach_fault(const Graph& graph) {
  const std::vector<int> gpus = graph.all(VertexKind::gpu);
  const auto hops = hops_from(graph);
  for (const int from : gpus) {
    const std::vector<Hop> fast = search(graph, hops, from, true);
    const std::vector<Hop> any = search(graph, hops, from, false);
    for (const int to : gpus) {
      const auto at = static_cast<std::size_t>(to);
      if (to == from || fast[at] >= 0 || any[at] >= 0) continue;
      return "no way joins '" + graph.vertices[static_cast<std::size_t>(from)].name + "' and '" +
             graph.vertices[at].name + "'; a connected node is accepted";
    }
  }
  return "";
}

}  // namespace

std::vector<int> Graph::all(VertexKind kind) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i].kind == kind) found.push_back(static_cast<int>(i));
  }
  return found;
}

double hop_gbps(const Graph& graph, Hop hop) {
  const Graph::Link& link = link_of(graph, hop);
  const LinkType& type = graph.type(link);
  const bool back = hop % 2 == 1 && type.gbps_back;
  return (back ? type.gbps_back->value : type.gbps.value) * link.lanes;
}

double hop_latency_us(const Graph& graph, Hop hop) {
  return graph.type(link_of(graph, hop)).latency_us.value;
}

std::optional<Path> path_between(const Graph& graph, int from, int to) {
  const auto hops = hops_from(graph);
  for (const bool fast_only : {true, false}) {
    const std::vector<Hop> last = search(graph, hops, from, fast_only);
    if (last[static_cast<std::size_t>(to)] >= 0) return walk_back(graph, last, from, to);
  }
  return std::nullopt;
}

std::vector<std::optional<Path>> paths_from(const Graph& graph, int from) {
  const auto hops = hops_from(graph);
  std::vector<std::optional<Path>> paths(graph.vertices.size());
  for (const bool fast_only : {true, false}) {
    const std::vector<Hop> last = search(graph, hops, from, fast_only);
    for (std::size_t to = 0; to < paths.size(); ++to) {
      if (!paths[to] && last[to] >= 0)
        paths[to] = walk_back(graph, last, from, static_cast<int>(to));
    }
  }
  return paths;
}

std::vector<int> nearest_nics(const Graph& graph) {
  const std::vector<int> nics = graph.all(VertexKind::nic);
  std::vector<int> uses(nics.size(), 0);
  std::vector<int> nearest;
  const auto hops = hops_from(graph);
  for (const int gpu : graph.all(VertexKind::gpu)) {
    const std::vector<Hop> last = search(graph, hops, gpu, false);
    int best = -1;
    std::pair<std::size_t, int> best_rank;
    for (std::size_t nic = 0; nic < nics.size(); ++nic) {
      if (last[static_cast<std::size_t>(nics[nic])] < 0) continue;
      const std::pair rank(walk_back(graph, last, gpu, nics[nic]).size(), uses[nic]);
      if (best >= 0 && rank >= best_rank) continue;
      best = static_cast<int>(nic);
      best_rank = rank;
    }
    if (best >= 0) ++uses[static_cast<std::size_t>(best)];
    nearest.push_back(best);
  }
  return nearest;
}

std::string wiring_fault(const Graph& graph) {
  std::set<std::string> names;
  for (const Graph::Vertex& vertex : graph.vertices) {
    if (!names.insert(vertex.name).second)
      return "the vertex '" + vertex.name + "' is given twice; once is accepted";
  }
  for (const Graph::Link& link : graph.links) {
    if (link.a == link.b)
      return "the link " + link_text(graph, link) + " has one end; two vertices are accepted";
  }
  const std::string cycle = cycle_fault(graph);
  return cycle.empty() ? reach_fault(graph) : cycle;
}

const std::vector<std::string>& vertex_kind_names() {
  static const std::vector<std::string> names = {"gpu",    "nic",  "nvswitch", "pcie-switch",
                                                 "bridge", "numa", "smp"};
  return names;
}

const std::vector<std::string>& link_kind_names() {
  static const std::vector<std::string> names = {"nvlink", "xgmi", "pcie", "socket"};
  return names;
}

}  // namespace sym::models
