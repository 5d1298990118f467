// Exact event-driven max-min fairness on links: MaxMin says the rates, this file moves time.
#include <algorithm>
#include <cstdint>

#include "max_min.hpp"
#include "network_checks.hpp"

namespace sym::sim {
namespace {

constexpr double same_time = 1e-12;  // relative: completions this near end together

struct Moving {
  FlowId id = 0;
  double remaining_bytes = 0;  // as of `since`, when its rate last changed
  double since = 0;
  std::uint32_t version = 0;  // of its one valid entry among the completions
};

struct Completion {
  double time;
  FlowId id;
  MaxMin::Index flow;
  std::uint32_t version;
  bool operator<(const Completion& other) const {  // std::*_heap keep the largest first
    return time != other.time ? time > other.time : id > other.id;
  }
};

class PortsNetwork final : public Network {
 public:
  explicit PortsNetwork(const std::vector<double>& link_bytes_per_s)
      : link_count_(link_bytes_per_s.size()), rates_(link_bytes_per_s) {
    check_links(link_bytes_per_s);
  }

  void run(const std::function<void()>& body) override { body(); }
  void start(const Flow& flow) override;
  std::vector<FlowId> advance(double until) override;
  double now() const override { return now_; }
  std::size_t in_flight() const override { return in_flight_; }
  std::string name() const override { return "ports"; }

 private:
  void apply_rates();
  void drop_stale_completions();

  std::size_t link_count_;
  MaxMin rates_;
  std::vector<Moving> flows_;            // by MaxMin's index
  std::vector<Completion> completions_;  // a heap; entries of an old version are stale
  double now_ = 0;
  std::size_t in_flight_ = 0;
};

void PortsNetwork::start(const Flow& flow) {
  check_flow(flow, link_count_);
  const MaxMin::Index index = rates_.add(flow.links, flow.rate_cap_bytes_per_s);
  if (index >= flows_.size()) flows_.resize(index + 1);
  Moving& moving = flows_[index];  // keeps its version: entries of an earlier flow stay stale
  moving.id = flow.id;
  moving.remaining_bytes = flow.bytes;
  moving.since = now_;
  ++in_flight_;
}

// All starts and ends since the last call are solved as one: time has not moved in between.
void PortsNetwork::apply_rates() {
  for (const MaxMin::Change& change : rates_.solve()) {
    Moving& moving = flows_[change.flow];
    const double moved = change.rate_before * (now_ - moving.since);
    moving.remaining_bytes = std::max(0.0, moving.remaining_bytes - moved);
    moving.since = now_;
    const double end = now_ + moving.remaining_bytes / change.rate;
    completions_.push_back({end, moving.id, change.flow, ++moving.version});
    std::push_heap(completions_.begin(), completions_.end());
  }
  if (completions_.size() > 4 * in_flight_ + 64) drop_stale_completions();
}

void PortsNetwork::drop_stale_completions() {
  std::erase_if(completions_, [this](const Completion& entry) {
    return flows_[entry.flow].version != entry.version;
  });
  std::make_heap(completions_.begin(), completions_.end());
}

std::vector<FlowId> PortsNetwork::advance(double until) {
  check_advance(now_, until, in_flight_);
  apply_rates();
  std::vector<FlowId> ended;
  double limit = until;  // from the first end on: the latest instant that counts as the same
  while (!completions_.empty()) {
    const Completion next = completions_.front();
    const bool stale = flows_[next.flow].version != next.version;
    if (!stale && next.time > limit) break;
    std::pop_heap(completions_.begin(), completions_.end());
    completions_.pop_back();
    if (stale) continue;
    if (ended.empty()) {
      now_ = std::max(now_, next.time);
      limit = now_ * (1 + same_time);
    }
    ended.push_back(next.id);
    ++flows_[next.flow].version;
    rates_.remove(next.flow);
    --in_flight_;
  }
  if (ended.empty()) now_ = until;
  std::sort(ended.begin(), ended.end());
  return ended;
}

}  // namespace

std::unique_ptr<Network> make_ports_network(const std::vector<double>& link_bytes_per_s) {
  return std::make_unique<PortsNetwork>(link_bytes_per_s);
}

}  // namespace sym::sim
