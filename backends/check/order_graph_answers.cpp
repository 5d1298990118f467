// What an OrderGraph says.
#include <algorithm>
#include <deque>
#include <set>

#include "backends/check/order_graph.hpp"

namespace sym::check {

using fiber::Change;

namespace {

constexpr std::size_t bits_in_word = 64;

bool takes(const Alteration& change, const Op& op, Part part) {
  const bool ordinal = change.op.ordinal < 0 || change.op.ordinal == op.ordinal;
  if (!ordinal || change.op.line != op.line || change.op.verb != op.verb ||
      change.op.file != op.file)
    return false;
  switch (change.change) {
    case Change::none:
      return false;
    case Change::no_sync:
      return part == Part::meets;
    case Change::no_acquire:
    case Change::previous:
      return part == Part::acquires;
    case Change::drop:
      return true;
    default:
      return part != Part::meets;
  }
}

}  // namespace

OrderGraph::Removed OrderGraph::removed_by(const std::vector<Alteration>& changes) const {
  Removed removed(labels_.size(), false);
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    removed[i] = std::any_of(changes.begin(), changes.end(), [&](const Alteration& one) {
      return takes(one, labels_[i].first, labels_[i].second);
    });
  }
  return removed;
}

bool OrderGraph::is_gone(const Edge& edge, const Removed& removed) {
  return edge.label >= 0 && removed[static_cast<std::size_t>(edge.label)];
}

std::size_t OrderGraph::words() const { return (firsts_.size() + bits_in_word - 1) / bits_in_word; }

bool OrderGraph::has(const Bits& bits, Node node, Node first) const {
  const std::size_t bit = firsts_.at(first);
  const std::uint64_t word = bits[static_cast<std::size_t>(node) * words() + bit / bits_in_word];
  return (word >> (bit % bits_in_word) & 1U) != 0;
}

// From which first accesses a node is reached, along edges that are not removed.
OrderGraph::Bits OrderGraph::reach(const Removed& removed) const {
  Bits bits(in_.size() * words(), 0);
  for (std::size_t to = 0; to < in_.size(); ++to) {
    std::uint64_t* const mine = bits.data() + to * words();
    for (const Edge& edge : in_[to]) {
      if (is_gone(edge, removed)) continue;
      const std::uint64_t* const theirs =
          bits.data() + static_cast<std::size_t>(edge.from) * words();
      for (std::size_t word = 0; word < words(); ++word) mine[word] |= theirs[word];
    }
    const auto first = firsts_.find(static_cast<Node>(to));
    if (first != firsts_.end())
      mine[first->second / bits_in_word] |= std::uint64_t{1} << (first->second % bits_in_word);
  }
  return bits;
}

// ... along all edges, a removed one among them. `all`: what is reached at all. With `news`, only
// what the removed one tells somebody who does not know it.
OrderGraph::Bits OrderGraph::reach_through(const Removed& removed, const Bits& all,
                                           bool news) const {
  Bits bits(in_.size() * words(), 0);
  const auto row = [&](const Bits& of, Node node) {
    return of.data() + static_cast<std::size_t>(node) * words();
  };
  for (std::size_t to = 0; to < in_.size(); ++to) {
    std::uint64_t* const mine = bits.data() + to * words();
    for (const Edge& edge : in_[to]) {
      const bool gone = is_gone(edge, removed);
      for (std::size_t word = 0; word < words(); ++word) {
        std::uint64_t told = gone ? row(all, edge.from)[word] : 0;
        if (news && edge.known >= 0) told &= ~row(all, edge.known)[word];
        if (news && edge.also_known >= 0) told &= ~row(all, edge.also_known)[word];
        mine[word] |= row(bits, edge.from)[word] | told;
      }
    }
  }
  return bits;
}

std::size_t OrderGraph::unordered() const {
  const Bits all = reach(Removed(labels_.size(), false));
  return static_cast<std::size_t>(
      std::count_if(pairs_.begin(), pairs_.end(),
                    [&](const Pair& pair) { return !has(all, pair.second, pair.first); }));
}

// What makes the edges of a way with the fewest labels, from the first access to the second; the
// ways lie among the nodes that `bits` says the first access reaches.
std::vector<OrderGraph::Label> OrderGraph::path(const Pair& pair, const Removed& removed,
                                                const Bits& bits) const {
  struct Step {
    Node node = 0;
    Node next = -1;  // on the way to the second access
    Label label = -1;
  };
  std::map<Node, Step> done;
  std::deque<Step> open{{pair.second}};
  while (!open.empty() && !done.contains(pair.first)) {
    const Step step = open.front();
    open.pop_front();
    if (!done.emplace(step.node, step).second) continue;
    for (const Edge& edge : in_[static_cast<std::size_t>(step.node)]) {
      if (is_gone(edge, removed) || !has(bits, edge.from, pair.first)) continue;
      const Step before{edge.from, step.node, edge.label};
      if (edge.label < 0) {
        open.push_front(before);
      } else {
        open.push_back(before);
      }
    }
  }
  std::vector<Label> labels;
  for (Node at = pair.first; at >= 0 && done.contains(at); at = done[at].next) {
    if (done[at].label >= 0) labels.push_back(done[at].label);
  }
  return labels;
}

// Whether some of the pairs are lost without both, and not without the label alone.
bool OrderGraph::stands_in(Label label, const Removed& removed, const Found& found) const {
  Removed alone(labels_.size(), false);
  Removed both = removed;
  alone[static_cast<std::size_t>(label)] = both[static_cast<std::size_t>(label)] = true;
  const Bits without_it = reach(alone);
  const Bits without_both = reach(both);
  return std::any_of(found.pairs.begin(), found.pairs.end(), [&](const Pair* pair) {
    return has(without_it, pair->second, pair->first) &&
           !has(without_both, pair->second, pair->first);
  });
}

void OrderGraph::name_others(Answer& answer, const Removed& removed, const Found& found) const {
  std::vector<std::pair<std::size_t, Label>> ranked;
  for (const auto& [label, times] : found.times) {
    if (label >= 0 && stands_in(label, removed, found)) ranked.emplace_back(times, label);
  }
  answer.each = !ranked.empty();
  if (!answer.each) {
    for (const auto& [label, times] : found.times) ranked.emplace_back(times, label);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [times, label] : ranked) {
    if (label < 0) {
      answer.others.emplace_back("the order of launches");
      continue;
    }
    const auto& [op, part] = labels_[static_cast<std::size_t>(label)];
    const bool inner = part == Part::meets && op.verb != fiber::Verb::sync;
    const std::string name = op.text() + (inner ? " (its sync)" : "");
    if (std::find(answer.others.begin(), answer.others.end(), name) == answer.others.end())
      answer.others.push_back(name);
  }
}

OrderGraph::Answer OrderGraph::without(const std::vector<Alteration>& changes) const {
  const Removed removed = removed_by(changes);
  const Bits all = reach(Removed(labels_.size(), false));
  const Bits through = reach_through(removed, all, false);
  const Bits news = reach_through(removed, all, true);
  const Bits left = reach(removed);
  Answer answer;
  answer.pairs = pairs_.size();
  answer.seen = std::find(removed.begin(), removed.end(), true) != removed.end();
  std::set<std::size_t> places, explained;
  Found found;
  for (const Pair& pair : pairs_) {
    if (!has(through, pair.second, pair.first)) continue;
    ++answer.through;
    if (has(news, pair.second, pair.first)) ++answer.news;
    places.insert(pair.place);
    found.pairs.push_back(&pair);
    if (!has(left, pair.second, pair.first)) {
      ++answer.lost;
    } else if (explained.insert(pair.place).second) {
      const std::vector<Label> labels = path(pair, removed, left);
      if (labels.empty()) ++found.times[-1];
      for (const Label label : labels) ++found.times[label];
    }
  }
  answer.places = places.size();
  name_others(answer, removed, found);
  return answer;
}

}  // namespace sym::check
