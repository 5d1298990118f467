// Causes that show in the words themselves: updates that were lost, went elsewhere or are too few.
#include <algorithm>

#include "backends/fiber/deadlock.hpp"

namespace sym::fiber {

// Signals came before anybody waited for them, a write took them away, and so many are missing.
bool Deadlock::wiped_out(Need& need) const {
  const History::Wiped& wiped = need.word->history.wiped;
  if (wiped.count == 0 || need.seen + wiped.count < need.wait.target) return false;
  need.culprits.push_back(place(wiped.last, "signal"));
  need.culprits.push_back(place(wiped.by, "reset"));
  need.decide(Verdict::lost, "the signal of " + who(wiped.last) + " came, and " + who(wiped.by) +
                                 " wiped it out: it set " + slot_of(need.word->history.id) +
                                 " from " + std::to_string(wiped.last.value) + " to " +
                                 std::to_string(wiped.by.value));
  return true;
}

// An update came, and left no trace: a larger or equal value was there.
bool Deadlock::lost(Need& need) const {
  if (wiped_out(need)) return true;
  const auto& updates = need.word->history.updates;
  const auto found = std::find_if(updates.rbegin(), updates.rend(),
                                  [](const Touch& touch) { return touch.absorbed; });
  if (found == updates.rend()) return false;
  need.culprits.push_back(place(*found, "signal"));
  std::string by;
  for (const Touch& other : updates) {
    if (&other == &*found) break;
    if (!other.absorbed) by = ", which " + who(other) + " had written";
  }
  need.decide(Verdict::lost, "the signal of " + who(*found) +
                                 " changed nothing: " + slot_of(need.word->history.id) + " held " +
                                 std::to_string(found->value >> need.wait.shift) + " already" + by);
  return true;
}

// In order of PE and place, and not so many that each wait can be held against all of them.
void Deadlock::find_spare() {
  constexpr std::size_t most = 1024;
  for (const auto& words : engine_.words_) {
    std::vector<const Word*> spare;
    for (const auto& [key, word] : words) {
      const History& history = word->history;
      if (history.tested || history.updates.empty() || !word->waiters.empty()) continue;
      const bool used_up =
          history.waited_for && ((word->value() >> history.shift) == history.awaited ||
                                 !word->reached(history.awaited, history.shift));
      if (!used_up) spare.push_back(word.get());
    }
    std::sort(spare.begin(), spare.end(), [](const Word* a, const Word* b) {
      return a->history.id.index < b->history.id.index;
    });
    for (const Word* word : spare) {
      auto& all = spare_[word->history.id.space];
      if (all.size() < most) all.push_back(word);
    }
  }
}

// Whether `other` got the signal that `need` waits for: the last of it is from somebody who will
// not signal again before this wait is over (its launch has ended, or it waits at the same line),
// and nobody is going to wait for it there.
bool Deadlock::in_place_of(const Agent& agent, const Need& need, const Word& other) const {
  const History& history = other.history;
  const WordId& id = need.word->history.id;
  if (&other == need.word) return false;
  const Touch& last = history.updates.back();
  const Agent& issuer = *engine_.agents_[static_cast<std::size_t>(last.agent)];
  if (&issuer == &agent || (id.lane >= 0 && issuer.pe != id.lane)) return false;
  if (agent.queue < 0 && last.launch != agent.launch) return false;
  if (runs(issuer) && !same_site(issuer.step.site, agent.step.site)) return false;
  if (history.id.pe == id.pe) return true;
  const auto& there = engine_.agents_of_[static_cast<std::size_t>(history.id.pe)];
  return engine_.launches_begun(history.id.pe) >= agent.launch &&
         std::none_of(there.begin(), there.end(),
                      [](const Agent* one) { return one->block >= 0 && runs(*one); });
}

bool Deadlock::misdirected(const Agent& agent, Need& need) const {
  const auto spare = spare_.find(need.word->history.id.space);
  if (spare == spare_.end()) return false;
  const Word* found = nullptr;  // on this PE, if there is one
  for (const Word* other : spare->second) {
    const bool nearer =
        found == nullptr || (found->history.id.pe != agent.pe && other->history.id.pe == agent.pe);
    if (nearer && in_place_of(agent, need, *other)) found = other;
  }
  if (found == nullptr) return false;
  const Touch& last = found->history.updates.back();
  need.culprits.push_back(place(last, "signal"));
  need.decide(Verdict::misdirected,
              "the signal of " + who(last) + " went to " + slot_of(found->history.id) + " of PE " +
                  std::to_string(found->history.id.pe) +
                  ", where nobody waits for it, and not to " + slot_of(need.word->history.id) +
                  " of PE " + std::to_string(need.word->history.id.pe));
  return true;
}

// Some of what is counted has come and the rest never will, or another wait has taken it.
bool Deadlock::wrong_value(const Agent& agent, Need& need) const {
  const History& history = need.word->history;
  const std::uint64_t seen = need.seen;
  const Touch& taker = history.taker;
  const bool taken = taker.agent >= 0 && taker.agent != agent.id && taker.launch == agent.launch &&
                     taker.value + 1 == need.wait.target;
  if (taken) {
    need.culprits.push_back(place(taker, "wait"));
    need.decide(Verdict::wrong_value, "signal " + std::to_string(taker.value) + " was taken by " +
                                          who(taker) +
                                          ", so this wait is for another one that does not come");
    return true;
  }
  if (history.id.lane >= 0 || seen <= history.met || history.updates.empty()) return false;
  std::uint64_t most = 0;
  for (const auto& one : history.producers) most = std::max(most, one.times);
  std::string from;
  std::vector<int> pes;
  for (const auto& producer : history.producers) {
    const Agent& one = *engine_.agents_[static_cast<std::size_t>(producer.agent)];
    if (producer.times < most && runs(one)) need.from.push_back(&one);
    if (producer.times > 0 && std::find(pes.begin(), pes.end(), one.pe) == pes.end())
      pes.push_back(one.pe);
  }
  for (const auto& other : engine_.agents_) {
    const bool silent = std::none_of(history.producers.begin(), history.producers.end(),
                                     [&](const auto& one) { return one.agent == other->id; });
    if (silent && other.get() != &agent && other->block >= 0 && runs(*other) &&
        !same_site(other->step.site, agent.step.site)) {
      need.from.push_back(other.get());
    }
  }
  if (!need.from.empty()) return false;
  std::sort(pes.begin(), pes.end());
  std::string absentees;
  for (int pe = 0, shown = 0; pe < engine_.pes(); ++pe) {
    if (pe == agent.pe || std::binary_search(pes.begin(), pes.end(), pe)) continue;
    if (++shown <= 8) absentees += (absentees.empty() ? "" : ", ") + std::to_string(pe);
  }
  for (int pe : pes) from += (from.empty() ? "" : ", ") + std::to_string(pe);
  need.culprits.push_back(place(history.updates.back(), "signal"));
  need.decide(
      Verdict::wrong_value,
      (need.polled ? "it polls" : "it waits for " + std::to_string(need.wait.target)) +
          " and no more than " + std::to_string(seen) + " signals come, from PE " + from +
          (absentees.empty() ? "; every other PE has signalled" : "; none from PE " + absentees));
  return true;
}

}  // namespace sym::fiber
