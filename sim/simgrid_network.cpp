// SimGrid as the flow solver. The only translation unit that knows SimGrid.
//
// Routes. SimGrid looks a route up by pair of hosts when a communication starts. Our one zone
// answers from a table that the driver writes: a pair of hosts stands for one courier, nothing
// else, and its route is the link list of the flow that the courier carries. So any list of links
// works, none has to be announced, and H hosts serve H * (H - 1) flows in flight.
//
// Two kinds of courier. One actor and `sendto` is cheapest, but its cost is linear in the number in
// flight, and SimGrid 3.32 drops the rate of a sendto without a word. Two actors and a mailbox have
// neither flaw: they carry flows whose cap binds, and everything above `sendto_limit` in flight.
//
// Actors. The *driver* runs the caller's body. Each *courier* waits for a flow, carries it, reports
// it and waits again. Time moves only while the driver sleeps in advance().
#ifdef SYM_HAVE_SIMGRID

// version.h leans on what s4u.hpp includes.
// clang-format off
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
// clang-format on

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <utility>

#include "network_checks.hpp"

namespace sym::sim {
namespace {

namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;

constexpr double timing_precision_s = 1e-12;     // SimGrid cannot sleep for less
constexpr unsigned driver_stack_kib = 8u << 10;  // Actor::set_stacksize takes KiB, not bytes
constexpr unsigned long host_count = 512;        // 261,632 flows in flight
constexpr std::size_t sendto_limit = 640;  // above, sendto (linear in flight) costs more; measured

using LinkImpls = std::vector<simgrid::kernel::resource::StandardLinkImpl*>;

// Hosts of this zone are numbered from 0 in order of creation; route(from, to) is written by the
// owner.
class TableZone final : public routing::NetZoneImpl {
 public:
  explicit TableZone(const std::string& name) : NetZoneImpl(name) {}

  LinkImpls& route(unsigned long from, unsigned long to) {
    const std::size_t index = from * host_count + to;
    if (index >= routes_.size()) routes_.resize(index + 1);
    return routes_[index];
  }

  // Links have no latency, so none is added.
  void get_local_route(const routing::NetPoint* src, const routing::NetPoint* dst,
                       routing::Route* into, double* /*latency*/) override {
    const LinkImpls& links = route(src->id(), dst->id());
    into->link_list_.insert(into->link_list_.end(), links.begin(), links.end());
  }

 private:
  std::vector<LinkImpls> routes_;
};

struct Courier {
  unsigned long from = 0;  // hosts, which name its route
  unsigned long to = 0;
  s4u::SemaphorePtr work;
  s4u::Mailbox* mailbox = nullptr;  // of a pair; null for a courier that uses sendto
  FlowId flow = 0;
  std::uint64_t bytes = 0;
  double rate_cap = -1;  // SimGrid's word for "none"
};

class SimgridNetwork final : public Network {
 public:
  explicit SimgridNetwork(std::vector<double> link_bytes_per_s)
      : link_bytes_per_s_(std::move(link_bytes_per_s)) {
    check_links(link_bytes_per_s_);
  }

  void run(const std::function<void()>& body) override;
  void start(const Flow& flow) override;
  std::vector<FlowId> advance(double until) override;
  double now() const override { return now_; }
  std::size_t in_flight() const override { return in_flight_; }
  std::string name() const override { return "simgrid"; }

 private:
  void build_platform();
  Courier* make_courier(bool pair);
  void carry(Courier& courier);
  void report(Courier& courier);
  void sleep_until(double until);
  double slowest_link(const Flow& flow) const;

  std::vector<double> link_bytes_per_s_;
  LinkImpls links_;
  std::vector<s4u::Host*> hosts_;
  TableZone* zone_ = nullptr;  // SimGrid owns it
  s4u::SemaphorePtr wake_;
  bool woken_ = false;  // wake_ was released and not yet acquired
  std::vector<std::unique_ptr<Courier>> couriers_;
  std::vector<Courier*> idle_sendto_, idle_pairs_;
  std::vector<FlowId> ended_;
  double now_ = 0;
  std::size_t in_flight_ = 0;
};

void SimgridNetwork::build_platform() {
  zone_ = new TableZone("links");
  for (std::size_t i = 0; i < link_bytes_per_s_.size(); ++i) {
    s4u::Link* link = zone_->create_link("l" + std::to_string(i), {link_bytes_per_s_[i]});
    link->set_latency(0.0);
    link->seal();
    links_.push_back(link->get_impl());
  }
  for (unsigned long i = 0; i < host_count; ++i) {
    hosts_.push_back(zone_->create_host("h" + std::to_string(i), {1e9})->seal());
    if (hosts_.back()->get_netpoint()->id() != i)
      throw std::logic_error("simgrid network: hosts are not numbered in order of creation");
  }
  zone_->seal();
}

void SimgridNetwork::run(const std::function<void()>& body) {
  static bool ran = false;
  if (std::exchange(ran, true))
    throw std::logic_error(
        "simgrid network: SimGrid runs once in a process; fork one for each point");
  // Options go in as if from a command line: some are read before set_config could set them.
  std::array<std::string, 10> words {
    "sym", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:1e15", "--cfg=contexts/guard-size:0",
        "--cfg=contexts/stack-size:16",
#if SIMGRID_VERSION >= 33400
        "--cfg=precision/timing:1e-12",
#else
        "--cfg=surf/precision:1e-12",
#endif
        "--cfg=contexts/nthreads:1", "--log=root.thres:critical", "--log=no_loc"
  };
  std::array<char*, 11> argv{};
  for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
  int argc = static_cast<int>(words.size());
  s4u::Engine engine(&argc, argv.data());
  build_platform();
  wake_ = s4u::Semaphore::create(0);
  std::exception_ptr failure;
  s4u::Actor::init("driver", hosts_[0])->set_stacksize(driver_stack_kib)->start([&body, &failure] {
    try {
      body();
    } catch (const simgrid::ForcefulKillException&) {
      throw;  // SimGrid's own way to unwind an actor
    } catch (...) {
      failure = std::current_exception();
    }
  });
  engine.run();
  if (failure) std::rethrow_exception(failure);
}

Courier* SimgridNetwork::make_courier(bool pair) {
  const std::size_t index = couriers_.size();
  couriers_.push_back(std::make_unique<Courier>());
  Courier* courier = couriers_.back().get();
  courier->from = index / (host_count - 1);
  courier->to = index % (host_count - 1);
  if (courier->to >= courier->from) ++courier->to;
  if (courier->from >= host_count)
    throw std::runtime_error("simgrid network: more than " + std::to_string(index) +
                             " flows in flight; raise host_count, or use --network ports");
  courier->work = s4u::Semaphore::create(0);
  const std::string name = "c" + std::to_string(index);
  if (pair) {
    courier->mailbox = s4u::Mailbox::by_name(name);
    s4u::Actor::create("r" + name, hosts_[courier->to], [mailbox = courier->mailbox] {
      s4u::Actor::self()->daemonize();
      while (true) mailbox->get<void>();
    });
  }
  s4u::Actor::create(name, hosts_[courier->from], [this, courier] {
    s4u::Actor::self()->daemonize();
    while (true) {
      courier->work->acquire();
      carry(*courier);
      report(*courier);
    }
  });
  return courier;
}

void SimgridNetwork::carry(Courier& courier) {
  if (courier.mailbox) {
    courier.mailbox->put_init(&courier, courier.bytes)->set_rate(courier.rate_cap)->wait();
    return;
  }
  s4u::Comm::sendto(hosts_[courier.from], hosts_[courier.to], courier.bytes);
}

void SimgridNetwork::report(Courier& courier) {
  ended_.push_back(courier.flow);
  (courier.mailbox ? idle_pairs_ : idle_sendto_).push_back(&courier);
  if (!std::exchange(woken_, true)) wake_->release();
}

double SimgridNetwork::slowest_link(const Flow& flow) const {
  double rate = no_rate_cap;
  for (const int link : flow.links)
    rate = std::min(rate, link_bytes_per_s_[static_cast<std::size_t>(link)]);
  return rate;
}

void SimgridNetwork::start(const Flow& flow) {
  check_flow(flow, link_bytes_per_s_.size());
  // A flow starts at SimGrid's clock whatever we believe; a clock left behind would end it early.
  if (std::abs(s4u::Engine::get_clock() - now_) > 2 * timing_precision_s + 1e-15 * now_)
    throw std::logic_error("simgrid network: SimGrid's clock is at " +
                           std::to_string(s4u::Engine::get_clock()) + " s, the engine's at " +
                           std::to_string(now_) + " s");
  const bool capped = flow.rate_cap_bytes_per_s < slowest_link(flow);
  const bool pair = capped || in_flight_ >= sendto_limit;
  auto& idle = pair ? idle_pairs_ : idle_sendto_;
  if (idle.empty()) idle.push_back(make_courier(pair));
  Courier* courier = idle.back();
  idle.pop_back();
  courier->flow = flow.id;
  // SimGrid moves whole bytes; half a byte is a picosecond at most on links worth simulating.
  courier->bytes = static_cast<std::uint64_t>(std::max(1.0, std::round(flow.bytes)));
  courier->rate_cap = capped ? flow.rate_cap_bytes_per_s : -1;
  LinkImpls& route = zone_->route(courier->from, courier->to);
  route.clear();
  for (const int link : flow.links) route.push_back(links_[static_cast<std::size_t>(link)]);
  ++in_flight_;
  courier->work->release();
}

// Returns with SimGrid's clock at `until`, or earlier if a courier reported.
void SimgridNetwork::sleep_until(double until) {
  const double left = until - s4u::Engine::get_clock();
  if (left < timing_precision_s) {
    s4u::this_actor::yield();  // acquire_timeout never times out for nothing
    return;
  }
  bool acquired = true;
  if (std::isinf(until))
    wake_->acquire();
  else
    acquired = !wake_->acquire_timeout(left);
  if (acquired)
    woken_ = false;
  else
    s4u::this_actor::yield();  // a flow that ends at this very instant reports in the same round
}

std::vector<FlowId> SimgridNetwork::advance(double until) {
  check_advance(now_, until, in_flight_);
  if (ended_.empty()) sleep_until(until);
  if (woken_) {
    wake_->acquire();
    woken_ = false;
  }
  now_ = ended_.empty() ? until : std::clamp(s4u::Engine::get_clock(), now_, until);
  in_flight_ -= ended_.size();
  std::vector<FlowId> ended = std::exchange(ended_, {});
  std::sort(ended.begin(), ended.end());
  return ended;
}

}  // namespace

bool have_simgrid() { return true; }

std::unique_ptr<Network> make_simgrid_network(const std::vector<double>& link_bytes_per_s) {
  return std::make_unique<SimgridNetwork>(link_bytes_per_s);
}

}  // namespace sym::sim

#endif
