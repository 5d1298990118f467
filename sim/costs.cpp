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
  copy_engine_s = seconds("copy_engine_start_us");
  copy_engine = rate("copy_engine_gbps");
  copy_engine_room = std::min(1.0, rate("port_gbps") / copy_engine);
  packet_pass_bytes = machine.number_or("packet_pass_bytes", 0);
  packet_pass_s = machine.number_or("packet_pass_us", 0) * 1e-6;
  if (machine.nics_per_node > 0) {
    nic_latency_s = seconds("nic_latency_us");
    nic_flag_s = machine.number_or("nic_flag_us", machine.number("nic_latency_us")) * 1e-6;
    nic_post_s = seconds("nic_post_us");
    nic_window = std::max(1, static_cast<int>(machine.number("nic_window")));
  }
}

// What a block reads and writes of its own memory, which the blocks of its launch share.
double TimePolicy::local_rate(const Agent& agent) const {
  return std::min(costs_.sm_local * agent.weight, costs_.hbm / agent.blocks);
}

double TimePolicy::local_s(const Agent& agent, int passes) const {
  return costs_.load_local_s + static_cast<double>(agent.step.bytes) * passes / local_rate(agent);
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
    mine.held_up_s = now_s_ - mine.began_s - mine.bytes / (costs_.sm_write * agent.weight);
}

// A lane takes one group of packets at a time: to send it, and then to wait for the peers' and
// reduce them. Blocks that have begun in step drift apart, so that later messages of some pass
// while others reduce; here they stay in step, and what they would have gained is taken off.
double TimePolicy::packet_passes_s(const Agent& agent) {
  if (costs_.packet_pass_bytes <= 0) return 0;
  const double of_a_block = static_cast<double>(agent.step.bytes) / agent.weight;
  const double passes_s = std::ceil(of_a_block / costs_.packet_pass_bytes) * costs_.packet_pass_s;
  const AgentState::Messages& mine = state(agent).messages;
  return mine.begun < 2 ? passes_s : std::max(0.0, passes_s - mine.held_up_s);
}

double TimePolicy::cost_s(Agent& agent) {
  AgentState& mine = state(agent);
  const Verb verb = agent.step.verb;
  switch (verb) {
    case Verb::start:
      mine.clean = false;
      mine.messages = {};
      return costs_.launch_s + costs_.ramp_s;
    case Verb::enter:
    case Verb::read:
      return costs_.load_local_s;
    case Verb::signal:
    case Verb::put_signal:
      return costs_.load_local_s +
             (std::exchange(mine.clean, false) || verb == Verb::put_signal ? 0 : costs_.release_s);
    case Verb::put_packets:
      return 2 * costs_.load_local_s;  // its epoch, then the source
    case Verb::reduce_packets: {       // flags and data of every member's message, and the result
      const double bytes = static_cast<double>(agent.step.bytes) * (2 * agent.step.team->size());
      return bytes / local_rate(agent) + packet_passes_s(agent);
    }
    case Verb::transform:
      return agent.step.bytes == 0 ? 0 : local_s(agent, agent.step.operands + 1);
    case Verb::sum:
    case Verb::max:
      return local_s(agent, 1) + costs_.sync_s;
    case Verb::scan:
      return local_s(agent, 2) + 2 * costs_.sync_s;
    case Verb::tally:
      return local_s(agent, agent.step.operands) + 2 * costs_.sync_s;
    case Verb::fetch_add:
      if (agent.step.pe == agent.pe) return costs_.load_local_s;
      return costs_.load_remote_s + 2 * platform_.latency_s(agent.pe, agent.step.pe);
    case Verb::wait_until:
    case Verb::receive_packets:
    case Verb::test:
      return costs_.load_local_s + costs_.sync_s;
    case Verb::sync:
    case Verb::leave:
    case Verb::warps:
      return costs_.sync_s;
    default:
      return agent.queue >= 0 ? operation_s(agent) : 0;
  }
}

// The start of an operation, behind what its queue has done before.
double TimePolicy::operation_s(const Agent& agent) const {
  const fiber::Step& step = agent.step;
  switch (step.verb) {
    case Verb::copy:
      return costs_.copy_engine_s;
    case Verb::gemm:
      return costs_.launch_s +
             (step.m == 0 ? 0 : models::gemm_us(machine_, step.m, step.n, step.k) * 1e-6);
    case Verb::post:
      return costs_.launch_s;
    case Verb::take:
      return costs_.launch_s + costs_.load_local_s;
    default:
      return 0;
  }
}

}  // namespace sym::sim
