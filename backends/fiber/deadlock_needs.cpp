// What each agent of a deadlock needs, who could have brought it, and what became of it.
#include <algorithm>

#include "backends/fiber/deadlock.hpp"

namespace sym::fiber {

std::string Deadlock::slot_of(const WordId& id) const {
  return engine_.memory_.name(id.space) + " slot " + std::to_string(id.slot) +
         (id.lane >= 0 ? " lane " + std::to_string(id.lane) : "");
}

// What it wants of the word, and what is there.
std::string Deadlock::line_of(const Agent& agent, const Need& need) const {
  const History& history = need.word->history;
  const int shift = need.wait.shift;
  WordId shown = history.id;
  if (agent.queue >= 0) shown.lane = -1;  // the PE says it
  std::string text = slot_of(shown);
  if (agent.queue >= 0) {
    text += ": missing: PE " + std::to_string(history.id.lane) + " has posted it " +
            std::to_string(need.word->posts) + " times, this is take " +
            std::to_string(need.word->takes + 1);
  } else {
    text += need.polled ? ": polled, seen " + std::to_string(need.seen)
                        : ": expected " + std::to_string(need.wait.target) + ", seen " +
                              std::to_string(need.seen);
    text += history.id.lane >= 0 ? "; missing: PE " + std::to_string(history.id.lane)
                                 : "; no signal is on its way";
  }
  text += outside(agent);
  if (!history.updates.empty()) {
    const Touch& last = history.updates.back();
    text += "; last written by " + who(last) + " to " + std::to_string(last.value >> shift);
  } else if (history.reset.agent >= 0) {
    text +=
        "; set by " + who(history.reset) + " to " + std::to_string(history.reset.value >> shift);
  }
  return text;
}

std::string Deadlock::who(const Touch& touch) const {
  const Agent& agent = *engine_.agents_[static_cast<std::size_t>(touch.agent)];
  std::string text = "PE " + std::to_string(agent.pe);
  if (agent.queue >= 0) text += " queue " + std::to_string(agent.queue);
  if (agent.queue < 0 && agent.block >= 0) {
    text += " block " + std::to_string(agent.block) + " launch " + std::to_string(touch.launch);
  }
  return text + " (" + to_string(touch.verb) + at(touch.site) + ")";
}

Place Deadlock::place(const Touch& touch, const std::string& role) const {
  return engine_.place_of(touch, role);
}

Deadlock::Waiting Deadlock::waiting(const Agent& agent) const {
  Waiting waiting;
  waiting.agent = &agent;
  waiting.head = engine_.describe(agent) + (agent.on_quiet ? ": waits for its own transfers" : "");
  if (agent.block < 0)  // what it waits in stands behind it
    waiting.head = "PE " + std::to_string(agent.pe) + " host" + at(agent.step.site);
  waiting.queued = agent.state == Agent::State::queued;
  waiting.polls = agent.state == Agent::State::ready && agent.block >= 0;
  waiting.place = engine_.place_of(agent, waiting.polls ? "poll" : "wait");
  if (agent.block < 0) {
    need_of_host(waiting);
  } else if (agent.state == Agent::State::queued) {
    need_of_place(waiting);
  } else if (waiting.polls) {
    need_of_poll(waiting);
  } else if (agent.step.verb == Verb::after) {
    need_of_mark(waiting);
  } else {
    need_words(waiting);
  }
  choose(waiting);
  return waiting;
}

void Deadlock::choose(Waiting& waiting) {
  waiting.verdict = Verdict::behind;
  for (std::size_t i = 0; i < waiting.needs.size(); ++i) {
    if (waiting.needs[i].verdict >= waiting.verdict) continue;
    waiting.verdict = waiting.needs[i].verdict;
    waiting.root = i;
  }
}

// It polls a counter, or something that is no word of anybody's, and that anybody may change.
void Deadlock::need_of_poll(Waiting& waiting) const {
  const Agent& agent = *waiting.agent;
  if (agent.polls != nullptr) {
    const std::uint64_t more = agent.polls->value() + 1;
    waiting.needs.push_back(judge(agent, *agent.polls, {nullptr, more, 0}));
    return;
  }
  Need need;
  need.what = "polls what nobody signals";
  for (const auto& other : engine_.agents_) {
    if (other.get() != &agent && other->block >= 0 && runs(*other))
      need.from.push_back(other.get());
  }
  if (need.from.empty())
    need.decide(Verdict::no_producer, "nothing that runs is left to change what is polled");
  waiting.needs.push_back(std::move(need));
}

void Deadlock::need_words(Waiting& waiting) const {
  constexpr std::size_t most = 64;
  for (const auto& [id, word] : waiting.agent->words) {
    for (const Word::Waiter& wait : word->waiters) {
      if (wait.agent != waiting.agent) continue;
      Need need = judge(*waiting.agent, *word, wait);
      const bool keep = waiting.needs.size() < (need.verdict == Verdict::behind ? most : 2 * most);
      if (keep) waiting.needs.push_back(std::move(need));
      waiting.more += keep ? 0 : 1;
    }
  }
}

// A host waits for its launches, or for all hosts that have not come to the same call.
void Deadlock::need_of_host(Waiting& waiting) const {
  const auto pe = static_cast<std::size_t>(waiting.agent->pe);
  if (engine_.barrier_.what[pe].empty()) {
    Need need;
    need.what = waiting.agent->host_reason.empty() ? "did not end" : waiting.agent->host_reason;
    for (const Agent* own : engine_.agents_of_[pe]) {
      if (own != waiting.agent && runs(*own)) need.from.push_back(own);
    }
    waiting.needs.push_back(std::move(need));
    return;
  }
  for (const Agent* host : engine_.hosts_) {
    if (!engine_.barrier_.what[static_cast<std::size_t>(host->pe)].empty()) continue;
    Need need;
    need.what = engine_.barrier_.what[pe];
    if (runs(*host)) {
      need.from.push_back(host);
    } else {
      need.decide(Verdict::exited, "PE " + std::to_string(host->pe) +
                                       "'s host program has ended and never calls " + need.what);
    }
    waiting.needs.push_back(std::move(need));
  }
}

// A block that is not resident waits for one that is.
void Deadlock::need_of_place(Waiting& waiting) const {
  Need need;
  need.what = "waits for a place: " + std::to_string(resident_blocks_) +
              " blocks of the PE are resident at once";
  for (const Agent* own : engine_.agents_of_[static_cast<std::size_t>(waiting.agent->pe)]) {
    if (own->placed && runs(*own)) need.from.push_back(own);
  }
  waiting.needs.push_back(std::move(need));
}

void Deadlock::need_of_mark(Waiting& waiting) const {
  Need need;
  need.what = "waits for " + waiting.agent->host_reason;
  for (const Agent* own : engine_.agents_of_[static_cast<std::size_t>(waiting.agent->pe)]) {
    if (own != waiting.agent && own->block >= 0 && runs(*own)) need.from.push_back(own);
  }
  if (need.from.empty()) need.decide(Verdict::no_producer, "nothing is left that records it");
  waiting.needs.push_back(std::move(need));
}

Need Deadlock::judge(const Agent& agent, const Word& word, const Word::Waiter& wait) const {
  Need need;
  need.word = &word;
  need.wait = wait;
  need.polled = agent.state == Agent::State::ready;
  need.seen = word.value() >> wait.shift;
  need.line = line_of(agent, need);
  for (const Touch& touch : word.history.updates) need.sites.push_back(touch.site);
  if (lost(need) || misdirected(agent, need) || wrong_value(agent, need)) return need;
  const int lane = word.history.id.lane;
  if (lane >= 0 && lane < engine_.pes()) {
    from_lane(agent, need);
  } else {
    from_anyone(agent, need);
  }
  return need;
}

// The agent of the lane's PE that signals the word: the one that has, or the block of equal index.
const Agent* Deadlock::producer_of(const Agent& agent, const Word& word) const {
  const History& history = word.history;
  for (auto it = history.updates.rbegin(); it != history.updates.rend(); ++it) {
    const Agent& issuer = *engine_.agents_[static_cast<std::size_t>(it->agent)];
    if (issuer.pe == history.id.lane) return &issuer;
  }
  const Agent* found = nullptr;
  for (const Agent* other : engine_.agents_of_[static_cast<std::size_t>(history.id.lane)]) {
    const bool fits =
        agent.queue >= 0 ? other->queue >= 0 : other->queue < 0 && other->block == agent.block;
    if (!fits || other->block < 0) continue;
    if (found == nullptr || (other->stream == agent.stream && found->stream != agent.stream) ||
        (runs(*other) && !runs(*found))) {
      found = other;
    }
  }
  return found;
}

void Deadlock::from_lane(const Agent& agent, Need& need) const {
  const int pe = need.word->history.id.lane;
  const Agent* producer = producer_of(agent, *need.word);
  // A later launch of the same kernel: this one's signal is not among what it still does.
  const bool passed = producer != nullptr && agent.queue < 0 && producer->launch > agent.launch &&
                      std::string(producer->launch_name) == agent.launch_name;
  if (producer != nullptr && runs(*producer) && !passed) {
    need.from.push_back(producer);
    return;
  }
  const bool other_work = producer == nullptr || producer->launch < agent.launch;
  for (const Agent* other : engine_.agents_of_[static_cast<std::size_t>(pe)]) {
    const bool queue = agent.queue >= 0;
    if (other->block >= 0 && runs(*other) && (queue || other_work)) need.from.push_back(other);
  }
  const bool small_grid = std::any_of(need.from.begin(), need.from.end(), [&](const Agent* other) {
    return other->queue < 0 && other->launch == agent.launch && other->blocks <= agent.block;
  });
  if (small_grid) need.from.clear();
  if (need.from.empty()) absent(agent, pe, producer, need);
}

// Blocks of its own launch share its code: where all wait at its line, none is on its way to
// signal.
bool Deadlock::all_wait_there(const Agent& agent, const std::vector<const Agent*>& others) {
  return std::all_of(others.begin(), others.end(), [&](const Agent* other) {
    return other->pe == agent.pe && same_site(other->step.site, agent.step.site);
  });
}

// A counter: whoever has signalled it before may again. If nobody has, anybody might.
void Deadlock::from_anyone(const Agent& agent, Need& need) const {
  const Agent* ended = nullptr;
  for (const auto& producer : need.word->history.producers) {
    const Agent& one = *engine_.agents_[static_cast<std::size_t>(producer.agent)];
    if (&one == &agent || one.block < 0) continue;
    if (runs(one)) need.from.push_back(&one);
    ended = &one;
  }
  if (!need.from.empty()) return;
  if (ended != nullptr) {
    absent(agent, ended->pe, ended, need);
    return;
  }
  constexpr std::size_t most = 256;  // of those that might; more would say no more
  for (const auto& other : engine_.agents_) {
    if (other.get() != &agent && other->block >= 0 && runs(*other) && need.from.size() < most)
      need.from.push_back(other.get());
  }
  if (!all_wait_there(agent, need.from)) return;
  need.from.clear();
  for (int hop = 0; hop < engine_.pes() && need.queued.empty(); ++hop) {
    const int pe = (agent.pe + hop) % engine_.pes();
    const std::vector<std::string> queued = engine_.queued_launches(pe);
    if (!queued.empty())
      need.queued = "PE " + std::to_string(pe) + "'s next launch (" + queued.front() +
                    ") is queued behind one that waits";
  }
  for (int pe = 0; pe < engine_.pes(); ++pe) {
    if (may_launch(agent, pe)) need.from.push_back(engine_.hosts_[static_cast<std::size_t>(pe)]);
  }
  if (!need.from.empty()) return;
  const Touch& reset = need.word->history.reset;
  if (reset.agent >= 0) need.culprits.push_back(place(reset, "reset"));
  need.decide(Verdict::no_producer,
              (reset.agent < 0 ? "no signal ever went to " : "no signal has gone to ") +
                  slot_of(need.word->history.id) + " of PE " + std::to_string(agent.pe) +
                  (reset.agent < 0 ? "" : " since " + who(reset) + " wrote it") +
                  ", and nothing that runs is left to send one");
}

}  // namespace sym::fiber
