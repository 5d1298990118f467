// dispatch: each token's row to the owners of the experts that it chose, expert-major.
//
// Two launches in one stream: MoePlan on one block, then MoeSend on any number. No host reads a
// count in between; both can be captured and replayed with other routing. A token that chose
// several experts of one PE is sent there once for each. Every row's place follows from the counts
// alone (expert, then source rank, then token, then choice), so the result does not depend on who
// came first.
#pragma once

#include "core/moe/experts.hpp"

namespace sym {

namespace detail {
struct NotANumber {
  SYM_HD constexpr float operator()(float x) const { return x != x ? 1.0F : 0.0F; }
};
// What a row of counts says beside them, such that sums over members still tell one from the other.
inline constexpr std::uint32_t bad_id = 1;
inline constexpr std::uint32_t bad_weight = 1U << 16;
}  // namespace detail

// First half: counts, their exchange, and the layout that follows. Fails, on every member and
// before any row is sent, where an id is none of -1..E-1, a weight is NaN (also one beside an id of
// -1), or a PE would get more rows than its capacity.
template <Operand I, Operand F>
struct MoePlan {
  MoeTables t;
  Routing<I, F> routing;

  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(t.group.channel);
    plan(block);
    block.leave(t.group.channel);
  }

 private:
  SYM_HD constexpr Scratch<std::uint32_t> scratch_row(std::size_t index) const {
    const std::size_t columns = row_stride(static_cast<std::size_t>(t.experts.count) + 1);
    return Scratch<std::uint32_t>{index * columns * sizeof(std::uint32_t), columns};
  }

  template <Block B>
  SYM_FN void plan(B& block) const {
    const Team& team = t.group.team;
    const std::size_t columns = row_stride(static_cast<std::size_t>(t.experts.count) + 1);
    set(block, t.ready, 0, 0U);
    write_row(block);
    if (!exchange_rows(block, t.group, t.table, columns)) return;
    const Scratch<std::uint32_t> totals = scratch_row(0);
    const Scratch<std::uint32_t> before = scratch_row(1);
    const Scratch<std::uint32_t> starts = scratch_row(2);  // of all PEs' rows, one after another
    sum_rows(block, team, t.table, totals, before);
    const Range experts{0, t.experts.count};
    const std::uint32_t end = block.scan(starts, totals, experts, detail::RoundUp{t.alignment});
    set(block, starts, t.experts.count, end);
    block.sync();
    const std::uint32_t largest = place_rows(block, totals, before, starts);
    const std::uint32_t wrong = block.read(totals, t.experts.count);
    const bool fits = largest <= t.capacity;
    if (wrong == 0 && fits) set(block, t.ready, 0, 1U);
    block.require(wrong % detail::bad_weight == 0,
                  "moe dispatch: PEs with an expert id outside of -1 to experts - 1",
                  wrong % detail::bad_weight, 0);
    block.require(wrong < detail::bad_weight, "moe dispatch: PEs with a weight that is NaN",
                  wrong / detail::bad_weight, 0);
    block.require(fits, "moe dispatch: rows for one PE, aligned, are at most the capacity", largest,
                  t.capacity);
  }

  // This PE's row of the table: its choices of each expert, and whether they are sound.
  template <Block B>
  SYM_FN void write_row(B& block) const {
    const std::size_t columns = row_stride(static_cast<std::size_t>(t.experts.count) + 1);
    const Window<std::uint32_t> row =
        t.table.at(static_cast<std::size_t>(t.group.team.rank()) * columns);
    const Range choices{0, routing.tokens * t.topk};
    const Range experts{0, t.experts.count};
    const Scratch<std::uint32_t> counts{0, t.experts.count};
    block.transform(counts, experts, detail::Constant<std::uint32_t>{0});
    const bool sound = block.tally(counts, routing.ids, choices);
    block.transform(row, experts, detail::Identity{}, counts);
    const bool numbers = block.max(routing.weights, choices, detail::NotANumber{}) == 0.0F;
    set(block, row, t.experts.count,
        (sound ? 0U : detail::bad_id) + (numbers ? 0U : detail::bad_weight));
  }

  // For each owner: where this PE's rows of its experts go. Returns the most rows that a PE gets.
  template <Block B>
  SYM_FN std::uint32_t place_rows(B& block, Scratch<std::uint32_t> totals,
                                  Scratch<std::uint32_t> before,
                                  Scratch<std::uint32_t> starts) const {
    std::uint32_t largest = 0;
    for (int rank = 0; rank < t.group.team.size(); ++rank) {
      const Range own = t.experts.of(rank);
      const std::uint32_t base = block.read(starts, own.first);
      const std::uint32_t rows = block.read(starts, own.end()) - base;
      largest = rows > largest ? rows : largest;
      block.transform(t.firsts, own, AddFrom{base}, starts, before);
      if (rank != t.group.team.rank()) continue;
      block.transform(t.counts, Range{0, own.count}, detail::Identity{}, totals.at(own.first));
      block.transform(t.offsets, Range{0, own.count + 1}, detail::Minus{base},
                      starts.at(own.first));
    }
    return largest;
  }
  struct AddFrom {
    std::uint32_t base;
    SYM_HD constexpr std::uint32_t operator()(std::uint32_t start, std::uint32_t earlier) const {
      return start - base + earlier;
    }
  };
};

// Second half, with the same tables and routing. Row r of expert e of this PE is, after the launch,
// rows[(offsets[e] + r) * hidden ...]; rows between an expert's last and the next one's first are
// zero. `x` (tokens by hidden; a window or local) may be rewritten after it.
template <class T, Operand X, Operand I, Operand F>
struct MoeSend {
  MoeTables t;
  Routing<I, F> routing;
  X x;
  Window<T> rows;

  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(t.group.channel);
    send(block);
    block.leave(t.group.channel);
  }

 private:
  template <Block B>
  SYM_FN void send(B& block) const {
    const Team& team = t.group.team;
    const std::uint32_t ready = block.read(t.ready, 0);  // looked at later: a load is long
    const Range mine =
        chunk(Range{0, routing.tokens * t.topk}, block.index(), block.count());  // choices
    const Scratch<std::uint32_t> next{0, t.experts.count};
    block.transform(next, next.all(), detail::Identity{}, t.firsts);
    block.tally(next, routing.ids, Range{0, mine.first});  // those of the blocks before this one
    block.tally(next, routing.ids, mine, t.places);
    if (ready == 0) return;  // the plan has said why
    constexpr std::size_t piece_bytes = 4096;
    const RowParts<T> parts(t.hidden, piece_bytes);
    block.warps(mine.count * parts.parts, [&](auto& warp, std::size_t piece) {
      const std::size_t choice = mine.first + parts.row(piece);
      const std::size_t token = static_cast<std::uint32_t>(choice) / t.topk;
      const std::int32_t expert = warp.read(routing.ids, choice);
      if (expert < 0) return;
      const std::size_t row = warp.read(t.places, choice);
      const int owner = t.experts.owner(static_cast<std::uint32_t>(expert));
      warp.put(rows.at(row * t.hidden), x.at(token * t.hidden), parts.range(piece), team.pe(owner));
    });
    clear_gaps(block);
    barrier(block, t.group);  // every row has arrived
  }

  template <Block B>
  SYM_FN void clear_gaps(B& block) const {
    using A = Accumulator<T>;
    const std::size_t local = t.experts.of(t.group.team.rank()).count;
    if (t.alignment == 1) return;
    for (std::size_t e = static_cast<std::size_t>(block.index()); e < local;
         e += static_cast<std::size_t>(block.count())) {
      const std::size_t first = block.read(t.offsets, e) + block.read(t.counts, e);
      const std::size_t end = block.read(t.offsets, e + 1);
      block.transform(rows, Range{first * t.hidden, (end - first) * t.hidden},
                      detail::Constant<A>{A{}});
    }
  }
};

// Enqueues one dispatch on `stream`. Called by every PE. Throws UsageError if there are more tokens
// than the channel was made for, or `rows` has less room than its capacity.
template <World W, class T, Operand X, Operand I, Operand F>
void dispatch(MoeChannel<W>& moe, X x, const Routing<I, F>& routing, Window<T> rows,
              int stream = 0) {
  const MoeTables& t = moe.tables;
  require_room(moe, routing, "moe dispatch: an input", x.count);
  require_rows(moe, "moe dispatch: rows", rows.count);
  LaunchConfig config;
  config.stream = stream;
  config.threads = moe.request.threads;
  config.name = "moe plan";
  config.scratch_bytes = moe_plan_scratch(t.experts.count);
  moe.world.launch(config, MoePlan<I, F>{t, routing});
  config.name = "moe dispatch";
  config.blocks = moe.request.blocks;
  config.scratch_bytes = moe_send_scratch(t.experts.count);
  moe.world.launch(config, MoeSend<T, X, I, F>{t, routing, x, rows});
}

}  // namespace sym
