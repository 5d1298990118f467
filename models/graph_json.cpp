// The graph of a node <-> JSON.
#include <algorithm>

#include "core/text.hpp"
#include "models/json_parts.hpp"

namespace sym::models::detail {
namespace {

constexpr int most_lanes = 1024;

template <class Kind>
Kind read_kind(const JsonAt& at, const std::vector<std::string>& names) {
  const std::string word = read_choice(at, names);
  return static_cast<Kind>(std::find(names.begin(), names.end(), word) - names.begin());
}

LinkType read_type(const JsonAt& at) {
  at.only_keys({"name", "kind", "gbps", "gbps_back", "latency_us"});
  LinkType type;
  type.name = at.member("name").text();
  type.kind = read_kind<LinkKind>(at.member("kind"), link_kind_names());
  type.gbps = read_quantity(at.member("gbps"));
  if (at.has("gbps_back")) type.gbps_back = read_quantity(at.member("gbps_back"));
  if (at.has("latency_us"))
    type.latency_us = read_quantity(at.member("latency_us"), Zero::accepted);
  return type;
}

// The index of the name that stands at `at`.
int read_name(const JsonAt& at, const std::vector<std::string>& names, const char* what) {
  const std::string word = at.text();
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) {
    at.refuse("is \"" + word + "\", which is no " + what + "; the nearest is \"" +
              nearest_name(word, names) + "\"");
  }
  return static_cast<int>(found - names.begin());
}

}  // namespace

Graph read_graph(const JsonAt& at) {
  at.only_keys({"vertices", "types", "links"});
  Graph graph;
  std::vector<std::string> vertices;
  for (const JsonAt& vertex : at.member("vertices").elements()) {
    const std::vector<JsonAt> parts = vertex.elements();
    if (parts.size() != 2) vertex.refuse("has not two elements; [name, kind] is accepted");
    vertices.push_back(parts[0].text());
    graph.vertices.push_back(
        {vertices.back(), read_kind<VertexKind>(parts[1], vertex_kind_names())});
  }
  std::vector<std::string> types;
  for (const JsonAt& type : at.member("types").elements()) {
    graph.types.push_back(read_type(type));
    types.push_back(graph.types.back().name);
  }
  for (const JsonAt& link : at.member("links").elements()) {
    const std::vector<JsonAt> parts = link.elements();
    if (parts.size() != 3 && parts.size() != 4)
      link.refuse("has not three or four elements; [vertex, vertex, type, lanes] is accepted");
    graph.links.push_back({read_name(parts[0], vertices, "vertex"),
                           read_name(parts[1], vertices, "vertex"),
                           read_name(parts[2], types, "type of link"),
                           parts.size() == 4 ? read_whole(parts[3], 1, most_lanes) : 1});
  }
  const std::string fault = wiring_fault(graph);
  if (!fault.empty()) at.refuse("is no wiring: " + fault);
  return graph;
}

OrderedJson graph_json(const Graph& graph) {
  OrderedJson json;
  json["vertices"] = OrderedJson::array();
  for (const Graph::Vertex& vertex : graph.vertices) {
    json["vertices"].push_back(
        {vertex.name, vertex_kind_names()[static_cast<std::size_t>(vertex.kind)]});
  }
  json["types"] = OrderedJson::array();
  for (const LinkType& type : graph.types) {
    OrderedJson at;
    at["name"] = type.name;
    at["kind"] = link_kind_names()[static_cast<std::size_t>(type.kind)];
    at["gbps"] = quantity_json(type.gbps);
    if (type.gbps_back) at["gbps_back"] = quantity_json(*type.gbps_back);
    if (!type.latency_us.source.empty()) at["latency_us"] = quantity_json(type.latency_us);
    json["types"].push_back(std::move(at));
  }
  json["links"] = OrderedJson::array();
  for (const Graph::Link& link : graph.links) {
    OrderedJson row = {graph.vertices[static_cast<std::size_t>(link.a)].name,
                       graph.vertices[static_cast<std::size_t>(link.b)].name,
                       graph.type(link).name};
    if (link.lanes != 1) row.push_back(link.lanes);
    json["links"].push_back(std::move(row));
  }
  return json;
}

}  // namespace sym::models::detail
