#include "backends/check/adversary.hpp"

#include <algorithm>
#include <deque>

namespace sym::check {

using fiber::Agent;
using fiber::Engine;
using fiber::Policy;
using fiber::Transfer;

namespace {

constexpr std::size_t granule_bytes = 8;

class Fifo : public Policy {
 public:
  void ready(Engine&, Agent& agent) override { queue_.push_back(&agent); }
  void woken(Engine&, Agent& agent) override { queue_.push_back(&agent); }
  void issued(Engine& engine, Transfer& transfer) override { engine.deliver(transfer); }
  bool next(Engine& engine) override {
    if (queue_.empty()) return false;
    Agent* agent = queue_.front();
    queue_.pop_front();
    engine.resume(*agent);
    return true;
  }

 private:
  std::deque<Agent*> queue_;
};

class Random : public Policy {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  void ready(Engine&, Agent& agent) override { ready_.push_back(&agent); }
  void woken(Engine&, Agent& agent) override { ready_.push_back(&agent); }
  void issued(Engine&, Transfer& transfer) override { pending_.push_back(&transfer); }

  bool next(Engine& engine) override {
    const std::size_t choices = ready_.size() + pending_.size();
    if (choices == 0) return false;
    const std::size_t choice = random_() % choices;
    if (choice < ready_.size()) {
      Agent* agent = take(ready_, choice);
      engine.resume(*agent);
      return true;
    }
    // From the choice on, the first that fences let through: there is one, or nothing is in flight.
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const std::size_t at = (choice - ready_.size() + i) % pending_.size();
      if (!engine.eligible(*pending_[at])) continue;
      act(engine, at);
      return true;
    }
    return false;
  }

 private:
  template <class T>
  static T* take(std::vector<T*>& from, std::size_t at) {
    T* chosen = from[at];
    from[at] = from.back();
    from.pop_back();
    return chosen;
  }
  void act(Engine& engine, std::size_t at) {
    Transfer& transfer = *pending_[at];
    const bool payload = transfer.kind != Transfer::Kind::signal;
    if (payload && !transfer.source_read && transfer.pieces_delivered == 0 && random_() % 2 == 0) {
      engine.read_source(transfer);  // its delivery is another choice, later
      return;
    }
    const std::size_t left = payload ? transfer.dst.size - transfer.pieces_delivered : 0;
    if (left > granule_bytes && random_() % 4 == 0) {  // a first part; never the whole
      const std::size_t units = (left - 1) / granule_bytes;
      engine.deliver_piece(transfer, transfer.pieces_delivered,
                           (1 + random_() % units) * granule_bytes);
      return;
    }
    Transfer* whole = take(pending_, at);
    if (whole->pieces_delivered > 0) {
      engine.deliver_piece(*whole, whole->pieces_delivered, left);
    } else {
      engine.deliver(*whole);
    }
  }

  std::mt19937_64 random_;
  std::vector<Agent*> ready_;
  std::vector<Transfer*> pending_;
};

}  // namespace

std::unique_ptr<Policy> make_fifo() { return std::make_unique<Fifo>(); }
std::unique_ptr<Policy> make_random(std::uint64_t seed) { return std::make_unique<Random>(seed); }

}  // namespace sym::check
