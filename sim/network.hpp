// Network: who moves the bytes in flight, and when each flow ends. The one seam between the engine
// and a flow solver; two implementations (SimGrid, and exact max-min on ports) that agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace sym::sim {

using FlowId = std::uint64_t;
inline constexpr double no_rate_cap = std::numeric_limits<double>::infinity();

// One transfer in flight. `links` are indices into the link table, each shared max-min fairly by
// the flows on it; the flow never runs faster than `rate_cap_bytes_per_s` (the issuing blocks' own
// rate). Latency is not the network's business: the engine adds it as a delay of its own.
struct Flow {
  FlowId id = 0;
  std::vector<int> links;
  double bytes = 0;
  double rate_cap_bytes_per_s = no_rate_cap;
};

// Time is in seconds from the start of the run and never goes back.
class Network {
 public:
  virtual ~Network() = default;

  // Calls `body` once, in the context in which the other members may be called, and returns when it
  // has returned. An exception of `body` reaches the caller.
  virtual void run(const std::function<void()>& body) = 0;

  // Starts a flow at time now(). Requires bytes > 0, a new id and at least one link.
  virtual void start(const Flow& flow) = 0;

  // Moves time on to `until`, or to the first instant at which at least one flow ends if that is
  // not later, and returns the flows that ended at now(), in id order (none if time reached
  // `until`). `until` may be infinity while flows are in flight; it must not lie before now().
  virtual std::vector<FlowId> advance(double until) = 0;

  virtual double now() const = 0;
  virtual std::size_t in_flight() const = 0;
  virtual std::string name() const = 0;
};

// Exact event-driven max-min fairness (water-filling) over the links; standard library only.
std::unique_ptr<Network> make_ports_network(const std::vector<double>& link_bytes_per_s);

// SimGrid as the flow solver: at most one in a process, so each simulated point runs in a forked
// child. Throws where this build has no SimGrid (`have_simgrid()` says so beforehand).
std::unique_ptr<Network> make_simgrid_network(const std::vector<double>& link_bytes_per_s);
bool have_simgrid();

}  // namespace sym::sim
