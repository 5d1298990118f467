// Who of a deadlock would go on if nobody had to wait for a turn: it hangs on the order of
// launches, or on places, and not on a signal that is missing.
#include <algorithm>

#include "backends/fiber/deadlock.hpp"

namespace sym::fiber {

namespace {
bool idle(const Agent& agent) { return agent.state == Agent::State::idle; }

bool same_place(Site a, Site b) { return a.line == b.line && std::string(a.file) == b.file; }

bool has(const std::vector<Site>& sites, Site site) {
  return std::any_of(sites.begin(), sites.end(), [&](Site one) { return same_place(one, site); });
}
}  // namespace

// Who polled on and on does so no more.
bool Deadlock::freed(const Waiting& waiting, const Trial& trial) const {
  const Agent& agent = *waiting.agent;
  if (!waiting.polls) return trial.freed.contains(&agent);
  return agent.state != Agent::State::ready || agent.polls != waiting.needs.front().word;
}

// The same signal once more, of one that was too few or went elsewhere, is not what it waits for.
bool Deadlock::repeats(const Need& need, Site site) {
  if (need.verdict > Verdict::wrong_value) return false;
  return has(need.sites, site) ||
         std::any_of(need.culprits.begin(), need.culprits.end(),
                     [&](const Place& culprit) { return same_place(culprit.site, site); });
}

// What `late`, which had not begun, had to wait for.
std::string Deadlock::turn_of(const Agent& agent, const Agent& late, const Trial& trial) const {
  const std::string pe = "PE " + std::to_string(late.pe) + "'s ";
  const std::string& behind = trial.released.at(&late).mark;
  const std::string mark = behind.empty() ? "" : " for " + behind;
  if (late.queue >= 0) {
    return pe + "queue " + std::to_string(late.queue) + " has its " + to_string(late.step.verb) +
           " behind one that waits" + mark + ", and would bring it";
  }
  const std::string launch =
      "launch " + std::to_string(late.launch) + " of kernel " + late.launch_name;
  if (trial.released.at(&late).place) {
    return pe + "block " + std::to_string(late.block) + " of " + launch +
           " has no place, and would bring it: " + std::to_string(resident_blocks_) +
           " of the PE's blocks are resident at once, and those wait";
  }
  const bool own = late.pe == agent.pe && late.stream == agent.stream;
  const std::string ahead = !mark.empty() ? "one on its stream that waits" + mark
                            : own         ? "this one on its stream"
                                          : "one that waits on its stream";
  return pe + launch + " comes after " + ahead + ", and would bring it";
}

// Whether something that had not begun brings the need. Where what it had to wait for hangs on
// something else, the need is behind that.
bool Deadlock::by_turn(const Agent& agent, Need& need, const Trial& trial) const {
  const History& history = need.word->history;
  std::vector<Touch> touches = history.updates;
  if (history.reset.agent >= 0) touches.insert(touches.begin(), history.reset);
  const auto touch = std::find_if(touches.rbegin(), touches.rend(), [&](const Touch& one) {
    return trial.released.contains(engine_.agents_[static_cast<std::size_t>(one.agent)].get());
  });
  if (touch == touches.rend()) return false;
  if (repeats(need, touch->site)) return true;
  const Agent& late = *engine_.agents_[static_cast<std::size_t>(touch->agent)];
  need.from.clear();
  need.culprits.clear();
  for (const Agent* ahead : trial.released.at(&late).ahead) {
    const auto known = index_.find(ahead);
    if (known == index_.end() || ahead == &agent || idle(*ahead)) continue;
    if (!freed(all_[known->second], trial)) need.from.push_back(ahead);
  }
  if (!need.from.empty()) {
    need.decide(Verdict::behind, "");
    return true;
  }
  need.culprits.push_back(place(*touch, "signal"));
  need.decide(Verdict::not_scheduled, turn_of(agent, late, trial));
  return true;
}

// By one who has waited himself, and was freed: it is behind that one.
void Deadlock::by_freed(Need& need) const {
  const auto& updates = need.word->history.updates;
  const Touch& last = updates.empty() ? need.word->history.reset : updates.back();
  if (last.agent < 0 || repeats(need, last.site)) return;
  const Agent* const by = engine_.agents_[static_cast<std::size_t>(last.agent)].get();
  if (!index_.contains(by)) return;
  need.decide(Verdict::behind, "");
  need.culprits.clear();
  need.from.assign(1, by);
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
  const Agent& agent = *waiting.agent;
  const bool goes_on = !waiting.needs.empty() && freed(waiting, trial);
  for (Need& need : waiting.needs) {
    if (!goes_on) {
      without_turn(agent, need, trial);
    } else if (need.word == nullptr) {  // whatever it polled
      const auto late =
          std::min_element(trial.released.begin(), trial.released.end(),
                           [](const auto& a, const auto& b) { return a.first->id < b.first->id; });
      need.decide(Verdict::not_scheduled, turn_of(agent, *late->first, trial));
    } else if (!by_turn(agent, need, trial)) {
      by_freed(need);
    }
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
