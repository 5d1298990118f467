#include "backends/check/explore_search.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.hpp"

namespace sym::check {

int Search::process(const ProcessKey& key) {
  return processes_.emplace(key, static_cast<int>(processes_.size())).first->second;
}

void Search::follow(std::vector<std::uint32_t> decisions, bool exact) {
  followed_ = std::move(decisions);
  exact_ = exact;
}

void Search::begin() {
  depth_ = 0;
  agent_ = -1;
  turn_ = {};
  switches_ = 0;
}

bool Search::contains(const std::vector<Asleep>& asleep, int process) {
  return std::any_of(asleep.begin(), asleep.end(),
                     [&](const Asleep& one) { return one.process == process; });
}

// Local events, whose turn it is, other agents, transfers; then those who have looked in vain, in
// turn. By names, so that it is the same in another run of the program.
void Search::order(std::vector<Candidate>& candidates) const {
  const auto rank = [&](const Candidate& one) {
    if (one.local) return 0;
    if (one.yields) return one.key <= turn_ ? 5 : 4;
    if (one.process == agent_) return 1;
    return one.agent ? 2 : 3;
  };
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    return std::make_tuple(rank(a), a.key) < std::make_tuple(rank(b), b.key);
  });
}

bool Search::is_switch(const Node& node, const Candidate& candidate) const {
  if (!candidate.agent || candidate.local || candidate.process == node.agent) return false;
  return std::any_of(node.candidates.begin(), node.candidates.end(), [&](const Candidate& other) {
    return other.process == node.agent && !other.yields;
  });
}

bool Search::allowed(const Node& node, const Candidate& candidate) {
  if (bound_ < 0 || node.switches < bound_ || !is_switch(node, candidate)) return true;
  cut_ = true;
  return false;
}

Search::Node Search::make_node(const std::vector<Candidate>& candidates) {
  Node node;
  node.candidates = candidates;
  node.agent = agent_;
  node.switches = switches_;
  if (sleeps() && !nodes_.empty()) {
    const Footprint& last = trace_.event(depth_ - 1).touched;
    const Node& parent = nodes_.back();
    const int moved = parent.candidates[parent.chosen].process;
    for (const Asleep& one : parent.asleep) {
      if (one.process != moved && !conflict(one.next, last)) node.asleep.push_back(one);
    }
  }
  return node;
}

std::optional<std::size_t> Search::choose(std::vector<Candidate>& candidates) {
  order(candidates);
  if (depth_ < nodes_.size()) {
    const Node& node = nodes_[depth_];
    const int process = node.candidates[node.chosen].process;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].process == process) return i;
    }
    throw Failure(
        "exhaustive: the program does not do the same when it runs again; it must depend on "
        "nothing "
        "but its arguments and what its verbs give");
  }
  Node node = make_node(candidates);
  const auto chosen = followed_ ? followed(candidates.size()) : first_awake(node);
  if (!chosen) return std::nullopt;
  node.chosen = *chosen;
  node.wanted.push_back(candidates[*chosen].process);
  if (!reduce_ && !candidates[*chosen].local) {
    for (const Candidate& other : candidates) node.wanted.push_back(other.process);
  }
  nodes_.push_back(std::move(node));
  return chosen;
}

std::optional<std::size_t> Search::first_awake(const Node& node) {
  for (std::size_t i = 0; i < node.candidates.size(); ++i) {
    const Candidate& one = node.candidates[i];
    if (!contains(node.asleep, one.process) && allowed(node, one)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Search::followed(std::size_t candidates) {
  if (candidates < 2 || next_followed_ >= followed_->size()) return 0;
  const std::size_t choice = (*followed_)[next_followed_++];
  if (choice < candidates) return choice;
  if (!exact_) return 0;
  lost_ = true;
  return std::nullopt;
}

void Search::happened(Footprint touched, std::vector<std::size_t> after, bool ended_run) {
  const Node& node = nodes_[depth_];
  const Candidate& chosen = node.candidates[node.chosen];
  if (chosen.agent && !chosen.local) {
    switches_ = node.switches + (is_switch(node, chosen) ? 1 : 0);
    agent_ = chosen.process;
    turn_ = chosen.key;
  }
  if (depth_ == trace_.size()) {
    touched.all = ended_run;
    const auto races = trace_.add({chosen.process, std::move(touched), std::move(after)});
    for (const std::size_t earlier : races) {
      if (reduce_ || nodes_[earlier].candidates[nodes_[earlier].chosen].local) {
        add_race(earlier, depth_);
      }
    }
    // What could have come before the end of the run never showed what it conflicts with.
    if (ended_run) {
      for (const Candidate& other : node.candidates) {
        nodes_[depth_].wanted.push_back(other.process);
      }
    }
  }
  ++depth_;
}

// Wants each of the processes; all that there are if one of them cannot move there.
void Search::want(Node& node, const std::vector<int>& processes) {
  const auto there = [&](int process) {
    return std::any_of(node.candidates.begin(), node.candidates.end(),
                       [&](const Candidate& one) { return one.process == process; });
  };
  const bool all = !std::all_of(processes.begin(), processes.end(), there);
  for (const Candidate& one : node.candidates) {
    const auto same = [&](int process) { return process == one.process; };
    const bool named = all || std::any_of(processes.begin(), processes.end(), same);
    if (named && std::none_of(node.wanted.begin(), node.wanted.end(), same)) {
      node.wanted.push_back(one.process);
    }
  }
}

void Search::add_race_within_bound(std::size_t earlier, std::size_t later) {
  const std::vector<int> steps = trace_.first_steps(earlier, later);
  want(nodes_[earlier], steps);
  const int turn = nodes_[earlier].agent;
  for (std::size_t at = earlier; at-- > 0;) {
    const Candidate& chosen = nodes_[at].candidates[nodes_[at].chosen];
    const bool begins = chosen.process == turn && !chosen.local && nodes_[at].agent != turn;
    if (!begins) continue;
    want(nodes_[at], steps);
    return;
  }
}

void Search::add_race(std::size_t earlier, std::size_t later) {
  if (bound_ >= 0) {
    add_race_within_bound(earlier, later);
    return;
  }
  Node& node = nodes_[earlier];
  const std::vector<int> steps = trace_.first_steps(earlier, later);
  const bool covered = std::any_of(steps.begin(), steps.end(), [&](int process) {
    return std::find(node.wanted.begin(), node.wanted.end(), process) != node.wanted.end() ||
           contains(node.asleep, process);
  });
  if (covered) return;
  for (const int process : steps) {
    for (const Candidate& candidate : node.candidates) {
      if (candidate.process != process) continue;
      node.wanted.push_back(process);
      return;
    }
  }
  // Not one of them can move there, which an enabling event that nobody noted would explain.
  for (const Candidate& candidate : node.candidates) node.wanted.push_back(candidate.process);
}

std::optional<std::size_t> Search::untried(Node& node) {
  for (const int process : node.wanted) {
    if (contains(node.asleep, process) ||
        std::find(node.done.begin(), node.done.end(), process) != node.done.end()) {
      continue;
    }
    for (std::size_t i = 0; i < node.candidates.size(); ++i) {
      if (node.candidates[i].process == process && allowed(node, node.candidates[i])) return i;
    }
  }
  return std::nullopt;
}

bool Search::advance() {
  if (followed_) return false;
  if (trace_.size() < nodes_.size()) return true;  // the budget ended what was to be run again
  while (!nodes_.empty()) {
    Node& node = nodes_.back();
    const std::size_t at = nodes_.size() - 1;
    const int tried = node.candidates[node.chosen].process;
    if (sleeps()) {
      node.asleep.push_back({tried, trace_.event(at).touched});
    } else {
      node.done.push_back(tried);
    }
    if (const auto next = untried(node)) {
      node.chosen = *next;
      trace_.truncate(at);
      return true;
    }
    nodes_.pop_back();
    trace_.truncate(at);
  }
  return false;
}

std::vector<std::uint32_t> Search::decisions() const {
  std::vector<std::uint32_t> all;
  for (const Node& node : nodes_) {
    if (node.candidates.size() > 1) all.push_back(static_cast<std::uint32_t>(node.chosen));
  }
  while (!all.empty() && all.back() == 0) all.pop_back();
  return all;
}

}  // namespace sym::check
