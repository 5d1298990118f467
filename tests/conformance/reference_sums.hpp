// What each all-reduce of many steps promises about its order, said without its communication: sums
// of bf16, element by element, rounded where the variant rounds.
#pragma once

#include <vector>

#include "core/range.hpp"
#include "core/types.hpp"

namespace sym::conformance {

using Numbers = std::vector<bf16>;              // of one element, by rank
using Inputs = std::vector<std::vector<bf16>>;  // by rank, then element

inline bf16 plus(bf16 a, bf16 b) { return to_bf16(to_float(a) + to_float(b)); }

// In rank order, in f32, rounded once.
inline bf16 in_rank_order(const Numbers& numbers) {
  float total = to_float(numbers[0]);
  for (std::size_t i = 1; i < numbers.size(); ++i) total += to_float(numbers[i]);
  return to_bf16(total);
}

// From the rank after `last` round to it, rounded at each hop.
inline bf16 round_the_ring(const Numbers& numbers, std::size_t last) {
  const std::size_t n = numbers.size();
  bf16 total = numbers[(last + 1) % n];
  for (std::size_t hop = 2; hop <= n; ++hop) total = plus(total, numbers[(last + hop) % n]);
  return total;
}

// Pairs of the first ranks until a power of two is left, then each with the one half of them
// further on.
inline bf16 by_halving(const Numbers& numbers) {
  std::size_t power = 1;
  while (2 * power <= numbers.size()) power *= 2;
  const std::size_t pairs = numbers.size() - power;
  Numbers left;
  for (std::size_t i = 0; i < pairs; ++i) left.push_back(plus(numbers[2 * i], numbers[2 * i + 1]));
  left.insert(left.end(), numbers.begin() + static_cast<std::ptrdiff_t>(2 * pairs), numbers.end());
  for (; power > 1; left.resize(power)) {
    power /= 2;
    for (std::size_t i = 0; i < power; ++i) left[i] = plus(left[i], left[i + power]);
  }
  return left[0];
}

// The in-order binary tree over numbers first..last (both included) whose root is the multiple of
// the largest power of two among them: left subtree, root, right subtree, rounded at the root. The
// second tree counts from the last rank on.
inline bf16 along_tree(const Numbers& numbers, int tree, std::size_t first, std::size_t last) {
  std::size_t step = 1;
  while (last / (2 * step) != (first - 1) / (2 * step)) step *= 2;
  const std::size_t root = last / step * step;
  const std::size_t ranks = numbers.size();
  const auto own = [&] {
    return to_float(numbers[tree == 0 ? root - 1 : (root - 2 + ranks) % ranks]);
  };
  float total = root > first ? to_float(along_tree(numbers, tree, first, root - 1)) + own() : own();
  if (root < last) total += to_float(along_tree(numbers, tree, root + 1, last));
  return to_bf16(total);
}
inline bf16 along_tree(const Numbers& numbers, int tree) {
  return along_tree(numbers, tree, 1, numbers.size());
}

// Element i of every rank.
inline Numbers at_element(const Inputs& inputs, std::size_t i) {
  Numbers numbers;
  for (const std::vector<bf16>& input : inputs) numbers.push_back(input[i]);
  return numbers;
}

// The part of `parts` of a range in which element i lies.
inline int part_of(Range range, int parts, std::size_t i) {
  int part = 0;
  while (i >= chunk(range, part, parts, granule<bf16>).end()) ++part;
  return part;
}

// The sum of an element in two levels: nodes in rank order, then `rail` of the sums of the nodes
// and of the element's part, by block, of its place's share.
struct Place {
  int block;
  Range part;
};
template <class F>
bf16 in_two_levels(const Inputs& inputs, std::size_t i, int per_node, int blocks, F rail) {
  const Numbers numbers = at_element(inputs, i);
  Numbers sums;
  for (auto at = numbers.begin(); at != numbers.end(); at += per_node)
    sums.push_back(in_rank_order(Numbers(at, at + per_node)));
  const Range all{0, inputs[0].size()};
  const Range share = chunk(all, part_of(all, per_node, i), per_node, granule<bf16>);
  const int block = part_of(share, blocks, i);
  return rail(sums, Place{block, chunk(share, block, blocks, granule<bf16>)});
}

}  // namespace sym::conformance
