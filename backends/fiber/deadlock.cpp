// The graph of a deadlock: its root or its ring, and the text about it.
#include "backends/fiber/deadlock.hpp"

#include <algorithm>
#include <deque>
#include <sstream>
#include <tuple>

namespace sym::fiber {

const char* to_string(Verdict verdict) {
  static constexpr const char* names[] = {"lost",        "misdirected",   "wrong value",
                                          "stale epoch", "not scheduled", "exited",
                                          "cycle",       "no producer",   "behind"};
  return names[static_cast<int>(verdict)];
}

std::string slot_of(const WordId& id) {
  return "slot " + std::to_string(id.slot) +
         (id.lane >= 0 ? " lane " + std::to_string(id.lane) : "");
}

namespace {

const char* remedy(Verdict verdict) {
  switch (verdict) {
    case Verdict::lost:
      return "let one producer set the slot, to larger values each time, or add to it";
    case Verdict::misdirected:
      return "signal the slot and the PE that are waited for";
    case Verdict::wrong_value:
      return "wait for as many signals as are sent, or let the missing PE send its own";
    case Verdict::stale_epoch:
      return "launch the same kernels with the same grid on every PE, in the same order";
    case Verdict::not_scheduled:
      return "let nothing that waits stand before what it waits for: launch it first, on another "
             "stream, or with no more blocks than are resident at once";
    case Verdict::exited:
      return "signal on every path through the kernel, early returns included";
    case Verdict::cycle:
      return "signal before waiting, on one PE at least";
    default:
      return "add the signal that the wait needs, or drop the wait";
  }
}

std::string brief(const Agent& agent) {
  std::string text = "PE " + std::to_string(agent.pe);
  if (agent.block < 0) return text + " host";
  if (agent.queue >= 0) return text + " queue " + std::to_string(agent.queue);
  return text + " block " + std::to_string(agent.block);
}

}  // namespace

Deadlock::Deadlock(const Engine& engine) : engine_(engine) {
  find_spare();
  for (const bool blocks : {true, false}) {
    for (const auto& agent : engine_.agents_) {
      if (agent->state == Agent::State::idle || (agent->block >= 0) != blocks) continue;
      index_[agent.get()] = all_.size();
      all_.push_back(waiting(*agent));
    }
  }
}

// The shortest way from an agent back to itself along who waits for whom, by breadth first.
std::vector<const Agent*> Deadlock::way_back(const Agent& start) const {
  std::map<const Agent*, const Agent*> before;
  std::deque<const Agent*> next{&start};
  while (!next.empty()) {
    const Agent* agent = next.front();
    next.pop_front();
    const auto found = index_.find(agent);
    if (found == index_.end()) continue;
    for (const Need& need : all_[found->second].needs) {
      for (const Agent* from : need.from) {
        if (!before.emplace(from, agent).second) continue;
        if (from == &start) {
          std::vector<const Agent*> way{agent};
          while (way.back() != &start) way.push_back(before.at(way.back()));
          std::reverse(way.begin(), way.end());
          return way;
        }
        next.push_back(from);
      }
    }
  }
  return {};
}

// One that goes through a block without a place says more than one that does not: the kernel would
// be right with more places.
void Deadlock::find_cycle() {
  std::size_t edges = 1;
  for (const Waiting& one : all_) {
    for (const Need& need : one.needs) edges += need.from.size();
  }
  // Any ring does: of a big graph few agents are tried, so that this takes no longer than a second.
  const std::size_t most_starts = std::clamp<std::size_t>(10'000'000 / edges, 1, 256);
  const auto unplaced = [](const std::vector<const Agent*>& way) {
    return std::any_of(way.begin(), way.end(),
                       [](auto* agent) { return agent->state == Agent::State::queued; });
  };
  for (std::size_t i = 0; i < std::min(all_.size(), most_starts); ++i) {
    const std::vector<const Agent*> way = way_back(*all_[i].agent);
    if (way.empty()) continue;
    const bool better =
        unplaced(way) == unplaced(cycle_) ? way.size() < cycle_.size() : unplaced(way);
    if (cycle_.empty() || better) cycle_ = way;
  }
  const auto first = std::min_element(cycle_.begin(), cycle_.end(), [](auto* a, auto* b) {
    return std::tie(a->pe, a->block, a->id) < std::tie(b->pe, b->block, b->id);
  });
  std::rotate(cycle_.begin(), first, cycle_.end());
  for (const Agent* agent : cycle_) {
    Verdict& verdict = all_[index_.at(agent)].verdict;
    if (verdict == Verdict::behind)
      verdict = unplaced(cycle_) ? Verdict::not_scheduled : Verdict::cycle;
  }
}

// The first verdict in their order; of several the one in the earliest launch.
const Deadlock::Waiting& Deadlock::root() const {
  return *std::min_element(all_.begin(), all_.end(), [](const Waiting& a, const Waiting& b) {
    if (a.verdict != b.verdict) return a.verdict < b.verdict;
    return a.verdict != Verdict::behind && a.agent->launch < b.agent->launch;
  });
}

std::string Deadlock::text(const Agent& agent, const Need& need) const {
  if (need.word == nullptr) return need.why;
  std::ostringstream text;
  const History& history = need.word->history;
  text << "slot " << history.id.slot;
  if (agent.queue >= 0) {
    text << ": missing: PE " << history.id.lane << " has posted it " << need.word->posts
         << " times, this is take " << need.word->takes + 1;
  } else {
    if (history.id.lane >= 0) text << " lane " << history.id.lane;
    text << ": expected " << need.wait.target << ", seen "
         << (need.word->value() >> need.wait.shift) << "; "
         << (history.id.lane >= 0 ? "missing: PE " + std::to_string(history.id.lane)
                                  : "no signal is on its way");
  }
  if (!history.updates.empty()) {
    const Touch& last = history.updates.back();
    text << "; last written by " << who(last) << " to " << (last.value >> need.wait.shift);
  } else if (history.reset.agent >= 0) {
    text << "; set by " << who(history.reset) << " to " << (history.reset.value >> need.wait.shift);
  }
  if (need.verdict != Verdict::behind) {
    text << "\n        " << to_string(need.verdict) << ": " << need.why;
  } else if (!need.from.empty()) {
    text << "\n        behind: " << engine_.describe(*need.from.front());
    if (need.from.size() > 1) text << ", or any of " << need.from.size() - 1 << " others";
  }
  return text.str();
}

std::string Deadlock::text(const Waiting& waiting) const {
  std::ostringstream text;
  const Agent& agent = *waiting.agent;
  text << "  " << engine_.describe(agent);
  if (agent.on_quiet) text << ": waits for its own transfers";
  if (!waiting.needs.empty() && waiting.needs[0].word == nullptr)
    text << ": " << waiting.needs[0].what;
  text << "\n";
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(waiting.needs.size(), most); ++i) {
    const std::string line = this->text(agent, waiting.needs[i]);
    if (!line.empty()) text << "      " << line << "\n";
  }
  if (waiting.needs.size() > most && waiting.needs[0].word != nullptr)
    text << "      ... and " << waiting.needs.size() - most + waiting.more << " more lanes\n";
  return text.str();
}

std::string Deadlock::ring() const {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle_.size(), most); ++i) {
    const Waiting& one = all_[index_.at(cycle_[i])];
    const Agent* next = cycle_[(i + 1) % cycle_.size()];
    std::string what = "host";
    for (const Need& need : one.needs) {
      if (std::find(need.from.begin(), need.from.end(), next) == need.from.end()) continue;
      what = one.agent->state == Agent::State::queued ? "has no place"
             : need.word == nullptr                   ? need.what
                                    : "wait(" + slot_of(need.word->history.id) + ")";
      break;
    }
    text += brief(*one.agent) + " " + what + " <- ";
  }
  if (cycle_.size() > most) text += "... " + std::to_string(cycle_.size() - most) + " more <- ";
  return text + brief(*cycle_.front());
}

// Whether the ring is what it hangs on, and no need of its own.
bool Deadlock::in_ring(const Waiting& waiting) const {
  const bool decided =
      !waiting.needs.empty() && waiting.needs[waiting.root].verdict != Verdict::behind;
  return !decided && std::find(cycle_.begin(), cycle_.end(), waiting.agent) != cycle_.end();
}

// Who brings a counter that nobody has signalled is a guess: the signal may be missing altogether.
std::string Deadlock::guessed() const {
  for (std::size_t i = 0; i < cycle_.size(); ++i) {
    const Agent* const next = cycle_[(i + 1) % cycle_.size()];
    for (const Need& need : all_[index_.at(cycle_[i])].needs) {
      const bool guess = need.word != nullptr && need.word->history.id.lane < 0 &&
                         need.word->history.updates.empty() &&
                         std::find(need.from.begin(), need.from.end(), next) != need.from.end();
      if (guess) {
        return "; nobody has ever signalled " + slot_of(need.word->history.id) + " of PE " +
               std::to_string(need.word->history.id.pe) +
               ", so its signal may be missing altogether";
      }
    }
  }
  return "";
}

std::string Deadlock::reason(const Waiting& root) const {
  if (in_ring(root)) return ring() + guessed();
  if (root.needs.empty()) return brief(*root.agent) + " waits";
  const Need& need = root.needs[root.root];
  return need.why.empty() ? brief(*root.agent) + " waits for what waits itself" : need.why;
}

Finding Deadlock::finding() {
  find_cycle();
  std::ostringstream text;
  constexpr std::size_t most = 12;
  text << "DEADLOCK: nothing can run; " << all_.size() << " agents wait\n";
  for (std::size_t i = 0; i < std::min(all_.size(), most); ++i) text << this->text(all_[i]);
  if (all_.size() > most) text << "  ... and " << all_.size() - most << " more\n";
  Finding finding;
  finding.kind = "deadlock";
  const Waiting& root = this->root();
  finding.verdict = to_string(root.verdict);
  finding.why = reason(root);
  finding.fix = remedy(root.verdict);
  const bool ring = in_ring(root);
  const std::size_t members = ring ? std::min<std::size_t>(cycle_.size(), 8) : 1;
  for (std::size_t i = 0; i < members; ++i)
    finding.places.push_back(engine_.place_of(ring ? *cycle_[i] : *root.agent, "wait"));
  if (!ring && root.root < root.needs.size()) {
    const auto& culprits = root.needs[root.root].culprits;
    finding.places.insert(finding.places.end(), culprits.begin(), culprits.end());
  }
  text << "  verdict " << finding.verdict << ": " << finding.why;
  finding.text = text.str();
  return finding;
}

}  // namespace sym::fiber
