// The Block concept: what an algorithm may ask of the one thread block (GPU), thread, or fibre that
// runs it. Every verb is called by the whole block (all lanes, converged), with equal arguments.
//
// Ordering, in short (docs/guide/ordering.md has it whole):
//  - Between two verbs of one block, lanes are unordered unless the second touches exactly the same
//    range with the same element type, or a `sync` lies between. Verbs that contain one say so. A
//    verb deals its range to lanes by the element type of its destination, so a `transform` between
//    types shares lanes only with verbs whose destination is of the same type as its own.
//  - put, get, put_signal, put_value and signal are transfers: non-blocking. Their source may be
//  read
//    at any time until `quiet`; their destination is written at any time until `quiet`.
//  - fence(pe) orders this block's later transfers to pe after its earlier ones; it completes
//  nothing.
//  - quiet() completes what this block issued. Nobody else's transfers.
//  - signal releases everything that happens before it (own and acquired), except this block's own
//    transfers that no fence to that PE or quiet covers; put_signal covers its own payload besides.
//    wait_until acquires what the counted signals released.
//
// Ranges are in elements and apply to source and destination alike: use `.at(k)` to shift one side.
// Source and destination of one verb must not overlap unless they are exactly the same range.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "core/function.hpp"
#include "core/matrix.hpp"
#include "core/ops.hpp"
#include "core/range.hpp"
#include "core/signals.hpp"
#include "core/team.hpp"
#include "core/types.hpp"
#include "core/window.hpp"

namespace sym {

// One operand of weighted_sum: `weight` times the part of a window that starts `first` elements on,
// on `pe`. A negative PE is no operand.
struct Term {
  int pe = -1;
  std::size_t first = 0;
  float weight = 0;
};

namespace detail {
// Functions of the archetypes below: named objects, because nvcc rejects lambdas in `requires`.
struct AnyFunction {
  SYM_HD float operator()() const { return 0; }
  SYM_HD float operator()(float a) const { return a; }
  SYM_HD float operator()(float a, float) const { return a; }
  SYM_HD std::uint32_t operator()(std::uint32_t a) const { return a; }
};
struct AnyMaker {
  SYM_HD AnyFunction operator()(float) const { return {}; }
};
struct AnyTerm {
  SYM_HD Term operator()(int) const { return {}; }
};
struct AnyPiece {
  template <class P>
  SYM_FN void operator()(P&, std::size_t) const {}
};
}  // namespace detail

// One of the independent pieces of work of Block::warps: what a warp can do alone. Two pieces are
// unordered, whatever they touch; within one, the rules of a block hold.
// clang-format off
template <class P>
concept Piece = requires(P piece, Window<float> window, Local<float> local, Range range, int pe,
                         Window<std::uint32_t> numbers, detail::AnyTerm term) {
  piece.put(window, window, range, pe);
  piece.put(window, local, range, pe);
  { piece.read(numbers, std::size_t{0}) } -> std::same_as<std::uint32_t>;
  piece.weighted_sum(local, window, range, 1, term);
};
// clang-format on

// clang-format off
template <class B>
concept Block = requires(B block, Window<float> dst, Window<float> src, Local<float> local, Range range,
                         int pe, Signals signals, std::size_t slot, Team team, Channel channel,
                         Window<std::uint64_t> counter, Packets packets, detail::AnyFunction f,
                         Window<std::int32_t> keys, Window<std::uint32_t> numbers,
                         Scratch<std::uint32_t> counts, Scratch<float> scratch, Matrix<float> tile,
                         detail::AnyTerm term, detail::AnyPiece piece, detail::AnyMaker maker,
                         PerMember<Window<float>> slots) {
  // Who runs. PEs are 0..n_pes-1; blocks of a launch are 0..count-1.
  { block.pe() } -> std::convertible_to<int>;
  { block.n_pes() } -> std::convertible_to<int>;
  { block.index() } -> std::convertible_to<int>;
  { block.count() } -> std::convertible_to<int>;
  // True once a wait of this block expired or an argument was refused: waits then return at once,
  // transfers are dropped, reads give zero. The host reports it.
  { block.failed() } -> std::convertible_to<bool>;

  // Claims this block's rows of the channel for one operation, and gives them back. A claim of rows
  // that another launch holds fails the block instead of mixing the two. `leave` begins with a sync.
  block.enter(channel);
  block.leave(channel);

  // dst[range] on `pe` becomes src[range] of this PE. Transfer.
  block.put(dst, src, range, pe);
  block.put(dst, local, range, pe);
  // dst[range] of this PE becomes src[range] of `pe`. Transfer: the destination may be written at any
  // time until quiet, and is not ordered by fence.
  block.get(dst, src, range, pe);
  block.get(local, src, range, pe);
  // put, and then one signal on this PE's lane of `slot` at `pe`, delivered after the payload. Begins
  // with a sync. Zero elements still signal.
  block.put_signal(dst, src, range, signals, slot, pe);
  // dst[index] on `pe` becomes `value`. Transfer; no source to keep.
  block.put_value(dst, slot, 1.0F, pe);
  // One signal at `pe`, or at every member of the team but this PE. Begins with a sync. Transfer.
  block.signal(signals, slot, pe);
  block.signal(signals, slot, team);
  // Waits for the next signal of every member but this PE; false if the wait expired, the block had
  // failed, or a tagged row shows another operation. Ends with a sync. Acquires.
  { block.wait_until(signals, slot, team) } -> std::convertible_to<bool>;
  // Plain counters (lanes == 1): waits for at least `value`, returns what was seen (0 if it failed).
  { block.wait_until(signals, slot, std::uint64_t{1}) } -> std::convertible_to<std::uint64_t>;
  // Plain counters: the value now. Acquires what it shows. Ends with a sync.
  { block.test(signals, slot) } -> std::convertible_to<std::uint64_t>;

  block.fence(pe);  // ends with a sync
  block.quiet();    // ends with a sync
  block.sync();     // lanes of this block meet; orders their accesses

  // dst[range] = op over the team's members m = 0..size-1, in that order, of src[range] on m.
  // Accumulates in Accumulator<T>, rounds once. Blocking: on return the sources have been read.
  block.reduce(dst, src, range, team, Sum{});
  block.reduce(local, src, range, team, Sum{});
  // The same, and then an element function on this PE before the one rounding: dst[range] = f(total,
  // more[range]...), the total in Accumulator<T> and finished. `more` is this PE's; dst may be one of it.
  block.reduce(scratch, src, range, team, Sum{}, f, local);
  // The same for a tile, as reduce for each of its rows: dst and src are of equal shape, each with its
  // own distance between rows; what lies between the rows is not touched. Begins and ends with a sync.
  block.reduce(tile, tile, team, Sum{});
  // dst[range] = op over the team's members, in rank order, of own[range] for this PE and of
  // slots.of(rank)[range], on this PE, for each other. Accumulates and rounds as reduce. The slot of
  // this PE's own rank is not read.
  block.reduce_slots(dst, src, slots, range, team, Sum{});
  block.reduce_slots(local, local, slots, range, team, Sum{});
  // dst[range] = f(src[range], ...), element by element, on this PE. f is pure and never indexes; it
  // gets and gives f32 for narrow floats. dst may be one of the sources.
  block.transform(dst, range, f, src);
  block.transform(local, range, f, local, src);
  // Sum or maximum over f(src[range]), in a stated order: 1024 virtual lanes, lane l adds elements
  // 8l..8l+7, 8(l+1024).., in ascending order; then a binary tree over lanes (l += l + 512, 256, ...).
  // The same bits on every backend and block size. Every lane gets it. Ends with a sync.
  { block.sum(src, range, f) } -> std::convertible_to<float>;
  { block.max(src, range, f) } -> std::convertible_to<float>;
  // dst[range] = g(src[range], more[range]...), where g = make(sum(src, range, f)): as sum and transform
  // one after the other, but src need be read only once. dst may be one of the sources.
  block.transform_by_sum(scratch, range, f, maker, scratch);
  block.transform_by_sum(local, range, f, maker, scratch, src);
  // The same, and source[range] = src[range]: one reading for both. `source` is none of the others.
  block.transform_by_sum(WithSource<Window<float>, Local<float>>{dst, local}, range, f, maker, scratch, src);
  // Sends src[range] as one message to every member but this PE: the same to all, or to each the part
  // that per_member names. Transfer: the source may be read at any time until quiet. At most
  // packets.capacity_bytes. Neither releases nor is ordered by fences.
  block.put_packets(packets, slot, src, range, team);
  block.put_packets(packets, slot, local, range, team);
  block.put_packets(packets, slot, per_member(src, slot), range, team);
  block.put_packets(packets, slot, per_member(local, slot), range, team);
  // dst[range] = op over the team's members, in rank order, of own[range] for this PE and the next
  // message of each other member, which must be of the same range. Accumulates and rounds as reduce.
  // False if a message did not come. Acquires the messages only. Ends with a sync.
  { block.reduce_packets(dst, src, range, packets, slot, team, Sum{}) } -> std::convertible_to<bool>;
  { block.reduce_packets(local, local, range, packets, slot, team, Sum{}) } -> std::convertible_to<bool>;
  // The same with an element function behind it, as reduce has.
  { block.reduce_packets(scratch, src, range, packets, slot, team, Sum{}, f, local) } -> std::convertible_to<bool>;
  // dst.of(r)[range] = own[range] for this PE, and for each other member of rank r its next message,
  // which must be of the same range. Where this PE is no member (Team::only) `own` says nothing. False
  // if a message did not come. Acquires the messages only. Ends with a sync.
  { block.receive_packets(per_member(dst, slot), src, range, packets, slot, team) } -> std::convertible_to<bool>;
  { block.receive_packets(per_member(local, slot), local, range, packets, slot, team) } -> std::convertible_to<bool>;
  // Atomic add on dst[index] of `pe`; returns the value before. Blocking, neither releases nor
  // acquires. Ends with a sync.
  { block.fetch_add(counter, slot, std::uint64_t{1}, pe) } -> std::convertible_to<std::uint64_t>;

  // transform with no source fills; scratch is as good as a window or local, as source and result.
  block.transform(counts, range, f);
  block.transform(numbers, range, f, counts);
  // One element, for every lane: what control decisions are made of.
  { block.read(numbers, slot) } -> std::same_as<std::uint32_t>;
  { block.read(counts, slot) } -> std::same_as<std::uint32_t>;
  // counts[k] += how many of keys[range] are k, for k in 0..counts.count-1; other keys are left out.
  // Returns to every lane whether each of those was -1, which stands for no key. Begins and ends with a
  // sync.
  { block.tally(counts, keys, range) } -> std::convertible_to<bool>;
  // The same in ascending order of i, and each key gets what it found: places[i] = counts[keys[i]]++.
  // The place of a key that is left out is not written.
  block.tally(counts, keys, range, numbers);
  // dst[i] = the sum of f(src[j]) over range.first <= j < i. Returns the sum over the whole range to
  // every lane. Unsigned integers. dst may be src. Begins and ends with a sync.
  { block.scan(counts, counts, range, f) } -> std::same_as<std::uint32_t>;
  { block.scan(numbers, numbers, range, f) } -> std::same_as<std::uint32_t>;
  // dst[range] = the sum over j = 0..n-1, in that order, of term(j).weight times
  // src.at(term(j).first)[range] of term(j).pe. Accumulates in Accumulator<T> by fused multiply-add
  // (exact product, one rounding a term) from 0, rounds once to T. Blocking: on return the sources have
  // been read. Floating types.
  block.weighted_sum(local, src, range, 1, term);
  block.weighted_sum(dst, src, range, 1, term);
  // Runs piece(p, i) for i = 0..n-1, p a Piece: unordered among themselves, a warp for each on GPUs.
  // Begins and ends with a sync.
  block.warps(slot, piece);
  // What must hold, equal in every lane. Where it does not, the block fails as by an expired wait, and
  // the World reports `what` (a string literal of at most 80 characters) with the two numbers. Returns
  // whether it holds.
  { block.require(true, "what must hold", std::uint64_t{1}, std::uint64_t{2}) } -> std::convertible_to<bool>;
};
// clang-format on

struct PieceArchetype {
  template <class T, Operand S>
  SYM_FN void put(Window<T>, S, Range, int) {}
  template <Memory S>
  SYM_FN typename S::value_type read(S, std::size_t) {
    return {};
  }
  template <Operand D, class T, class F>
  SYM_FN void weighted_sum(D, Window<T>, Range, int, F) {}
};
static_assert(Piece<PieceArchetype>);

// A Block that does nothing: proves that the concept can be met by these declarations alone, and
// compiles every algorithm against exactly the contract (tests/unit/archetype_test.cpp).
struct BlockArchetype {
  SYM_FN int pe() const { return 0; }
  SYM_FN int n_pes() const { return 1; }
  SYM_FN int index() const { return 0; }
  SYM_FN int count() const { return 1; }
  SYM_FN bool failed() const { return false; }
  SYM_FN void enter(const Channel&) {}
  SYM_FN void leave(const Channel&) {}
  template <class T, Operand S>
  SYM_FN void put(Window<T>, S, Range, int) {}
  template <Operand D, class T>
  SYM_FN void get(D, Window<T>, Range, int) {}
  template <class T, Operand S>
  SYM_FN void put_signal(Window<T>, S, Range, const Signals&, std::size_t, int) {}
  template <class T>
  SYM_FN void put_value(Window<T>, std::size_t, T, int) {}
  SYM_FN void signal(const Signals&, std::size_t, int, Site = {}) {}
  SYM_FN void signal(const Signals&, std::size_t, const Team&, Site = {}) {}
  SYM_FN bool wait_until(const Signals&, std::size_t, const Team&, Site = {}) { return true; }
  SYM_FN std::uint64_t wait_until(const Signals&, std::size_t, std::uint64_t value) {
    return value;
  }
  SYM_FN std::uint64_t test(const Signals&, std::size_t) { return 0; }
  SYM_FN void fence(int) {}
  SYM_FN void quiet(Site = {}) {}
  SYM_FN void sync() {}
  template <Operand D, class T, class Op>
  SYM_FN void reduce(D, Window<T>, Range, const Team&, Op) {}
  template <Memory D, class T, class Op, class F, Memory... S>
  SYM_FN void reduce(D, Window<T>, RangeAt, const Team&, Op, F, S...) {}
  template <class T, class Op>
  SYM_FN void reduce(Matrix<T>, Matrix<T>, const Team&, Op, Site = {}) {}
  template <Operand D, Operand S, class T, class Op>
  SYM_FN void reduce_slots(D, S, PerMember<Window<T>>, Range, const Team&, Op) {}
  template <Memory D, class F, Memory... S>
  SYM_FN void transform(D, RangeAt, F, S...) {}
  template <Memory S>
  SYM_FN typename S::value_type read(S, std::size_t, Site = {}) {
    return {};
  }
  template <Operand K>
  SYM_FN bool tally(Scratch<std::uint32_t>, K, Range, Site = {}) {
    return true;
  }
  template <Operand K, Memory P>
  SYM_FN void tally(Scratch<std::uint32_t>, K, Range, P, Site = {}) {}
  template <Memory D, Memory S, class F>
  SYM_FN typename D::value_type scan(D, S, Range, F, Site = {}) {
    return {};
  }
  template <Operand D, class T, class F>
  SYM_FN void weighted_sum(D, Window<T>, Range, int, F, Site = {}) {}
  template <class F>
  SYM_FN void warps(std::size_t n, F f, Site = {}) {
    PieceArchetype piece;
    for (std::size_t i = 0; i < n; ++i) f(piece, i);
  }
  SYM_FN bool require(bool holds, const char*, std::uint64_t = 0, std::uint64_t = 0, Site = {}) {
    return holds;
  }
  template <Memory S, class F>
  SYM_FN Accumulator<typename S::value_type> sum(S, Range, F) {
    return {};
  }
  template <Memory S, class F>
  SYM_FN Accumulator<typename S::value_type> max(S, Range, F) {
    return {};
  }
  template <Memory D, class F, class G, Memory S, Memory... More>
  SYM_FN void transform_by_sum(D, RangeAt, F, G, S, More...) {}
  template <Memory D, Memory K, class F, class G, Memory S, Memory... More>
  SYM_FN void transform_by_sum(WithSource<D, K>, RangeAt, F, G, S, More...) {}
  template <Operand S>
  SYM_FN void put_packets(const Packets&, std::size_t, S, Range, const Team&) {}
  template <class S>
  SYM_FN void put_packets(const Packets&, std::size_t, PerMember<S>, Range, const Team&) {}
  template <class D, Operand S>
  SYM_FN bool receive_packets(PerMember<D>, S, Range, const Packets&, std::size_t, const Team&) {
    return true;
  }
  template <Operand D, Operand S, class Op>
  SYM_FN bool reduce_packets(D, S, Range, const Packets&, std::size_t, const Team&, Op) {
    return true;
  }
  template <Memory D, Operand S, class Op, class F, Memory... More>
  SYM_FN bool reduce_packets(D, S, RangeAt, const Packets&, std::size_t, const Team&, Op, F,
                             More...) {
    return true;
  }
  template <class T>
  SYM_FN T fetch_add(Window<T>, std::size_t, T, int) {
    return {};
  }
};
static_assert(Block<BlockArchetype>);

}  // namespace sym
