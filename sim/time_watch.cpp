// The part of TimePolicy that knows what is wrong with the machine, and what somebody wants to
// know.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "sim/time_policy.hpp"

namespace sym::sim {

using fiber::Agent;

namespace {

// Numbers in (0, 1] that depend on nothing but the three.
double uniform(std::uint64_t seed, std::uint64_t agent, std::uint64_t draw) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15ULL ^ std::rotl(agent, 40) ^ draw;
  for (int round = 0; round < 2; ++round) {  // splitmix64
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    x ^= x >> 31;
  }
  return (static_cast<double>(x >> 11) + 1) * 0x1p-53;
}

}  // namespace

TimePolicy::TimePolicy(const models::Machine& machine, const Platform& platform, Network& network,
                       const Disturbance& disturbance)
    : machine_(machine),
      costs_(machine),
      platform_(platform),
      network_(network),
      disturbance_(disturbance) {
  for (const auto& [pe, factor] : disturbance.slow_gpus)
    slow_costs_.emplace(pe, Costs(machine, factor));
}

void TimePolicy::watch(Trail* trail, Trace* trace) {
  trail_ = trail;
  trace_ = trace;
  link_bytes_.assign(platform_.link_bytes_per_s().size(), 0);
  link_flows_.assign(platform_.link_bytes_per_s().size(), 0);
}

double TimePolicy::jitter(const Agent& agent) {
  const auto id = static_cast<std::uint64_t>(agent.id);
  std::uint64_t& draws = state(agent).draws;
  const double radius = std::sqrt(-2 * std::log(uniform(disturbance_.seed, id, draws)));
  const double angle = 2 * std::numbers::pi * uniform(disturbance_.seed, id, draws + 1);
  draws += 2;
  return std::exp(disturbance_.jitter_sigma * radius * std::cos(angle));
}

// Flows that last as long as the run: more bytes than any run has time for.
void TimePolicy::start_background() {
  constexpr double days_s = 1e6;
  for (const Disturbance::Pair& pair : disturbance_.background) {
    const Route route = platform_.route(pair.from, pair.to);
    const double rate = pair.value * 1e9;
    network_.start(
        {next_flow_++, route.links, rate * days_s, std::min(rate, route.rate_cap_bytes_per_s)});
    ++background_;
  }
}

void TimePolicy::watch_start(const Flow& flow, const InFlight& what) {
  const fiber::Step& step = what.transfer != nullptr ? what.transfer->step : what.agent->step;
  watched_.emplace(flow.id, Watched{flow, now_s_, moment_, what.agent, step});
  for (const int link : flow.links) {
    link_bytes_[static_cast<std::size_t>(link)] += flow.bytes;
    ++link_flows_[static_cast<std::size_t>(link)];
  }
  if (trace_ == nullptr) return;
  trace_->flow_began(flow.id, flow.links.front(),
                     std::string(to_string(step.verb)) + " of PE " + std::to_string(what.agent->pe),
                     now_s_);
}

// What held the flow back: its own cap, or the link of its way with the least for each flow.
void TimePolicy::watch_end(FlowId id) {
  const auto found = watched_.find(id);
  const Watched watched = std::move(found->second);
  watched_.erase(found);
  const Flow& flow = watched.flow;
  const auto share = [&](int link) {
    const auto at = static_cast<std::size_t>(link);
    return platform_.link_bytes_per_s()[at] / std::max(1, link_flows_[at]);
  };
  const int slowest = *std::min_element(flow.links.begin(), flow.links.end(),
                                        [&](int a, int b) { return share(a) < share(b); });
  for (const int link : flow.links) --link_flows_[static_cast<std::size_t>(link)];
  if (trace_ != nullptr) trace_->flow_ended(id, flow.links.front(), now_s_);
  if (trail_ == nullptr) return;
  constexpr double nearly = 0.99;
  const bool capped =
      flow.bytes >= nearly * flow.rate_cap_bytes_per_s * (now_s_ - watched.begin_s) &&
      flow.rate_cap_bytes_per_s < platform_.link_bytes_per_s()[static_cast<std::size_t>(slowest)];
  moment_ = trail_->add({watched.moment, now_s_, watched.step.verb, capped ? Why::block : Why::link,
                         watched.agent->pe, capped ? -1 : slowest, watched.step.site});
}

std::vector<LinkLoad> TimePolicy::link_loads() const {
  std::vector<LinkLoad> loads;
  for (std::size_t link = 0; link < link_bytes_.size(); ++link)
    loads.push_back({platform_.link_name(static_cast<int>(link)), link_bytes_[link],
                     platform_.link_bytes_per_s()[link]});
  return loads;
}

}  // namespace sym::sim
