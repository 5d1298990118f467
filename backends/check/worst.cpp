// The `worst` schedule. Agents run while any can; low PEs first, up to two launches ahead. When
// none can run, the one furthest ahead is helped by the fewest, latest deliveries that unblock it.
// Who polls in vain for long lets others on, and gets a delivery: it would never block.
#include <algorithm>
#include <set>

#include "backends/check/adversary.hpp"

namespace sym::check {

using fiber::Agent;
using fiber::Engine;
using fiber::Policy;
using fiber::Transfer;

namespace {

constexpr std::size_t granule_bytes = 8;
constexpr int most_ahead = 2;            // launches
constexpr std::uint64_t patience = 256;  // steps in vain

class Worst : public Policy {
 public:
  explicit Worst(const Knobs& knobs) : knobs_(knobs) {}

  void ready(Engine&, Agent& agent) override { add(agent); }
  void woken(Engine&, Agent& agent) override { add(agent); }

  void issued(Engine& engine, Transfer& transfer) override {
    if (knobs_.poison && transfer.kind != Transfer::Kind::signal) engine.poison(transfer);
    if (!knobs_.late_source) engine.read_source(transfer);
    if (!knobs_.late_delivery) {
      engine.deliver(transfer);
      return;
    }
    pending_.insert({transfer.id, &transfer});
    if (knobs_.split) deliver_ends(engine, transfer);
  }

  // PEs differ in which of their launches gets places first, and so do the orders in which they
  // wait for each other.
  std::uint32_t answer(Engine&, fiber::Question question, int pe, std::uint32_t n) override {
    if (question == fiber::Question::pieces) return 1;
    return pe % 2 == 1 ? n - 1 : 0;
  }

  bool next(Engine& engine) override {
    if (engine.fruitless_steps() >= patience) return poll(engine);
    if (Agent* agent = choose(engine)) {
      engine.resume(*agent);
      return true;
    }
    return help(engine);
  }

 private:
  using Key =
      std::tuple<std::int64_t, int, int>;  // PE, block, agent: who is furthest ahead comes first
  Key key(const Agent& agent) {
    return knobs_.skew ? Key{agent.pe, agent.block, agent.id} : Key{++turn_, 0, agent.id};
  }
  void add(Agent& agent) { ready_.insert({key(agent), &agent}); }

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

  // Everybody looks once, in turn, and then something arrives.
  bool poll(Engine& engine) {
    if (polled_ >= ready_.size() || ready_.empty()) {
      polled_ = 0;
      if (help(engine)) return true;
    }
    if (ready_.empty()) return false;
    ++polled_;
    const auto chosen = std::min_element(ready_.begin(), ready_.end(), [&](auto& one, auto& other) {
      return turn_of(*one.second) < turn_of(*other.second);
    });
    Agent* agent = chosen->second;
    last_polled_ = agent->id;
    ready_.erase(chosen);
    engine.resume(*agent);
    return true;
  }

  // By id, from the one after the last that has looked.
  std::pair<bool, int> turn_of(const Agent& agent) const {
    return {agent.id <= last_polled_, agent.id};
  }

  // The same agent until it runs again: it gets ahead while the others' transfers stay late.
  bool help(Engine& engine) {
    Transfer* needed = helped_ == nullptr ? nullptr : need_of(*helped_);
    for (std::size_t i = 0; needed == nullptr && i < engine.agents().size(); ++i) {
      helped_ = engine.agents()[i].get();
      needed = need_of(*helped_);
    }
    if (needed == nullptr) {
      helped_ = nullptr;
      if (pending_.empty()) return false;
      needed = pending_.rbegin()->second;
    }
    deliver(engine, first_needed(engine, *needed));
    return true;
  }

  // A transfer that the agent waits for, if it is blocked and one is on its way: the latest.
  static Transfer* need_of(const Agent& agent) {
    if (agent.state != Agent::State::blocked) return nullptr;
    if (agent.on_quiet) return agent.outstanding.back();
    if (agent.incoming == 0) return nullptr;
    for (auto entry = agent.words.rbegin(); entry != agent.words.rend(); ++entry) {
      const fiber::Word& word = *entry->second;
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
    pending_.erase(transfer.id);
    if (transfer.pieces_delivered == 0) {
      engine.deliver(transfer);
    } else {
      engine.deliver_piece(transfer, granule_bytes, transfer.dst.size - 2 * granule_bytes);
    }
  }

  Knobs knobs_;
  std::set<std::pair<Key, Agent*>> ready_;
  std::map<std::uint64_t, Transfer*> pending_;
  Agent* helped_ = nullptr;
  std::int64_t turn_ = 0;
  std::size_t polled_ = 0;  // since the last delivery
  int last_polled_ = -1;
};

}  // namespace

std::unique_ptr<Policy> make_worst(const Knobs& knobs) { return std::make_unique<Worst>(knobs); }

}  // namespace sym::check
