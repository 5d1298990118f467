// The part of TimePolicy that sets bytes moving: what agents fetch, and what they send.
#include <algorithm>
#include <utility>

#include "sim/time_policy.hpp"

namespace sym::sim {

using fiber::Agent;
using fiber::Engine;
using fiber::Transfer;
using fiber::Verb;

namespace {
bool is_multicast(Verb verb) {
  return verb == Verb::multicast_put || verb == Verb::multicast_reduce ||
         verb == Verb::multicast_all_reduce;
}
std::vector<int> pes_of(const Team& team) {
  std::vector<int> pes;
  for (int rank = 0; rank < team.size(); ++rank) pes.push_back(team.pe(rank));
  return pes;
}
}  // namespace

// --- what an agent reads from peers before it goes on --------------------------------------------

bool TimePolicy::fetches(const Agent& agent) {
  switch (agent.step.verb) {
    case Verb::reduce:
    case Verb::weighted_sum:
    case Verb::multicast_reduce:
    case Verb::multicast_all_reduce:
      return agent.step.bytes > 0;
    case Verb::warps:
      return agent.in_warps && !agent.fetches.empty();
    case Verb::gemm:
      return agent.step.bytes > 0;
    default:
      return false;
  }
}

// (PE, bytes), the agent's own PE among them.
TimePolicy::Fetches TimePolicy::fetches_of(const Agent& agent) {
  if (agent.step.verb == Verb::gemm) return {{agent.step.pe, agent.step.bytes}};
  if (agent.step.verb != Verb::reduce) return agent.fetches;
  Fetches all;
  for (int rank = 0; rank < agent.step.team->size(); ++rank) {
    all.emplace_back(agent.step.team->pe(rank), agent.step.bytes);
  }
  return all;
}

// Reads all peers at once, beside its own operands and result.
void TimePolicy::fetch(Agent& agent) {
  if (is_multicast(agent.step.verb)) return fetch_multicast(agent);
  AgentState& mine = state(agent);
  auto local_bytes = static_cast<double>(agent.step.bytes);  // of the result
  if (agent.step.verb == Verb::reduce)
    local_bytes *= agent.step.operands;  // and what is read for it
  int remote = 0;
  for (const auto& [pe, bytes] : fetches_of(agent)) {
    if (pe == agent.pe) local_bytes += static_cast<double>(bytes);
    remote += pe != agent.pe ? 1 : 0;
  }
  double begin_s = now_s_;
  if (agent.step.verb == Verb::gemm) {
    begin_s += costs(agent).launch_s;
    mine.fetch_floor_s = now_s_ + operation_s(agent);
  } else {
    begin_s += agent.step.verb == Verb::warps ? costs(agent).sync_s : costs(agent).verb_s;
    mine.fetch_floor_s = begin_s + costs(agent).load_local_s + local_bytes / local_rate(agent);
  }
  if (remote == 0) {
    at(mine.fetch_floor_s, What::resume, &agent, nullptr,
       agent.step.verb == Verb::gemm ? Why::gemm : Why::local);
    return;
  }
  mine.fetches = remote;
  at(begin_s + costs(agent).load_remote_s, What::fetched, &agent, nullptr, Why::latency);
}

void TimePolicy::start_fetches(Agent& agent) {
  if (is_multicast(agent.step.verb)) return start_multicast_fetch(agent);
  // The launch's blocks share what the port reads; each has its own limit beside that. A gemm has
  // all SMs.
  const double share = costs(agent).port_read / agent.blocks;
  const bool reduces = agent.step.verb == Verb::reduce;
  const double of_a_block = reduces ? costs(agent).sm_reduce : costs(agent).sm_read;
  const double rate = agent.queue >= 0 ? share : std::min(of_a_block * agent.weight, share);
  const Fetches all = fetches_of(agent);
  double sum = 0;
  for (const auto& [pe, bytes] : all) sum += pe == agent.pe ? 0 : static_cast<double>(bytes);
  for (const auto& [pe, count] : all) {
    if (pe == agent.pe) continue;
    const auto bytes = static_cast<double>(count);
    const Route route = platform_.route(pe, agent.pe);
    start_flow(route, bytes, rate * (bytes / sum),
               InFlight{nullptr, &agent, false, route.latency_s});
  }
}

// What the switch reduces comes once. A result that goes to all at once is in registers between,
// and the second flow runs beside the first: lanes store what they have loaded while others load.
void TimePolicy::fetch_multicast(Agent& agent) {
  AgentState& mine = state(agent);
  const double begin_s = now_s_ + costs(agent).verb_s;
  const bool kept = agent.step.verb == Verb::multicast_reduce;
  const double stored_s = kept ? static_cast<double>(agent.step.bytes) / local_rate(agent) : 0;
  mine.fetch_floor_s = begin_s + costs(agent).load_local_s + stored_s;
  mine.fetches = kept ? 1 : 2;
  at(begin_s + costs(agent).load_remote_s, What::fetched, &agent, nullptr, Why::latency);
}

void TimePolicy::start_multicast_fetch(Agent& agent) {
  const std::vector<int> members = pes_of(*agent.step.team);
  const double room = costs(agent).multicast_room;
  const double bytes = static_cast<double>(agent.step.bytes) * room;
  for (const bool loads : {true, false}) {
    if (!loads && agent.step.verb == Verb::multicast_reduce) break;
    const Route route = platform_.multicast(agent.pe, members, loads);
    const double rate = loads ? costs(agent).sm_reduce : costs(agent).sm_write;
    start_flow(route, bytes, rate * agent.weight * room,
               InFlight{nullptr, &agent, false, route.latency_s});
  }
}

// --- transfers -----------------------------------------------------------------------------------

void TimePolicy::issued(Engine& engine, Transfer& transfer) {
  Agent& agent = *transfer.issuer;
  if (transfer.kind == Transfer::Kind::signal) {
    issue_signal(agent, transfer);
  } else if (transfer.kind == Transfer::Kind::value) {
    const int target = transfer.target();
    const double latency_s = target == agent.pe ? 0 : platform_.latency_s(agent.pe, target);
    // A store to all has flown while its sums were loaded.
    const bool flown = is_multicast(agent.step.verb);
    const double there_s = flown ? costs(agent).release_s : costs(agent).flag_s;
    at(now_s_ + there_s + latency_s, What::deliver, &agent, &transfer, Why::latency);
  } else if (agent.in_warps || is_copy(transfer.step.verb) || is_multicast(transfer.step.verb)) {
    collect(engine.pes(), transfer);
  } else {
    send(transfer);
  }
}

void TimePolicy::issue_signal(Agent& agent, Transfer& transfer) {
  if (transfer.payload != nullptr) return;  // leaves when its payload is there
  const int target = transfer.target();
  const double release_s =
      agent.step.verb == Verb::put_signal ? costs(agent).release_s : 0;  // empty payload
  const bool local = target == agent.pe;
  const bool nic = !local && platform_.by_nic(agent.pe, target);
  const double there_s = (nic ? costs(agent).nic_flag_s : flag_s(agent)) +
                         (local ? 0 : platform_.latency_s(agent.pe, target));
  together(now_s_ + release_s + there_s, agent, transfer);
}

// A verb's signals that arrive at one instant are one event: nothing can come between them, and a
// barrier of a thousand PEs has a million signals.
void TimePolicy::together(double time_s, Agent& agent, Transfer& transfer) {
  const bool same_verb = arrivals_.order == order_ && arrivals_.agent == &agent;
  if (!same_verb) arrivals_ = {&agent, 0, {}};
  const bool each_alone = trail_ != nullptr || disturbance_.jitter_sigma > 0;
  for (const auto& [instant_s, first] : arrivals_.firsts) {
    if (instant_s != time_s || each_alone) continue;
    groups_[first].others.push_back(&transfer);
    return;
  }
  at(time_s, What::arrive, &agent, &transfer, Why::latency);
  arrivals_.firsts.emplace_back(time_s, &transfer);
  arrivals_.order = order_;
}

void TimePolicy::collect(int pes, Transfer& transfer) {
  const Agent& agent = *transfer.issuer;
  const bool is_get = transfer.kind == Transfer::Kind::get;
  const int peer = is_get ? transfer.src.pe : transfer.dst.pe;
  const bool to_all = is_multicast(transfer.step.verb);
  auto& first = state(agent).open[{to_all ? 0 : (peer - agent.pe + pes) % pes, is_get}];
  const bool begins = first == nullptr;
  if (begins) first = &transfer;
  Group& group = groups_[first];
  if (!begins) group.others.push_back(&transfer);
  if (begins || !to_all) group.bytes += static_cast<double>(transfer.dst.size);
  if (begins && to_all) group.members = pes_of(*agent.step.team);
}

// Before the agent's next step: everything of this one has been issued.
void TimePolicy::close_groups(Agent& agent) {
  const auto open = std::exchange(state(agent).open, {});
  double stored = 0;  // by the block's own lanes, to peers
  const auto peer_of = [](const Transfer& one) {
    return one.kind == Transfer::Kind::get ? one.src.pe : one.dst.pe;
  };
  const auto stores = [&](const Transfer& one) {
    return peer_of(one) != agent.pe && !platform_.by_nic(agent.pe, peer_of(one));
  };
  for (const auto& [key, first] : open) {
    if (stores(*first)) stored += groups_[first].bytes;
  }
  for (const auto& [key, first] : open) {
    if (stores(*first)) groups_[first].share = groups_[first].bytes / stored;
    send(*first);
  }
}

void TimePolicy::send(Transfer& transfer) {
  Agent& agent = *transfer.issuer;
  AgentState& mine = state(agent);
  const bool is_get = transfer.kind == Transfer::Kind::get;
  const int peer = is_get ? transfer.src.pe : transfer.dst.pe;
  const bool to_all = is_multicast(transfer.step.verb);
  if (!to_all && peer != agent.pe && platform_.by_nic(agent.pe, peer)) {
    if (mine.posted < costs(agent).nic_window) {
      start_posting(transfer);
    } else {
      mine.unposted.push_back(&transfer);
    }
    return;
  }
  ++mine.stores;
  // Lanes load before they store. Packets have paid for it, and a local copy does so on its own.
  const bool lanes =
      !is_copy(transfer.step.verb) && !transfer.packet && (to_all || peer != agent.pe);
  const double load_s = is_get ? costs(agent).load_remote_s : costs(agent).load_local_s;
  at(now_s_ + (lanes ? load_s + costs(agent).verb_s : 0), What::start_transfer, &agent, &transfer,
     Why::latency);
}

void TimePolicy::start_posting(Transfer& transfer) {
  const auto group = groups_.find(&transfer);
  const auto messages =
      group == groups_.end() ? 1.0 : 1.0 + static_cast<double>(group->second.others.size());
  Agent& agent = *transfer.issuer;
  ++state(agent).posted;
  at(now_s_ + messages * costs(agent).nic_post_s, What::start_transfer, &agent, &transfer,
     Why::posting);
}

void TimePolicy::start_store_to_all(Transfer& first) {
  Agent& agent = *first.issuer;
  const Group& group = groups_.find(&first)->second;
  const Route route = platform_.multicast(agent.pe, group.members, false);
  const double room = costs(agent).multicast_room;
  start_flow(route, group.bytes * room, costs(agent).sm_write * agent.weight * room,
             InFlight{&first, &agent, false, route.latency_s});
}

void TimePolicy::start_transfer(Transfer& transfer) {
  if (is_multicast(transfer.step.verb)) return start_store_to_all(transfer);
  Agent& agent = *transfer.issuer;
  const bool is_get = transfer.kind == Transfer::Kind::get;
  const int from = is_get ? transfer.src.pe : agent.pe;
  const int to = is_get ? agent.pe : transfer.dst.pe;
  const auto group = groups_.find(&transfer);
  const auto size = static_cast<double>(transfer.dst.size);
  // A message of no elements is a packet all the same.
  const double bytes = group != groups_.end() ? group->second.bytes
                       : transfer.packet ? std::max(Costs::packet_bytes, size * Costs::packet_wire)
                                         : size;
  if (from == to) {
    start_local(transfer, bytes);
    return;
  }
  Route route = platform_.route(from, to);
  const InFlight what{&transfer, &agent, route.nic, route.latency_s};
  if (route.nic) {
    start_flow(route, bytes, no_rate_cap, what);
  } else if (is_copy(transfer.step.verb)) {
    const double room = costs(agent).copy_engine_room;
    route.rate_cap_bytes_per_s *= room;
    start_flow(route, bytes * room, costs(agent).copy_engine * room, what);
  } else {
    if (transfer.packet) packets_start(agent, bytes);
    const double share = group != groups_.end() ? group->second.share : 1;
    start_flow(route, bytes,
               (is_get ? costs(agent).sm_read : costs(agent).sm_write) * agent.weight * share,
               what);
  }
}

// A copy within a PE: its own memory, no link.
void TimePolicy::start_local(Transfer& transfer, double bytes) {
  Agent& agent = *transfer.issuer;
  const bool copied = is_copy(transfer.step.verb);
  const double time_s =
      copied ? 2 * bytes / costs(agent).hbm
             : costs(agent).verb_s + costs(agent).load_local_s + 2 * bytes / local_rate(agent);
  at(now_s_ + time_s, What::fetched, &agent, &transfer, Why::local);
}

}  // namespace sym::sim
