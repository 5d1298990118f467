// all_to_all_v, dispatch and combine against what every PE can work out for all of them.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/moe/all_to_all_v.hpp"
#include "core/moe/combine.hpp"
#include "core/moe/dispatch.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

// --- all_to_all_v --------------------------------------------------------------------------------

// Rows that PE `from` sends to PE `to`: none, one, or a few; in one iteration all to PE 0.
inline std::uint32_t split_of(int iteration, int from, int to) {
  if (iteration == 2) return to == 0 ? 5 : 0;
  const std::uint64_t hash = mixed(static_cast<std::uint64_t>(iteration * 4096 + from * 64 + to));
  return hash % 3 == 0 ? 0 : static_cast<std::uint32_t>(hash % 8);
}

// Row `index` of those from PE `from` to PE `to`.
template <class T>
std::vector<T> sent_row(int iteration, int from, int to, std::size_t index, std::size_t row) {
  return values<T>({iteration, from, 1}, row,
                   (static_cast<std::size_t>(to) * 1000 + index) * 10007);
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

template <class T, std::size_t row, class W>
void all_to_all_v_splits(W& world, Errors& errors) {
  const int pes = world.n_pes();
  const auto members = static_cast<std::size_t>(pes);
  const std::size_t capacity = 8 * members;
  AllToAllVChannel<W> channel = all_to_all_v_channel(world, {row, capacity, 2, 128});
  const auto in = world.template local<T>(capacity * row);
  const auto out = world.template allocate<T>(capacity * row);
  const auto splits = world.template allocate_control<std::uint32_t>(members);
  for (int iteration = 0; iteration < 4; ++iteration) {
    std::vector<T> sent;
    std::vector<T> wanted;
    std::vector<std::uint32_t> mine;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> offsets{0};
    for (int pe = 0; pe < pes; ++pe) {
      mine.push_back(split_of(iteration, world.pe(), pe));
      for (std::size_t i = 0; i < mine.back(); ++i)
        append(sent, sent_row<T>(iteration, world.pe(), pe, i, row));
      counts.push_back(split_of(iteration, pe, world.pe()));
      for (std::size_t i = 0; i < counts.back(); ++i)
        append(wanted, sent_row<T>(iteration, pe, world.pe(), i, row));
      offsets.push_back(offsets.back() + counts.back());
    }
    append(wanted, poison<T>(capacity * row - wanted.size()));  // what lies beyond stays as it is
    write_all(world, in, sent);
    write_all(world, splits, mine);
    write_all(world, out, poison<T>(capacity * row));
    all_to_all_v(channel, in, splits, out);
    world.synchronize();
    const std::string what = who(world, "iteration " + std::to_string(iteration));
    expect_equal(errors, what + ", counts", read_all(world, channel.tables.counts, members),
                 counts);
    expect_equal(errors, what + ", offsets", read_all(world, channel.tables.offsets, members + 1),
                 offsets);
    expect_equal(errors, what, read_all(world, out, capacity * row), wanted);
  }
}

// --- dispatch and combine ------------------------------------------------------------------------

struct MoeCase {
  std::uint32_t experts, topk, alignment;
  std::size_t hidden;
};

inline constexpr std::size_t most_tokens = 9;

// PEs have different numbers of tokens, some none.
inline std::size_t tokens_of(int iteration, int pe) {
  return mixed(static_cast<std::uint64_t>(iteration * 64 + pe)) % (most_tokens + 1);
}

// Distinct experts for the choices of a token, about one in five of them -1; in iteration 1 all
// tokens choose the first experts, in iteration 2 a third of the tokens choose nothing.
inline std::vector<std::int32_t> choices_of(const MoeCase& c, int iteration, int pe,
                                            std::size_t token) {
  const std::uint64_t hash =
      mixed(static_cast<std::uint64_t>(iteration * 64 + pe) * 1000 + token + 17);
  std::vector<std::int32_t> choices;
  for (std::uint32_t j = 0; j < c.topk; ++j) {
    const std::uint64_t first = iteration == 1 ? 0 : hash % c.experts;
    const bool none = iteration != 1 && mixed(hash + j) % 5 == 0;
    const bool nothing = iteration == 2 && hash % 3 == 0;
    choices.push_back(none || nothing ? -1 : static_cast<std::int32_t>((first + j) % c.experts));
  }
  return choices;
}

inline float weight_of(int iteration, int pe, std::size_t token, std::uint32_t choice) {
  const std::uint64_t hash =
      mixed(static_cast<std::uint64_t>(iteration * 64 + pe) * 777 + token * 31 + choice);
  return 0.25F * static_cast<float>(1 + hash % 7);
}

template <class T>
std::vector<T> token_row(const MoeCase& c, int iteration, int pe, std::size_t token) {
  return values<T>({iteration, pe, 1}, c.hidden, token * 10007);
}

// What PE `pe` must hold after a dispatch: rows, and the tables beside them.
template <class T>
struct Layout {
  std::vector<std::uint32_t> counts;
  std::vector<std::uint32_t> offsets{0};
  std::vector<T> rows;
};

template <class T>
Layout<T> layout_of(const MoeCase& c, int iteration, int pe, int pes) {
  Layout<T> layout;
  const Range own = Experts{c.experts, pes}.of(pe);
  for (std::size_t e = own.first; e < own.end(); ++e) {
    std::uint32_t count = 0;
    for (int from = 0; from < pes; ++from) {
      for (std::size_t token = 0; token < tokens_of(iteration, from); ++token) {
        for (std::int32_t id : choices_of(c, iteration, from, token)) {
          if (id != static_cast<std::int32_t>(e)) continue;
          append(layout.rows, token_row<T>(c, iteration, from, token));
          ++count;
        }
      }
    }
    layout.counts.push_back(count);
    const std::uint32_t end = layout.offsets.back() + count;
    layout.offsets.push_back((end + c.alignment - 1) / c.alignment * c.alignment);
    layout.rows.resize(layout.offsets.back() * c.hidden);  // the gap is zero
  }
  return layout;
}

// Identity experts: what a token becomes.
template <class T>
std::vector<T> combined_row(const MoeCase& c, int iteration, int pe, std::size_t token) {
  const std::vector<T> x = token_row<T>(c, iteration, pe, token);
  const std::vector<std::int32_t> ids = choices_of(c, iteration, pe, token);
  std::vector<T> out(c.hidden);
  for (std::size_t h = 0; h < c.hidden; ++h) {
    Accumulator<T> total = 0;
    for (std::uint32_t j = 0; j < c.topk; ++j) {
      if (ids[j] < 0) continue;
      total = std::fma(static_cast<Accumulator<T>>(weight_of(iteration, pe, token, j)), widen(x[h]),
                       total);
    }
    out[h] = narrow<T>(total);
  }
  return out;
}

template <class T, class W>
class MoeDesk {
 public:
  MoeDesk(W& world, const MoeCase& c, int blocks = 2)
      : world_(world),
        c_(c),
        moe_(moe_channel(world,
                         {most_tokens, c.topk, c.experts, c.alignment, c.hidden, 0, blocks, 128})),
        rows_(world.template allocate<T>(moe_.request.capacity * c.hidden)),
        x_(world.template local<T>(most_tokens * c.hidden)),
        out_(world.template local<T>(most_tokens * c.hidden)),
        ids_(world.template allocate_control<std::int32_t>(most_tokens * c.topk)),
        weights_(world.template allocate_control<float>(most_tokens * c.topk)) {}

  void write(int iteration) {
    std::vector<T> x;
    std::vector<std::int32_t> ids;
    std::vector<float> weights;
    for (std::size_t token = 0; token < tokens_of(iteration, world_.pe()); ++token) {
      append(x, token_row<T>(c_, iteration, world_.pe(), token));
      append(ids, choices_of(c_, iteration, world_.pe(), token));
      for (std::uint32_t j = 0; j < c_.topk; ++j)
        weights.push_back(weight_of(iteration, world_.pe(), token, j));
    }
    // A graph has one number of tokens: what there are not has no expert.
    ids.resize(most_tokens * c_.topk, -1);
    weights.resize(most_tokens * c_.topk);
    write_all(world_, x_, x);
    write_all(world_, ids_, ids);
    write_all(world_, weights_, weights);
    write_all(world_, out_, poison<T>(most_tokens * c_.hidden));
  }

  void launch(std::size_t tokens) {
    const Routing<Window<std::int32_t>, Window<float>> routing{ids_, weights_, tokens};
    dispatch(moe_, x_, routing, rows_);
    combine(moe_, rows_, routing, out_);
  }

  void verify(Errors& errors, int iteration) {
    const std::string what = who(world_, "iteration " + std::to_string(iteration));
    const Layout<T> wanted = layout_of<T>(c_, iteration, world_.pe(), world_.n_pes());
    const std::size_t local = wanted.counts.size();
    expect_equal(errors, what + ", counts", read_all(world_, moe_.tables.counts, local),
                 wanted.counts);
    expect_equal(errors, what + ", offsets", read_all(world_, moe_.tables.offsets, local + 1),
                 wanted.offsets);
    expect_equal(errors, what + ", rows", read_all(world_, rows_, wanted.rows.size()), wanted.rows);
    std::vector<T> combined;
    const std::size_t tokens = tokens_of(iteration, world_.pe());
    for (std::size_t token = 0; token < tokens; ++token)
      append(combined, combined_row<T>(c_, iteration, world_.pe(), token));
    expect_equal(errors, what + ", combined", read_all(world_, out_, combined.size()), combined);
  }

 private:
  W& world_;
  MoeCase c_;
  MoeChannel<W> moe_;
  Window<T> rows_;
  Local<T> x_, out_;
  Window<std::int32_t> ids_;
  Window<float> weights_;
};

template <class T, class W>
void moe_eager(W& world, Errors& errors, const MoeCase& c) {
  MoeDesk<T, W> desk(world, c);
  for (int iteration = 0; iteration < 4; ++iteration) {
    desk.write(iteration);
    desk.launch(tokens_of(iteration, world.pe()));
    world.synchronize();  // of this PE alone: no PE waits for the others' verification
    desk.verify(errors, iteration);
  }
}

template <class T, class W>
void moe_replayed(W& world, Errors& errors, const MoeCase& c) {
  MoeDesk<T, W> desk(world, c);
  world.begin_capture();
  desk.launch(most_tokens);
  const GraphId graph = world.end_capture();
  for (int iteration = 0; iteration < 4; ++iteration) {
    desk.write(iteration);
    world.replay(graph);
    world.synchronize();
    desk.verify(errors, iteration);
  }
}

template <class W>
std::vector<Case<W>> moe_cases() {
  const auto eager = [](const MoeCase& c) {
    return [c](W& world, Errors& errors) { moe_eager<bf16>(world, errors, c); };
  };
  return {{"all_to_all_v_bytes", {1, 3}, all_to_all_v_splits<std::uint8_t, 5, W>},
          {"all_to_all_v_f32", {2, 6}, all_to_all_v_splits<float, 24, W>},
          {"moe_few_experts", {4}, eager({3, 2, 1, 20})},
          {"moe_experts_do_not_divide", {1, 3, 8}, eager({10, 4, 4, 9})},
          {"moe_top_1", {2}, eager({2, 1, 8, 33})},
          {"moe_f32",
           {5},
           [](W& world, Errors& errors) {
             moe_eager<float>(world, errors, {7, 3, 2, 130});
           }},
          {"moe_graph", {2, 4}, [](W& world, Errors& errors) {
             moe_replayed<bf16>(world, errors, {8, 3, 4, 40});
           }}};
}

}  // namespace sym::conformance
