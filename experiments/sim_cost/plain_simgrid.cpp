// What somebody would write with SimGrid alone for the flows of cost.cpp's `exchange`: P hosts with
// a link out and a link in, and from each host a message to every other, at most four under way.
//   plain_simgrid PES BYTES
// Prints a line of CSV as cost.cpp does. Simulates nothing but the flows: no verbs, no flags.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;

int main(int argc, char** argv) {
  const int pes = argc > 2 ? std::atoi(argv[1]) : 64;
  const double bytes = argc > 2 ? std::atof(argv[2]) : 1e6;
  constexpr int window = 4;
  constexpr double nic_bytes_per_s = 48.5e9;
  std::vector<std::string> words{"plain", "--cfg=network/model:CM02",
                                 "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:1e15",
                                 "--log=root.thres:critical"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  s4u::Engine engine(&count, arguments.data());
  s4u::NetZone* zone = s4u::create_full_zone("zone");
  std::vector<s4u::Host*> hosts;
  std::vector<s4u::Link*> out, in;
  for (int pe = 0; pe < pes; ++pe) {
    const std::string name = std::to_string(pe);
    hosts.push_back(zone->create_host("h" + name, 1e9)->seal());
    out.push_back(zone->create_link("o" + name, nic_bytes_per_s)->set_latency(0)->seal());
    in.push_back(zone->create_link("i" + name, nic_bytes_per_s)->set_latency(0)->seal());
  }
  for (int from = 0; from < pes; ++from) {
    for (int to = 0; to < pes; ++to) {
      if (from == to) continue;
      zone->add_route(hosts[static_cast<std::size_t>(from)]->get_netpoint(),
                      hosts[static_cast<std::size_t>(to)]->get_netpoint(), nullptr, nullptr,
                      {s4u::LinkInRoute(out[static_cast<std::size_t>(from)]),
                       s4u::LinkInRoute(in[static_cast<std::size_t>(to)])},
                      false);
    }
  }
  zone->seal();
  const std::clock_t began = std::clock();  // platform made; what follows is the flows
  std::vector<int> next(static_cast<std::size_t>(pes), 1);
  for (int from = 0; from < pes; ++from) {
    for (int slot = 0; slot < window; ++slot) {
      s4u::Actor::create("a", hosts[static_cast<std::size_t>(from)], [&, from] {
        for (;;) {
          const int hop = next[static_cast<std::size_t>(from)]++;
          if (hop >= pes) return;
          s4u::Comm::sendto(hosts[static_cast<std::size_t>(from)],
                            hosts[static_cast<std::size_t>((from + hop) % pes)],
                            static_cast<std::uint64_t>(bytes));
        }
      });
    }
  }
  engine.run();
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  const double flows = static_cast<double>(pes) * (pes - 1);
  std::printf("exchange,plain,%d,%.0f,%.3f,%.3f,%.3f,\n", pes, flows,
              s4u::Engine::get_clock() * 1e6, seconds, seconds / flows * 1e6);
  return 0;
}
