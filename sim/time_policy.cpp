#include "sim/time_policy.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace sym::sim {

using fiber::Agent;
using fiber::Engine;
using fiber::Transfer;
using fiber::Verb;

TimePolicy::AgentState& TimePolicy::state(const Agent& agent) {
  const auto id = static_cast<std::size_t>(agent.id);
  if (id >= states_.size()) states_.resize(id + 1);
  return states_[id];
}

void TimePolicy::at(double time_s, What what, Agent* agent, Transfer* transfer, Why why) {
  if (disturbance_.jitter_sigma > 0 && time_s > now_s_)
    time_s = now_s_ + (time_s - now_s_) * jitter(*agent);
  Trail::Index moment = Trail::none;
  if (trail_ != nullptr) {
    const fiber::Step& step = transfer != nullptr ? transfer->step : agent->step;
    moment = trail_->add({moment_, time_s, step.verb, why, agent->pe, -1, step.site});
  }
  events_.push({time_s, order_++, what, agent, transfer, moment});
}

void TimePolicy::ready(Engine&, Agent& agent) {
  AgentState& mine = state(agent);
  if (trace_ != nullptr) trace_->verb(agent, now_s_);
  if (!mine.open.empty()) close_groups(agent);
  if (mine.stores > 0) {
    mine.parked = true;
  } else if (agent.step.verb != Verb::start && std::exchange(mine.cold, false)) {
    at(now_s_ + costs(agent).cold_s(agent.early), What::begin, &agent, nullptr, Why::launch);
  } else {
    begin(agent);
  }
}

void TimePolicy::woken(Engine&, Agent& agent) {
  if (agent.step.verb == Verb::quiet) state(agent).clean = true;
  if (agent.step.verb == Verb::after) state(agent).copies = false;
  // The poll that sees the flag is a load that began before it came.
  const bool polls = agent.queue < 0 ? agent.block >= 0 && agent.step.verb != Verb::quiet
                                     : agent.step.verb == Verb::take;
  const bool syncs = agent.block >= 0 && agent.queue < 0;
  const Costs& own = costs(agent);
  const double cost_s = (syncs ? own.sync_s : 0) + (polls ? own.load_local_s : 0);
  at(now_s_ + cost_s, What::resume, &agent, nullptr, Why::latency);
}

// The agent stands before a verb and its lanes are free.
void TimePolicy::begin(Agent& agent) {
  if (fetches(agent)) {
    fetch(agent);
  } else {
    at(now_s_ + cost_s(agent), What::resume, &agent, nullptr, why(agent));
  }
}

void TimePolicy::start_flow(const Route& route, double bytes, double cap, InFlight what) {
  if (network_.now() < now_s_) network_.advance(now_s_);
  Flow flow;
  flow.id = next_flow_++;
  flow.links = route.links;
  flow.bytes = bytes;
  flow.rate_cap_bytes_per_s = std::min(cap, route.rate_cap_bytes_per_s);
  if (trail_ != nullptr || trace_ != nullptr) watch_start(flow, what);
  in_flight_.emplace(flow.id, what);
  ++flows_;
  network_.start(flow);
}

// The payload has left: the issuer may go on, and the destination sees it soon.
void TimePolicy::payload_out(Transfer& transfer, bool nic, double latency_s) {
  Agent& agent = *transfer.issuer;
  AgentState& mine = state(agent);
  const bool is_get = transfer.kind == Transfer::Kind::get;
  const bool copied = is_copy(transfer.step.verb);
  const double there_s =
      (is_get ? 2 : 1) * latency_s + (nic                ? costs(agent).nic_latency_s
                                      : transfer.packet  ? costs(agent).flag_s
                                      : is_get || copied ? 0
                                                         : costs(agent).put_release_s);
  const bool grouped = groups_.contains(&transfer);
  at(now_s_ + there_s, grouped ? What::deliver_group : What::deliver, &agent, &transfer,
     Why::latency);
  if (nic) {
    --mine.posted;
    if (mine.unposted.empty()) return;
    start_posting(*mine.unposted.front());
    mine.unposted.pop_front();
    return;
  }
  if (transfer.packet && transfer.src.pe != transfer.dst.pe) packets_out(agent);
  if (!releases(transfer)) stores_out(agent);
}

// One of the flows of the agent's own lanes is out, as far as the agent waits for it.
void TimePolicy::stores_out(Agent& agent) {
  AgentState& mine = state(agent);
  if (--mine.stores > 0 || !mine.parked) return;
  mine.parked = false;
  begin(agent);
}

// Its block releases it before the signal behind it leaves, and does nothing else meanwhile.
bool TimePolicy::releases(const Transfer& transfer) const {
  const int from = transfer.issuer->pe;
  return transfer.step.verb == Verb::put_signal && transfer.kind == Transfer::Kind::put &&
         transfer.dst.pe != from && !platform_.by_nic(from, transfer.dst.pe);
}

void TimePolicy::flow_ended(const InFlight& flow) {
  if (flow.transfer != nullptr) {
    payload_out(*flow.transfer, flow.nic, flow.latency_s);
    return;
  }
  AgentState& mine = state(*flow.agent);
  mine.fetch_floor_s = std::max(mine.fetch_floor_s, now_s_ + 2 * flow.latency_s);
  if (--mine.fetches == 0) {
    at(std::max(now_s_, mine.fetch_floor_s), What::resume, flow.agent, nullptr, Why::local);
  }
}

void TimePolicy::deliver_all(Engine& engine, Transfer& first) {
  const auto found = groups_.find(&first);
  const Group group = std::move(found->second);
  groups_.erase(found);
  deliver(engine, first);
  for (Transfer* other : group.others) deliver(engine, *other);
}

// Delivers now, unless a fence holds the transfer back; then as soon as what it waits for is there.
void TimePolicy::deliver(Engine& engine, Transfer& transfer) {
  AgentState& mine = state(*transfer.issuer);
  if (!engine.eligible(transfer)) {
    mine.held.push_back(&transfer);
    return;
  }
  Agent& issuer = *transfer.issuer;
  Transfer* follower = transfer.follower;
  const bool released = releases(transfer);
  engine.deliver(transfer);
  if (released) stores_out(issuer);
  if (follower != nullptr) {
    const int target = follower->target();
    const bool local = target == issuer.pe;
    const bool with_payload = follower->packet || (!local && platform_.by_nic(issuer.pe, target));
    const double latency_s = local || with_payload ? 0 : platform_.latency_s(issuer.pe, target);
    const double there_s = with_payload ? 0 : flag_s(issuer) + latency_s;
    at(now_s_ + there_s, What::deliver, &issuer, follower, Why::latency);
  }
  if (mine.held.empty()) return;
  for (Transfer* held : std::exchange(mine.held, {}))
    at(now_s_, What::deliver, &issuer, held, Why::latency);
}

bool TimePolicy::next(Engine& engine) {
  if (!std::exchange(begun_, true)) start_background();
  const double due_s = events_.empty() ? no_rate_cap : events_.top().time_s;
  if (network_.in_flight() > background_ && due_s > network_.now()) {
    const std::vector<FlowId> ended = network_.advance(due_s);
    now_s_ = std::max(now_s_, network_.now());
    for (FlowId id : ended) {
      const auto found = in_flight_.find(id);
      const InFlight flow = found->second;
      in_flight_.erase(found);
      if (!watched_.empty()) watch_end(id);
      flow_ended(flow);
    }
    if (!ended.empty()) return true;
  }
  if (events_.empty()) return false;
  const Event event = events_.top();
  events_.pop();
  now_s_ = std::max(now_s_, event.time_s);
  moment_ = event.moment;
  run_event(engine, event);
  return true;
}

void TimePolicy::run_event(Engine& engine, const Event& event) {
  arrivals_.agent = nullptr;
  switch (event.what) {
    case What::resume:
      engine.resume(*event.agent);
      break;
    case What::begin:
      begin(*event.agent);
      break;
    case What::start_transfer:
      start_transfer(*event.transfer);
      break;
    case What::fetched:
      if (event.transfer != nullptr) {
        payload_out(*event.transfer, false, 0);
        break;
      }
      start_fetches(*event.agent);
      break;
    case What::deliver:
      deliver(engine, *event.transfer);
      break;
    case What::arrive:
      if (!groups_.contains(event.transfer)) {
        deliver(engine, *event.transfer);
        break;
      }
      [[fallthrough]];
    case What::deliver_group:
      deliver_all(engine, *event.transfer);
      break;
  }
}

}  // namespace sym::sim
