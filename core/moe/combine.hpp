// combine: each token's weighted sum of what the experts that it chose made of it.
#pragma once

#include "core/moe/experts.hpp"

namespace sym {

// out[t] = the sum over the choices j of token t, in their order, of weights[t][j] times the row of
// that choice; choices of -1 leave nothing, a token of only those is zero. Accumulates in f32 (for
// f64 in f64) by fused multiply-add and rounds once: the same bits on every backend and grid.
// `rows` is in the layout of the dispatch before it, on every PE. `out` may be read after the
// launch. `rows` is the peers' to read until the next dispatch or barrier: a dispatch writes to
// nobody before every PE has entered it, so none is needed here.
template <class T, Operand Out, Operand I, Operand F>
struct MoeCombine {
  MoeTables t;
  Routing<I, F> routing;
  Window<T> rows;
  Out out;

  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(t.group.channel);
    combine(block);
    block.leave(t.group.channel);
  }

 private:
  template <Block B>
  SYM_FN void combine(B& block) const {
    const std::uint32_t ready = block.read(t.ready, 0);  // looked at later: a load is long
    if (!barrier(block, t.group)) return;                // every PE's experts are done
    if (ready == 0) return;                              // the plan has said why
    const Range mine = chunk(Range{0, routing.tokens}, block.index(), block.count());
    constexpr std::size_t piece_bytes = 1024;  // of each of topk rows
    const RowParts<T> parts(t.hidden, piece_bytes);
    block.warps(mine.count * parts.parts, [&](auto& warp, std::size_t piece) {
      const std::size_t token = mine.first + parts.row(piece);
      warp.weighted_sum(
          out.at(token * t.hidden), rows, parts.range(piece), static_cast<int>(t.topk),
          [&](int j) { return term(warp, token * t.topk + static_cast<std::size_t>(j)); });
    });
  }

  template <class Warp>
  SYM_FN Term term(Warp& warp, std::size_t choice) const {
    const std::int32_t expert = warp.read(routing.ids, choice);
    if (expert < 0) return Term{};
    const int owner = t.experts.owner(static_cast<std::uint32_t>(expert));
    return Term{t.group.team.pe(owner), warp.read(t.places, choice) * t.hidden,
                warp.read(routing.weights, choice)};
  }
};

// Enqueues the combine of the last dispatch of `moe` on `stream`, with the same routing. Called by
// every PE.
template <World W, class T, Operand Out, Operand I, Operand F>
void combine(MoeChannel<W>& moe, Window<T> rows, const Routing<I, F>& routing, Out out,
             int stream = 0) {
  const MoeTables& t = moe.tables;
  require_room(moe, routing, "moe combine: an output", out.count);
  require_rows(moe, "moe combine: rows", rows.count);
  LaunchConfig config;
  config.stream = stream;
  config.threads = moe.request.threads;
  config.name = "moe combine";
  config.blocks = moe.request.blocks;
  moe.world.launch(config, MoeCombine<T, Out, I, F>{t, routing, rows, out});
}

}  // namespace sym
