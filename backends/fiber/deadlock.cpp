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

namespace {

const char* remedy(Verdict verdict) {
  switch (verdict) {
    case Verdict::lost:
      return "let one producer set the slot, to larger values each time, or add to it; write it "
             "otherwise only while no signal can come";
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

Deadlock::Deadlock(const Engine& engine)
    : engine_(engine), resident_blocks_(engine.options_.resident_blocks) {
  find_spare();
  const auto rank = [](const Agent& agent) {
    if (agent.block < 0) return 2;
    return agent.state == Agent::State::ready ? 0 : 1;  // who polls is first
  };
  for (const int now : {0, 1, 2}) {
    for (const auto& agent : engine_.agents_) {
      if (agent->state == Agent::State::idle || rank(*agent) != now) continue;
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

// One that goes through a block without a place says more than one that does not, if no trial has
// said: the kernel might be right with more places.
void Deadlock::find_cycle(bool guess) {
  std::size_t edges = 1;
  for (const Waiting& one : all_) {
    for (const Need& need : one.needs) edges += need.from.size();
  }
  // Any ring does: of a big graph few agents are tried, so that this takes no longer than a second.
  const std::size_t most_starts = std::clamp<std::size_t>(10'000'000 / edges, 1, 256);
  const auto unplaced = [&](const std::vector<const Agent*>& way) {
    return guess && std::any_of(way.begin(), way.end(),
                                [&](auto* agent) { return all_[index_.at(agent)].queued; });
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

// The first verdict in their order; of several the one in the earliest launch, and of the first PE.
const Deadlock::Waiting& Deadlock::root() const {
  return *std::min_element(all_.begin(), all_.end(), [](const Waiting& a, const Waiting& b) {
    if (a.verdict != b.verdict) return a.verdict < b.verdict;
    const auto rank = [](const Agent* agent) {
      return std::tuple{agent->launch, agent->pe, agent->block};
    };
    return a.verdict != Verdict::behind && rank(a.agent) < rank(b.agent);
  });
}

std::string Deadlock::text(const Need& need) const {
  if (need.word == nullptr) return need.why;
  std::string text = need.line;
  if (need.verdict != Verdict::behind) {
    text += "\n        " + std::string(to_string(need.verdict)) + ": " + need.why;
  } else if (!need.from.empty()) {
    text += "\n        behind: " + all_[index_.at(need.from.front())].head;
    if (need.from.size() > 1)
      text += ", or any of " + std::to_string(need.from.size() - 1) + " others";
  }
  return text;
}

std::string Deadlock::text(const Waiting& waiting) const {
  std::ostringstream text;
  text << "  " << waiting.head;
  if (!waiting.needs.empty() && waiting.needs[0].word == nullptr)
    text << ": " << waiting.needs[0].what;
  text << "\n";
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(waiting.needs.size(), most); ++i) {
    const std::string line = this->text(waiting.needs[i]);
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
      what = one.queued             ? "has no place"
             : need.word == nullptr ? need.what
                                    : std::string(need.polled ? "test(" : "wait(") +
                                          slot_of(need.word->history.id) + ")";
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

// Who brings a counter that nobody has signalled is a guess, and so is that a host brings what it
// has to launch first: the signal may be missing altogether.
std::string Deadlock::guessed() const {
  for (std::size_t i = 0; i < cycle_.size(); ++i) {
    const Agent* const next = cycle_[(i + 1) % cycle_.size()];
    for (const Need& need : all_[index_.at(cycle_[i])].needs) {
      if (need.word == nullptr || !need.sites.empty() ||
          std::find(need.from.begin(), need.from.end(), next) == need.from.end())
        continue;
      const WordId& id = need.word->history.id;
      const std::string of = " of PE " + std::to_string(id.pe);
      const std::string slot = engine_.memory_.name(id.space) + " slot " + std::to_string(id.slot);
      if (id.lane >= 0 && cycle_[i]->queue >= 0) {
        return "; PE " + std::to_string(id.lane) + " has never posted " + slot + of +
               ", so its post may be missing altogether";
      }
      if (id.lane < 0) {
        const bool never = need.word->history.producers.empty();
        return (never ? "; nobody has ever signalled " : "; nobody has signalled ") + slot + of +
               (never ? "" : " since it was written") + ", so its signal may be missing altogether";
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

std::string Deadlock::headline() const {
  const auto polls = static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const Waiting& one) { return one.polls; }));
  if (polls == 0)
    return "DEADLOCK: nothing can run; " + std::to_string(all_.size()) + " agents wait\n";
  return "LIVELOCK: " + std::to_string(polls) + " agents poll for what cannot change; " +
         std::to_string(all_.size() - polls) + " wait\n";
}

// Of the ring, or of the root and who brought it about.
std::vector<Place> Deadlock::places(const Waiting& root) const {
  std::vector<Place> all;
  if (!in_ring(root)) {
    all.push_back(root.place);
    if (root.root >= root.needs.size()) return all;
    const Need& need = root.needs[root.root];
    if (need.word != nullptr) all[0].memory = slot_of(need.word->history.id);
    all.insert(all.end(), need.culprits.begin(), need.culprits.end());
    return all;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(cycle_.size(), 8); ++i) {
    const Waiting& one = all_[index_.at(cycle_[i])];
    const Agent* const next = cycle_[(i + 1) % cycle_.size()];
    all.push_back(one.place);
    for (const Need& need : one.needs) {
      if (need.word == nullptr ||
          std::find(need.from.begin(), need.from.end(), next) == need.from.end())
        continue;
      all.back().memory = slot_of(need.word->history.id);
      break;
    }
  }
  return all;
}

Finding Deadlock::finding(const Trial& trial) {
  learn(trial);
  find_cycle(!trial.conclusive);
  constexpr std::size_t most = 12;
  Finding finding;
  finding.text = headline();
  for (std::size_t i = 0; i < std::min(all_.size(), most); ++i) finding.text += text(all_[i]);
  if (all_.size() > most)
    finding.text += "  ... and " + std::to_string(all_.size() - most) + " more\n";
  const Waiting& root = this->root();
  const bool livelock = all_.front().polls;
  finding.kind = livelock ? "livelock" : "deadlock";
  finding.verdict = to_string(root.verdict);
  finding.why = reason(root);
  finding.fix = remedy(root.verdict);
  finding.places = places(root);
  finding.text += "  verdict " + finding.verdict + ": " + finding.why;
  return finding;
}

}  // namespace sym::fiber
