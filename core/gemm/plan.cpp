#include "core/gemm/plan.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/gemm/buffers.hpp"

namespace sym::gemm {

namespace {

// One of the products that add to a tile of C; `stage` indexes the rank's stages.
struct Touch {
  int step = 0;
  int rank = 0;
  std::size_t stage = 0;
};

// Buffers and partial sums begin at multiples of this many elements, so that wide copies may.
constexpr std::size_t alignment = 128;
std::size_t aligned(std::size_t elements) {
  return (elements + alignment - 1) / alignment * alignment;
}

class Deriver {
 public:
  explicit Deriver(Plan& plan) : plan_(plan), handovers_(plan.pes, plan.pes, 0) {}

  void derive() {
    stages();
    for (int m = 0; m < touches_.rows(); ++m) {
      for (int n = 0; n < touches_.cols(); ++n) {
        if (!touches_(m, n).empty()) chain(m, n);
      }
    }
    for (int rank = 0; rank < plan_.pes; ++rank) inputs(rank);
    for (int rank = 0; rank < plan_.pes; ++rank) {
      pull_flags(rank);
      addend_flags(rank);
      plan_.buffers_a = std::max(plan_.buffers_a, of(rank).buffers_a);
      plan_.buffers_b = std::max(plan_.buffers_b, of(rank).buffers_b);
    }
  }

 private:
  RankPlan& of(int rank) { return plan_.ranks[to_index(rank)]; }
  Stage& at(const Touch& touch) { return of(touch.rank).stages[touch.stage]; }

  // The products that there are, and which of them add to each tile of C, in the order of steps.
  void stages() {
    const Schedule& s = plan_.schedule;
    touches_ = Table<std::vector<Touch>>(s.parts.m, s.parts.n);
    for (int step = 0; step < s.steps; ++step) {
      for (int rank = 0; rank < s.pes; ++rank) {
        const std::optional<Tile> named = s.tile(rank, step);
        if (!named || plan_.tiling.empty(named.value())) continue;
        Stage stage;
        stage.step = step;
        stage.tile = named.value();
        touches_(stage.tile.m, stage.tile.n).push_back({step, rank, of(rank).stages.size()});
        of(rank).stages.push_back(std::move(stage));
      }
    }
  }

  // Where each product of one tile of C finds its addend and leaves its sum. Products of one rank
  // that follow each other add in one place; between ranks the sum is handed on.
  void chain(int m, int n) {
    const std::vector<Touch>& all = touches_(m, n);
    const int owner = plan_.c.owner(m, n);
    const std::size_t elements = plan_.tiling.m.size(m) * plan_.tiling.n.size(n);
    at(all.front()).peer = owner;  // beta times the user's C comes first
    if (plan_.options.with_c && owner != all.front().rank) {
      note(all.front().step, owner, all.front().rank, Traffic::user_c, elements);
    }
    std::size_t begin = 0;  // of the products since the sum came to this rank
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool last = i + 1 == all.size();
      if (!last && all[i + 1].rank == all[i].rank) {
        at(all[i + 1]).addend = Addend::own;
        continue;
      }
      at(all[i]).complete = last;
      if (last && owner == all[i].rank) break;
      const int partial = new_partial(all[i].rank, m, n);
      for (std::size_t j = begin; j <= i; ++j) at(all[j]).to = partial;
      const int next = last ? owner : all[i + 1].rank;
      const std::size_t slot = handover(all[i].rank, next);
      at(all[i]).posts.push_back({slot, next});
      if (last) {
        of(owner).deliveries.push_back({m, n, all[i].rank, partial, {{slot, all[i].rank}}, {}});
      } else {
        Stage& stage = at(all[i + 1]);
        stage.addend = Addend::peer;
        stage.peer = all[i].rank;
        stage.partial = partial;
        stage.takes.push_back({slot, all[i].rank});
      }
      note(last ? all[i].step : all[i + 1].step, all[i].rank, next, Traffic::partial, elements);
      begin = i + 1;
    }
  }

  int new_partial(int rank, int m, int n) {
    std::vector<Place>& partials = of(rank).partials;
    std::size_t first = 0;
    if (!partials.empty()) first = aligned(partials.back().row + partials.back().count());
    const std::size_t rows = plan_.tiling.m.size(m);
    const std::size_t cols = plan_.tiling.n.size(n);
    partials.push_back({first, 0, rows, cols});
    plan_.partials = std::max(plan_.partials, first + rows * cols);
    return to_int(partials.size()) - 1;
  }

  std::size_t handover(int from, int to) {
    const std::size_t slot = first_handover + to_index(handovers_(from, to)++);
    plan_.slots = std::max(plan_.slots, slot + 1);
    return slot;
  }

  void note(int step, int from, int to, Traffic what, std::size_t elements) {
    plan_.transfers.push_back({step, from, to, what, elements});
  }

  // Where each of the rank's products finds its tiles of A and B, and what is fetched for it.
  void inputs(int rank) {
    for (const Which which : {Which::a, Which::b}) {
      const Loads loads = assign_buffers(foreign(rank, which), plan_.options.max_buffers);
      (which == Which::a ? of(rank).buffers_a : of(rank).buffers_b) = loads.buffers;
      for (std::size_t s = 0; s < of(rank).stages.size(); ++s) {
        Stage& stage = of(rank).stages[s];
        (which == Which::a ? stage.buffer_a : stage.buffer_b) = loads.buffer[s];
        if (!loads.loaded[s]) continue;
        stage.pulls.push_back(pull(rank, stage, which));
        stage.pulls.back().after = loads.after[s];
        if (loads.after[s] >= 0) of(rank).stages[to_index(loads.after[s])].credit = true;
      }
    }
  }

  // The foreign tile that each product of the rank needs of A or B, as a number; -1 for none.
  std::vector<int> foreign(int rank, Which which) {
    std::vector<int> tiles;
    for (const Stage& stage : of(rank).stages) {
      const int row = which == Which::a ? stage.tile.m : stage.tile.n;
      const bool own = plan_.of(which).owner(row, stage.tile.k) == rank;
      tiles.push_back(own ? -1 : row * plan_.schedule.parts.k + stage.tile.k);
    }
    return tiles;
  }

  Pull pull(int rank, const Stage& stage, Which which) {
    Pull made;
    made.which = which;
    made.row = which == Which::a ? stage.tile.m : stage.tile.n;
    made.col = stage.tile.k;
    made.owner = plan_.of(which).owner(made.row, made.col);
    made.buffer = which == Which::a ? stage.buffer_a : stage.buffer_b;
    const std::size_t elements = plan_.of(which).place(made.row, made.col).count();
    note(stage.step, made.owner, rank, which == Which::a ? Traffic::a : Traffic::b, elements);
    std::size_t& most = which == Which::a ? plan_.buffer_a : plan_.buffer_b;
    most = std::max(most, aligned(elements));
    return made;
  }

  // Who must know that a rank's operands may be read, and that its copies have been made: the first
  // and the last pull of each rank from each owner.
  void pull_flags(int rank) {
    std::vector<bool> known(to_index(plan_.pes));
    std::vector<bool> done(to_index(plan_.pes));
    std::vector<Stage>& stages = of(rank).stages;
    for (Stage& stage : stages) {
      for (Pull& pull : stage.pulls) {
        if (known[to_index(pull.owner)]) continue;
        known[to_index(pull.owner)] = true;
        pull.takes.push_back({operands_ready, pull.owner});
        of(pull.owner).tiles.ready.push_back({operands_ready, rank});
        of(pull.owner).tiles.finished.push_back({pulled, rank});
      }
    }
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
      std::vector<Pull>& pulls = (*stage).pulls;
      for (auto pull = pulls.rbegin(); pull != pulls.rend(); ++pull) {
        const int owner = (*pull).owner;
        if (!done[to_index(owner)]) (*pull).posts.push_back({pulled, owner});
        done[to_index(owner)] = true;
      }
    }
  }

  // The same for addends: a peer's partial sum, announced by its own flag, or the user's C. What is
  // delivered is read last.
  void addend_flags(int rank) {
    std::vector<bool> known(to_index(plan_.pes));
    std::vector<bool> done(to_index(plan_.pes));
    done[to_index(rank)] = true;
    known[to_index(rank)] = true;
    const auto finish = [&](int from, std::vector<Flag>& posts) {
      if (done[to_index(from)]) return;
      done[to_index(from)] = true;
      posts.push_back({added, from});
      of(from).addends.finished.push_back({added, rank});
    };
    RankPlan& mine = of(rank);
    for (auto one = mine.deliveries.rbegin(); one != mine.deliveries.rend(); ++one)
      finish((*one).from, (*one).posts);
    for (auto one = mine.stages.rbegin(); one != mine.stages.rend(); ++one) {
      Stage& stage = *one;
      if (stage.addend == Addend::peer || reads_c(stage)) finish(stage.peer, stage.posts);
    }
    for (Stage& stage : mine.stages) {
      if (!reads_c(stage) || known[to_index(stage.peer)]) continue;
      known[to_index(stage.peer)] = true;
      stage.takes.push_back({addends_ready, stage.peer});
      of(stage.peer).addends.ready.push_back({addends_ready, rank});
    }
  }
  bool reads_c(const Stage& stage) const {
    return stage.addend == Addend::user && plan_.options.with_c;
  }

  Plan& plan_;
  Table<std::vector<Touch>> touches_;
  Table<int> handovers_;  // of each ordered pair, so far
};

}  // namespace

Plan derive(const Schedule& schedule, const Tiling& tiling, const PlanOptions& options) {
  if (options.max_buffers < 0 || options.max_buffers == 1) {
    throw UsageError(
        "gemm: at least 2 buffers, so that one fills while the other is used; 0 is as "
        "many as there are foreign tiles");
  }
  const std::vector<std::string> wrong = check_schedule(schedule);
  if (!wrong.empty()) throw Failure("gemm: schedule " + schedule.name + ": " + wrong.front());
  require_tiling(tiling, schedule.parts);
  Plan plan;
  plan.schedule = schedule;
  plan.tiling = tiling;
  plan.options = options;
  plan.pes = schedule.pes;
  plan.a = Partition(schedule, tiling, Which::a);
  plan.b = Partition(schedule, tiling, Which::b);
  plan.c = Partition(schedule, tiling, Which::c);
  plan.ranks.resize(to_index(plan.pes));
  Deriver(plan).derive();
  return plan;
}

}  // namespace sym::gemm
