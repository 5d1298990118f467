#include "models/times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

#include "core/collective/halving_doubling.hpp"
#include "core/collective/queues.hpp"
#include "models/bounds.hpp"
#include "models/multicast.hpp"
#include "models/packets.hpp"
#include "models/wires.hpp"

namespace sym::models {

namespace {

class Times {
 public:
  Times(const Machine& machine, const Job& job, int blocks)
      : machine_(machine),
        job_(job),
        blocks_(blocks),
        others_(job.pes - 1),
        wires_(machine, job.pes) {}

  std::vector<Term> terms;

  void all_gather_direct() {
    // Blocks of two kinds put to one peer at a time, but while half of them copy the own part the
    // others get ahead, and from then on it is two.
    const double one_us = wires_.all_us(share(), 1);
    const double ahead = std::min(1.0, others_ * local_us(2 * share()) / std::max(one_us, 1e-9));
    puts(2, others_ * share(), 2 * share(), number("port_gbps"),
         blocks_ > 1 ? one_us + ahead * (wires_.all_us(share(), 2) - one_us) : one_us);
  }
  void all_gather_ring() {
    start(1);
    barriers(2);
    steps(others_);
    add("own part", local_us(2 * share()));
    ring_puts(others_);
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
          number("load_local_us") +
              std::max({own_us, us(others_ * head, number("port_gbps")), wires_.all_us(head, 1)}));
      return;
    }
    first_copy();
    const double late_us = wires_.all_us(head, 1) - terms.back().us;
    if (late_us > 0) add("heads over the links", late_us);
    const double copied_us = copies(share() - head, copy_lines);
    if (own_us > copied_us) add("own part beside them", own_us - copied_us);
    last_flags();
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
    ring_puts(others_);
    add("sums", local_us(3 * others_ * share()));
    add("result", local_us(2 * share()));
  }
  void push(int pieces) {
    start(1);
    barriers(1);
    puts_in_turn(share());
    // Blocks of the kind that is half a piece ahead send one more; each piece goes to every peer.
    add("pieces", pieces * piece_us() + (others_ - 1) * (pieces + 1) *
                                            (2 * number("load_local_us") + put_release_us()));
    add("sum of a piece", local_us((job_.pes + 1.0) * share() / pieces));
  }
  void reduce_scatter_staged(int pieces) { staged(pieces, others_ * share()); }
  void all_reduce_staged(int pieces) {
    staged(pieces, 2 * others_ * share());
    if (pieces == 1) first_copy();  // nothing else is under way while it is reduced
    last_flags();
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
    if (others_ > 0) puts_in_turn(share());
  }
  void all_reduce_ring() {
    start(1);
    barriers(2);
    steps(2 * others_);
    if (others_ == 0) return own_part();
    ring_puts(2 * others_);
    add("sums", local_us(3 * others_ * share()));
  }

  // Halves, quarters, ... to partners at P/2, P/4, ..., and the same back. Of a number of PEs that
  // is no power of two, those beyond it give all to another before, and get all from it behind.
  void all_reduce_halving_doubling() {
    const sym::detail::Folded fold = sym::detail::folded(0, job_.pes);
    start(1);
    barriers(1);
    steps(2 * std::log2(fold.power) + (fold.extra > 0 ? 2 : 0));
    double bytes = 0, wires_us = 0;
    const auto step = [&](double each, const Wires::To& to) {
      bytes += 2 * each;
      wires_us += 2 * std::max(wires_.us(each, to), us(each, write_gbps()));
    };
    if (fold.extra > 0) step(job_.bytes, [&](int pe) { return pe < 2 * fold.extra ? pe ^ 1 : pe; });
    for (int distance = 1; distance < fold.power; distance *= 2) {
      step(job_.bytes * distance / fold.power, [&](int pe) {
        const sym::detail::Folded one = sym::detail::folded(pe, job_.pes);
        return one.gives() ? pe : one.partner(distance);
      });
    }
    moved("puts", bytes, write_gbps(), wires_us);
    add("sums", local_us(1.5 * bytes));
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
  void puts(int barriers_around, double bytes, double own_bytes, double port_gbps,
            double wires_us = 0) {
    start(1);
    barriers(barriers_around);
    add("first load, last store", number("load_local_us") + number("release_us"));
    const double port_us = us(bytes, port_gbps);
    const double lanes_us = us(bytes, blocks_ * number("sm_write_gbps")) + local_us(own_bytes);
    if (wires_us > std::max(lanes_us, port_us)) {
      add("puts over the links", wires_us);
    } else if (lanes_us > port_us) {
      add("puts and own part, " + std::to_string(blocks_) + " blocks", lanes_us);
    } else {
      add(gb("puts", port_gbps), port_us);
    }
  }
  // The longer of the two: bytes at a rate of this PE's, or what keeps a link of the node busy.
  void moved(const std::string& what, double bytes, double gbps, double wires_us) {
    const double own_us = us(bytes, gbps);
    add(wires_us > own_us ? what + " over the links" : gb(what, gbps), std::max(wires_us, own_us));
  }
  void ring_puts(double count) {
    moved("puts", count * share(), write_gbps(), count * wires_.shift_us(share(), 1));
  }
  // So many bytes to each other PE, one after the other.
  void puts_in_turn(double bytes) {
    moved("puts", others_ * bytes, write_gbps(), wires_.all_us(bytes, 1));
  }
  void pulls(double bytes) {
    if (others_ == 0) return own_part();
    moved("loads", bytes, read_gbps(), wires_.all_us(bytes / others_, job_.pes));
  }
  void own_part() { add("own part", local_us(2 * share())); }  // all that one PE has to do
  // So many bytes to each other PE, by so many queues. Each copy of a queue has its start, which
  // copies of the other hide if they are long.
  double copies(double bytes, int lines) {
    const double gbps = number("copy_engine_gbps");
    const double room = std::min(1.0, number("port_gbps") / gbps);
    const double of_a_line = std::ceil(others_ / lines);
    const double in_turn_us =
        (of_a_line - 1) * number("copy_engine_start_us") + of_a_line * us(bytes, gbps);
    const double wires_us = room * wires_.all_us(bytes, lines);
    if (lines > 1 && in_turn_us > std::max(wires_us, us(others_ * bytes, gbps))) {
      add("copies in turn", in_turn_us);
    } else {
      moved("copies", others_ * bytes, gbps, wires_us);
    }
    return terms.back().us;
  }
  // A copy that waits for a kernel.
  void first_copy() {
    add("first copy",
        number("copy_engine_start_us") + machine_.number_or("copy_engine_turn_us", 0));
  }
  // A flag that a copy sets, to the kernel that looks for it; of each member's queues to each.
  void last_flags() {
    const double lines = std::min<double>(copy_lines, others_);
    add("flag", copied_flag_us());
    add("further flags", others_ * number("launch_us") + (lines * job_.pes - 1) * taken_us());
  }
  double taken_us() const { return number("launch_us") + number("load_local_us"); }
  double copied_flag_us() const {
    return machine_.number_or("post_us", number("launch_us")) + number("flag_us") +
           number("load_local_us");
  }
  void staged(int pieces, double bytes) {
    meetings(1);
    first_copy();
    for (double left = bytes; left > 0; left -= others_ * share()) copies(share(), 1);
    add("pieces", (others_ * pieces - 1) * copied_piece_us(machine_));
    add("flags and sum of a piece",
        copied_flag_us() + (others_ - 1) * taken_us() + number("launch_us") +
            machine_.number_or("ramp_us", 0) +
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
        std::max(packet_grid_us(machine_, messages, grid),
                 messages.one_way ? 0 : wires_.all_us(packet_wire * messages.bytes, job_.pes)));
    add(taken, us(parts * messages.bytes, number("hbm_gbps")));
  }

  const Machine& machine_;
  const Job& job_;
  int blocks_;
  double others_;
  Wires wires_;
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
      {{"all_reduce", "halving_doubling"}, [](Times& t, int) { t.all_reduce_halving_doubling(); }},
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
