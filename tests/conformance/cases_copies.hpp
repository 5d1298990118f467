// Collectives whose bytes the copy engine moves, against exact data: every count, grid and number
// of pieces, in place, in graphs, and by teams.
#pragma once

#include "core/collective/copy_engine.hpp"
#include "core/collective/staged.hpp"
#include "tests/conformance/cases_collective.hpp"

namespace sym::conformance {

struct CopyShape {
  std::size_t n;
  int pieces;
};

template <class T, World W>
class CopyCollectives : private Collectives<T, W> {
  using Base = Collectives<T, W>;
  static constexpr int blocks = 2;

 public:
  CopyCollectives(W& world, Errors& errors, std::size_t most, int most_pieces)
      : Base(world, errors, most), posts_(world.posts(posts_of(most_pieces))) {}

  void all_gather(const Team& team, std::size_t n) {
    if (!this->template begin<Sum>(team, n)) return;
    all_gather_copy_engine(this->world_, queues(team, n), this->in_, this->out_, n, plan({n, 1}));
    this->end("all_gather", team, n, 1, rows(team, n, false));
  }
  void all_to_all(const Team& team, std::size_t n) {
    if (!this->template begin<Sum>(team, n * Base::ranks(team))) return;
    all_to_all_copy_engine(this->world_, queues(team, n), this->in_, this->out_, n, plan({n, 1}));
    this->end("all_to_all", team, n, 1, rows(team, n, true));
  }
  template <class Op>
  void reduce_scatter(const Team& team, const CopyShape& shape) {
    const std::size_t n = shape.n;
    if (!this->template begin<Op>(team, n * Base::ranks(team))) return;
    poison_work();
    reduce_scatter_staged(this->world_, queues(team, n), this->in_, this->work_, this->out_, n,
                          Op{}, plan(shape));
    this->end(
        "reduce_scatter", team, n, blocks,
        combined<T>(this->iteration_, team, n, static_cast<std::size_t>(team.rank()) * n, Op{}));
  }
  template <class Op>
  void all_reduce(const Team& team, const CopyShape& shape) {
    const std::size_t n = shape.n;
    if (!this->template begin<Op>(team, n)) return;
    poison_work();
    all_reduce_staged(this->world_, queues(team, n), this->in_, this->work_, this->out_, n, Op{},
                      plan(shape));
    this->end("all_reduce", team, n, blocks, combined<T>(this->iteration_, team, n, 0, Op{}));
  }

  // The input is the rank's own place in the output, or the whole of it.
  void in_place(const Team& team, const CopyShape& shape) {
    const std::size_t n = shape.n;
    const Window<T> place = this->out_.at(static_cast<std::size_t>(team.rank()) * n);
    if (!this->template begin<Sum>(team, 0)) return;
    write_all(this->world_, place, own_values(team, n));
    all_gather_copy_engine(this->world_, queues(team, n), place, this->out_, n, plan({n, 1}));
    this->end("all_gather in place", team, n, 1, rows(team, n, false));
    this->template begin<Sum>(team, 0);
    poison_work();
    write_all(this->world_, this->out_, own_values(team, n));
    all_reduce_staged(this->world_, queues(team, n), this->out_, this->work_, this->out_, n, Sum{},
                      plan(shape));
    this->end("all_reduce in place", team, n, blocks,
              combined<T>(this->iteration_, team, n, 0, Sum{}));
  }

  // Captured once, replayed with other inputs.
  void replayed(const Team& team, const CopyShape& shape) {
    W& world = this->world_;
    const std::size_t n = shape.n;
    world.begin_capture();
    all_reduce_staged(world, queues(team, n), this->in_, this->work_, this->out_, n, Sum{},
                      plan(shape));
    all_gather_copy_engine(world, queues(team, n), this->out_, this->work_, n, plan({n, 1}));
    const GraphId graph = world.end_capture();
    for (int replay = 0; replay < 3; ++replay) {
      this->template begin<Sum>(team, n);
      world.replay(graph);
      if (replay == 1) world.replay(graph);  // twice in a row
      const std::vector<T> sum = combined<T>(this->iteration_, team, n, 0, Sum{});
      std::vector<T> all;
      for (int rank = 0; rank < team.size(); ++rank) all.insert(all.end(), sum.begin(), sum.end());
      expect_equal(this->errors_, who(world, "replay " + std::to_string(replay)),
                   read_all(world, this->work_, all.size()), all);
    }
  }

  template <class Op>
  void every(const Team& team, const CopyShape& shape) {
    all_reduce<Op>(team, shape);
    reduce_scatter<Op>(team, shape);
    if (shape.pieces > 1 || !std::is_same_v<Op, Sum>) return;
    all_gather(team, shape.n);
    all_to_all(team, shape.n);
  }

 private:
  QueueGroup queues(const Team& team, std::size_t n) const {
    return QueueGroup{this->group(team, n, blocks), posts_};
  }
  static QueuePlan plan(const CopyShape& shape) {
    // Some with a head by blocks, where copies then begin anywhere; pieces of all lengths.
    return QueuePlan{shape.pieces, launch_of("reduces", blocks), shape.n % 2 * shape.n / 3,
                     shape.pieces > 2 ? 0.4 : 1};
  }
  void poison_work() { write_all(this->world_, this->work_, poison<T>(this->work_.count)); }
  std::vector<T> own_values(const Team& team, std::size_t n) const {
    return values<T>({this->iteration_, this->world_.pe(), team.size()}, n);
  }
  // Of each member its input, or the part of it that is for this rank.
  std::vector<T> rows(const Team& team, std::size_t n, bool of_rank) const {
    std::vector<T> all;
    for (int rank = 0; rank < team.size(); ++rank) {
      const Origin origin{this->iteration_, team.pe(rank), team.size()};
      const std::vector<T> row =
          values<T>(origin, n, of_rank ? static_cast<std::size_t>(team.rank()) * n : 0);
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

  Posts posts_;
};

template <class T, class W>
void copies_of(W& world, Errors& errors, const Team& team, const std::vector<std::size_t>& counts) {
  CopyCollectives<T, W> collectives(world, errors, counts.back(), 3);
  for (const std::size_t n : counts) {
    for (const int pieces : {1, 3}) collectives.template every<Sum>(team, {n, pieces});
  }
}

template <class T, class W>
void copies(W& world, Errors& errors) {
  copies_of<T>(world, errors, world.team(), {0, 1, 3, 17, 1000});
}
template <class W>
void few_copies(W& world, Errors& errors) {
  copies_of<bf16>(world, errors, world.team(), {1, 65});
}
template <class W>
void copies_of_a_team(W& world, Errors& errors) {
  copies_of<float>(world, errors, Team::strided(world.pe(), 1, 2, world.n_pes() / 2), {17, 100});
}
template <class W>
void copies_in_place(W& world, Errors& errors) {
  CopyCollectives<bf16, W> collectives(world, errors, 300, 2);
  for (const std::size_t n : {1, 17, 300}) collectives.in_place(world.team(), {n, 2});
}
template <class W>
void copies_in_graphs(W& world, Errors& errors) {
  CopyCollectives<float, W> collectives(world, errors, 100, 2);
  collectives.replayed(world.team(), {100, 2});
}
template <class W>
void copies_of_every_op(W& world, Errors& errors) {
  CopyCollectives<bf16, W> collectives(world, errors, 300, 2);
  collectives.template every<Prod>(world.team(), {300, 2});
  collectives.template every<Max>(world.team(), {17, 2});
  collectives.template every<Min>(world.team(), {300, 1});
  collectives.template every<Avg>(world.team(), {300, 2});
}

// Refused by the host of every member, before anything is enqueued.
template <class W>
void plans_that_nobody_can_follow(W& world, Errors& errors) {
  constexpr std::size_t n = 64;
  const auto ranks = static_cast<std::size_t>(world.n_pes());
  const auto in = world.template allocate<float>(n * ranks);
  const auto work = world.template allocate<float>(n * ranks);
  const auto out = world.template allocate<float>(n * ranks);
  const QueueGroup queues{{world.channel({1}), world.team()}, world.posts(posts_of(2)), 0};
  const auto refused = [&](const std::string& wanted, const QueuePlan& plan) {
    const auto says_so = [&](const char* name, const auto& operation) {
      std::string said = "nothing";
      try {
        operation();
      } catch (const UsageError& refusal) {
        said = refusal.what();
      }
      if (said.find(wanted) == std::string::npos)
        errors.add(who(world, std::string(name) + ": " + said + ", not " + wanted));
    };
    says_so("all_gather", [&] { all_gather_copy_engine(world, queues, in, out, n, plan); });
    says_so("all_to_all", [&] { all_to_all_copy_engine(world, queues, in, out, n, plan); });
    says_so("reduce_scatter",
            [&] { reduce_scatter_staged(world, queues, in, work, out, n, Sum{}, plan); });
    says_so("all_reduce", [&] { all_reduce_staged(world, queues, in, work, out, n, Sum{}, plan); });
  };
  const LaunchConfig kernel = launch_of("plan");
  refused("QueuePlan::pieces is 0", {0, kernel});
  refused("QueuePlan::shrink is 0.0", {2, kernel, 0, 0});
  refused("QueuePlan::shrink is -1", {2, kernel, 0, -1});
  refused("has 4 slots; posts_of(pieces) is 5", {3, kernel});
}

template <class W>
void copies_that_overlap(W& world, Errors& errors) {
  constexpr std::size_t n = 24;
  const auto ranks = static_cast<std::size_t>(world.n_pes());
  const auto memory = world.template allocate<float>(n * ranks + n);
  const auto work = world.template allocate<float>(n * ranks);
  const QueueGroup queues{{world.channel({1}), world.team()}, world.posts(posts_of(1)), 0};
  const auto behind = memory.at(1);
  const auto refused = [&](const char* name, const auto& operation) {
    try {
      operation();
      errors.add(who(world, std::string(name) + ": an overlap was not refused"));
    } catch (const UsageError& refusal) {
      if (std::string(refusal.what()).find("of a collective") == std::string::npos)
        errors.add(who(world, std::string(name) + ": " + refusal.what()));
    }
  };
  const QueuePlan plan{1, launch_of("plan")};
  refused("all_gather", [&] { all_gather_copy_engine(world, queues, behind, memory, n, plan); });
  refused("all_to_all", [&] { all_to_all_copy_engine(world, queues, memory, memory, n, plan); });
  refused("reduce_scatter",
          [&] { reduce_scatter_staged(world, queues, memory, work, behind, n, Sum{}, plan); });
  refused("all_reduce",
          [&] { all_reduce_staged(world, queues, behind, work, memory, n, Sum{}, plan); });
  if (ranks == 1) return;  // nothing comes to slots
  const auto other = world.template allocate<float>(n * ranks);
  refused("slots over the input",
          [&] { reduce_scatter_staged(world, queues, memory, behind, other, n, Sum{}, plan); });
  refused("slots over the output",
          [&] { reduce_scatter_staged(world, queues, other, behind, memory, n, Sum{}, plan); });
  refused("slots over both",
          [&] { all_reduce_staged(world, queues, memory, memory, memory, n, Sum{}, plan); });
}

template <class W>
std::vector<Case<W>> copy_cases() {
  const Effort once = Effort::worst_only;
  // PEs that share a GPU have 32 hardware queues in all, and streams that wait for each other need
  // one each.
  constexpr bool few_queues = requires(W & world) { world.time_graph_us(GraphId{}, 1); };
  const std::vector<int> many = few_queues ? std::vector<int>{4, 5} : std::vector<int>{4, 5, 8};
  return {{"bf16_every_schedule", {1, 2, 3}, few_copies<W>},
          {"bf16", many, copies<bf16, W>, once},
          {"f64", {2}, copies<double, W>, once},
          {"u8", {3}, copies<std::uint8_t, W>, once},
          {"team", {6}, copies_of_a_team<W>, once, 4},
          {"in_place", {1, 2, 3}, copies_in_place<W>},
          {"graph", {1, 2, 3}, copies_in_graphs<W>},
          {"every_op", {3}, copies_of_every_op<W>, once},
          {"overlap", {1, 3}, copies_that_overlap<W>, once},
          {"plans", {1, 2}, plans_that_nobody_can_follow<W>, once}};
}

}  // namespace sym::conformance
