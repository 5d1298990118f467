// all_to_all_v: rows to every member, as many as counts in device memory say.
//
// Two launches in one stream: AllToAllVPlan on one block, then AllToAllVSend on any number. No host
// reads a count in between, so both can be captured and replayed with other counts.
#pragma once

#include "core/error.hpp"
#include "core/moe/counts.hpp"
#include "core/world.hpp"

namespace sym {

// What one all_to_all_v at a time uses; P is the number of members. Made by all_to_all_v_channel.
struct AllToAllVTables {
  Group group;
  // Symmetric: P rows of row_stride(P + 1), who sends how many rows to whom.
  Window<std::uint32_t> table;
  Window<std::uint32_t> arrivals;  // symmetric: P, what each member sends here
  Window<std::uint32_t> counts;    // this PE's own: rows from each rank; valid after the call
  Window<std::uint32_t> offsets;   // this PE's own: P + 1, the first row from each rank; their sum
  Window<std::uint32_t> from, to;  // this PE's own: first row for each rank, here and there
  Window<std::uint32_t> ready;     // this PE's own: 1 once the counts are known and fit
  std::size_t row = 1;             // elements
  std::size_t capacity = 0;        // rows that an output has room for; equal on all PEs
};

// Scratch of the plan: two rows of the table.
inline constexpr std::size_t all_to_all_v_scratch(int members) {
  return 2 * row_stride(static_cast<std::size_t>(members) + 1) * sizeof(std::uint32_t);
}

// First half. `splits` (a window or local of P counts) says how many rows go to each rank. Fails,
// on every member and before any row is sent, where a member would get more rows than an output has
// room for, or sends more than its input has.
template <Operand S>
struct AllToAllVPlan {
  AllToAllVTables t;
  S splits;
  std::size_t rows;  // of this PE's input

  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(t.group.channel);
    plan(block);
    block.leave(t.group.channel);
  }

 private:
  template <Block B>
  SYM_FN void plan(B& block) const {
    const Team& team = t.group.team;
    const std::size_t members = static_cast<std::size_t>(team.size());
    const std::size_t columns = row_stride(members + 1);  // column P: whether the row is wrong
    const std::size_t mine = static_cast<std::size_t>(team.rank()) * columns;
    const Range ranks{0, members};
    set(block, t.ready, 0, 0U);
    block.transform(t.table.at(mine), ranks, detail::Identity{}, splits);
    // A sum of counts that are each below the capacity cannot wrap: see all_to_all_v_channel.
    const std::uint32_t most = block.max(splits, ranks, detail::Identity{});
    const std::uint32_t sum = block.sum(splits, ranks, detail::Identity{});
    const bool good = most <= t.capacity && sum <= rows;
    set(block, t.table, mine + members, good ? 0U : 1U);
    block.sync();
    for (int rank = 0; rank < team.size(); ++rank) {  // what a rank gets from this one
      block.put(t.arrivals.at(static_cast<std::size_t>(team.rank())),
                t.table.at(mine + static_cast<std::size_t>(rank)), Range{0, 1}, team.pe(rank));
    }
    if (!exchange_rows(block, t.group, t.table, columns)) return;
    const Scratch<std::uint32_t> totals{0, columns};
    const Scratch<std::uint32_t> before{columns * sizeof(std::uint32_t), columns};
    sum_rows(block, team, t.table, totals, before);
    block.transform(t.to, ranks, detail::Identity{}, before);
    block.scan(t.from, t.table.at(mine), ranks, detail::Identity{});
    block.transform(t.counts, ranks, detail::Identity{}, t.arrivals);
    const std::uint32_t received = block.scan(t.offsets, t.counts, ranks, detail::Identity{});
    set(block, t.offsets, members, received);
    const std::uint32_t wrong = block.read(totals, members);
    const std::uint32_t largest = block.max(totals, ranks, detail::Identity{});
    const bool fits = largest <= t.capacity;
    if (wrong == 0 && fits) set(block, t.ready, 0, 1U);
    const char* const too_many = "all_to_all_v: rows for one PE are at most the capacity";
    block.require(most <= t.capacity, too_many, most, t.capacity);
    block.require(sum <= rows, "all_to_all_v: the sum of the splits is at most the input's rows",
                  sum, rows);
    block.require(wrong == 0, "all_to_all_v: PEs whose splits do not fit their input", wrong, 0);
    block.require(fits, too_many, largest, t.capacity);
  }
};

// Second half, with the same tables. out[offsets[s] + i] = row i of what rank s sends here. `in`
// holds the rows for rank 0, then rank 1, ... . Rotated: at no time is one PE everyone's target.
template <class T, Operand In>
struct AllToAllVSend {
  AllToAllVTables t;
  In in;
  Window<T> out;

  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(t.group.channel);
    if (block.read(t.ready, 0) != 0) send(block);
    block.leave(t.group.channel);
  }

 private:
  template <Block B>
  SYM_FN void send(B& block) const {
    const Team& team = t.group.team;
    const std::size_t columns = row_stride(static_cast<std::size_t>(team.size()) + 1);
    const Window<std::uint32_t> splits =
        t.table.at(static_cast<std::size_t>(team.rank()) * columns);
    for (int hop = 0; hop < team.size(); ++hop) {
      const int rank = (team.rank() + hop) % team.size();
      const std::size_t at = static_cast<std::size_t>(rank);
      const std::size_t count = block.read(splits, at) * t.row;
      const Range share = chunk(Range{0, count}, block.index(), block.count(), granule<T>);
      block.put(out.at(block.read(t.to, at) * t.row), in.at(block.read(t.from, at) * t.row), share,
                team.pe(rank));
    }
    barrier(block, t.group);  // every row has arrived
  }
};

struct AllToAllVRequest {
  std::size_t row = 1;       // elements
  std::size_t capacity = 0;  // rows of an output
  int blocks = 8;
  int threads = 512;
};

// Tables and a channel: [collective], equal on all PEs.
template <World W>
struct AllToAllVChannel {
  W& world;
  AllToAllVTables tables;
  AllToAllVRequest request;
};

// Throws UsageError where a row is empty or counts of rows could pass 32 bits.
template <World W>
AllToAllVChannel<W> all_to_all_v_channel(W& world, const AllToAllVRequest& request) {
  const std::size_t members = static_cast<std::size_t>(world.n_pes());
  if (request.row == 0) throw UsageError("all_to_all_v: a row has at least one element");
  if (request.capacity > 0xffffffffU / (members + 1)) {
    throw UsageError("all_to_all_v: a capacity of " + std::to_string(request.capacity) +
                     " rows; rows of all PEs together are counted in 32 bits");
  }
  AllToAllVTables t;
  const auto numbers = [&](std::size_t n) {
    return world.template allocate_control<std::uint32_t>(n);
  };
  const std::uint16_t tag = operation_tag(operation_of("all_to_all_v"), request.capacity,
                                          request.row, static_cast<std::uint64_t>(request.blocks));
  t.group = Group{world.channel({request.blocks}).tagged(tag), world.team()};
  t.table = numbers(members * row_stride(members + 1));
  t.arrivals = numbers(members);
  t.counts = numbers(members);
  t.offsets = numbers(members + 1);
  t.from = numbers(members);
  t.to = numbers(members);
  t.ready = numbers(1);
  t.row = request.row;
  t.capacity = request.capacity;
  return AllToAllVChannel<W>{world, t, request};
}

// Enqueues one exchange on `stream`. Called by every PE. `in` and `splits` may be rewritten, and
// out, counts and offsets (in the channel's tables) read, by what follows in the stream.
template <World W, class T, Operand In, Operand S>
void all_to_all_v(AllToAllVChannel<W>& channel, In in, S splits, Window<T> out, int stream = 0) {
  const AllToAllVTables& t = channel.tables;
  const std::size_t members = static_cast<std::size_t>(channel.world.n_pes());
  if (splits.count < members || out.count / t.row < t.capacity) {
    throw UsageError("all_to_all_v: one split for each PE, and an output of the channel's " +
                     std::to_string(t.capacity) + " rows of " + std::to_string(t.row) +
                     " elements, are needed");
  }
  LaunchConfig config;
  config.stream = stream;
  config.threads = channel.request.threads;
  config.name = "all_to_all_v plan";
  config.scratch_bytes = all_to_all_v_scratch(channel.world.n_pes());
  channel.world.launch(config, AllToAllVPlan<S>{t, splits, in.count / t.row});
  config.name = "all_to_all_v";
  config.scratch_bytes = 0;
  config.blocks = channel.request.blocks;
  channel.world.launch(config, AllToAllVSend<T, In>{t, in, out});
}

}  // namespace sym
