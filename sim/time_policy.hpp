// TimePolicy: the simulator's policy. Every verb takes the time that the machine's numbers say,
// bytes in flight are the Network's business, and what happens next is what happens first.
//
// What costs what (numbers: models/machine.hpp; on NVLink the block's own lanes move the bytes):
//   start       launch_us after the stream's previous launch has ended, and ramp_us: its code is
//   cold,
//               and its last stores must land before the next launch
//   enter       load_local_us: an atomic on a word of this GPU
//   put         the block is busy until its bytes are out (flow, at most sm_write a block); they
//   are
//               there release_us later. Through a NIC: nic_post_us, then the flow, then
//               nic_latency_us
//   get         load_remote_us, then the flow (at most sm_read a block)
//   signal      load_local_us (its epoch) and release_us unless a quiet has just waited; there
//               flag_us later (nic_latency_us through a NIC)
//   put_signal  both: the flag leaves when its payload is there
//   put_packets 2 load_local_us (its epoch, then the source), then as put with twice the bytes;
//   there
//               flag_us later
//   reduce_packets   waits as wait_until; then flags and data of all messages / sm_local
//   reduce      load_remote_us, flows from all peers at once (at most sm_read a block and port_read
//   in
//               all), beside the local reads and writes (sm_local)
//   transform, sum, max   load_local_us and bytes read and written / sm_local
//   wait_until, test  load_local_us: a poll; and load_local_us after the last flag has come, if it
//   had
//               not: the poll that sees it
//   sync, leave sync_us
// A fibre that stands for w blocks has w times their rates.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "backends/fiber/engine.hpp"
#include "models/machine.hpp"
#include "sim/network.hpp"
#include "sim/platform.hpp"

namespace sym::sim {

// A machine's numbers in seconds and bytes per second.
struct Costs {
  explicit Costs(const models::Machine& machine);
  double launch_s, ramp_s, flag_s, release_s, load_local_s, load_remote_s, sync_s;
  double sm_write, sm_read, sm_local, hbm;
  double port_read;  // what a PE's reads reach together while its peers read it
  double nic_latency_s = 0, nic_post_s = 0;
  int nic_window = 1;
};

class TimePolicy : public fiber::Policy {
 public:
  TimePolicy(const models::Machine& machine, const Platform& platform, Network& network)
      : costs_(machine), platform_(platform), network_(network) {}

  void ready(fiber::Engine& engine, fiber::Agent& agent) override;
  void woken(fiber::Engine& engine, fiber::Agent& agent) override;
  void issued(fiber::Engine& engine, fiber::Transfer& transfer) override;
  bool next(fiber::Engine& engine) override;
  double now_us() const override { return now_s_ * 1e6; }

  std::uint64_t flows() const { return flows_; }
  int nic_window() const { return costs_.nic_window; }

 private:
  enum class What { resume, start_transfer, deliver, fetched };
  struct Event {
    double time_s;
    std::uint64_t order;
    What what;
    fiber::Agent* agent;
    fiber::Transfer* transfer;
    bool operator>(const Event& other) const {
      return time_s != other.time_s ? time_s > other.time_s : order > other.order;
    }
  };
  struct AgentState {
    int stores = 0;            // flows of its own lanes under way
    bool parked = false;       // stands before a verb until they are out
    int fetches = 0;           // flows of its reduce under way
    double fetch_floor_s = 0;  // the local part of the reduce ends then
    bool clean = false;        // a quiet has waited since the last signal
    int posted = 0;            // NIC transfers under way
    std::deque<fiber::Transfer*> unposted;
    std::vector<fiber::Transfer*> held;  // by a fence
  };
  struct InFlight {
    fiber::Transfer* transfer;  // or, for a reduce:
    fiber::Agent* agent;
    bool nic;
  };

  void at(double time_s, What what, fiber::Agent* agent, fiber::Transfer* transfer);
  void begin(fiber::Agent& agent);
  double cost_s(fiber::Agent& agent);
  double local_rate(const fiber::Agent& agent) const;
  void fetch(fiber::Agent& agent);
  void start_fetches(fiber::Agent& agent);
  void start_transfer(fiber::Transfer& transfer);
  void deliver(fiber::Engine& engine, fiber::Transfer& transfer);
  void start_flow(const Route& route, double bytes, double cap, InFlight what);
  void flow_ended(const InFlight& flow);
  void payload_out(fiber::Transfer& transfer, bool nic);
  AgentState& state(const fiber::Agent& agent);

  const Costs costs_;
  const Platform& platform_;
  Network& network_;
  double now_s_ = 0;
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<AgentState> states_;
  std::unordered_map<FlowId, InFlight> in_flight_;
  FlowId next_flow_ = 1;
  std::uint64_t flows_ = 0;
};

}  // namespace sym::sim
