// SimGrid platform XML -> Machine: each host is a node of one GPU, and the fabric is the routes.
//
// Read are zones (AS before 4.0) of any nesting with hosts, routers, links, routes and zone routes,
// and clusters that are flat. A route of the file is an edge between two points; hosts pass nothing
// on, except in zones of routing Floyd and Dijkstra, which are graphs; a way is the one of fewest
// edges. Speeds and state of hosts do not matter here.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>

#include "core/text.hpp"
#include "models/machine_detail.hpp"
#include "models/readers.hpp"
#include "models/simgrid_units.hpp"
#include "models/xml_reader.hpp"

namespace sym::models::detail {
namespace {

constexpr std::size_t most_hosts = 256;  // routes are listed by pair

class SimgridReader {
 public:
  explicit SimgridReader(const XmlFile& file) : file_(file) {}

  Machine read() {
    const XmlAt platform = XmlAt::root(file_);
    for (const XmlAt& zone : platform.children({"zone", "AS", "cluster", "config"})) {
      if (zone.name() == "cluster")
        read_cluster(zone);
      else if (zone.name() != "config")
        read_zone(zone);
    }
    if (hosts_.empty()) platform.refuse("has no host; one for each GPU is accepted");
    if (hosts_.size() > most_hosts) {
      platform.refuse(
          "has " + std::to_string(hosts_.size()) + " hosts; up to " + std::to_string(most_hosts) +
          " are accepted (larger fabrics: rail, fat-tree, dragonfly or grid in a machine's JSON)");
    }
    Machine machine = machine_of_hosts();
    for (std::size_t from = 0; from < hosts_.size(); ++from)
      find_routes(static_cast<int>(from), machine);
    return machine;
  }

 private:
  struct Edge {
    int to;
    std::vector<int> links;
  };
  struct Point {
    bool host = false;
    bool passes = true;
    std::vector<Edge> edges;
  };
  // Of a link in the file: one resource, or one for each direction.
  struct Ends {
    int up, down;
  };

  int add_point(const XmlAt& at, const std::string& name, bool host, bool passes) {
    const int point = static_cast<int>(points_.size());
    if (!point_of_.emplace(name, point).second)
      at.refuse("has the name " + name + ", which is given twice; once is accepted");
    points_.push_back({host, passes, {}});
    if (host) {
      hosts_.push_back(point);
      names_.push_back(name);
    }
    return point;
  }

  int add_link(const std::string& name, const XmlAt& at, const char* bandwidth,
               const char* latency) {
    const std::string from = "assumed: " + at.place();
    shape_.links.push_back({name,
                            {bandwidth_gbps(at, bandwidth), from, false},
                            {latency_us(at, latency), from, false},
                            false});
    return static_cast<int>(shape_.links.size()) - 1;
  }

  Ends add_shared(const std::string& name, const XmlAt& at, const char* policy_key,
                  const char* otherwise, std::pair<const char*, const char*> keys) {
    const std::string policy = at.text_or(policy_key, otherwise);
    const int up = add_link(name, at, keys.first, keys.second);
    if (policy == "SPLITDUPLEX" || policy == "FULLDUPLEX")
      return {up, add_link(name + "_down", at, keys.first, keys.second)};
    if (policy == "FATPIPE")
      shape_.links.back().per_flow = true;
    else if (policy != "SHARED")
      at.refuse(std::string("has ") + policy_key + "=\"" + policy +
                "\"; SHARED, SPLITDUPLEX and FATPIPE are accepted");
    return {up, up};
  }

  void read_zone(const XmlAt& zone) {
    const std::string routing = zone.text_or("routing", "Full");
    static const std::vector<std::string> known = {"Full", "None", "Floyd", "Dijkstra",
                                                   "DijkstraCache"};
    if (std::find(known.begin(), known.end(), routing) == known.end())
      zone.refuse("has routing=\"" + routing +
                  "\"; Full, Floyd, Dijkstra and DijkstraCache are accepted (and <cluster>)");
    const bool graph = routing != "Full" && routing != "None";
    std::vector<XmlAt> routes;
    for (const XmlAt& one : zone.children({"host", "router", "link", "route", "zone", "AS",
                                           "cluster", "zoneRoute", "ASroute", "prop"})) {
      const std::string name = one.name();
      if (name == "host")
        add_point(one, one.text("id"), true, graph);
      else if (name == "router")
        add_point(one, one.text("id"), false, true);
      else if (name == "link")
        read_link(one);
      else if (name == "zone" || name == "AS")
        read_zone(one);
      else if (name == "cluster")
        read_cluster(one);
      else if (name != "prop")
        routes.push_back(one);
    }
    for (const XmlAt& route : routes) read_route(route);
  }

  void read_link(const XmlAt& at) {
    const std::string name = at.text("id");
    const Ends ends = add_shared(name, at, "sharing_policy", "SHARED", {"bandwidth", "latency"});
    if (!links_.emplace(name, ends).second)
      at.refuse("has the id " + name + ", which is given twice; once is accepted");
  }

  int point_at(const XmlAt& at, const char* attribute) const {
    const std::string name = at.text(attribute);
    const auto found = point_of_.find(name);
    if (found != point_of_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [one, point] : point_of_) known.push_back(one);
    at.refuse(std::string("has ") + attribute + "=\"" + name +
              "\", which no host or router is; the nearest is " + nearest_name(name, known));
  }

  void read_route(const XmlAt& route) {
    const bool between = route.name() == "zoneRoute" || route.name() == "ASroute";
    const int from = point_at(route, between ? "gw_src" : "src");
    const int to = point_at(route, between ? "gw_dst" : "dst");
    std::vector<int> there, back;
    for (const XmlAt& use : route.children({"link_ctn"})) {
      const auto found = links_.find(use.text("id"));
      if (found == links_.end())
        use.refuse("has the id " + use.text("id") + ", which no link has; a link's id is accepted");
      const bool down = use.text_or("direction", "UP") == "DOWN";
      there.push_back(down ? found->second.down : found->second.up);
      back.push_back(down ? found->second.up : found->second.down);
    }
    const std::string both = route.text_or("symmetrical", "YES");
    if (both != "YES" && both != "yes" && both != "NO" && both != "no")
      route.refuse("has symmetrical=\"" + both + "\"; YES and NO are accepted");
    std::reverse(back.begin(), back.end());
    points_[static_cast<std::size_t>(from)].edges.push_back({to, there});
    if (both[0] == 'Y' || both[0] == 'y')
      points_[static_cast<std::size_t>(to)].edges.push_back({from, back});
  }

  // "0-7,9": the numbers of a cluster's hosts.
  static std::vector<int> radical_of(const XmlAt& cluster) {
    const std::string text = cluster.text("radical");
    std::vector<int> numbers;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      const std::string part = text.substr(at, comma - at);
      char* end = nullptr;
      const long first = std::strtol(part.c_str(), &end, 10);
      const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
      if (part.empty() || *end != '\0' || first < 0 || last < first || last - first > 1 << 20)
        cluster.refuse("has radical=\"" + text +
                       "\"; numbers and ranges such as 0-7,9 are accepted");
      for (long n = first; n <= last; ++n) numbers.push_back(static_cast<int>(n));
      at = comma + 1;
    }
    return numbers;
  }

  // Hosts hang on two inner points, with the backbone from the one to the other.
  void read_cluster(const XmlAt& cluster) {
    const std::string topology = cluster.text_or("topology", "FLAT");
    if (topology != "FLAT")
      cluster.refuse(
          "has topology=\"" + topology +
          "\"; FLAT is accepted (others: fat-tree, dragonfly or grid in a machine's JSON)");
    if (cluster.has("limiter_link"))
      cluster.refuse("has a limiter_link; a cluster without one is accepted");
    const std::string id = cluster.text("id");
    const std::string prefix = cluster.text_or("prefix", "");
    const std::string suffix = cluster.text_or("suffix", "");
    const int in = add_point(cluster, id + " in", false, true);
    const int out = add_point(cluster, id + " out", false, true);
    const int router = add_point(
        cluster, cluster.text_or("router_id", prefix + id + "_router" + suffix), false, true);
    const auto join = [&](int from, int to, std::vector<int> links) {
      points_[static_cast<std::size_t>(from)].edges.push_back({to, std::move(links)});
    };
    std::vector<int> backbone;
    if (cluster.has("bb_bw"))
      backbone = {
          add_shared(id + "_backbone", cluster, "bb_sharing_policy", "SHARED", {"bb_bw", "bb_lat"})
              .up};
    join(in, out, backbone);
    join(router, in, {});
    join(out, router, {});
    for (const int number : radical_of(cluster)) {
      const std::string name = prefix + std::to_string(number) + suffix;
      const int host = add_point(cluster, name, true, false);
      const Ends ends =
          add_shared(name + "_link", cluster, "sharing_policy", "SPLITDUPLEX", {"bw", "lat"});
      join(host, in, {ends.up});
      join(out, host, {ends.down});
    }
  }

  Machine machine_of_hosts() {
    Machine machine;
    machine.name = file_stem(file_.origin);
    machine.description =
        "From a SimGrid platform: each host is a node of one GPU; links are the file's, other "
        "numbers are assumed.";
    machine.nodes = static_cast<int>(hosts_.size());
    machine.gpus_per_node = 1;
    machine.nics_per_node = 1;
    machine.nic_of_gpu = {0};
    machine.fabric = machine.nodes > 1 ? "routes" : "none";
    machine.shape = shape_;
    assume_numbers(machine);
    double fastest = 0;
    for (const FabricShape::Link& link : shape_.links) fastest = std::max(fastest, link.gbps.value);
    if (fastest > 0)
      machine.numbers["nic_gbps"] = {
          fastest, "assumed: the file's fastest link, so that the file's links limit", false};
    return machine;
  }

  void find_routes(int from_host, Machine& machine) const {
    const int from = hosts_[static_cast<std::size_t>(from_host)];
    std::vector<std::pair<int, const Edge*>> last(points_.size(), {-1, nullptr});
    std::deque<int> queue = {from};
    while (!queue.empty()) {
      const int at = queue.front();
      queue.pop_front();
      const Point& point = points_[static_cast<std::size_t>(at)];
      if (at != from && !point.passes) continue;
      for (const Edge& edge : point.edges) {
        if (edge.to == from || last[static_cast<std::size_t>(edge.to)].second != nullptr) continue;
        last[static_cast<std::size_t>(edge.to)] = {at, &edge};
        queue.push_back(edge.to);
      }
    }
    for (std::size_t to = 0; to < hosts_.size(); ++to) {
      if (static_cast<int>(to) == from_host) continue;
      FabricShape::Route route{from_host, static_cast<int>(to), {}};
      int at = hosts_[to];
      if (last[static_cast<std::size_t>(at)].second == nullptr) {
        XmlAt::root(file_).refuse("joins no way from host " +
                                  names_[static_cast<std::size_t>(from_host)] + " to host " +
                                  names_[to] + "; a connected platform is accepted");
      }
      for (; at != from; at = last[static_cast<std::size_t>(at)].first) {
        const std::vector<int>& links = last[static_cast<std::size_t>(at)].second->links;
        route.links.insert(route.links.begin(), links.begin(), links.end());
      }
      machine.shape.routes.push_back(std::move(route));
    }
  }

  const XmlFile& file_;
  std::vector<Point> points_;
  std::map<std::string, int> point_of_;
  std::vector<int> hosts_;
  std::vector<std::string> names_;
  std::map<std::string, Ends> links_;
  FabricShape shape_;
};

}  // namespace

Machine read_simgrid_platform(const XmlFile& file) { return SimgridReader(file).read(); }

bool have_xml() { return true; }

Machine parse_xml(const std::string& text, const std::string& origin) {
  const XmlFile file(text, origin);
  const XmlAt root = XmlAt::root(file);
  if (root.name() == "system") return read_nccl_system(file);
  if (root.name() == "platform") return read_simgrid_platform(file);
  if (root.name() == "graphs") {
    root.refuse(
        "holds the rings and trees that NCCL chose, not what joins the GPUs; <system> "
        "(NCCL_TOPO_DUMP_FILE) is accepted");
  }
  root.refuse("is unknown; <system> (NCCL's topology) and <platform> (SimGrid) are accepted");
}

}  // namespace sym::models::detail
