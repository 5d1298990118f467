// What the steps of blocks and queues take: see time_policy.hpp.
#include "sim/costs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/gemm_time.hpp"
#include "sim/time_policy.hpp"

namespace sym::sim {

using fiber::Agent;
using fiber::Verb;

Costs::Costs(const models::Machine& machine, double slowness) : slow(slowness) {
  const auto seconds = [&](const char* key) { return machine.number(key) * 1e-6; };
  const auto rate = [&](const char* key) { return machine.number(key) * 1e9; };
  launch_s = seconds("launch_us") * slow;
  ramp_s = machine.number_or("ramp_us", 0) * 1e-6 * slow;
  flag_s = seconds("flag_us");
  flag_turn_s = machine.number_or("flag_turn_us", 0) * 1e-6;
  release_s = seconds("release_us") * slow;
  put_release_s = machine.number_or("put_release_us", machine.number("release_us")) * 1e-6 * slow;
  load_local_s = seconds("load_local_us") * slow;
  load_remote_s = seconds("load_remote_us");
  verb_s = machine.number_or("verb_us", 0) * 1e-6 * slow;
  slots_s = machine.number_or("slots_us", 0) * 1e-6 * slow;
  sync_s = seconds("sync_us") * slow;
  sm_write = rate("sm_write_gbps") / slow;
  sm_read = rate("sm_read_gbps") / slow;
  sm_reduce = machine.number_or("sm_reduce_gbps", machine.number("sm_read_gbps")) * 1e9 / slow;
  sm_local = rate("sm_local_gbps") / slow;
  hbm = rate("hbm_gbps") / slow;
  port_read = machine.number_or("port_read_gbps", machine.number("port_gbps")) * 1e9;
  copy_engine_s = seconds("copy_engine_start_us") * slow;
  copy_engine_turn_s = machine.number_or("copy_engine_turn_us", 0) * 1e-6 * slow;
  post_s = machine.number_or("post_us", machine.number("launch_us")) * 1e-6 * slow;
  copy_engine_room = std::min(1.0, rate("port_gbps") / rate("copy_engine_gbps"));
  copy_engine = rate("copy_engine_gbps") / slow;
  multicast_room = 1 / machine.number_or("nvls_efficiency", 1);
  early_s = std::min(machine.number_or("early_us", 0) * 1e-6 * slow, launch_s + ramp_s);
  packet_pass_bytes = machine.number_or("packet_pass_bytes", 0);
  packet_pass_s = machine.number_or("packet_pass_us", 0) * 1e-6 * slow;
  if (machine.nics_per_node > 0) {
    nic_latency_s = seconds("nic_latency_us");
    nic_flag_s = machine.number_or("nic_flag_us", machine.number("nic_latency_us")) * 1e-6;
    nic_post_s = seconds("nic_post_us") * slow;
    nic_window = std::max(1, static_cast<int>(machine.number("nic_window")));
  }
}

// From a signal to the poll that sees it. The flags of a launch's blocks go in turn.
double TimePolicy::flag_s(const Agent& agent) const {
  const double blocks = agent.queue >= 0 ? 1 : agent.blocks * agent.weight;
  return costs(agent).flag_s + (blocks - 1) * costs(agent).flag_turn_s;
}

// What a block reads and writes of its own memory, which the blocks of its launch share.
double TimePolicy::local_rate(const Agent& agent) const {
  return std::min(costs(agent).sm_local * agent.weight, costs(agent).hbm / agent.blocks);
}

double TimePolicy::local_s(const Agent& agent, int passes) const {
  return costs(agent).load_local_s +
         static_cast<double>(agent.step.bytes) * passes / local_rate(agent);
}

void TimePolicy::packets_start(const Agent& agent, double bytes) {
  AgentState::Messages& mine = state(agent).messages;
  if (mine.flows++ == 0) {
    ++mine.begun;
    mine.began_s = now_s_;
    mine.bytes = 0;
  }
  mine.bytes += bytes;
}

void TimePolicy::packets_out(const Agent& agent) {
  AgentState::Messages& mine = state(agent).messages;
  if (--mine.flows == 0)
    mine.held_up_s = now_s_ - mine.began_s - mine.bytes / (costs(agent).sm_write * agent.weight);
}

// A lane takes one group of packets at a time: to send it, and then to wait for the peers' and
// reduce them.
double TimePolicy::packet_passes_s(const Agent& agent) {
  if (costs(agent).packet_pass_bytes <= 0) return 0;
  const double of_a_block = static_cast<double>(agent.step.bytes) / agent.weight;
  // A group of 16 bytes for each lane needs no pass of several.
  const double single_bytes = costs(agent).packet_pass_bytes / 3;
  const double passes =
      of_a_block > single_bytes ? std::ceil(of_a_block / costs(agent).packet_pass_bytes) : 0;
  return passes * costs(agent).packet_pass_s;
}

// What comes in packets is read and stored. Blocks that have begun in step drift apart, so that
// later messages of some pass while others reduce; here they stay in step, and what they would have
// gained is taken off.
double TimePolicy::packets_taken_s(const Agent& agent) {
  // The peers' messages with their flags, this PE's part, and the result: one, or one for each.
  const int members = agent.step.team->size();
  const int own = agent.step.team->contains_self() ? 1 : 0;
  const int stored = agent.step.verb == Verb::reduce_packets ? 1 : members;
  const double parts =
      Costs::packet_wire * (members - own) + own + stored + agent.step.operands - 1;
  const double all_s =
      static_cast<double>(agent.step.bytes) * parts / local_rate(agent) + packet_passes_s(agent);
  const AgentState::Messages& mine = state(agent).messages;
  return mine.begun < 2 ? all_s : std::max(0.0, all_s - mine.held_up_s);
}

double TimePolicy::cost_s(Agent& agent) {
  AgentState& mine = state(agent);
  const Verb verb = agent.step.verb;
  switch (verb) {
    case Verb::start:
      mine.clean = false;
      mine.messages = {};
      mine.cold = true;
      return costs(agent).start_s(agent.early);
    case Verb::read:
      return costs(agent).load_local_s;
    case Verb::signal:
    case Verb::put_signal:
      return costs(agent).load_local_s +
             (std::exchange(mine.clean, false) || verb == Verb::put_signal
                  ? 0
                  : costs(agent).release_s);
    case Verb::put_packets:
      return costs(agent).load_local_s;  // the source, and with it the count of messages
    case Verb::reduce_packets:
    case Verb::store_packets:
      return packets_taken_s(agent);
    case Verb::transform:
    case Verb::transform_by_sum:
    case Verb::reduce_slots:
      return agent.step.bytes == 0
                 ? 0
                 : costs(agent).verb_s + (verb == Verb::reduce_slots ? costs(agent).slots_s : 0) +
                       local_s(agent, agent.step.operands + 1);
    case Verb::transform_by_sum_keep:
      return local_s(agent, 1);
    case Verb::sum:
    case Verb::transform_by_sum_first:
    case Verb::max:
      return local_s(agent, 1) + costs(agent).sync_s;
    case Verb::scan:
      return local_s(agent, 2) + 2 * costs(agent).sync_s;
    case Verb::tally:
      return local_s(agent, agent.step.operands) + 2 * costs(agent).sync_s;
    case Verb::fetch_add:
      if (agent.step.pe == agent.pe) return costs(agent).load_local_s;
      return costs(agent).load_remote_s + 2 * platform_.latency_s(agent.pe, agent.step.pe);
    case Verb::wait_until:
    case Verb::receive_packets:
    case Verb::reduce_packets_wait:
    case Verb::test:
      return costs(agent).load_local_s + costs(agent).sync_s;
    case Verb::sync:
    case Verb::leave:
    case Verb::warps:
      return costs(agent).sync_s;
    default:
      return agent.queue >= 0 ? queued_s(agent) : 0;
  }
}

double TimePolicy::queued_s(const Agent& agent) {
  const double time_s = operation_s(agent) + turn_s(agent);
  // A queue waits for its copies before it goes on.
  if (agent.step.verb != Verb::quiet) state(agent).copied = is_copy(agent.step.verb);
  return time_s;
}

// A copy that follows a copy of its queue begins at once; one that had to wait for something else
// does not.
double TimePolicy::turn_s(const Agent& agent) {
  bool& copies = state(agent).copies;
  if (agent.step.verb == Verb::take || agent.step.verb == Verb::gemm) copies = false;
  if (!is_copy(agent.step.verb)) return 0;
  return std::exchange(copies, true) ? 0 : costs(agent).copy_engine_turn_s;
}

// The start of an operation, behind what its queue has done before.
double TimePolicy::operation_s(const Agent& agent) {
  const fiber::Step& step = agent.step;
  switch (step.verb) {
    case Verb::queue_put:
    case Verb::queue_get:
      return costs(agent).copy_engine_s;
    case Verb::gemm:
      return costs(agent).launch_s +
             (step.m == 0
                  ? 0
                  : models::gemm_us(machine_, step.m, step.n, step.k) * 1e-6 * costs(agent).slow);
    case Verb::post:
      return state(agent).copied ? costs(agent).post_s : costs(agent).launch_s;
    case Verb::take:
      return costs(agent).launch_s + costs(agent).load_local_s;
    default:
      return 0;
  }
}

Why TimePolicy::why(const Agent& agent) {
  switch (agent.step.verb) {
    case Verb::start:
    case Verb::queue_put:
    case Verb::queue_get:
    case Verb::post:
    case Verb::take:
      return Why::launch;
    case Verb::reduce_packets:
    case Verb::store_packets:
    case Verb::reduce_slots:
    case Verb::transform:
    case Verb::sum:
    case Verb::transform_by_sum_keep:
    case Verb::transform_by_sum_first:
    case Verb::transform_by_sum:
    case Verb::max:
    case Verb::scan:
    case Verb::tally:
      return Why::local;
    case Verb::gemm:
      return Why::gemm;
    case Verb::sync:
    case Verb::leave:
    case Verb::warps:
      return Why::sync;
    default:
      return Why::latency;
  }
}

}  // namespace sym::sim
