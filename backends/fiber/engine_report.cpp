// What the engine says when nothing can happen any more.
#include <algorithm>
#include <sstream>

#include "backends/fiber/engine.hpp"

namespace sym::fiber {

namespace {
std::string at(Site site) {
  if (site.line == 0) return "";
  return " at " + std::string(site.file) + ":" + std::to_string(site.line);
}
}  // namespace

std::string Engine::describe(const Agent& agent) const {
  std::ostringstream text;
  text << "PE " << agent.pe;
  if (agent.queue >= 0) {
    text << " queue " << agent.queue << "  " << to_string(agent.step.verb) << at(agent.step.site);
  } else if (agent.block >= 0) {
    text << " block " << agent.block << "  launch " << agent.launch << " (" << agent.launch_name
         << ")  " << to_string(agent.step.verb) << at(agent.step.site);
  } else {
    text << " host";
  }
  return text.str();
}

std::string Engine::waiting_for(const Agent& agent) const {
  std::ostringstream text;
  text << "  " << describe(agent);
  if (agent.block < 0) {
    text << ": " << (agent.host_reason.empty() ? "did not end" : agent.host_reason) << "\n";
    return text.str();
  }
  if (agent.on_quiet) text << ": waits for its own transfers";
  if (agent.step.verb == Verb::after) text << ": waits for " << agent.host_reason;
  text << "\n";
  int shown = 0;
  for (const auto& [id, word] : agent.words) {
    for (const Word::Waiter& waiter : word->waiters) {
      if (waiter.agent != &agent || ++shown > 4) continue;
      if (agent.queue >= 0) {
        text << "      slot " << id.slot << ": " << who_could_post(id, *word) << "\n";
        continue;
      }
      text << "      slot " << id.slot << " lane " << id.lane << ": expected " << waiter.target
           << ", seen " << (word->value >> waiter.shift) << "; "
           << who_could_signal(agent, id, *word) << "\n";
    }
  }
  if (shown > 4) text << "      ... and " << shown - 4 << " more lanes\n";
  return text.str();
}

// Why the flag that a take waits for is not there, and what its PE is doing instead.
std::string Engine::who_could_post(const WordId& id, const Word& word) const {
  if (!word.pending.empty()) return "the flag is on its way";
  const std::string pe = "PE " + std::to_string(id.lane);
  std::string text = "missing: " + pe + " has posted it " + std::to_string(word.posts) +
                     " times, this is take " + std::to_string(word.takes + 1) + "; ";
  for (const Agent* other : agents_of_[static_cast<std::size_t>(id.lane)]) {
    if (other->state != Agent::State::idle && other->block >= 0) return text + describe(*other);
  }
  return text + "nothing of " + pe + " is under way";
}

// Who the waiter is waiting for, and what that PE is doing instead.
std::string Engine::who_could_signal(const Agent& agent, const WordId& id, const Word& word) const {
  if (!word.pending.empty()) return "a signal is on its way";
  const int pe = id.lane;  // lanes are producers; plain counters have lane -1
  if (pe < 0 || pe >= options_.pes) return "no signal is on its way";
  std::string text = "missing: PE " + std::to_string(pe);
  for (const Agent* other : agents_of_[static_cast<std::size_t>(pe)]) {
    if (other->block == agent.block && other->stream == agent.stream && other->queue < 0) {
      if (other->state == Agent::State::idle) {
        return text + ", whose block " + std::to_string(agent.block) + " has ended (launch " +
               std::to_string(other->launch) + ", this is launch " + std::to_string(agent.launch) +
               ")";
      }
      return text + ", whose block " + std::to_string(agent.block) + " is in " +
             to_string(other->step.verb) + at(other->step.site) + " of launch " +
             std::to_string(other->launch);
    }
  }
  return text + ", which never launched it";
}

void Engine::explain_deadlock() {
  std::ostringstream text;
  std::size_t stuck = 0;
  std::string details;
  constexpr std::size_t most = 12;
  for (const bool blocks : {true, false}) {
    for (const auto& agent : agents_) {
      if (agent->state == Agent::State::idle || (agent->block >= 0) != blocks) continue;
      if (++stuck <= most) details += waiting_for(*agent);
    }
  }
  text << "DEADLOCK: nothing can run; " << stuck << " agents wait\n" << details;
  if (stuck > most) text << "  ... and " << stuck - most << " more\n";
  std::string all = text.str();
  all.pop_back();
  report({"deadlock", all});
}

}  // namespace sym::fiber
