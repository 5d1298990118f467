// Data-dependent exchange as one writes it at first: counts, rows in pieces, and their weighted
// sum.
#include "core/collective/barrier.hpp"
#include "core/moe/combine.hpp"
#include "core/moe/dispatch.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

// Counts of rows for each PE go out, then rows follow. The peers' counts are read before they have
// come.
struct CountsTooEarly {
  Desk desk;
  Window<std::uint32_t> table;  // a row of counts for each PE
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Team& team = desk.group.team;
    const std::size_t pes = static_cast<std::size_t>(team.size());
    const std::size_t mine = static_cast<std::size_t>(team.rank()) * pes;
    block.transform(table, Range{mine, pes}, detail::Constant<std::uint32_t>{2});
    block.sync();
    for (int rank = 0; rank < team.size(); ++rank) {
      const int pe = team.pe(rank);
      if (pe == block.pe()) continue;
      block.put(table, table, Range{mine, pes}, pe);
      block.fence(pe);
    }
    block.signal(desk.group.channel.steps, 0, team);
    if (fixed) block.wait_until(desk.group.channel.steps, 0, team);
    std::uint32_t rows = 0;
    for (std::size_t rank = 0; rank < pes; ++rank) {
      rows += block.read(table, rank * pes + static_cast<std::size_t>(team.rank()));
    }
    const std::size_t n = rows < Desk::n ? rows : Desk::n;  // the capacity: rows may be rubbish
    block.put(desk.a, desk.b, Range{0, n}, block.pe());
    if (!fixed) block.wait_until(desk.group.channel.steps, 0, team);
    block.quiet();
  }
};

void counts_too_early(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const auto pes = static_cast<std::size_t>(world.n_pes());
  const auto table = world.allocate_control<std::uint32_t>(pes * pes);
  world.launch(launch_of("counts"), CountsTooEarly{desk, table, fixed});
}

// One lane writes the count, all read it to decide what comes next.
struct CountUnsynced {
  Desk desk;
  Window<std::uint32_t> count;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(count, Range{0, 1}, detail::Constant<std::uint32_t>{8});
    if (fixed) block.sync();
    const std::size_t rows = block.read(count, 0);
    block.put(desk.a, desk.b, Range{0, rows}, (block.pe() + 1) % block.n_pes());
    barrier(block, desk.group);
  }
};

void count_unsynced(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const auto count = world.allocate_control<std::uint32_t>(1);
  world.launch(launch_of("count"), CountUnsynced{desk, count, fixed});
}

constexpr std::size_t width = 8;  // elements of a row
constexpr std::size_t rows = Desk::n / width;

// A row for each piece; two of them go to one place.
struct PiecesCollide {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.warps(rows, [&](auto& warp, std::size_t row) {
      const std::size_t place = fixed ? rows - 1 - row : row / 2;
      warp.put(desk.a.at(place * width), desk.b.at(row * width), Range{0, width},
               (block.pe() + 1) % block.n_pes());
    });
    barrier(block, desk.group);
  }
};

// Each piece adds up two neighbouring rows, in place: it reads what the next piece writes.
struct SumsInPlace {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    barrier(block, desk.group);
    block.warps(rows - 1, [&](auto& warp, std::size_t row) {
      const Window<float> to = fixed ? desk.a : desk.b;
      const int pe = block.pe();
      warp.weighted_sum(to.at(row * width), desk.b, Range{0, width}, 2, [&](int j) {
        return Term{pe, (row + static_cast<std::size_t>(j)) * width, 0.5F};
      });
    });
    barrier(block, desk.group);
  }
};

// Combine: rows of all PEs are summed up, with no meeting before: a peer's expert may still write.
struct CombineTooEarly {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.a, Range{0, Desk::n}, detail::Identity{}, desk.out);  // the expert
    if (fixed) barrier(block, desk.group);
    const int pes = block.n_pes();
    block.weighted_sum(desk.b, desk.a, Range{0, Desk::n}, pes, [](int j) {
      return Term{j, 0, 0.25F};
    });
    barrier(block, desk.group);
  }
};

template <class Kernel>
void one_launch(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.launch(launch_of("rows"), Kernel{desk, fixed});
}

// --- around the library's own dispatch and combine -----------------------------------------------

using Choices = Routing<Window<std::int32_t>, Window<float>>;

// Two tokens on each PE; token t of PE p chooses the experts p + t and p + t + 1 of four.
struct Layer {
  static constexpr std::size_t tokens = 2;
  MoeChannel<FiberWorld> moe;
  Choices routing;
  Window<float> x, rows, out;
  explicit Layer(FiberWorld& world)
      : moe(moe_channel(world, request())),
        routing{world.allocate_control<std::int32_t>(tokens * 2),
                world.allocate_control<float>(tokens * 2), tokens},
        x(world.allocate<float>(tokens * width)),
        rows(world.allocate<float>(moe.tables.capacity * width)),
        out(world.allocate<float>(tokens * width)) {
    std::vector<std::int32_t> ids;
    for (int choice = 0; choice < static_cast<int>(tokens) * 2; ++choice) {
      ids.push_back((world.pe() + choice / 2 + choice % 2) % 4);
    }
    write_all(world, routing.ids, ids);
    write_all(world, routing.weights, std::vector<float>(tokens * 2, 0.5F));
    write_all(world, x, conformance::values<float>({1, world.pe(), world.n_pes()}, tokens * width));
  }
  static MoeRequest request() {
    MoeRequest request;
    request.max_tokens = tokens;
    request.topk = 2;
    request.experts = 4;
    request.hidden = width;
    request.blocks = 1;
    return request;
  }
};

struct Expert {
  Window<float> rows;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(rows, rows.all(), detail::Identity{}, rows);
  }
};

// The expert runs on a stream of its own, and the combine does not wait for it.
void expert_on_another_stream(FiberWorld& world, bool fixed) {
  Layer layer(world);
  dispatch(layer.moe, layer.x, layer.routing, layer.rows);
  auto& queue = world.queue(1);
  queue.after(world.queue(0).record());
  queue.launch(launch_of("expert"), Expert{layer.rows});
  if (fixed) world.queue(0).after(queue.record());
  combine(layer.moe, layer.rows, layer.routing, layer.out);
}

// The next layer's expert begins before the tokens are there: on a stream that does not wait for
// the dispatch.
void expert_before_dispatch(FiberWorld& world, bool fixed) {
  Layer layer(world);
  dispatch(layer.moe, layer.x, layer.routing, layer.rows);
  const Mark sent = world.queue(0).record();
  auto& queue = world.queue(1);
  if (fixed) queue.after(sent);
  queue.launch(launch_of("expert"), Expert{layer.rows});
}

// Rows are rewritten right after a combine, with no barrier or dispatch between: a peer may still
// sum them up.
struct CombineNoExit {
  MoeTables t;
  Choices routing;
  Window<float> rows, out;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(t.group.channel);
    if (barrier(block, t.group)) {
      block.warps(routing.tokens, [&](auto& warp, std::size_t token) {
        warp.weighted_sum(out.at(token * width), rows, Range{0, width}, 2, [&](int j) {
          const std::size_t choice = token * 2 + static_cast<std::size_t>(j);
          const std::int32_t expert = warp.read(routing.ids, choice);
          return Term{t.experts.owner(static_cast<std::uint32_t>(expert)),
                      warp.read(t.places, choice) * width, warp.read(routing.weights, choice)};
        });
      });
      if (fixed) barrier(block, t.group);
    }
    block.leave(t.group.channel);
  }
};

void combine_without_exit(FiberWorld& world, bool fixed) {
  Layer layer(world);
  dispatch(layer.moe, layer.x, layer.routing, layer.rows);
  world.launch(launch_of("combine"),
               CombineNoExit{layer.moe.tables, layer.routing, layer.rows, layer.out, fixed});
  world.launch(launch_of("next_layer"), Expert{layer.rows});
}

}  // namespace

std::vector<Program> moe_programs() {
  return {{"counts_read_too_early", "race", 3, counts_too_early, {"put", "read"}},
          {"count_read_unsynced", "missing-sync", 2, count_unsynced, {"MISSING SYNC", "read"}},
          {"pieces_collide",
           "race",
           2,
           one_launch<PiecesCollide>,
           {"put vs put", "two pieces of one warps()"}},
          {"pieces_sum_in_place",
           "race",
           2,
           one_launch<SumsInPlace>,
           {"weighted_sum vs weighted_sum", "two pieces of one warps()"}},
          {"combine_too_early", "race", 3, one_launch<CombineTooEarly>, {"weighted_sum"}},
          {"combine_before_expert", "race", 2, expert_on_another_stream, {"transform"}},
          {"expert_before_dispatch", "race", 2, expert_before_dispatch, {"put", "transform"}},
          {"combine_without_exit", "race", 3, combine_without_exit, {"weighted_sum", "transform"}}};
}

}  // namespace sym::caught
