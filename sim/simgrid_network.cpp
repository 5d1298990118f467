// SimGrid as the flow solver. The only translation unit that knows SimGrid.
//
// Routes. SimGrid asks our one zone for the route of a communication at the moment at which it
// starts, so the driver says the flow's list of links just before. Any list works, none has to be
// announced, and one host serves all flows in flight.
//
// Actors. The *driver* runs the caller's body and starts the flows. Time moves only while it sleeps
// in advance(). Each *courier* waits in a mailbox of its own for the flow that the driver puts
// there, reports it and waits again. What the driver puts is a communication that the courier has
// made: its sender is the courier, and SimGrid keeps an actor's communications in a list that it
// searches from end to end. So that list has one entry, however many flows are in flight; those of
// the driver, or of `sendto` (which also drops the rate, in SimGrid 3.32), would be in one list.
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
#include <csignal>
#include <cstdint>
#include <exception>
#include <utility>

#include "network_checks.hpp"

namespace sym::sim {
namespace {

namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;

constexpr double timing_precision_s = 1e-12;  // SimGrid cannot sleep for less
// SimGrid moves whole bytes, and what a copy engine moves is no whole number of them: it counts in
// parts of one. Half a byte of a small flow would be a millionth of its time, and where PEs go on
// as their flows end, such a difference grows.
constexpr double parts_of_a_byte = 1024;
constexpr double most_parts = 0x1p63;
constexpr unsigned driver_stack_kib = 8u << 10;  // Actor::set_stacksize takes KiB, not bytes

using LinkImpls = std::vector<simgrid::kernel::resource::StandardLinkImpl*>;

class OneRouteZone final : public routing::NetZoneImpl {
 public:
  explicit OneRouteZone(const std::string& name) : NetZoneImpl(name) {}

  LinkImpls route;  // of what starts now; empty at other times

  // Links have no latency, so none is added.
  void get_local_route(const routing::NetPoint* /*src*/, const routing::NetPoint* /*dst*/,
                       routing::Route* into, double* /*latency*/) override {
    if (route.empty()) throw std::logic_error("simgrid network: a flow starts on its own");
    into->link_list_.insert(into->link_list_.end(), route.begin(), route.end());
  }
};

struct Courier {
  s4u::Mailbox* mailbox = nullptr;
  s4u::CommPtr send;  // the next: not started, or under way
  FlowId flow = 0;
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
  void make_courier();
  void carry(Courier& courier);
  void sleep_until(double until);
  double slowest_link(const Flow& flow) const;

  std::vector<double> link_bytes_per_s_;
  LinkImpls links_;
  s4u::Host* host_ = nullptr;
  OneRouteZone* zone_ = nullptr;  // SimGrid owns it
  s4u::SemaphorePtr wake_;
  bool woken_ = false;  // wake_ was released and not yet acquired
  std::vector<std::unique_ptr<Courier>> couriers_;
  std::vector<Courier*> idle_;
  std::vector<FlowId> ended_;
  double now_ = 0;
  std::size_t in_flight_ = 0;
};

void SimgridNetwork::build_platform() {
  zone_ = new OneRouteZone("links");
  for (std::size_t i = 0; i < link_bytes_per_s_.size(); ++i) {
    s4u::Link* link =
        zone_->create_link("l" + std::to_string(i), {link_bytes_per_s_[i] * parts_of_a_byte});
    link->set_latency(0.0);
    link->seal();
    links_.push_back(link->get_impl());
  }
  host_ = zone_->create_host("h", {1e9})->seal();
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
  // SimGrid would answer an interrupt by leaving in the middle of what is under way.
  const auto interrupted = std::signal(SIGINT, SIG_DFL);
  s4u::Engine engine(&argc, argv.data());
  (void)std::signal(SIGINT, interrupted);
  build_platform();
  wake_ = s4u::Semaphore::create(0);
  std::exception_ptr failure;
  s4u::Actor::init("driver", host_)
      ->set_stacksize(driver_stack_kib)
      ->start([&body, &failure, interrupted] {
        (void)std::signal(SIGINT, interrupted);
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

void SimgridNetwork::make_courier() {
  const std::string name = "c" + std::to_string(couriers_.size());
  couriers_.push_back(std::make_unique<Courier>());
  Courier* courier = couriers_.back().get();
  courier->mailbox = s4u::Mailbox::by_name(name);
  s4u::Actor::create(name, host_, [this, courier] {
    s4u::Actor::self()->daemonize();
    while (true) carry(*courier);
  });
  while (idle_.empty()) s4u::this_actor::yield();  // until it waits
}

void SimgridNetwork::carry(Courier& courier) {
  courier.send = courier.mailbox->put_init(&courier, 0);
  idle_.push_back(&courier);  // the driver sees it when SimGrid knows that it waits
  void* received = nullptr;
  courier.mailbox->get_init()->set_dst_data(&received, sizeof received)->wait();
  ended_.push_back(courier.flow);
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
  if (idle_.empty()) make_courier();
  Courier& courier = *idle_.back();
  idle_.pop_back();
  courier.flow = flow.id;
  // What stands for a flow without an end may be more than a whole number holds.
  const double parts = std::clamp(std::round(flow.bytes * parts_of_a_byte), 1.0, most_parts);
  courier.send->set_payload_size(static_cast<std::uint64_t>(parts));
  if (capped) courier.send->set_rate(flow.rate_cap_bytes_per_s * parts_of_a_byte);
  for (const int link : flow.links) zone_->route.push_back(links_[static_cast<std::size_t>(link)]);
  courier.send->start();
  zone_->route.clear();
  ++in_flight_;
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
