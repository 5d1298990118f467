// Mixture of experts: who owns which expert, and what dispatch and combine share.
#pragma once

#include "core/error.hpp"
#include "core/moe/counts.hpp"
#include "core/world.hpp"

namespace sym {

// `count` experts cut to consecutive parts for the members of a team, sizes as chunk(): any number
// of experts on any number of members; with fewer experts than members the last members have none.
struct Experts {
  std::uint32_t count = 1;
  int members = 1;

  SYM_HD constexpr Range of(int rank) const { return chunk(Range{0, count}, rank, members); }
  SYM_HD constexpr int owner(std::uint32_t expert) const {
    const std::uint32_t share = count / static_cast<std::uint32_t>(members);
    const std::uint32_t longer = count % static_cast<std::uint32_t>(members);
    const std::uint32_t edge = longer * (share + 1);  // the first that lies in a shorter part
    if (expert < edge) return static_cast<int>(expert / (share + 1));
    return static_cast<int>(longer + (expert - edge) / share);
  }
};

// Which experts each token of this PE chose. ids[t * topk + j] is the j-th choice of token t, or -1
// for none; weights in the same places. Both in device memory; a different number of tokens on each
// PE is fine, and none.
template <Operand I, Operand F>
struct Routing {
  I ids;      // std::int32_t
  F weights;  // float
  std::size_t tokens = 0;
};

// What one dispatch and its combine use. P members, E experts. Made by moe_channel.
struct MoeTables {
  Group group;
  Experts experts;
  std::uint32_t topk = 1;
  std::uint32_t alignment = 1;
  std::size_t hidden = 1;       // elements of a token
  std::size_t capacity = 0;     // rows that a PE has room for, alignment included; equal on all PEs
  Window<std::uint32_t> table;  // symmetric: P rows of E + 1, who sends how many rows to whom
  Window<std::uint32_t> firsts;  // this PE's own: E, where its first row for each expert goes
  Window<std::uint32_t> places;  // this PE's own: the row of each choice, at the expert's owner
  Window<std::uint32_t> ready;   // this PE's own: 1 once the layout is known and fits
  // This PE's own, for whoever runs its experts: rows of each, and where they begin (one more entry
  // than local experts: the end of the last). Begins are multiples of the alignment.
  Window<std::uint32_t> counts, offsets;
};

// What a kernel's scratch holds while it plans: three rows of the table.
SYM_HD constexpr std::size_t moe_plan_scratch(std::uint32_t experts) {
  return 3 * row_stride(static_cast<std::size_t>(experts) + 1) * sizeof(std::uint32_t);
}
SYM_HD constexpr std::size_t moe_send_scratch(std::uint32_t experts) {
  return static_cast<std::size_t>(experts) * sizeof(std::uint32_t);
}

// A row cut to parts of about `bytes`, so that a warp's piece of work is neither one load nor a
// whole row of a large model. Pieces are numbered in 32 bits, as rows are: a division of 64 takes a
// GPU as long as a load.
template <class T>
struct RowParts {
  std::size_t hidden;
  std::size_t share;  // elements of a part but the last
  std::uint32_t parts;
  SYM_HD constexpr RowParts(std::size_t elements, std::size_t bytes)
      : hidden(elements),
        share(even(elements, bytes)),
        parts(static_cast<std::uint32_t>((elements + share - 1) / share)) {}
  SYM_HD constexpr std::uint32_t row(std::size_t piece) const {
    return static_cast<std::uint32_t>(piece) / parts;
  }
  SYM_HD constexpr Range range(std::size_t piece) const {
    const std::size_t first = static_cast<std::uint32_t>(piece) % parts * share;
    return Range{first, hidden - first < share ? hidden - first : share};
  }

 private:
  SYM_HD static constexpr std::size_t even(std::size_t elements, std::size_t bytes) {
    const std::size_t n = (elements * sizeof(T) + bytes - 1) / bytes;
    const std::size_t unit = granule<T>;
    return ((elements + n - 1) / n + unit - 1) / unit * unit;
  }
};

inline constexpr std::uint32_t most_experts = 16384;  // whose counts a block's scratch holds thrice

struct MoeRequest {
  std::size_t max_tokens = 0;  // of any PE
  std::uint32_t topk = 1;
  std::uint32_t experts = 1;
  std::uint32_t alignment = 1;  // rows of each expert begin at a multiple of it
  std::size_t hidden = 1;
  std::size_t capacity = 0;  // rows of each PE's buffers; 0: what the worst routing needs
  int blocks = 8;
  int threads = 512;
};

// Rows that a PE needs if all tokens choose its experts: a token chooses an expert once at most.
inline std::size_t worst_rows(const MoeRequest& request, int pes) {
  const std::size_t local = Experts{request.experts, pes}.of(0).count;
  const std::size_t choices = local < request.topk ? local : request.topk;
  const std::size_t rows = static_cast<std::size_t>(pes) * request.max_tokens * choices;
  const std::size_t unit = request.alignment;
  // Each expert that has rows wastes less than a unit.
  const std::size_t wasted = (local < rows ? local : rows) * (unit - 1);
  return (rows + wasted + unit - 1) / unit * unit;
}

template <World W>
struct MoeChannel {
  W& world;
  MoeTables tables;
  MoeRequest request;  // with the capacity that it got
};

// Tables and a channel: [collective], equal on all PEs. Throws UsageError naming what is wrong with
// the request.
template <World W>
MoeChannel<W> moe_channel(W& world, MoeRequest request) {
  const auto refuse = [](const std::string& what) { throw UsageError("moe: " + what); };
  if (request.experts == 0 || request.hidden == 0) refuse("experts and hidden are at least 1");
  if (request.topk == 0 || request.topk > request.experts) {
    refuse("topk is 1 to the number of experts, " + std::to_string(request.experts) + ", not " +
           std::to_string(request.topk));
  }
  if (request.alignment == 0) refuse("the alignment is at least 1");
  if (request.experts > most_experts) {
    refuse(std::to_string(request.experts) + " experts; at most " + std::to_string(most_experts));
  }
  const int pes = world.n_pes();
  // Rows, and pieces of rows, are counted in 32 bits: those of all PEs together.
  const std::size_t pieces = request.hidden / (1024 / sizeof(double)) + 1;  // of a token, at most
  const std::size_t most = std::size_t{0x7fffffff} / request.topk / static_cast<unsigned>(pes);
  if (request.max_tokens > most / pieces ||
      static_cast<std::size_t>(request.experts) * request.alignment > 0x7fffffffU) {
    refuse(std::to_string(request.max_tokens) + " tokens of " + std::to_string(request.hidden) +
           " elements with " + std::to_string(request.topk) + " choices, aligned to " +
           std::to_string(request.alignment) +
           ": rows of all PEs, in pieces of 1 KiB, are counted in 32 bits");
  }
  if (request.capacity == 0) request.capacity = worst_rows(request, pes);
  if (request.capacity > 0x7fffffffU) {
    refuse("a capacity of " + std::to_string(request.capacity) +
           " rows; rows of a PE are counted in 31 bits");
  }
  const auto numbers = [&](std::size_t n) {
    return world.template allocate_control<std::uint32_t>(n);
  };
  const std::size_t experts = request.experts;
  MoeTables t;
  // PEs that differ in any of these would lay rows out differently.
  const std::uint64_t layout =
      operation_tag(request.alignment, request.capacity, request.max_tokens, request.topk);
  const std::uint16_t tag =
      operation_tag(operation_of("moe"), (layout << 32) + experts, request.hidden,
                    static_cast<std::uint64_t>(request.blocks));
  t.group = Group{world.channel({request.blocks}).tagged(tag), world.team()};
  t.experts = Experts{request.experts, pes};
  t.topk = request.topk;
  t.alignment = request.alignment;
  t.hidden = request.hidden;
  t.capacity = request.capacity;
  t.table = numbers(static_cast<std::size_t>(pes) * row_stride(experts + 1));
  t.firsts = numbers(experts);
  t.places = numbers(request.max_tokens * request.topk + 1);
  t.ready = numbers(1);
  t.counts = numbers(t.experts.of(0).count + 1);
  t.offsets = numbers(t.experts.of(0).count + 1);
  return MoeChannel<W>{world, t, request};
}

namespace detail {
inline void require_count(const char* what, std::size_t count, std::size_t wanted) {
  if (count >= wanted) return;
  throw UsageError(std::string(what) + " of " + std::to_string(count) + " elements, where " +
                   std::to_string(wanted) + " are needed");
}
}  // namespace detail

// Throw UsageError, naming what is too small, unless a call fits the channel that it is made on.
template <World W, Operand I, Operand F>
void require_room(const MoeChannel<W>& moe, const Routing<I, F>& routing, const char* what,
                  std::size_t count) {
  const MoeTables& t = moe.tables;
  if (routing.tokens > moe.request.max_tokens) {
    throw UsageError("moe: " + std::to_string(routing.tokens) + " tokens on a channel for " +
                     std::to_string(moe.request.max_tokens));
  }
  detail::require_count(what, count, routing.tokens * t.hidden);
  detail::require_count("moe: ids", routing.ids.count, routing.tokens * t.topk);
  detail::require_count("moe: weights", routing.weights.count, routing.tokens * t.topk);
}
template <World W>
void require_rows(const MoeChannel<W>& moe, const char* what, std::size_t count) {
  detail::require_count(what, count, moe.tables.capacity * moe.tables.hidden);
}

}  // namespace sym
