// all_reduce_rms_norm: an all-reduce, a bias, a residual and RMSNorm (Zhang and Sennrich, 2019) in
// one kernel; and the normalisation alone, which behind an all-reduce is the unfused pair.
//
//   x[r, i]   = (sum over the team of in[r, i]) + residual[r, i] + bias[i]
//   out[r, i] = x[r, i] * sqrt(hidden / (sum over i of x[r, i]^2 + hidden epsilon)) * weight[i]
//
// Called by every block of a launch on every member, with equal shapes and grid; each launch with
// RmsNorm::scratch_bytes() of scratch. A block takes whole rows. Each x accumulates in f32 for
// narrow floats, over ranks 0..P-1, then residual, then bias, and is rounded once; the squares are
// those of the rounded x, added in the order of Block::sum; out is rounded once. So both fused
// variants give the same bits on every backend, for any grid; the unfused pair gives the same where
// the element type is its own accumulator (f32), and else rounds the sum once more.
#pragma once

#include <cmath>

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym {

// What is normalised. M is a Window or a Local; `in` of all variants that reduce, and `out` and
// `residual` of two_shot, are windows. `out` and `in` may be the same memory; what is written
// overlaps nothing else. Without `adds_residual` `residual` is not looked at.
template <Operand M, bool adds_residual = false>
struct RmsNorm {
  using T = typename M::value_type;
  std::size_t rows = 0;
  std::size_t hidden = 1;  // elements of a row, at least 1
  M in, out;               // rows x hidden
  M bias, weight;          // hidden elements, equal on all members
  M residual;              // rows x hidden: read, and then x
  float epsilon = 1e-6F;

  // Of one block: a row of x.
  SYM_HD constexpr std::size_t scratch_bytes() const { return hidden * sizeof(T); }
  SYM_HD constexpr Range row() const { return Range{0, hidden}; }
  SYM_HD constexpr Scratch<T> x_row() const { return Scratch<T>{0, hidden}; }
};

namespace detail {
// The total, and what is added to it, from left to right.
struct AddAll {
  template <class A, class... More>
  SYM_HD constexpr A operator()(A total, More... more) const {
    return (total + ... + more);
  }
};
struct Square {
  template <class A>
  SYM_HD constexpr A operator()(A a) const {
    return a * a;
  }
};
template <class A>
struct Normalised {
  A scale;
  SYM_HD constexpr A operator()(A x, A weight) const { return x * scale * weight; }
};
// From the sum of a row's squares.
template <class A>
struct Normaliser {
  A n, epsilon;
  SYM_HD Normalised<A> operator()(A squares) const {
    return {std::sqrt(n / (squares + n * epsilon))};
  }
};

// Fails the block, with a sentence, unless what is written is apart from all that is read besides
// (`out` may be `in`), and rows have elements.
template <Block B, Operand M, bool adds_residual>
SYM_FN bool norm_is_sound(B& block, const RmsNorm<M, adds_residual>& norm) {
  const std::size_t n = norm.rows * norm.hidden;
  const Extent in{norm.in, n}, out{norm.out, n};
  const Extent bias{norm.bias, norm.hidden}, weight{norm.weight, norm.hidden};
  bool sound =
      (are_same(in, out) || are_apart(in, out)) && are_apart(out, bias) && are_apart(out, weight);
  if constexpr (adds_residual) {
    const Extent x{norm.residual, n};
    sound = sound && are_apart(x, in) && are_apart(x, out) && are_apart(x, bias) &&
            are_apart(x, weight);
  }
  return block.require(norm.hidden > 0, "a row of a normalisation has one element or more", 0, 1) &&
         block.require(
             sound,
             "the output of a normalisation is its input or apart from it, and it and the "
             "residual overlap nothing else",
             n, norm.hidden);
}

// From a row of x in scratch to the rows that start at element `first`.
template <Block B, Operand M, bool adds_residual>
SYM_FN void normalise(B& block, const RmsNorm<M, adds_residual>& norm, std::size_t first) {
  using A = Accumulator<typename M::value_type>;
  const Normaliser<A> make{static_cast<A>(norm.hidden), static_cast<A>(norm.epsilon)};
  const auto scale = [&](auto to) {
    block.transform_by_sum(to, norm.row(), Square{}, make, norm.x_row(), norm.weight);
  };
  if constexpr (adds_residual) scale(WithSource<M, M>{norm.out.at(first), norm.residual.at(first)});
  if constexpr (!adds_residual) scale(norm.out.at(first));
}
}  // namespace detail

// As all_reduce_one_shot, a message a row: one hop, no barrier, P-1 times the bytes. The channel's
// inbox holds a row (ChannelRequest::packet_bytes). `in` may be Local.
template <Block B, Operand M, bool adds_residual>
SYM_FN void all_reduce_rms_norm_one_shot(B& block, const Group& group,
                                         const RmsNorm<M, adds_residual>& norm) {
  if (!detail::norm_is_sound(block, norm)) return;
  const Packets& inbox = group.channel.inbox;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const std::size_t blocks = static_cast<std::size_t>(block.count());
  for (std::size_t r = slot; r < norm.rows; r += blocks) {
    const M in = norm.in.at(r * norm.hidden);
    block.put_packets(inbox, slot, in, norm.row(), group.team);
    block.quiet();  // the row of `in` has been sent: `out` may be the same memory
    const auto add = [&](auto... more) {
      return block.reduce_packets(norm.x_row(), in, norm.row(), inbox, slot, group.team, Sum{},
                                  detail::AddAll{}, more...);
    };
    bool came = false;
    if constexpr (adds_residual) came = add(norm.residual.at(r * norm.hidden), norm.bias);
    if constexpr (!adds_residual) came = add(norm.bias);
    if (!came) return;
    detail::normalise(block, norm, r * norm.hidden);
  }
}

// As all_reduce_two_shot: each PE reduces and normalises its share of the rows and puts them to
// all, x as well where there is a residual. P-1 times less to compute, two barriers.
template <Block B, class T, bool adds_residual>
SYM_FN void all_reduce_rms_norm_two_shot(B& block, const Group& group,
                                         const RmsNorm<Window<T>, adds_residual>& norm) {
  if (!detail::norm_is_sound(block, norm)) return;
  const Team& team = group.team;
  const Range share = chunk(Range{0, norm.rows}, team.rank(), team.size());
  const std::size_t begin = share.first + static_cast<std::size_t>(block.index());
  if (!barrier(block, group)) return;  // inputs are ready, outputs may be written
  for (std::size_t r = begin; r < share.end(); r += static_cast<std::size_t>(block.count())) {
    const std::size_t first = r * norm.hidden;
    const auto add = [&](auto... more) {
      block.reduce(norm.x_row(), norm.in.at(first), norm.row(), team, Sum{}, detail::AddAll{},
                   more...);
    };
    if constexpr (adds_residual) add(norm.residual.at(first), norm.bias);
    if constexpr (!adds_residual) add(norm.bias);
    detail::normalise(block, norm, first);
    for (int hop = 1; hop < team.size(); ++hop) {  // staggered: no PE is everyone's target at once
      const int peer = team.pe((team.rank() + hop) % team.size());
      block.put(norm.out.at(first), norm.out.at(first), norm.row(), peer);
      if constexpr (adds_residual) {
        block.put(norm.residual.at(first), norm.residual.at(first), norm.row(), peer);
      }
    }
  }
  barrier(block, group);  // every row has arrived
}

// The same without an all-reduce: `in` is this PE's own. Nobody communicates.
template <Block B, Operand M, bool adds_residual>
SYM_FN void rms_norm(B& block, const RmsNorm<M, adds_residual>& norm) {
  if (!detail::norm_is_sound(block, norm)) return;
  for (std::size_t r = static_cast<std::size_t>(block.index()); r < norm.rows;
       r += static_cast<std::size_t>(block.count())) {
    const M in = norm.in.at(r * norm.hidden);
    const auto add = [&](auto... more) {
      block.transform(norm.x_row(), norm.row(), detail::AddAll{}, in, more...);
    };
    if constexpr (adds_residual) add(norm.residual.at(r * norm.hidden), norm.bias);
    if constexpr (!adds_residual) add(norm.bias);
    detail::normalise(block, norm, r * norm.hidden);
  }
}

}  // namespace sym
