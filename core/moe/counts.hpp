// Small tables of counts: how data-dependent exchanges learn how much goes where.
#pragma once

#include "core/block.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym {

namespace detail {
// Element functions over counts.
template <class T>
struct Constant {
  T value;
  SYM_HD constexpr T operator()() const { return value; }
};
struct Add {
  SYM_HD constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a + b;
  }
};
struct Minus {
  std::uint32_t base;
  SYM_HD constexpr std::uint32_t operator()(std::uint32_t a) const { return a - base; }
};
struct RoundUp {
  std::uint32_t unit;
  SYM_HD constexpr std::uint32_t operator()(std::uint32_t a) const {
    return (a + unit - 1) / unit * unit;
  }
};
}  // namespace detail

// memory[index] = value, by whichever lane verbs of one element fall to.
template <Block B, Memory M>
SYM_FN void set(B& block, M memory, std::size_t index, typename M::value_type value,
                Site site = Site::here()) {
  block.transform(memory, RangeAt{Range{index, 1}, site},
                  detail::Constant<typename M::value_type>{value});
}

// Elements from row to row of a table of counts that has at least `columns`: rows begin where a
// wide access may.
SYM_HD constexpr std::size_t row_stride(std::size_t columns) {
  constexpr std::size_t unit = granule<std::uint32_t>;
  return (columns + unit - 1) / unit * unit;
}

// Rows of `columns` counts, one for each member: this PE's row goes to every member, and theirs
// come. Called by one block of each member, of equal index, with its own row written. To whoever
// returns, every member has entered this call and finished what it did before it: the receipt of a
// row is leave to write where that member lets others write. False if a row did not come, or a
// member came for another operation.
template <Block B>
SYM_FN bool exchange_rows(B& block, const Group& group, Window<std::uint32_t> table,
                          std::size_t columns) {
  const Team& team = group.team;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const Range mine{static_cast<std::size_t>(team.rank()) * columns, columns};
  block.sync();
  for (int hop = 1; hop < team.size(); ++hop) {
    const int pe = team.pe((team.rank() + hop) % team.size());
    block.put(table, table, mine, pe);
    block.fence(pe);
  }
  // A barrier's rows: they carry the operation's tag, so that another operation is named.
  block.signal(group.channel.barriers, slot, team);
  const bool came = block.wait_until(group.channel.barriers, slot, team);
  block.quiet();  // the next call writes this row again
  return came;
}

// totals[c] = the sum of column c of `table` over all members; before[c] = over the members of
// lower rank than this one.
template <Block B>
SYM_FN void sum_rows(B& block, const Team& team, Window<std::uint32_t> table,
                     Scratch<std::uint32_t> totals, Scratch<std::uint32_t> before) {
  const Range all = totals.all();
  block.transform(totals, all, detail::Constant<std::uint32_t>{0});
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank()) block.transform(before, all, detail::Identity{}, totals);
    block.transform(totals, all, detail::Add{}, totals,
                    table.at(static_cast<std::size_t>(rank) * totals.count));
  }
  block.sync();
}

}  // namespace sym
