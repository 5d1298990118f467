#include "sim/time_policy.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace sym::sim {

using fiber::Agent;
using fiber::Engine;
using fiber::Transfer;
using fiber::Verb;

Costs::Costs(const models::Machine& machine) {
  const auto seconds = [&](const char* key) { return machine.number(key) * 1e-6; };
  const auto rate = [&](const char* key) { return machine.number(key) * 1e9; };
  launch_s = seconds("launch_us");
  ramp_s = machine.number_or("ramp_us", 0) * 1e-6;
  flag_s = seconds("flag_us");
  release_s = seconds("release_us");
  load_local_s = seconds("load_local_us");
  load_remote_s = seconds("load_remote_us");
  sync_s = seconds("sync_us");
  sm_write = rate("sm_write_gbps");
  sm_read = rate("sm_read_gbps");
  sm_local = rate("sm_local_gbps");
  hbm = rate("hbm_gbps");
  port_read = machine.number_or("port_read_gbps", machine.number("port_gbps")) * 1e9;
  if (machine.nics_per_node > 0) {
    nic_latency_s = seconds("nic_latency_us");
    nic_post_s = seconds("nic_post_us");
    nic_window = std::max(1, static_cast<int>(machine.number("nic_window")));
  }
}

TimePolicy::AgentState& TimePolicy::state(const Agent& agent) {
  const auto id = static_cast<std::size_t>(agent.id);
  if (id >= states_.size()) states_.resize(id + 1);
  return states_[id];
}

void TimePolicy::at(double time_s, What what, Agent* agent, Transfer* transfer) {
  events_.push({time_s, order_++, what, agent, transfer});
}

void TimePolicy::ready(Engine&, Agent& agent) {
  AgentState& mine = state(agent);
  if (mine.stores > 0) {
    mine.parked = true;
  } else {
    begin(agent);
  }
}

void TimePolicy::woken(Engine&, Agent& agent) {
  if (agent.step.verb == Verb::quiet) state(agent).clean = true;
  // The poll that sees the flag is a load that began before it came.
  const bool polled = agent.block >= 0 && agent.step.verb != Verb::quiet;
  const double cost_s = (agent.block >= 0 ? costs_.sync_s : 0) + (polled ? costs_.load_local_s : 0);
  at(now_s_ + cost_s, What::resume, &agent, nullptr);
}

// The agent stands before a verb and its lanes are free.
void TimePolicy::begin(Agent& agent) {
  if (agent.step.verb == Verb::reduce && agent.step.bytes > 0) {
    fetch(agent);
  } else {
    at(now_s_ + cost_s(agent), What::resume, &agent, nullptr);
  }
}

// What a block reads and writes of its own memory, which the blocks of its launch share.
double TimePolicy::local_rate(const Agent& agent) const {
  return std::min(costs_.sm_local * agent.weight, costs_.hbm / agent.blocks);
}

double TimePolicy::cost_s(Agent& agent) {
  const auto local_s = [&](int passes) {
    const double rate = local_rate(agent);
    return costs_.load_local_s + static_cast<double>(agent.step.bytes) * passes / rate;
  };
  AgentState& mine = state(agent);
  switch (agent.step.verb) {
    case Verb::start:
      mine = AgentState{};
      return costs_.launch_s + costs_.ramp_s;
    case Verb::enter:
      return costs_.load_local_s;
    case Verb::signal:
    case Verb::put_signal:
      return costs_.load_local_s +
             (std::exchange(mine.clean, false) || agent.step.verb == Verb::put_signal
                  ? 0
                  : costs_.release_s);
    case Verb::put_packets:
      return 2 * costs_.load_local_s;  // its epoch, then the source
    case Verb::reduce_packets: {       // flags and data of every member's message, and the result
      const double bytes = static_cast<double>(agent.step.bytes) * (2 * agent.step.team->size());
      return bytes / local_rate(agent);
    }
    case Verb::transform:
      return agent.step.bytes == 0 ? 0 : local_s(agent.step.operands + 1);
    case Verb::sum:
    case Verb::max:
      return local_s(1) + costs_.sync_s;
    case Verb::fetch_add:
      return agent.step.pe == agent.pe ? costs_.load_local_s : costs_.load_remote_s;
    case Verb::wait_until:
    case Verb::receive_packets:
    case Verb::test:
      return costs_.load_local_s + costs_.sync_s;
    case Verb::sync:
    case Verb::leave:
      return costs_.sync_s;
    default:
      return 0;
  }
}

// A reduce: reads all peers at once, beside its own operand and result.
void TimePolicy::fetch(Agent& agent) {
  const Team& team = *agent.step.team;
  AgentState& mine = state(agent);
  const auto bytes = static_cast<double>(agent.step.bytes);
  mine.fetch_floor_s = now_s_ + costs_.load_local_s + 2 * bytes / local_rate(agent);
  int remote = 0;
  for (int rank = 0; rank < team.size(); ++rank) remote += team.pe(rank) != agent.pe ? 1 : 0;
  if (remote == 0) {
    at(mine.fetch_floor_s, What::resume, &agent, nullptr);
    return;
  }
  mine.fetches = remote;
  at(now_s_ + costs_.load_remote_s, What::fetched, &agent, nullptr);
}

void TimePolicy::start_fetches(Agent& agent) {
  const Team& team = *agent.step.team;
  // The launch's blocks share what the port reads; each has its own limit beside that.
  const double rate = std::min(costs_.sm_read * agent.weight, costs_.port_read / agent.blocks);
  const double cap = rate / state(agent).fetches;
  for (int rank = 0; rank < team.size(); ++rank) {
    const int peer = team.pe(rank);
    if (peer == agent.pe) continue;
    start_flow(platform_.route(peer, agent.pe), static_cast<double>(agent.step.bytes), cap,
               InFlight{nullptr, &agent, false});
  }
}

void TimePolicy::issued(Engine&, Transfer& transfer) {
  Agent& agent = *transfer.issuer;
  AgentState& mine = state(agent);
  if (transfer.kind == Transfer::Kind::signal) {
    if (transfer.payload != nullptr) return;  // leaves when its payload is there
    const int target = transfer.target();
    const bool nic = target != agent.pe && platform_.route(agent.pe, target).nic;
    const double release_s =
        agent.step.verb == Verb::put_signal ? costs_.release_s : 0;  // empty payload
    at(now_s_ + release_s + (nic ? costs_.nic_latency_s : costs_.flag_s), What::deliver, &agent,
       &transfer);
    return;
  }
  if (transfer.kind == Transfer::Kind::value) {
    at(now_s_ + costs_.flag_s, What::deliver, &agent, &transfer);
    return;
  }
  const int peer = transfer.kind == Transfer::Kind::get ? transfer.src.pe : transfer.dst.pe;
  if (peer != agent.pe && platform_.route(agent.pe, peer).nic) {
    mine.unposted.push_back(&transfer);
    if (mine.posted < costs_.nic_window) {
      ++mine.posted;
      mine.unposted.pop_back();
      at(now_s_ + costs_.nic_post_s, What::start_transfer, &agent, &transfer);
    }
    return;
  }
  ++mine.stores;
  const double latency_s = transfer.kind == Transfer::Kind::get ? costs_.load_remote_s : 0;
  at(now_s_ + latency_s, What::start_transfer, &agent, &transfer);
}

void TimePolicy::start_flow(const Route& route, double bytes, double cap, InFlight what) {
  if (network_.now() < now_s_) network_.advance(now_s_);
  Flow flow;
  flow.id = next_flow_++;
  flow.links = route.links;
  flow.bytes = bytes;
  flow.rate_cap_bytes_per_s = std::min(cap, route.rate_cap_bytes_per_s);
  in_flight_.emplace(flow.id, what);
  ++flows_;
  network_.start(flow);
}

void TimePolicy::start_transfer(Transfer& transfer) {
  Agent& agent = *transfer.issuer;
  const bool is_get = transfer.kind == Transfer::Kind::get;
  const int from = is_get ? transfer.src.pe : agent.pe;
  const int to = is_get ? agent.pe : transfer.dst.pe;
  const double flags = transfer.packet ? 2 : 1;  // as many bytes of flags as of data
  const double bytes = static_cast<double>(transfer.dst.size) * flags;
  if (from == to) {  // a local copy: its own memory, no link
    const double rate = local_rate(agent);
    at(now_s_ + costs_.load_local_s + 2 * bytes / rate, What::fetched, &agent, &transfer);
    return;
  }
  const Route route = platform_.route(from, to);
  const double cap =
      route.nic ? no_rate_cap : (is_get ? costs_.sm_read : costs_.sm_write) * agent.weight;
  start_flow(route, bytes, cap, InFlight{&transfer, &agent, route.nic});
}

// The payload has left: the issuer may go on, and the destination sees it soon.
void TimePolicy::payload_out(Transfer& transfer, bool nic) {
  Agent& agent = *transfer.issuer;
  AgentState& mine = state(agent);
  const bool is_get = transfer.kind == Transfer::Kind::get;
  const double there_s = nic               ? costs_.nic_latency_s
                         : transfer.packet ? costs_.flag_s
                         : is_get          ? 0
                                           : costs_.release_s;
  at(now_s_ + there_s, What::deliver, &agent, &transfer);
  if (nic) {
    --mine.posted;
    if (mine.unposted.empty()) return;
    ++mine.posted;
    at(now_s_ + costs_.nic_post_s, What::start_transfer, &agent, mine.unposted.front());
    mine.unposted.pop_front();
    return;
  }
  if (--mine.stores == 0 && mine.parked) {
    mine.parked = false;
    begin(agent);
  }
}

void TimePolicy::flow_ended(const InFlight& flow) {
  if (flow.transfer != nullptr) {
    payload_out(*flow.transfer, flow.nic);
    return;
  }
  AgentState& mine = state(*flow.agent);
  if (--mine.fetches == 0) {
    at(std::max(now_s_, mine.fetch_floor_s), What::resume, flow.agent, nullptr);
  }
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
  engine.deliver(transfer);
  if (follower != nullptr) {
    const int target = follower->target();
    const bool nic = target != issuer.pe && platform_.route(issuer.pe, target).nic;
    at(now_s_ + (nic || follower->packet ? 0 : costs_.flag_s), What::deliver, &issuer, follower);
  }
  if (mine.held.empty()) return;
  for (Transfer* held : std::exchange(mine.held, {})) at(now_s_, What::deliver, &issuer, held);
}

bool TimePolicy::next(Engine& engine) {
  const double due_s = events_.empty() ? no_rate_cap : events_.top().time_s;
  if (network_.in_flight() > 0 && due_s > network_.now()) {
    const std::vector<FlowId> ended = network_.advance(due_s);
    now_s_ = std::max(now_s_, network_.now());
    for (FlowId id : ended) {
      const auto found = in_flight_.find(id);
      const InFlight flow = found->second;
      in_flight_.erase(found);
      flow_ended(flow);
    }
    if (!ended.empty()) return true;
  }
  if (events_.empty()) return false;
  const Event event = events_.top();
  events_.pop();
  now_s_ = std::max(now_s_, event.time_s);
  switch (event.what) {
    case What::resume:
      engine.resume(*event.agent);
      break;
    case What::start_transfer:
      start_transfer(*event.transfer);
      break;
    case What::fetched:
      if (event.transfer != nullptr) {
        payload_out(*event.transfer, false);
        break;
      }
      start_fetches(*event.agent);
      break;
    case What::deliver:
      deliver(engine, *event.transfer);
      break;
  }
  return true;
}

}  // namespace sym::sim
