// The `worst` schedule. Agents run while any can; low PEs first, up to two launches ahead. When
// none can run, the one furthest ahead is helped by the fewest, latest deliveries that unblock it.
//
// It is fair, or correct programs that poll would not end. Who has looked in vain lets all others
// on; when none but such can run, they look in turn, and after each round something arrives, now
// and then the oldest. Loops in which nobody can see a poll are turned down by how long they run.
#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "backends/check/adversary.hpp"

namespace sym::check {

using fiber::Agent;
using fiber::Engine;
using fiber::Policy;
using fiber::Transfer;

namespace {

constexpr int most_ahead = 2;                                 // launches
constexpr std::uint64_t patience = 256;                       // steps in vain
constexpr std::uint64_t turn_steps = std::uint64_t{1} << 14;  // of an agent, before it is behind
constexpr int looks_a_turn = 16;  // after so many in vain the oldest transfer arrives

// Transfers that are under way, by age. They come in ascending order of their ids.
class Pending {
 public:
  bool empty() const { return all_.empty(); }
  Transfer& oldest() const { return *all_.front(); }
  Transfer& latest() const { return *all_.back(); }
  void add(Transfer& transfer) {
    if (all_.empty()) first_ = transfer.id;
    all_.resize(transfer.id - first_ + 1, nullptr);
    all_.back() = &transfer;
  }
  void remove(const Transfer& transfer) {
    all_[transfer.id - first_] = nullptr;
    while (!all_.empty() && all_.back() == nullptr) all_.pop_back();
    for (; !all_.empty() && all_.front() == nullptr; ++first_) all_.pop_front();
  }

 private:
  std::deque<Transfer*> all_;  // from id first_ on; null: none any more
  std::uint64_t first_ = 0;
};

class Worst : public Policy {
 public:
  Worst(const Knobs& knobs, Reversed reversed) : knobs_(knobs), reversed_(reversed) {}

  void ready(Engine&, Agent& agent) override { add(agent); }
  void woken(Engine&, Agent& agent) override { add(agent); }

  void issued(Engine& engine, Transfer& transfer) override {
    if (knobs_.poison && transfer.kind != Transfer::Kind::signal) engine.poison(transfer);
    if (!knobs_.late_source) engine.read_source(transfer);
    if (!knobs_.late_delivery) {
      engine.deliver(transfer);
      return;
    }
    pending_.add(transfer);
    if (knobs_.split) deliver_ends(engine, transfer);
  }

  std::uint32_t answer(Engine&, fiber::Question question, int pe, std::uint32_t n) override {
    if (question == fiber::Question::pieces) return 1;
    const bool last =
        reversed_ == Reversed::all_pes || (reversed_ == Reversed::odd_pes && pe % 2 == 1);
    return last ? n - 1 : 0;
  }

  bool next(Engine& engine) override {
    if (std::exchange(overdue_, false) && deliver_oldest(engine)) return true;
    const bool all_look = engine.fruitless_steps() >= patience;
    if (all_look || (ready_.empty() && !lookers_.empty())) return poll(engine, all_look);
    if (Agent* agent = choose(engine)) {
      resume(engine, *agent);
      return true;
    }
    return help(engine);
  }

 private:
  // Turns that are over, PE, block, agent: who is furthest ahead comes first.
  using Key = std::tuple<std::int64_t, int, int, int>;
  Key key(const Agent& agent) {
    if (!knobs_.skew) return {++turn_, 0, 0, agent.id};
    return {static_cast<std::int64_t>(steps_of(agent) / turn_steps), agent.pe, agent.block,
            agent.id};
  }
  void add(Agent& agent) {
    if (lets_others_on(agent)) {
      lookers_.insert({agent.id, &agent});
    } else {
      ready_.insert({key(agent), &agent});
    }
  }

  std::uint64_t& steps_of(const Agent& agent) {
    const auto at = static_cast<std::size_t>(agent.id);
    if (at >= steps_.size()) steps_.resize(at + 1);
    return steps_[at];
  }
  void resume(Engine& engine, Agent& agent) {
    overdue_ = ++steps_of(agent) % turn_steps == 0;
    looked_at_ = 0;
    engine.resume(agent);
  }

  // The first ready agent whose PE is not too far ahead of the slowest.
  Agent* choose(const Engine& engine) {
    if (ready_.empty()) return nullptr;
    auto chosen = ready_.begin();
    if (knobs_.skew) {
      int slowest = engine.launches_begun(0);
      for (int pe = 1; pe < engine.pes(); ++pe)
        slowest = std::min(slowest, engine.launches_begun(pe));
      const auto near = std::find_if(ready_.begin(), ready_.end(), [&](const auto& entry) {
        return engine.launches_begun(entry.second->pe) - slowest <= most_ahead;
      });
      if (near != ready_.end()) chosen = near;
    }
    Agent* agent = chosen->second;
    ready_.erase(chosen);
    return agent;
  }

  // Everybody looks once, in turn, and then something arrives. `all`: not only those who have
  // looked in vain before.
  bool poll(Engine& engine, bool all) {
    if (polled_ >= lookers_.size() + (all ? ready_.size() : 0)) {
      polled_ = 0;
      if (help(engine)) return true;
    }
    Agent* agent = all ? next_of(ready_) : nullptr;
    if (Agent* looker = next_of(lookers_); looker != nullptr) {
      if (agent == nullptr || turn_of(*looker) < turn_of(*agent)) agent = looker;
    }
    if (agent == nullptr) return false;
    ++polled_;
    ++looks_;
    last_polled_ = agent->id;
    std::erase_if(ready_, [&](const auto& entry) { return entry.second == agent; });
    lookers_.erase({agent->id, agent});
    resume(engine, *agent);
    return true;
  }

  // By id, from the one after the last that has looked.
  std::pair<bool, int> turn_of(const Agent& agent) const {
    return {agent.id <= last_polled_, agent.id};
  }
  template <class Agents>
  Agent* next_of(const Agents& agents) const {
    const auto first = std::min_element(agents.begin(), agents.end(), [&](auto& one, auto& other) {
      return turn_of(*one.second) < turn_of(*other.second);
    });
    return first == agents.end() ? nullptr : first->second;
  }

  bool deliver_oldest(Engine& engine) {
    if (pending_.empty()) return false;
    looks_ = 0;
    deliver(engine, first_needed(engine, pending_.oldest()));
    return true;
  }

  // The same agent until it runs again: it gets ahead while the others' transfers stay late.
  bool help(Engine& engine) {
    if (looks_ >= looks_a_turn && deliver_oldest(engine)) return true;
    Transfer* needed = helped_ == nullptr ? nullptr : need_of(*helped_, looked_at_);
    for (std::size_t i = 0; needed == nullptr && i < engine.agents().size(); ++i) {
      helped_ = engine.agents()[i].get();
      looked_at_ = 0;
      needed = need_of(*helped_, looked_at_);
    }
    if (needed == nullptr) {
      helped_ = nullptr;
      if (pending_.empty()) return false;
      needed = &pending_.latest();
    }
    deliver(engine, first_needed(engine, *needed));
    return true;
  }

  // A transfer that the agent waits for, if it is blocked and one is on its way: the latest. So
  // many of its words, from the last on, are known to have none: until somebody runs, none is
  // issued.
  static Transfer* need_of(const Agent& agent, std::size_t& done) {
    if (agent.state != Agent::State::blocked) return nullptr;
    if (agent.on_quiet) return agent.outstanding.back();
    if (agent.incoming == 0) return nullptr;
    for (; done < agent.words.size(); ++done) {
      const fiber::Word& word = *agent.words[agent.words.size() - 1 - done].second;
      const bool wanted = std::any_of(word.waiters.begin(), word.waiters.end(),
                                      [&](const auto& waiter) { return waiter.agent == &agent; });
      if (wanted && !word.pending.empty()) return word.pending.back();
    }
    return nullptr;
  }

  // What must arrive before `transfer` may, if anything: its payload, or the latest of those that a
  // fence put before it and that may arrive itself.
  Transfer& first_needed(Engine& engine, Transfer& transfer) {
    Transfer* wanted = &transfer;
    if (wanted->payload != nullptr) wanted = wanted->payload;
    if (engine.eligible(*wanted)) return *wanted;
    const auto& own = wanted->issuer->outstanding;
    for (auto it = own.rbegin(); it != own.rend(); ++it) {
      if ((*it)->target() == wanted->target() && engine.eligible(**it)) return **it;
    }
    return *wanted;
  }

  // A long payload: its first and last granule now, so that whoever looks too early may see both
  // and take the middle, which is late, for complete.
  void deliver_ends(Engine& engine, Transfer& transfer) {
    const bool payload =
        transfer.kind == Transfer::Kind::put || transfer.kind == Transfer::Kind::get;
    if (!payload || transfer.dst.size <= 2 * granule_bytes || !engine.eligible(transfer)) return;
    engine.deliver_piece(transfer, 0, granule_bytes);
    engine.deliver_piece(transfer, transfer.dst.size - granule_bytes, granule_bytes);
  }

  void deliver(Engine& engine, Transfer& transfer) {
    pending_.remove(transfer);
    if (transfer.pieces_delivered == 0) {
      engine.deliver(transfer);
    } else {
      engine.deliver_piece(transfer, granule_bytes, transfer.dst.size - 2 * granule_bytes);
    }
  }

  Knobs knobs_;
  Reversed reversed_;
  std::set<std::pair<Key, Agent*>> ready_;
  std::set<std::pair<int, Agent*>> lookers_;  // ready, but have looked in vain; by id
  Pending pending_;
  std::vector<std::uint64_t> steps_;  // by agent
  Agent* helped_ = nullptr;
  std::size_t looked_at_ = 0;  // of its words: how many need no help
  std::int64_t turn_ = 0;
  std::size_t polled_ = 0;  // since the last delivery
  int last_polled_ = -1;
  int looks_ = 0;         // since the oldest transfer was delivered
  bool overdue_ = false;  // it is to be
};

}  // namespace

std::unique_ptr<Policy> make_worst(const Knobs& knobs, Reversed reversed) {
  return std::make_unique<Worst>(knobs, reversed);
}

}  // namespace sym::check
