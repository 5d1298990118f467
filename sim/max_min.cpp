#include "max_min.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace sym::sim {
namespace {

constexpr double same_rate = 1e-11;   // relative: slack of "saturated" and "no flow is faster"
constexpr double rate_noise = 1e-13;  // relative: a new rate this near is the old one
constexpr int local_rounds = 6;       // then the whole component is filled at once

}  // namespace

MaxMin::MaxMin(const std::vector<double>& link_bytes_per_s) : links_(link_bytes_per_s.size()) {
  for (std::size_t i = 0; i < links_.size(); ++i) links_[i].bytes_per_s = link_bytes_per_s[i];
}

MaxMin::Index MaxMin::add(const std::vector<int>& links, double cap_bytes_per_s) {
  if (free_.empty()) {
    free_.push_back(static_cast<Index>(flows_.size()));
    flows_.emplace_back();
  }
  const Index flow = free_.back();
  free_.pop_back();
  FlowState& state = flows_[flow];
  state.links.assign(links.begin(), links.end());
  state.places.resize(links.size());
  state.cap = cap_bytes_per_s;
  state.rate = state.new_rate = 0;
  state.blocker = blocked_by_cap;
  for (std::uint32_t leg = 0; leg < state.links.size(); ++leg) {
    auto& crossings = at(state.links[leg]).crossings;
    state.places[leg] = static_cast<std::uint32_t>(crossings.size());
    crossings.push_back({flow, leg});
    mark_dirty(state.links[leg]);
  }
  new_flows_.push_back(flow);
  return flow;
}

void MaxMin::remove(Index flow) {
  FlowState& state = flows_[flow];
  for (std::size_t leg = 0; leg < state.links.size(); ++leg) {
    auto& crossings = at(state.links[leg]).crossings;
    const Crossing moved = crossings.back();
    crossings[state.places[leg]] = moved;
    flows_[moved.flow].places[moved.leg] = state.places[leg];
    crossings.pop_back();
    mark_dirty(state.links[leg]);
  }
  std::erase(new_flows_, flow);
  free_.push_back(flow);
}

void MaxMin::mark_dirty(std::int32_t link) {
  LinkState& state = at(link);
  if (std::exchange(state.dirty, true)) return;
  dirty_.push_back(link);
}

void MaxMin::touch(std::int32_t link) {
  LinkState& state = at(link);
  if (std::exchange(state.touched, true)) return;
  touched_.push_back(link);
}

void MaxMin::take_in(Index flow) {
  FlowState& state = flows_[flow];
  if (std::exchange(state.filling, true)) return;
  filling_.push_back(flow);
  for (const std::int32_t link : state.links) touch(link);
}

std::span<const MaxMin::Change> MaxMin::solve() {
  changes_.clear();
  if (dirty_.empty()) return changes_;
  for (const Index flow : new_flows_) take_in(flow);
  for (const std::int32_t link : dirty_) {
    touch(link);
    for (const Crossing& crossing : at(link).crossings)
      if (flows_[crossing.flow].blocker == link) take_in(crossing.flow);
  }
  for (int round = 0;; ++round) {
    if (round == local_rounds) take_in_component();
    fill();
    sum_touched_links();
    if (!take_in_unblocked()) break;
  }
  commit();
  return changes_;
}

void MaxMin::take_in_component() {
  for (std::size_t i = 0; i < touched_.size(); ++i)  // grows while it is walked
    for (const Crossing& crossing : at(touched_[i]).crossings) take_in(crossing.flow);
}

void MaxMin::prepare_filling() {
  caps_.clear();
  shares_.clear();
  for (const std::int32_t link : touched_) {
    LinkState& state = at(link);
    state.left = state.bytes_per_s;
    state.unfrozen = 0;
    for (const Crossing& crossing : state.crossings) {
      if (flows_[crossing.flow].filling)
        ++state.unfrozen;
      else
        state.left -= flows_[crossing.flow].rate;
    }
    state.left = std::max(state.left, 0.0);
    if (state.unfrozen > 0) shares_.emplace_back(state.left / state.unfrozen, link);
  }
  for (const Index flow : filling_) {
    flows_[flow].frozen = false;
    if (std::isfinite(flows_[flow].cap)) caps_.emplace_back(flows_[flow].cap, flow);
  }
  std::sort(caps_.begin(), caps_.end());
  std::make_heap(shares_.begin(), shares_.end(), std::greater<>{});
}

// Water-filling of the flows in `filling_`: all rise together; who reaches its cap, or a link that
// is used up, stays there. The shares of the links only rise meanwhile, so an outdated entry of the
// heap is too small, never too large, and is put right when it comes up.
void MaxMin::fill() {
  prepare_filling();
  auto next_cap = caps_.begin();
  while (!shares_.empty()) {
    const auto [share, link] = shares_.front();
    LinkState& state = at(link);
    while (next_cap != caps_.end() && flows_[next_cap->second].frozen) ++next_cap;
    if (next_cap != caps_.end() && next_cap->first <= share) {
      freeze(next_cap->second, next_cap->first, blocked_by_cap);
      continue;
    }
    std::pop_heap(shares_.begin(), shares_.end(), std::greater<>{});
    shares_.pop_back();
    if (state.unfrozen == 0) continue;
    const double true_share = std::max(state.left, 0.0) / state.unfrozen;
    if (true_share > share) {
      shares_.emplace_back(true_share, link);
      std::push_heap(shares_.begin(), shares_.end(), std::greater<>{});
      continue;
    }
    for (const Crossing& crossing : state.crossings)
      if (flows_[crossing.flow].filling && !flows_[crossing.flow].frozen)
        freeze(crossing.flow, share, link);
  }
}

void MaxMin::freeze(Index flow, double rate, std::int32_t blocker) {
  FlowState& state = flows_[flow];
  state.frozen = true;
  state.new_rate = rate;
  state.blocker = blocker;
  for (const std::int32_t link : state.links) {
    LinkState& crossed = at(link);
    crossed.left -= rate;
    --crossed.unfrozen;
  }
}

void MaxMin::sum_touched_links() {
  for (const std::int32_t link : touched_) {
    LinkState& state = at(link);
    state.load = state.fastest = 0;
    for (const Crossing& crossing : state.crossings) {
      const double rate = flows_[crossing.flow].new_rate;
      state.load += rate;
      state.fastest = std::max(state.fastest, rate);
    }
  }
}

bool MaxMin::blocks(std::int32_t link, double rate) const {
  const LinkState& state = at(link);
  return state.load >= state.bytes_per_s * (1 - same_rate) &&
         rate >= state.fastest * (1 - same_rate);
}

bool MaxMin::is_blocked(FlowState& flow) const {
  if (flow.new_rate >= flow.cap * (1 - same_rate)) return true;
  if (flow.blocker != blocked_by_cap && blocks(flow.blocker, flow.new_rate)) return true;
  for (const std::int32_t link : flow.links) {
    if (!blocks(link, flow.new_rate)) continue;
    flow.blocker = link;
    return true;
  }
  return false;
}

// Takes in who moves next: flows at rest that nothing blocks any longer, and the faster flows at
// rest on the link that holds back a filled flow which is not blocked fairly. False if there are
// none.
bool MaxMin::take_in_unblocked() {
  const std::size_t before = filling_.size();
  const std::size_t links_before = touched_.size();
  for (std::size_t i = 0; i < before; ++i) {
    FlowState& flow = flows_[filling_[i]];
    if (is_blocked(flow)) continue;
    const double rate = flow.new_rate;
    for (const Crossing& crossing : at(flow.blocker).crossings)
      if (flows_[crossing.flow].new_rate > rate) take_in(crossing.flow);
  }
  for (std::size_t i = 0; i < links_before; ++i)
    for (const Crossing& crossing : at(touched_[i]).crossings)
      if (!flows_[crossing.flow].filling && !is_blocked(flows_[crossing.flow]))
        take_in(crossing.flow);
  return filling_.size() > before;
}

void MaxMin::commit() {
  for (const Index index : filling_) {
    FlowState& flow = flows_[index];
    flow.filling = false;
    if (std::abs(flow.new_rate - flow.rate) <= rate_noise * flow.rate) {
      flow.new_rate = flow.rate;
      continue;
    }
    changes_.push_back({index, flow.rate, flow.new_rate});
    flow.rate = flow.new_rate;
  }
  for (const std::int32_t link : touched_) at(link).touched = false;
  for (const std::int32_t link : dirty_) at(link).dirty = false;
  filling_.clear();
  touched_.clear();
  dirty_.clear();
  new_flows_.clear();
}

}  // namespace sym::sim
