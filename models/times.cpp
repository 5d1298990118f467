#include "models/times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

#include "models/bounds.hpp"
#include "models/multicast.hpp"
#include "models/packets.hpp"

namespace sym::models {

namespace {

// A granule: one access of a lane.
constexpr double access_bytes = 16;

// Between two copies of a queue: the first one's flag, and the start of the second.
double copied_piece_us(const Machine& machine) {
  return machine.number_or("post_us", machine.number("launch_us")) +
         machine.number("copy_engine_start_us");
}

// What part of a share the last of so many pieces of `staged` is.
double last_piece(const Machine& machine, int pes, int pieces) {
  const double shrink = shrink_of(machine, pes);
  double all = 0, term = 1;
  for (int i = 0; i < pieces; ++i, term *= shrink) all += term;
  return std::pow(shrink, pieces - 1) / all;
}

class Times {
 public:
  Times(const Machine& machine, const Job& job, int blocks)
      : machine_(machine), job_(job), blocks_(blocks), others_(job.pes - 1) {}

  std::vector<Term> terms;

  void all_gather_direct() { puts(2, others_ * share(), 2 * share(), number("port_gbps")); }
  void all_gather_ring() {
    start(1);
    barriers(2);
    steps(others_);
    add("own part", local_us(2 * share()));
    add(gb("puts", write_gbps()), us(others_ * share(), write_gbps()));
  }
  // Blocks put heads while the first copy starts, and copy what stays on this PE; of small parts
  // nothing is left for copies.
  void copy_engine() {
    const double head = job_.head_bytes < 0 ? head_bytes(machine_, job_, blocks_)
                                            : std::min(job_.head_bytes, share());
    const double rest = others_ * (share() - head);
    const double own_us = local_us(2 * share());
    meetings(1);
    if (rest <= 0) {
      meetings(1);
      add("heads",
          number("load_local_us") + std::max(own_us, us(others_ * head, number("port_gbps"))));
      return;
    }
    first_copy();
    if (own_us > us(rest, number("copy_engine_gbps"))) {
      add("own part", own_us);
    } else {
      copies(rest);
    }
    last_flag();
  }

  void reduce_scatter_direct() {
    start(1);
    barriers(2);
    add("first load", number("load_remote_us"));
    pulls(others_ * share());
  }
  void reduce_scatter_ring() {
    start(1);
    barriers(2);
    steps(others_);
    add(gb("puts", write_gbps()), us(others_ * share(), write_gbps()));
    add("sums", local_us(3 * others_ * share()));
    add("result", local_us(2 * share()));
  }
  void push(int pieces) {
    start(1);
    barriers(1);
    add(gb("puts", write_gbps()), us(others_ * share(), write_gbps()));
    add("pieces", pieces * piece_us());
    add("sum of a piece", local_us((job_.pes + 1.0) * share() / pieces));
  }
  void reduce_scatter_staged(int pieces) { staged(pieces, others_ * share()); }
  void all_reduce_staged(int pieces) {
    staged(pieces, 2 * others_ * share());
    if (pieces == 1) first_copy();  // nothing else is under way while it is reduced
    last_flag();
  }

  // What is reduced, or each member's part, is stored beside the messages and this PE's own part.
  void one_shot_sums() { packets("sums", packet_wire * others_ + 2); }
  void one_shot_copies() { packets("copies", packet_wire * others_ + 1 + job_.pes); }
  void all_reduce_one_shot_read() {
    start(1);
    barriers(2);
    add("first load", number("load_remote_us"));
    pulls(others_ * job_.bytes);
  }
  void all_reduce_two_shot() {
    start(1);
    barriers(2);
    add("first load, last store", number("load_remote_us") + number("release_us"));
    pulls(others_ * share());
    if (others_ > 0) add(gb("puts", write_gbps()), us(others_ * share(), write_gbps()));
  }
  void all_reduce_ring() {
    start(1);
    barriers(2);
    steps(2 * others_);
    if (others_ == 0) return own_part();
    add(gb("puts", write_gbps()), us(2 * others_ * share(), write_gbps()));
    add("sums", local_us(3 * others_ * share()));
  }

  // Through multicast, for each element that this PE stores or loads for all: so often through a
  // port, of whose rate nvls_efficiency remains. A port of all_reduce carries each of P shares once
  // and this PE's a second time.
  void all_reduce_nvls() {
    start(1);
    barriers(2);
    add("first load, last store", number("load_remote_us") + number("release_us"));
    multicast(job_.pes + 1, std::min(read_lanes_gbps(), blocks_ * number("sm_write_gbps")));
  }
  void all_gather_nvls() {
    start(1);
    barriers(2);
    add("first load, last store", number("load_local_us") + put_release_us());
    multicast(job_.pes, blocks_ * number("sm_write_gbps"));
  }
  void reduce_scatter_nvls() {
    start(1);
    barriers(2);
    add("first load", number("load_remote_us"));
    multicast(job_.pes, read_lanes_gbps());
  }

  // A member stores one message.
  void broadcast_one_shot() { packets("copy", packet_wire + 1); }
  // The root's port carries P-1 messages, or one and then everybody's carries one more.
  void broadcast_direct() {
    puts(2, others_ * job_.bytes, 2 * job_.bytes, number("port_oneway_gbps"));
  }
  void broadcast_two_shot() {
    puts(3, others_ * share(), 2 * job_.bytes, number("port_oneway_gbps"));
    add(gb("puts", write_gbps()), us(others_ * share(), write_gbps()));
  }

  void nccl() {
    const double factor = bus_factor(job_.algorithm, job_.pes);
    add("NCCL's start", number("nccl_" + job_.algorithm + "_us"));
    const double gbps = number("nccl_" + job_.algorithm + "_gbps");
    add(gb("its bus", gbps), us(factor * job_.bytes, gbps));
  }

 private:
  double number(const std::string& key) const { return machine_.number(key); }
  double share() const { return job_.bytes / job_.pes; }
  static double us(double bytes, double gbps) { return bytes / (gbps * 1e3); }
  void add(const std::string& what, double time_us) { terms.push_back({what, time_us}); }
  static std::string gb(const std::string& what, double gbps) {
    return what + " at " + std::to_string(std::lround(gbps)) + " GB/s";
  }

  double write_gbps() const {
    return std::min(number("port_gbps"), blocks_ * number("sm_write_gbps"));
  }
  // Of what is reduced as it is read.
  double read_gbps() const {
    return std::min(machine_.number_or("port_read_gbps", number("port_gbps")), read_lanes_gbps());
  }
  double read_lanes_gbps() const {
    return blocks_ * machine_.number_or("sm_reduce_gbps", number("sm_read_gbps"));
  }
  void multicast(int times, double lanes_gbps) {
    const double gbps =
        std::min(lanes_gbps, number("port_gbps") * number("nvls_efficiency") / times);
    add(gb("multicast", gbps), us(share(), gbps));
  }
  // For bytes read and written in this GPU's own memory.
  double local_us(double bytes) const {
    return us(bytes, std::min(number("hbm_gbps"), blocks_ * number("sm_local_gbps")));
  }
  double flag_us() const {
    return number("flag_us") + (blocks_ - 1) * machine_.number_or("flag_turn_us", 0);
  }
  // What a block takes for a piece, beside its bytes, from its last store to the peer's poll.
  double piece_us() const {
    return machine_.number_or("piece_us", number("release_us") + number("flag_us"));
  }
  double put_release_us() const {
    return machine_.number_or("put_release_us", number("release_us"));
  }
  // An epoch, a release, a flag, and the poll that sees it.
  double barrier_us(double flag) const {
    return 2 * number("load_local_us") + number("release_us") + flag;
  }

  void start(int launches) {
    const double cold_us = number("launch_us") + machine_.number_or("ramp_us", 0);
    add("start", launches * (cold_us - std::min(cold_us, machine_.number_or("early_us", 0))));
  }
  void barriers(int count) {
    add(count == 1 ? "a barrier" : "barriers", count * barrier_us(flag_us()));
  }
  // Barriers of queues: kernels of one block.
  void meetings(int count) {
    add("meetings", count * (number("launch_us") + machine_.number_or("ramp_us", 0) +
                             barrier_us(number("flag_us"))));
  }
  // Hops of a ring.
  void steps(double count) {
    add("hops",
        count * (number("release_us") + put_release_us() + number("load_local_us") + flag_us()));
  }
  // Puts to peers, and beside them a copy within this PE (own_bytes read and written): while blocks
  // make it, others keep the port busy, until all are at work without a pause.
  void puts(int barriers_around, double bytes, double own_bytes, double port_gbps) {
    start(1);
    barriers(barriers_around);
    add("first load, last store", number("load_local_us") + number("release_us"));
    const double port_us = us(bytes, port_gbps);
    const double lanes_us = us(bytes, blocks_ * number("sm_write_gbps")) + local_us(own_bytes);
    if (lanes_us > port_us) {
      add("puts and own part, " + std::to_string(blocks_) + " blocks", lanes_us);
    } else {
      add(gb("puts", port_gbps), port_us);
    }
  }
  void pulls(double bytes) {
    if (others_ == 0) return own_part();
    add(gb("loads", read_gbps()), us(bytes, read_gbps()));
  }
  // All that there is to do for one PE.
  void own_part() { add("own part", local_us(2 * share())); }
  void copies(double bytes) {
    add(gb("copies", number("copy_engine_gbps")), us(bytes, number("copy_engine_gbps")));
  }
  // A copy that waits for a kernel.
  void first_copy() {
    add("first copy",
        number("copy_engine_start_us") + machine_.number_or("copy_engine_turn_us", 0));
  }
  // A flag that a copy sets, to the kernel that looks for it.
  void last_flag() { add("flag", copied_flag_us()); }
  double copied_flag_us() const {
    return machine_.number_or("post_us", number("launch_us")) + number("flag_us") +
           number("load_local_us");
  }
  void staged(int pieces, double bytes) {
    meetings(1);
    first_copy();
    copies(bytes);
    add("pieces", (pieces - 1) * copied_piece_us(machine_));
    add("flag and sum of a piece",
        copied_flag_us() + number("launch_us") + machine_.number_or("ramp_us", 0) +
            local_us((job_.pes + 1.0) * share()) * last_piece(machine_, job_.pes, pieces));
  }
  // Data with their flags, and nobody waits for a barrier; then a PE reads and writes `parts`
  // messages of its own memory.
  void packets(const std::string& taken, double parts) {
    start(1);
    add("source, poll, flag", 2 * number("load_local_us") + number("flag_us"));
    const PacketJob messages = messages_of(job_);
    const PacketGrid grid = with_threads(machine_, messages, blocks_);
    add("packets, " + std::to_string(blocks_) + "x" + std::to_string(grid.threads) + " lanes",
        packet_grid_us(machine_, messages, grid));
    add(taken, us(parts * messages.bytes, number("hbm_gbps")));
  }

  const Machine& machine_;
  const Job& job_;
  int blocks_;
  double others_;
};

using Form = std::function<void(Times&, int pieces)>;

// (algorithm, variant) -> its form.
const std::map<std::pair<std::string, std::string>, Form>& forms() {
  static const std::map<std::pair<std::string, std::string>, Form> all = {
      {{"all_gather", "direct"}, [](Times& t, int) { t.all_gather_direct(); }},
      {{"all_gather", "ring"}, [](Times& t, int) { t.all_gather_ring(); }},
      {{"all_gather", "nvls"}, [](Times& t, int) { t.all_gather_nvls(); }},
      {{"all_gather", "copy_engine"}, [](Times& t, int) { t.copy_engine(); }},
      {{"all_gather", "one_shot"}, [](Times& t, int) { t.one_shot_copies(); }},
      {{"all_to_all", "direct"}, [](Times& t, int) { t.all_gather_direct(); }},
      {{"all_to_all", "copy_engine"}, [](Times& t, int) { t.copy_engine(); }},
      {{"all_to_all", "one_shot"}, [](Times& t, int) { t.one_shot_copies(); }},
      {{"reduce_scatter", "direct"}, [](Times& t, int) { t.reduce_scatter_direct(); }},
      {{"reduce_scatter", "nvls"}, [](Times& t, int) { t.reduce_scatter_nvls(); }},
      {{"reduce_scatter", "push"}, [](Times& t, int pieces) { t.push(pieces); }},
      {{"reduce_scatter", "ring"}, [](Times& t, int) { t.reduce_scatter_ring(); }},
      {{"reduce_scatter", "staged"}, [](Times& t, int pieces) { t.reduce_scatter_staged(pieces); }},
      {{"reduce_scatter", "one_shot"}, [](Times& t, int) { t.one_shot_sums(); }},
      {{"all_reduce", "one_shot"}, [](Times& t, int) { t.one_shot_sums(); }},
      {{"all_reduce", "one_shot_read"}, [](Times& t, int) { t.all_reduce_one_shot_read(); }},
      {{"all_reduce", "two_shot"}, [](Times& t, int) { t.all_reduce_two_shot(); }},
      {{"all_reduce", "nvls"}, [](Times& t, int) { t.all_reduce_nvls(); }},
      {{"all_reduce", "ring"}, [](Times& t, int) { t.all_reduce_ring(); }},
      {{"all_reduce", "staged"}, [](Times& t, int pieces) { t.all_reduce_staged(pieces); }},
      {{"broadcast", "one_shot"}, [](Times& t, int) { t.broadcast_one_shot(); }},
      {{"broadcast", "direct"}, [](Times& t, int) { t.broadcast_direct(); }},
      {{"broadcast", "two_shot"}, [](Times& t, int) { t.broadcast_two_shot(); }}};
  return all;
}

}  // namespace

bool has_estimate(const Machine& machine, const std::string& algorithm,
                  const std::string& variant) {
  if (variant == "nccl") return machine.numbers.contains("nccl_" + algorithm + "_us");
  if (is_multicast(variant) && !has_multicast(machine)) return false;
  return forms().contains({algorithm, variant});
}

double shrink_of(const Machine& machine, int pes) {
  if (pes < 2) return 1;
  const double reduced = (pes + 1) / machine.number("hbm_gbps");
  const double copied = (pes - 1) / machine.number("copy_engine_gbps");
  return std::min(1.0, reduced / copied);
}

int pieces_of_share(const Machine& machine, const Job& job, const std::string& variant,
                    int blocks) {
  const double share = job.bytes / job.pes;
  const double reduction_us = (job.pes + 1) * share / (machine.number("hbm_gbps") * 1e3);
  const double most = share / (access_bytes * blocks);
  if (variant != "staged") {
    // Of a put the fence before its signal.
    const double flag_us = machine.number("flag_us") + machine.number("release_us");
    return std::max(1, static_cast<int>(std::min(std::sqrt(reduction_us / flag_us), most)));
  }
  // Another piece costs less than it leaves of the reduction.
  const double piece_us = copied_piece_us(machine);
  int pieces = 1;
  while (pieces < most &&
         (last_piece(machine, job.pes, pieces) - last_piece(machine, job.pes, pieces + 1)) *
                 reduction_us >
             piece_us)
    ++pieces;
  return pieces;
}

double head_bytes(const Machine& machine, const Job& job, int blocks) {
  const double start_us =
      machine.number("copy_engine_start_us") + machine.number_or("copy_engine_turn_us", 0);
  const double gbps =
      std::min(blocks * machine.number("sm_write_gbps"), machine.number("port_gbps"));
  const double others = std::max(1, job.pes - 1);
  return std::min(job.bytes / job.pes, start_us * gbps * 1e3 / others);
}

Estimate estimate(const Machine& machine, const Job& job, const std::string& variant, int blocks) {
  if (!has_estimate(machine, job.algorithm, variant)) {
    throw std::invalid_argument("estimate: no closed form of " + job.algorithm + " " + variant);
  }
  Times times(machine, job, blocks);
  if (variant == "nccl") {
    times.nccl();
  } else {
    const int pieces = job.pieces > 0 ? job.pieces : pieces_of_share(machine, job, variant, blocks);
    forms().at({job.algorithm, variant})(times, pieces);
  }
  Estimate result{variant, blocks, std::move(times.terms), 0};
  for (const Term& term : result.terms) result.us += term.us;
  return result;
}

}  // namespace sym::models
