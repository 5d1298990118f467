// all_reduce on two binary trees, each for half of the data, in pieces: in no tree but one is a PE
// more than a leaf, so that both trees together keep every port busy both ways, and a piece needs
// about 2 log2(P) hops. (Sanders, Speck, Traff: Two-tree algorithms for full bandwidth broadcast,
// reduction and scan, 2009.)
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym {

namespace detail {

// The ranks beside one in a tree; -1 where there is none.
struct TreeNode {
  int parent = -1, left = -1, right = -1;
  bool is_left = false;  // of its parent

  SYM_HD constexpr bool is_leaf() const { return left < 0; }
};

// The trees number the PEs from 1 to P in order, so that odd numbers are leaves: the first tree has
// rank 0 first, the second rank P-1, whereby odd and even change places. A number's subtree is that
// of its lowest set bit, as far as there are numbers.
SYM_HD constexpr TreeNode tree_node(int rank, int ranks, int tree) {
  const int number = (rank + tree) % ranks + 1;
  const int bit = number & -number;
  const auto rank_of = [&](int other) { return (other - 1 - tree + ranks) % ranks; };
  TreeNode node;
  int parent = (number ^ bit) | (bit << 1);
  if (parent > ranks) parent = number ^ bit;
  if (parent > 0) node.parent = rank_of(parent);
  node.is_left = number < parent;
  if (bit > 1) node.left = rank_of(number - bit / 2);
  int right = bit / 2;  // the largest subtree that has a root
  while (right > 0 && number + right > ranks) right /= 2;
  if (right > 0) node.right = rank_of(number + right);
  return node;
}

// What a block works on: of each half of the data a range of `in` and `out`. `work` has room for
// twice the longer one: what the two children of a PE send.
template <class T>
struct DoubleTree {
  Window<T> in, work, out;
  Range halves[2];
  bool uses[2];  // whether this block has a part in a tree at all
  int pieces;

  SYM_HD constexpr Range piece(int tree, int index) const {
    return chunk(halves[tree], index, pieces, granule<T>);
  }
  SYM_HD constexpr Window<T> from_child(bool left, int tree, Range piece) const {
    const std::size_t units = (halves[tree].count + granule<T> - 1) / granule<T>;
    return work.at((left ? 0 : units * granule<T>)+(piece.first - halves[tree].first));
  }
};

// Blocks take turns at the trees: both are then under way at a time, and no PE's port waits for the
// one while it could serve the other. A block that is alone takes both.
template <Block B>
SYM_FN bool uses_tree(const B& block, int tree) {
  return block.count() == 1 || block.index() % 2 == tree;
}

// Tells the children that they may write here. A tagged row, so that members who came for different
// operations are named.
template <Block B>
SYM_FN void greet_children(B& block, const Group& group) {
  const Team& team = group.team;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  for (int tree = 0; tree < 2; ++tree) {
    if (!uses_tree(block, tree)) continue;
    const TreeNode node = tree_node(team.rank(), team.size(), tree);
    if (node.left >= 0) block.signal(group.channel.barriers, slot, team.pe(node.left));
    if (node.right >= 0) block.signal(group.channel.barriers, slot, team.pe(node.right));
  }
}

// One piece towards the root: left subtree, own, right subtree. More than one PE.
template <Block B, class T, class Op>
SYM_FN bool send_up(B& block, const Group& group, const DoubleTree<T>& t, int tree, int index,
                    Op op) {
  const Team& team = group.team;
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const TreeNode node = tree_node(team.rank(), team.size(), tree);
  const Range piece = t.piece(tree, index), here{0, piece.count};
  const Window<T> own = t.in.at(piece.first), sum = t.out.at(piece.first);
  const Window<T> left = t.from_child(true, tree, piece), right = t.from_child(false, tree, piece);
  if (!node.is_leaf() && !block.wait_until(steps, slot, team.only(node.left))) return false;
  if (node.right >= 0 && !block.wait_until(steps, slot, team.only(node.right))) return false;
  if (node.parent < 0) {
    const Finish<Op> finish{op, team.size()};
    if (node.right < 0) {
      block.transform(sum, here, finish, left, own);
    } else {
      block.transform(sum, here, finish, left, own, right);
    }
    return true;
  }
  if (node.right >= 0) {
    block.transform(sum, here, Combine<Op>{op}, left, own, right);
  } else if (!node.is_leaf()) {
    block.transform(sum, here, Combine<Op>{op}, left, own);
  }
  const int parent = team.pe(node.parent);
  block.fence(parent);  // so that the k-th signal says that the k-th piece is there
  block.put_signal(t.from_child(node.is_left, tree, piece), node.is_leaf() ? own : sum, here, steps,
                   slot, parent);
  return true;
}

// One piece of the result towards the leaves.
template <Block B, class T>
SYM_FN bool send_down(B& block, const Group& group, const DoubleTree<T>& t, int tree, int index) {
  const Team& team = group.team;
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const TreeNode node = tree_node(team.rank(), team.size(), tree);
  if (node.parent >= 0 && !block.wait_until(steps, slot, team.only(node.parent))) return false;
  // Half of a tree's blocks serve the right one first: both are served at a time.
  const bool swap = block.index() / 2 % 2 == 1;
  for (int child : {swap ? node.right : node.left, swap ? node.left : node.right}) {
    if (child < 0) continue;
    block.fence(team.pe(child));
    block.put_signal(t.out, t.out, t.piece(tree, index), steps, slot, team.pe(child));
  }
  return true;
}

// After it, out[all] is complete on every member. After greet_children; leaves this block's puts
// under way. False if a wait expired.
template <Block B, class T, class Op>
SYM_FN bool double_tree(B& block, const Group& group, const DoubleTree<T>& t, Op op) {
  const Team& team = group.team;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  if (team.size() == 1) {
    for (const Range half : t.halves) block.transform(t.out, half, Finish<Op>{op, 1}, t.in);
    return true;
  }
  // The tree in which this PE may be more than a leaf. A leaf waits for nobody on the way up and is
  // nobody's way down, so it sends first and waits last.
  const int inner = tree_node(team.rank(), team.size(), 0).is_leaf() ? 1 : 0;
  for (int tree = 0; tree < 2; ++tree) {
    const int parent = tree_node(team.rank(), team.size(), tree).parent;
    if (!t.uses[tree] || parent < 0) continue;
    if (!block.wait_until(group.channel.barriers, slot, team.only(parent))) return false;
  }
  for (int index = 0; index < t.pieces; ++index) {
    for (int tree : {1 - inner, inner})
      if (t.uses[tree] && !send_up(block, group, t, tree, index, op)) return false;
  }
  for (int tree : {inner, 1 - inner}) {
    for (int index = 0; index < t.pieces; ++index)
      if (t.uses[tree] && !send_down(block, group, t, tree, index)) return false;
  }
  return true;
}

}  // namespace detail

// Elements of `work` for n elements.
template <class T>
SYM_HD constexpr std::size_t double_tree_work(std::size_t n) {
  return n + 2 * granule<T>;
}

// Each element is combined along its tree, in the order of the ranks (in the second tree P-1, 0, 1,
// ..., P-2), rounded to T at each PE: the same bits on all PEs, for a given number of elements.
// `work` (double_tree_work elements, symmetric) must overlap neither `in` nor `out`; those
// two may be the same window. In how many `pieces` a half goes (1 or more, equal on all members):
// the more, the sooner the trees are full, and the more signals are sent.
template <Block B, class T, class Op>
SYM_FN void all_reduce_double_tree(B& block, const Group& group, Window<T> in, Window<T> work,
                                   Window<T> out, std::size_t n, Op op, int pieces) {
  const Extent all{in, n}, arrivals{work, double_tree_work<T>(n)}, result{out, n};
  if (!apart_or_in_place(block, all, result) || !work_is_apart(block, all, arrivals, result))
    return;
  if (!is_in_pieces(block, pieces)) return;
  detail::DoubleTree<T> mine{in, work, out, {}, {}, pieces};
  for (int tree = 0; tree < 2; ++tree) {
    mine.uses[tree] = detail::uses_tree(block, tree);
    if (!mine.uses[tree]) continue;
    const Range half = chunk(Range{0, n}, tree, 2, granule<T>);
    const int sharers = block.count() == 1 ? 1 : (block.count() + 1 - tree) / 2;
    mine.halves[tree] = chunk(half, block.index() / 2, sharers, granule<T>);
    // No PE has children in both trees, so their places may be the same.
    mine.work = work.at(2 * (mine.halves[tree].first - half.first));
  }
  detail::greet_children(block, group);
  if (!detail::double_tree(block, group, mine, op)) return;
  block.quiet();  // `in` and `out` are the caller's again
}

}  // namespace sym
