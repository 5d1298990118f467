// Why a PE does not bring what is waited for, when nothing that runs there would.
#include <algorithm>

#include "backends/fiber/deadlock.hpp"

namespace sym::fiber {

// It waits for the signals of a team that it is not in. Of one member it may: a ring's neighbour.
std::string Deadlock::outside(const Agent& agent) {
  const Team* const team = agent.step.verb == Verb::wait_until ? agent.step.team : nullptr;
  if (team == nullptr || agent.missing == 0 || team->size() == 1 || team->contains_self())
    return "";
  return "; PE " + std::to_string(agent.pe) + " is no member of the team that it waits for";
}

// Whether more than half of the PEs are there: then whoever is not has left it out.
bool Deadlock::most_have_begun(int launch) const {
  int begun = 0;
  for (int pe = 0; pe < engine_.pes(); ++pe) begun += engine_.launches_begun(pe) >= launch ? 1 : 0;
  return 2 * begun > engine_.pes();
}

// PE `pe` is a launch behind. Its host may have ended, or wait for the others' before it launches.
void Deadlock::not_launched(const Agent& agent, int pe, Need& need) const {
  const std::string name = "PE " + std::to_string(pe);
  const std::string here = ", and this is launch " + std::to_string(agent.launch) + " here";
  const int begun = engine_.launches_begun(pe);
  const Agent& host = *engine_.hosts_[static_cast<std::size_t>(pe)];
  if (!runs(host)) {
    need.culprits.push_back(engine_.place_of(host, "host"));
    need.decide(Verdict::exited, name + "'s host program has ended" +
                                     (begun == 0 ? " and launched nothing"
                                                 : " after its launch " + std::to_string(begun)) +
                                     here);
    return;
  }
  const bool meets = !engine_.barrier_.what[static_cast<std::size_t>(pe)].empty();
  if (meets && !most_have_begun(agent.launch)) {
    need.from.push_back(&host);
    return;
  }
  need.decide(
      Verdict::stale_epoch,
      name +
          (begun == 0 ? " has begun no launch" : " has ended its launch " + std::to_string(begun)) +
          here);
}

// Whether the host of the PE meets the others before it may launch what signals a counter. Not
// where its PE has begun the waiter's launch of the waiter's kernel: such a program launches alike.
bool Deadlock::may_launch(const Agent& agent, int pe) const {
  if (!runs(*engine_.hosts_[static_cast<std::size_t>(pe)]) ||
      engine_.barrier_.what[static_cast<std::size_t>(pe)].empty())
    return false;
  if (engine_.launches_begun(pe) < agent.launch) return true;
  const auto& there = engine_.agents_of_[static_cast<std::size_t>(pe)];
  return std::any_of(there.begin(), there.end(), [&](const Agent* other) {
    return other->block >= 0 && other->queue < 0 && other->launch == agent.launch &&
           std::string(other->launch_name) != agent.launch_name;
  });
}

// Whether the host of the PE meets the others before it may post the flag: it has posted it before,
// or nothing at all.
bool Deadlock::may_post(int pe, const Word& flag, const Agent* ended) const {
  return runs(*engine_.hosts_[static_cast<std::size_t>(pe)]) &&
         !engine_.barrier_.what[static_cast<std::size_t>(pe)].empty() &&
         (ended == nullptr || flag.posts > 0);
}

// PE `pe` has nothing under way that could bring it. `ended`: its agent that would have, if known.
void Deadlock::absent(const Agent& agent, int pe, const Agent* ended, Need& need) const {
  const std::string name = "PE " + std::to_string(pe);
  const std::vector<std::string> queued = engine_.queued_launches(pe);
  const bool before = ended == nullptr || ended->launch < agent.launch;
  if (agent.queue < 0 && before) {
    for (const Agent* other : engine_.agents_of_[static_cast<std::size_t>(pe)]) {
      if (other->queue >= 0 || other->launch != agent.launch || other->blocks > agent.block)
        continue;
      need.culprits.push_back(engine_.place_of(*other, "launch"));
      need.decide(Verdict::stale_epoch, "grids differ: " + std::to_string(agent.blocks) +
                                            " blocks here, " + std::to_string(other->blocks) +
                                            " on " + name + ", which has no block " +
                                            std::to_string(agent.block));
      return;
    }
  }
  if (before && !queued.empty())
    need.queued = name + "'s next launch (" + queued.front() + ") is queued behind one that waits";
  if (agent.queue < 0 && before) {
    not_launched(agent, pe, need);
    return;
  }
  if (agent.queue >= 0 && may_post(pe, *need.word, ended)) {
    need.from.push_back(engine_.hosts_[static_cast<std::size_t>(pe)]);
    return;
  }
  if (ended == nullptr) {
    need.decide(Verdict::no_producer, "nothing of " + name + " is under way");
    return;
  }
  need.culprits.push_back(engine_.place_of(*ended, "producer"));
  need.decide(Verdict::exited, ended_without(agent, *ended, need));
}

std::string Deadlock::ended_without(const Agent& agent, const Agent& ended,
                                    const Need& need) const {
  const std::string name = "PE " + std::to_string(ended.pe);
  if (agent.queue >= 0) {
    const std::string& meets = engine_.barrier_.what[static_cast<std::size_t>(ended.pe)];
    return name + "'s queue " + std::to_string(ended.queue) +
           " has ended all its operations without it" +
           (meets.empty() ? "" : "; its host is in " + meets);
  }
  std::string text = name + "'s block " + std::to_string(ended.block) + " has ended launch " +
                     std::to_string(agent.launch) + " without signalling";
  for (const auto& one : need.word->history.producers) {
    if (one.agent != ended.id || one.launch != agent.launch) continue;
    text += " again, after " + std::to_string(one.in_launch) +
            (one.in_launch == 1 ? " signal" : " signals");
  }
  return text + outside(agent);
}

}  // namespace sym::fiber
