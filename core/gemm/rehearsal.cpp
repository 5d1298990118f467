#include "core/gemm/rehearsal.hpp"

#include <algorithm>
#include <memory>

#include "core/gemm/rehearsal_memory.hpp"
#include "core/gemm/rehearsal_program.hpp"

namespace sym::gemm {

namespace {

using namespace detail;

class Rehearsal {
 public:
  Rehearsal(const Plan& plan, int calls)
      : plan_(plan),
        programs_(to_index(plan.pes)),
        marks_(to_index(plan.pes)),
        next_(2 * to_index(plan.pes)),
        clocks_(2 * to_index(plan.pes), Clock(2 * to_index(plan.pes))),
        known_(2 * to_index(plan.pes)) {
    for (int rank = 0; rank < plan.pes; ++rank) {
      Recorder& program = programs_[to_index(rank)];
      for (int call = 0; call < calls; ++call) {
        program.begin(call);
        walk(plan, rank, program);
        program.end();
      }
      marks_[to_index(rank)].resize(to_index(program.marks()));
    }
  }

  std::vector<std::string> run() {
    for (bool moved = true; moved && found_.size() < most;) {
      moved = false;
      for (int line = 0; line < to_int(next_.size()); ++line) {
        while (found_.size() < most && step(line)) moved = true;
      }
    }
    if (found_.empty()) stuck();
    return found_;
  }

 private:
  static constexpr std::size_t most = 8;
  // A point of a line: what it knew, and how far it had got itself. Points between which the line
  // learnt nothing share a clock.
  struct Moment {
    int line = -1;
    std::uint32_t time = 0;
    std::shared_ptr<const Clock> known;
  };
  struct State {  // of a flag
    bool set = false;
    Moment posted, taken;
  };

  Moment now(int line) {
    const Clock& clock = clocks_[to_index(line)];
    std::shared_ptr<const Clock>& known = known_[to_index(line)];
    if (!known) known = std::make_shared<const Clock>(clock);
    return Moment{line, clock[to_index(line)], known};
  }
  void learn(int line, const Moment& moment) {
    Clock& clock = clocks_[to_index(line)];
    join(clock, *moment.known);
    std::uint32_t& time = clock[to_index(moment.line)];
    time = std::max(time, moment.time);
    known_[to_index(line)].reset();
  }

  const std::vector<Op>& ops(int line) const {
    return programs_[to_index(line / 2)].line(line % 2);
  }

  // Runs the line's next operation; false if there is none or it must wait.
  bool step(int line) {
    if (next_[to_index(line)] == ops(line).size()) return false;
    const Op& op = ops(line)[next_[to_index(line)]];
    std::uint32_t& time = clocks_[to_index(line)][to_index(line)];
    const int rank = line / 2;
    if (op.verb == Verb::take) {
      State& flag = flags_[{op.flag.slot, op.flag.pe, rank}];
      if (!flag.set) return false;
      flag.set = false;
      learn(line, flag.posted);
      flag.posted = Moment{};
      flag.taken = Moment{line, ++time, nullptr};
    } else if (op.verb == Verb::after) {
      const Moment& mark = marks_[to_index(rank)][to_index(op.mark)];
      if (mark.line < 0) return false;
      learn(line, mark);
      ++time;
    } else {
      ++time;
      perform(op, rank, Actor{line, clocks_[to_index(line)]});
    }
    ++next_[to_index(line)];
    return true;
  }

  void perform(const Op& op, int rank, const Actor& who) {
    switch (op.verb) {
      case Verb::begin:
        begin(op, rank, who);
        break;
      case Verb::post:
        post(op, rank, who);
        break;
      case Verb::record:
        marks_[to_index(rank)][to_index(op.mark)] = now(who.line);
        break;
      case Verb::pull:
        pull(op, rank, who);
        break;
      case Verb::multiply:
        multiply(op, rank, who);
        break;
      case Verb::deliver:
        deliver(op, rank, who);
        break;
      case Verb::end:
        end(op, rank, who);
        break;
      case Verb::take:
      case Verb::after:
        break;
    }
  }

  // The rank's program writes the operands of this call, and knows of nothing but its own last
  // call.
  void begin(const Op& op, int rank, const Actor& who) {
    for (const auto& [which, room] : {std::pair(Which::a, Room::a), std::pair(Which::b, Room::b),
                                      std::pair(Which::c, Room::c)}) {
      const Held& held = plan_.of(which).held(rank);
      for (const int row : held.row_tiles) {
        for (const int col : held.col_tiles) {
          if (plan_.of(which).place(row, col).count() == 0) continue;
          write(op, {rank, room, row, col}, who, {room, row, col, op.call, {}, 0, 0});
        }
      }
    }
  }

  void post(const Op& op, int rank, const Actor& who) {
    State& flag = flags_[{op.flag.slot, rank, op.flag.pe}];
    const bool free = flag.taken.line < 0 ||  // never used
                      who.clock[to_index(flag.taken.line)] >= flag.taken.time;
    if (flag.set || !free) {
      say(op, rank,
          "sets flag " + std::to_string(op.flag.slot) + " at rank " + std::to_string(op.flag.pe) +
              " before it was taken");
    }
    flag.set = true;
    flag.posted = now(who.line);
  }

  void pull(const Op& op, int rank, const Actor& who) {
    const bool a = op.pull.which == Which::a;
    const Address from{op.pull.owner, a ? Room::a : Room::b, op.pull.row, op.pull.col};
    const Content content = read(op, from, who);
    write(op, {rank, a ? Room::buffer_a : Room::buffer_b, op.pull.buffer, 0}, who, content);
  }

  // Reads tile (row, col) of A or B where the stage has it, and sees that it is that tile.
  void expect_input(const Op& op, const Address& where, const Actor& who, const Content& wanted) {
    const Content got = read(op, where, who);
    if (got.of == wanted.of && got.row == wanted.row && got.col == wanted.col &&
        got.call == op.call)
      return;
    say(op, where.rank,
        std::string("finds another tile than ") + tile_text(wanted.row, wanted.col) + " of " +
            (wanted.of == Room::a ? "A" : "B") + " of this call");
  }

  void multiply(const Op& op, int rank, const Actor& who) {
    const Stage& s = op.stage;
    const Tile& t = s.tile;
    const auto input = [&](int buffer, Room own, Room buffered, int row) {
      const Address where =
          buffer < 0 ? Address{rank, own, row, t.k} : Address{rank, buffered, buffer, 0};
      expect_input(op, where, who, {own, row, t.k, op.call, {}, 0, 0});
    };
    input(s.buffer_a, Room::a, Room::buffer_a, t.m);
    input(s.buffer_b, Room::b, Room::buffer_b, t.n);
    const Address to =
        s.to < 0 ? Address{rank, Room::d, t.m, t.n} : Address{rank, Room::partial, s.to, 0};
    Content sum{Room::c, t.m, t.n, op.call, {}, 0, 0};
    if (s.addend == Addend::user) {
      if (plan_.options.with_c) sum = read(op, {s.peer, Room::c, t.m, t.n}, who);
      ++sum.c;
    } else {
      sum = read(op, s.addend == Addend::own ? to : Address{s.peer, Room::partial, s.partial, 0},
                 who);
    }
    if (sum.of != Room::c || sum.row != t.m || sum.col != t.n || sum.call != op.call)
      say(op, rank, "adds to another sum than tile " + tile_text(t.m, t.n) + " of this call");
    sum.products.push_back(t.k);
    if (s.complete) ++sum.bias;
    write(op, to, who, sum);
  }

  void deliver(const Op& op, int rank, const Actor& who) {
    const Delivery& one = op.delivery;
    const Content content = read(op, {one.from, Room::partial, one.partial, 0}, who);
    write(op, {rank, Room::d, one.m, one.n}, who, content);
  }

  // Each tile of D that the rank holds is there, and is what it must be.
  void end(const Op& op, int rank, const Actor& who) {
    std::vector<int> wanted;
    for (int k = 0; k < plan_.tiling.k.parts(); ++k) {
      if (!plan_.tiling.k.empty(k)) wanted.push_back(k);
    }
    const Held& held = plan_.c.held(rank);
    for (const int m : held.row_tiles) {
      for (const int n : held.col_tiles) {
        if (plan_.c.place(m, n).count() == 0) continue;
        Content got = read(op, {rank, Room::d, m, n}, who);
        std::sort(got.products.begin(), got.products.end());
        if (got.of == Room::c && got.row == m && got.col == n && got.call == op.call &&
            got.products == wanted && got.c == 1 && got.bias == 1)
          continue;
        say(op, rank,
            "ends with tile " + tile_text(m, n) +
                " of D wrong: " + std::to_string(got.products.size()) + " of " +
                std::to_string(wanted.size()) + " products, C " + std::to_string(got.c) +
                " times, the bias " + std::to_string(got.bias) + " times");
      }
    }
  }

  Content read(const Op& op, const Address& where, const Actor& who) {
    const std::string wrong = memory_.read(where, who);
    if (!wrong.empty()) say(op, who.line / 2, place_text(where) + ": " + wrong);
    Content content = memory_.content(where);
    if (content.call < 0) say(op, who.line / 2, place_text(where) + ": reads what nobody wrote");
    return content;
  }
  void write(const Op& op, const Address& where, const Actor& who, Content content) {
    const std::string wrong = memory_.write(where, who, std::move(content));
    if (!wrong.empty()) say(op, who.line / 2, place_text(where) + ": " + wrong);
  }

  void say(const Op& op, int rank, const std::string& what) {
    if (found_.size() >= most) return;
    found_.push_back("call " + std::to_string(op.call + 1) + ", rank " + std::to_string(rank) +
                     ", " + op_text(op) + ": " + what);
  }

  // Who waits, when nobody can go on.
  void stuck() {
    for (int line = 0; line < to_int(next_.size()) && found_.size() < most; ++line) {
      if (next_[to_index(line)] == ops(line).size()) continue;
      const Op& op = ops(line)[next_[to_index(line)]];
      std::string before;  // the product that cannot run
      for (std::size_t i = next_[to_index(line)]; i < ops(line).size() && before.empty(); ++i) {
        if (ops(line)[i].call == op.call && ops(line)[i].verb == Verb::multiply)
          before = " before step " + std::to_string(ops(line)[i].stage.step);
      }
      say(op, line / 2,
          "waits for ever" + before + ", on its line of " +
              (line % 2 == 0 ? "products" : "copies"));
    }
  }

  const Plan& plan_;
  std::vector<Recorder> programs_;
  std::vector<std::vector<Moment>> marks_;  // by rank; no line: not yet recorded
  std::vector<std::size_t> next_;           // by line: 2 * rank for products, + 1 for copies
  std::vector<Clock> clocks_;
  std::vector<std::shared_ptr<const Clock>> known_;           // null: has learnt since
  std::map<std::tuple<std::size_t, int, int>, State> flags_;  // slot, from, to
  Memory memory_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> rehearse(const Plan& plan, int calls) {
  return Rehearsal(plan, calls).run();
}

}  // namespace sym::gemm
