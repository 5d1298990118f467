// Who of a deadlock would go on if nobody had to wait for a turn: it hangs on the order of
// launches, or on places, and not on a signal that is missing.
#include <algorithm>

#include "backends/fiber/deadlock.hpp"

namespace sym::fiber {

namespace {
bool idle(const Agent& agent) { return agent.state == Agent::State::idle; }

bool has(const std::vector<Site>& sites, Site site) {
  return std::any_of(sites.begin(), sites.end(), [&](Site one) {
    return one.line == site.line && std::string(one.file) == site.file;
  });
}
}  // namespace

bool Deadlock::freed(const Waiting& waiting, const Trial& trial) const {
  if (!waiting.polls) return trial.freed.contains(waiting.agent);
  const Need& need = waiting.needs.front();
  return idle(*waiting.agent) || (need.word != nullptr && need.word->value() != need.seen);
}

// What `late`, which had not begun, had to wait for.
std::string Deadlock::turn_of(const Agent& agent, const Agent& late, const Trial& trial) const {
  const std::string pe = "PE " + std::to_string(late.pe) + "'s ";
  if (late.queue >= 0) {
    return pe + "queue " + std::to_string(late.queue) + " has its " + to_string(late.step.verb) +
           " behind one that waits, and would bring it";
  }
  const std::string launch =
      "launch " + std::to_string(late.launch) + " of kernel " + late.launch_name;
  if (trial.released.at(&late).place) {
    return pe + "block " + std::to_string(late.block) + " of " + launch +
           " has no place, and would bring it: " + std::to_string(resident_blocks_) +
           " of the PE's blocks are resident at once, and those wait";
  }
  const bool own = late.pe == agent.pe && late.stream == agent.stream;
  return pe + launch + " comes after " + (own ? "this one" : "one that waits") +
         " on its stream, and would bring it";
}

// Whether something that had not begun brings the need. Where what it had to wait for hangs on
// something else, the need is behind that.
bool Deadlock::by_turn(Waiting& waiting, Need& need, const Trial& trial) const {
  if (need.word == nullptr) return false;
  std::vector<Touch> touches = need.word->history.updates;
  if (need.word->history.reset.agent >= 0)
    touches.insert(touches.begin(), need.word->history.reset);
  const auto touch = std::find_if(touches.rbegin(), touches.rend(), [&](const Touch& one) {
    return trial.released.contains(engine_.agents_[static_cast<std::size_t>(one.agent)].get());
  });
  if (touch == touches.rend()) return false;
  const bool told = need.verdict <= Verdict::wrong_value;
  std::vector<Site> before = need.sites;
  for (const Place& culprit : need.culprits) before.push_back(culprit.site);
  if (told && has(before, touch->site)) return false;  // the same once more is not what it wants
  const Agent& late = *engine_.agents_[static_cast<std::size_t>(touch->agent)];
  need.from.clear();
  need.culprits.clear();
  for (const Agent* ahead : trial.released.at(&late).ahead) {
    const auto known = index_.find(ahead);
    const bool passes = trial.released.contains(ahead) ? idle(*ahead)
                        : known == index_.end()        ? true
                                                       : freed(all_[known->second], trial);
    if (!passes && known != index_.end() && ahead != waiting.agent) need.from.push_back(ahead);
  }
  if (!need.from.empty()) {
    need.decide(Verdict::behind, "");
    return true;
  }
  need.culprits.push_back(place(*touch, "signal"));
  need.decide(Verdict::not_scheduled, turn_of(*waiting.agent, late, trial));
  return true;
}

// It does not come even so. Who has ended by now is none who could have brought it.
void Deadlock::without_turn(const Agent& agent, Need& need, const Trial& trial) const {
  if (!trial.conclusive) {
    if (need.verdict > Verdict::wrong_value && !need.queued.empty())
      need.decide(Verdict::not_scheduled, need.queued);
    return;
  }
  if (need.word == nullptr || need.verdict != Verdict::behind || need.from.empty()) return;
  std::erase_if(need.from, [](const Agent* one) { return idle(*one); });
  if (need.word->history.id.lane < 0 && need.sites.empty() && all_wait_there(agent, need.from))
    need.from.clear();
  if (!need.from.empty()) return;
  need.decide(Verdict::no_producer, "nothing that runs signals " + slot_of(need.word->history.id) +
                                        " of PE " + std::to_string(need.word->history.id.pe) +
                                        ", nor does what waits for a place or a turn");
}

void Deadlock::learn(Waiting& waiting, const Trial& trial) const {
  const bool goes_on = freed(waiting, trial);
  if (waiting.needs.empty()) return;
  if (goes_on && waiting.needs.front().word == nullptr) {  // whatever it polled
    const auto late =
        std::min_element(trial.released.begin(), trial.released.end(),
                         [](const auto& a, const auto& b) { return a.first->id < b.first->id; });
    waiting.needs.front().decide(Verdict::not_scheduled,
                                 turn_of(*waiting.agent, *late->first, trial));
    choose(waiting);
    return;
  }
  bool told = false;
  for (Need& need : waiting.needs) {
    if (goes_on) {
      told = by_turn(waiting, need, trial) || told;
    } else {
      without_turn(*waiting.agent, need, trial);
    }
  }
  // By one who has been freed himself: it is behind that one.
  for (Need& need : waiting.needs) {
    if (!goes_on || told || need.word == nullptr || need.verdict <= Verdict::wrong_value) continue;
    const auto& updates = need.word->history.updates;
    const auto& last = updates.empty() ? need.word->history.reset : updates.back();
    if (last.agent < 0) continue;
    const Agent* const by = engine_.agents_[static_cast<std::size_t>(last.agent)].get();
    if (!index_.contains(by)) continue;
    need.decide(Verdict::behind, "");
    need.culprits.clear();
    need.from.assign(1, by);
  }
  choose(waiting);
}

void Deadlock::learn(const Trial& trial) {
  if (trial.released.empty()) return;
  for (Waiting& waiting : all_) {
    if (waiting.agent->block >= 0) learn(waiting, trial);
  }
}

}  // namespace sym::fiber
