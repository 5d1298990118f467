#include "backends/check/decisions.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "backends/check/adversary.hpp"

namespace sym::check {

using fiber::Agent;
using fiber::Engine;
using fiber::Transfer;

namespace {

class Random : public Chooser {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  std::size_t event(Engine&, std::vector<Event>& events) override {
    return random_() % events.size();
  }
  std::uint32_t delivery(bool unread, std::uint32_t granules) override {
    if (unread && random_() % 2 == 0) return 1;
    if (granules > 0 && random_() % 4 == 0) {
      return 2 + static_cast<std::uint32_t>(random_() % granules);
    }
    return 0;
  }
  std::uint32_t answer(std::uint32_t n) override {
    return static_cast<std::uint32_t>(random_() % n);
  }

 private:
  std::mt19937_64 random_;
};

class Oldest : public Chooser {
 public:
  std::size_t event(Engine&, std::vector<Event>&) override { return 0; }
  std::uint32_t delivery(bool, std::uint32_t) override { return 0; }
  std::uint32_t answer(std::uint32_t) override { return 0; }
};

class Replayed : public Chooser {
 public:
  Replayed(std::vector<std::uint32_t> decisions, bool exact)
      : decisions_(std::move(decisions)), exact_(exact) {}

  std::size_t event(Engine&, std::vector<Event>& events) override {
    const std::size_t possible = events.size();
    return next("an event", [&](std::uint32_t choice) { return choice < possible; });
  }
  std::uint32_t delivery(bool unread, std::uint32_t granules) override {
    return next("a delivery", [&](std::uint32_t choice) {
      return choice == 0 || (choice == 1 && unread) || (choice >= 2 && choice - 2 < granules);
    });
  }
  std::uint32_t answer(std::uint32_t n) override {
    return next("an answer", [&](std::uint32_t choice) { return choice < n; });
  }
  std::string complaint(bool ended) const override {
    if (!exact_ || !complaint_.empty() || !ended || at_ >= decisions_.size()) return complaint_;
    return "the run ended after " + std::to_string(at_) + " of " +
           std::to_string(decisions_.size()) + " decisions";
  }

 private:
  template <class Possible>
  std::uint32_t next(const char* what, Possible possible) {
    const std::size_t at = at_++;
    if (at < decisions_.size() && possible(decisions_[at])) return decisions_[at];
    if (exact_ && complaint_.empty()) {
      complaint_ = at >= decisions_.size()
                       ? "the run goes on after all " + std::to_string(at) + " decisions"
                       : "decision " + std::to_string(at + 1) + " of " +
                             std::to_string(decisions_.size()) + " is " +
                             std::to_string(decisions_[at]) + ", which as " + what +
                             " is not possible there";
    }
    return 0;
  }

  std::vector<std::uint32_t> decisions_;
  bool exact_;
  std::size_t at_ = 0;
  std::string complaint_;
};

}  // namespace

void Choices::ready(Engine&, Agent& agent) {
  events_.push_back({&agent, nullptr});
  chooser_->listed(events_.back());
}

void Choices::issued(Engine&, Transfer& transfer) {
  events_.push_back({nullptr, &transfer});
  chooser_->listed(events_.back());
}

std::uint32_t Choices::log(std::uint32_t decision) {
  if (logging_) log_.push_back(decision);
  if (log_.size() > most_logged) {
    logging_ = false;
    log_ = {};
  }
  return decision;
}

bool Choices::refused(Engine& engine) {
  const std::string complaint = chooser_->complaint(false);
  if (complaint.empty()) return false;
  engine.stop({"replay", "REPLAY " + complaint +
                             "\n  why    the decisions are those of another program, of other "
                             "arguments or of another build"});
  return true;
}

bool Choices::next(Engine& engine) {
  const std::size_t possible = events_.size();
  if (possible == 0) return false;
  const std::size_t choice = possible == 1 ? 0 : chooser_->event(engine, events_);
  for (std::size_t i = 0; i < possible; ++i) {
    const std::size_t at = (choice + i) % possible;
    const Event& event = events_[at];
    if (event.transfer != nullptr && !engine.eligible(*event.transfer)) continue;
    if (possible > 1) log(static_cast<std::uint32_t>(at));
    return refused(engine) || act(engine, at);
  }
  return false;
}

bool Choices::act(Engine& engine, std::size_t at) {
  const Event event = events_[at];
  const auto place = events_.begin() + static_cast<std::ptrdiff_t>(at);
  if (event.agent != nullptr) {
    events_.erase(place);
    engine.resume(*event.agent);
    return true;
  }
  Transfer& transfer = *event.transfer;
  const std::size_t done = transfer.pieces_delivered;
  const bool payload = transfer.kind != Transfer::Kind::signal;
  const std::size_t left = payload ? transfer.dst.size - done : 0;
  const bool unread = payload && !transfer.source_read && done == 0;
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() - 2;
  const std::size_t granules = left == 0 ? 0 : std::min((left - 1) / granule_bytes, most);
  std::uint32_t how = 0;
  if (unread || granules > 0) {
    how = log(chooser_->delivery(unread, static_cast<std::uint32_t>(granules)));
    if (refused(engine)) return true;
  }
  if (how == 1) {
    engine.read_source(transfer);  // its delivery is another choice, later
  } else if (how >= 2) {
    engine.deliver_piece(transfer, done, (how - 1) * granule_bytes);
  } else {
    events_.erase(place);
    if (done > 0) {
      engine.deliver_piece(transfer, done, left);
    } else {
      engine.deliver(transfer);
    }
  }
  return true;
}

std::uint32_t Choices::answer(Engine& engine, fiber::Question, int, std::uint32_t n) {
  const std::uint32_t answer = log(chooser_->answer(n));
  return refused(engine) ? 0 : answer;
}

std::unique_ptr<Chooser> choose_at_random(std::uint64_t seed) {
  return std::make_unique<Random>(seed);
}
std::unique_ptr<Chooser> choose_oldest() { return std::make_unique<Oldest>(); }
std::unique_ptr<Chooser> choose_as(std::vector<std::uint32_t> decisions, bool exact) {
  return std::make_unique<Replayed>(std::move(decisions), exact);
}

}  // namespace sym::check
