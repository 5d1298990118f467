#include "backends/check/explore_policy.hpp"

#include <algorithm>
#include <tuple>

#include "backends/check/adversary.hpp"

namespace sym::check {

using fiber::Agent;
using fiber::Engine;
using fiber::Transfer;
using fiber::Verb;

namespace {
constexpr std::size_t most_pieces = 4;
constexpr std::uint64_t looking_patience = 100;  // events in which agents only look

bool is_payload(const Transfer& transfer) {
  return transfer.kind == Transfer::Kind::put || transfer.kind == Transfer::Kind::get;
}
}  // namespace

void ExplorePolicy::ready(Engine&, Agent& agent) {
  // Local events come first anyhow.
  ready_[&agent] = {false, !is_local(agent, false) && lets_others_on(agent)};
}
void ExplorePolicy::woken(Engine&, Agent& agent) {
  ready_[&agent] = {true, false};
  recorder_.woken(agent);
}

void ExplorePolicy::issued(Engine&, Transfer& transfer) {
  recorder_.handed_over(transfer);
  Moving moving;
  moving.transfer = &transfer;
  if (limits_.pieces && is_payload(transfer) && transfer.dst.size > granule_bytes) {
    const std::size_t granules = (transfer.dst.size + granule_bytes - 1) / granule_bytes;
    moving.piece_bytes = (granules + most_pieces - 1) / most_pieces * granule_bytes;
    for (std::size_t at = 0; at < transfer.dst.size; at += moving.piece_bytes) {
      moving.pieces.push_back(at);
    }
  }
  moving_.push_back(std::move(moving));
}

// What touches nothing that others touch, or that waits for nothing but what has come for good. A
// wrong yes costs nothing but executions: conflicts are found from what events have touched.
bool ExplorePolicy::is_local(const Agent& agent, bool woken) const {
  const fiber::Step& step = agent.step;
  const bool own_lane = step.team != nullptr;  // waits for the next signal of each member
  if (fiber::is_of_host(step.verb)) return woken || step.bytes == 0;
  if (limits_.whole) return false;
  switch (step.verb) {
    case Verb::start:
    case Verb::put:
    case Verb::get:
    case Verb::put_signal:
    case Verb::put_value:
    case Verb::put_packets:
    case Verb::multicast_put:
    case Verb::signal:
    case Verb::fence:
    case Verb::quiet:
    case Verb::sync:
    case Verb::queue_put:
    case Verb::queue_get:
    case Verb::record:
    case Verb::after:
      return true;
    case Verb::wait_until:
    case Verb::receive_packets:
    case Verb::reduce_packets_wait:
      return !woken || own_lane;
    default:
      return false;
  }
}

void ExplorePolicy::add(const Transfer& transfer, const Possible& possible, std::size_t piece) {
  const Agent& issuer = *transfer.issuer;
  Candidate candidate;
  candidate.key = {true,           issuer.pe, issuer.stream, issuer.block, issuer.queue >= 0,
                   transfer.order, piece};
  candidate.process = search_.process(candidate.key);
  candidates_.push_back(candidate);
  possible_[candidate.key] = possible;
}

void ExplorePolicy::gather(const Engine& engine) {
  candidates_.clear();
  possible_.clear();
  const bool in_vain = engine.fruitless_steps() > looking_patience;
  for (const auto& [agent, how] : ready_) {
    Candidate candidate;
    candidate.key = {false, agent->pe, agent->stream, agent->block, agent->queue >= 0, 0, 0};
    candidate.process = search_.process(candidate.key);
    candidate.local = is_local(*agent, how.woken);
    candidate.agent = true;
    candidate.yields = how.yields || (in_vain && search_.has_turn(candidate.process));
    candidates_.push_back(candidate);
    possible_[candidate.key] = {What::resume, agent, nullptr, 0, 0};
  }
  for (const Moving& moving : moving_) {
    Transfer& transfer = *moving.transfer;
    const bool can_come = engine.eligible(transfer);
    for (const std::size_t at : moving.pieces) {
      const std::size_t bytes = std::min(moving.piece_bytes, transfer.dst.size - at);
      if (can_come) add(transfer, {What::piece, nullptr, &transfer, at, bytes}, at);
    }
    if (!moving.pieces.empty()) continue;
    const bool to_read = is_payload(transfer) && !transfer.source_read && transfer.src.size != 0;
    const What what = to_read ? What::read : What::deliver;
    if (to_read || can_come) add(transfer, {what, nullptr, &transfer, 0, 0}, 0);
  }
}

void ExplorePolicy::move(Engine& engine, const Possible& possible) {
  Transfer& transfer = *possible.transfer;
  if (possible.what == What::read) {
    engine.read_source(transfer);
    return;
  }
  recorder_.delivered(transfer);
  const auto moving = std::find_if(moving_.begin(), moving_.end(),
                                   [&](const Moving& one) { return one.transfer == &transfer; });
  if (possible.what == What::piece) {
    auto& pieces = moving->pieces;
    pieces.erase(std::find(pieces.begin(), pieces.end(), possible.first));
    if (pieces.empty()) moving_.erase(moving);
    engine.deliver_piece(transfer, possible.first, possible.bytes);
    return;
  }
  moving_.erase(moving);
  if (transfer.kind != Transfer::Kind::signal) {
    engine.deliver(transfer);
    return;
  }
  const fiber::WordId id = transfer.word_id;
  const std::uint64_t before = transfer.word->value();
  engine.deliver(transfer);  // it is gone then
  recorder_.arrived(id, before);
}

void ExplorePolicy::happen(Engine& engine, const Possible& possible) {
  const auto number = static_cast<std::size_t>(events_);
  if (possible.what == What::resume) {
    ready_.erase(possible.agent);
    recorder_.begin(number, *possible.agent);
    engine.resume(*possible.agent);
  } else {
    recorder_.begin(number, *possible.transfer);
    move(engine, possible);
  }
  recorder_.end();
  ++events_;
}

// What is under way, oldest first; then agents, in turn.
std::size_t ExplorePolicy::fair_choice() {
  const auto after = [&](const Candidate& one) {
    return std::make_tuple(one.agent, one.agent && one.key <= last_key_,
                           one.agent ? one.key : ProcessKey{});
  };
  const auto first = std::min_element(
      candidates_.begin(), candidates_.end(),
      [&](const Candidate& one, const Candidate& other) { return after(one) < after(other); });
  if (first->agent) last_key_ = first->key;
  return static_cast<std::size_t>(first - candidates_.begin());
}

bool ExplorePolicy::next(Engine& engine) {
  if (events_ >= limits_.events) {
    cut_off_ = true;
    engine.abandon();
    return false;
  }
  gather(engine);
  if (candidates_.empty()) return false;
  std::optional<std::size_t> chosen;
  if (!redundant_) chosen = search_.choose(candidates_);
  redundant_ = !chosen;
  // To its end all the same, fairly: what the program holds is given back in order.
  const std::size_t at = chosen ? *chosen : fair_choice();
  const Possible what = possible_.at(candidates_[at].key);
  happen(engine, what);
  if (!redundant_) {
    search_.happened(std::move(recorder_.touched), std::move(recorder_.after), engine.stopped());
  }
  return true;
}

}  // namespace sym::check
