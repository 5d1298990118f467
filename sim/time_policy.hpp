// TimePolicy: the simulator's policy. Every verb takes the time that the machine's numbers say,
// bytes in flight are the Network's business, and what happens next is what happens first.
//
// What costs what (numbers: models/machine.hpp; on NVLink the block's own lanes move the bytes;
// each verb on data but those of packets takes verb_us besides):
//   start       launch_us after the stream's previous launch has ended; and before its first verb,
//               if it has one, ramp_us: its code is cold, and its last stores must land before the
//               next launch. Both together are early_us less if it is set up early
//   put         load_local_us (the source), then the block is busy until its bytes are out (flow,
//               at most sm_write a block); they are there put_release_us later. Through a NIC:
//               nic_post_us, then the flow, then nic_latency_us
//   get         load_remote_us, then the flow (at most sm_read a block)
//   signal      load_local_us (its epoch) and release_us unless a quiet has just waited; there
//               flag_us later (nic_flag_us through a NIC, which is nic_latency_us if not given),
//               and flag_turn_us for each other block of the launch: all send theirs at once
//   put_signal  both: the flag leaves when its payload is there, and so long its block is busy
//   put_packets 2 load_local_us (its epoch, then the source), then as put with 4/3 of the bytes;
//               there flag_us later
//   reduce_packets   waits as wait_until; then flags and data of all messages / sm_local, and
//               packet_pass_us for each pass of packet_pass_bytes. From a launch's second message
//               on less what others kept the link from this block's: real blocks are not in step
//   receive_packets  the same, with what each message brought written
//   reduce      load_remote_us, flows from all peers at once (at most sm_reduce a block and, in
//               all, port_read), beside the local reads and writes (sm_local)
//   multicast   a load that the switch reduces: load_remote_us, then one flow through the ports of
//               all members and this PE's, each of whose bytes takes 1 / nvls_efficiency; at most
//               sm_reduce a block. A store to all: load_local_us, a flow likewise, at most sm_write
//               a block, and release_us. Both in one verb: both flows at a time
//   weighted_sum     the same as reduce, one flow for each PE that terms lie on
//   warps       sync_us at each end. What its pieces put to one PE is one flow, and through a NIC
//               nic_post_us for each put; what they fetch of one PE is one flow. Flows of one warps
//               have parts of the block's rate that follow their bytes
//   transform, reduce_slots, sum, max, scan, tally   load_local_us, and bytes read and written
//               / sm_local; sync_us for each sync in it. reduce_slots takes slots_us besides
//   read        load_local_us
//   wait_until, test  load_local_us: a poll; and load_local_us after the last flag has come, if it
//               had not: the poll that sees it
//   sync, leave sync_us. enter is in ramp_us
// A fibre that stands for w blocks has w times their rates. Of a queue:
//   put, get    copy_engine_start_us, and copy_engine_turn_us unless the queue has copied and has
//               waited for nothing since; then one flow of at most copy_engine_gbps (local:
//               hbm_gbps), however many rows; through a NIC as above, nic_post_us for each row
//   gemm        launch_us and models/gemm_time.hpp; beside it, c from a peer (at most port_read)
//   post, take  launch_us (a post behind a copy post_us), and flag_us until it is there
//               (nic_latency_us through a NIC); the poll
//   record, after    nothing
// A way through several switches has a latency of its own (Route::latency_s) on top: once for what
// is sent, twice for what is fetched.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "backends/fiber/engine.hpp"
#include "models/machine.hpp"
#include "sim/costs.hpp"
#include "sim/disturbance.hpp"
#include "sim/network.hpp"
#include "sim/platform.hpp"
#include "sim/trace.hpp"
#include "sim/trail.hpp"

namespace sym::sim {

class TimePolicy : public fiber::Policy {
 public:
  // All but the machine must outlive it.
  TimePolicy(const models::Machine& machine, const Platform& platform, Network& network,
             const Disturbance& disturbance);

  // Before the run: keeps what explains its time, or a timeline. Either may be null.
  void watch(Trail* trail, Trace* trace);

  void ready(fiber::Engine& engine, fiber::Agent& agent) override;
  void woken(fiber::Engine& engine, fiber::Agent& agent) override;
  void issued(fiber::Engine& engine, fiber::Transfer& transfer) override;
  bool next(fiber::Engine& engine) override;
  double now_us() const override { return now_s_ * 1e6; }

  std::uint64_t flows() const { return flows_; }
  int nic_window() const { return costs_.nic_window; }
  // Of a run that was watched: the event that ended it, and what each link has carried.
  Trail::Index last_moment() const { return moment_; }
  std::vector<LinkLoad> link_loads() const;

 private:
  enum class What { resume, begin, start_transfer, deliver, deliver_group, arrive, fetched };
  struct Event {
    double time_s;
    std::uint64_t order;
    What what;
    fiber::Agent* agent;
    fiber::Transfer* transfer;
    Trail::Index moment;
    bool operator>(const Event& other) const {
      return time_s != other.time_s ? time_s > other.time_s : order > other.order;
    }
  };
  struct AgentState {
    bool cold = false;         // its launch has begun, and it has come to no verb
    int stores = 0;            // flows of its own lanes under way
    bool parked = false;       // stands before a verb until they are out
    int fetches = 0;           // flows of what it fetches under way
    double fetch_floor_s = 0;  // its local part ends then
    // The first transfers of its open groups, by (how many PEs further on, whether they are gets):
    // that they start in this order keeps PEs from sending to the same one at a time.
    std::map<std::pair<int, bool>, fiber::Transfer*> open;
    bool clean = false;   // a quiet has waited since the last signal
    bool copies = false;  // of a queue: nothing has come between its copies
    bool copied = false;  // of a queue: its last operation was a copy
    // Messages of packets of this launch: the last one's flows under way, its begin and bytes, and
    // for how long others kept the link from it.
    struct Messages {
      int begun = 0;
      int flows = 0;
      double began_s = 0;
      double bytes = 0;
      double held_up_s = 0;
    } messages;
    int posted = 0;  // NIC transfers under way
    std::deque<fiber::Transfer*> unposted;
    std::vector<fiber::Transfer*> held;  // by a fence
    std::uint64_t draws = 0;             // of its jitter
  };
  // Transfers that go as one flow: of the pieces of one warps to one PE, or of one copy. Kept by
  // the first of them.
  struct Group {
    double bytes = 0;
    double share = 1;  // of its block's rate
    std::vector<fiber::Transfer*> others;
    std::vector<int> members;  // of a store to all: the PEs that its flow reaches
  };
  struct InFlight {
    fiber::Transfer* transfer;  // or, for what an agent fetches:
    fiber::Agent* agent;
    bool nic;
    double latency_s;  // of its route, one way
  };
  // Of a flow, where somebody wants to know what held it back.
  struct Watched {
    Flow flow;
    double begin_s;
    Trail::Index moment;
    const fiber::Agent* agent;
    fiber::Step step;
  };

  void at(double time_s, What what, fiber::Agent* agent, fiber::Transfer* transfer, Why why);
  double jitter(const fiber::Agent& agent);
  const Costs& costs(const fiber::Agent& agent) const {
    if (slow_costs_.empty()) return costs_;
    const auto found = slow_costs_.find(agent.pe);
    return found == slow_costs_.end() ? costs_ : found->second;
  }
  static Why why(const fiber::Agent& agent);
  void start_background();
  void watch_start(const Flow& flow, const InFlight& what);
  void watch_end(FlowId id);
  void run_event(fiber::Engine& engine, const Event& event);
  void begin(fiber::Agent& agent);
  double cost_s(fiber::Agent& agent);
  double operation_s(const fiber::Agent& agent);
  double queued_s(const fiber::Agent& agent);
  double turn_s(const fiber::Agent& agent);
  double flag_s(const fiber::Agent& agent) const;
  double local_rate(const fiber::Agent& agent) const;
  double local_s(const fiber::Agent& agent, int passes) const;
  double packet_passes_s(const fiber::Agent& agent);
  double packets_taken_s(const fiber::Agent& agent);
  void packets_start(const fiber::Agent& agent, double bytes);
  void packets_out(const fiber::Agent& agent);
  using Fetches = std::vector<std::pair<int, std::size_t>>;
  static bool fetches(const fiber::Agent& agent);
  static Fetches fetches_of(const fiber::Agent& agent);
  void fetch(fiber::Agent& agent);
  void start_fetches(fiber::Agent& agent);
  void fetch_multicast(fiber::Agent& agent);
  void start_multicast_fetch(fiber::Agent& agent);
  void start_store_to_all(fiber::Transfer& first);
  void issue_signal(fiber::Agent& agent, fiber::Transfer& transfer);
  void together(double time_s, fiber::Agent& agent, fiber::Transfer& transfer);
  void collect(int pes, fiber::Transfer& transfer);
  void close_groups(fiber::Agent& agent);
  void send(fiber::Transfer& transfer);
  void start_posting(fiber::Transfer& transfer);
  void start_transfer(fiber::Transfer& transfer);
  void start_local(fiber::Transfer& transfer, double bytes);
  void deliver_all(fiber::Engine& engine, fiber::Transfer& transfer);
  void deliver(fiber::Engine& engine, fiber::Transfer& transfer);
  void start_flow(const Route& route, double bytes, double cap, InFlight what);
  void flow_ended(const InFlight& flow);
  void stores_out(fiber::Agent& agent);
  bool releases(const fiber::Transfer& transfer) const;
  void payload_out(fiber::Transfer& transfer, bool nic, double latency_s);
  AgentState& state(const fiber::Agent& agent);

  const models::Machine machine_;
  const Costs costs_;
  std::map<int, Costs> slow_costs_;  // by PE
  const Platform& platform_;
  Network& network_;
  const Disturbance& disturbance_;
  bool begun_ = false;
  std::size_t background_ = 0;  // flows that never end
  double now_s_ = 0;
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<AgentState> states_;
  std::unordered_map<FlowId, InFlight> in_flight_;
  std::unordered_map<const fiber::Transfer*, Group> groups_;
  // The events of signals that this event has made since it made any other, all of one agent: by
  // instant.
  struct Arrivals {
    const fiber::Agent* agent = nullptr;
    std::uint64_t order = 0;  // of the event that comes next
    std::vector<std::pair<double, fiber::Transfer*>> firsts;
  } arrivals_;
  FlowId next_flow_ = 1;
  std::uint64_t flows_ = 0;
  // Where the run is watched.
  Trail* trail_ = nullptr;
  Trace* trace_ = nullptr;
  Trail::Index moment_ = Trail::none;  // the event that happens now
  std::unordered_map<FlowId, Watched> watched_;
  std::vector<double> link_bytes_;
  std::vector<int> link_flows_;  // under way
};

}  // namespace sym::sim
