#include "backends/check/clock.hpp"

#include <algorithm>

namespace sym::check {

bool Completed::covers(std::uint64_t pe_order) const {
  return pe_order <= prefix || std::binary_search(singles.begin(), singles.end(), pe_order);
}

void Completed::compact() {
  std::size_t done = 0;
  while (done < singles.size() && singles[done] <= prefix + 1) {
    prefix = std::max(prefix, singles[done]);
    ++done;
  }
  singles.erase(singles.begin(), singles.begin() + static_cast<std::ptrdiff_t>(done));
}

void Completed::add(std::uint64_t pe_order) {
  if (covers(pe_order)) return;
  singles.insert(std::lower_bound(singles.begin(), singles.end(), pe_order), pe_order);
  compact();
}

void Completed::add_prefix(std::uint64_t upto) {
  prefix = std::max(prefix, upto);
  compact();
}

void Completed::join(const Completed& other) {
  prefix = std::max(prefix, other.prefix);
  if (!other.singles.empty()) {
    std::vector<std::uint64_t> both;
    std::set_union(singles.begin(), singles.end(), other.singles.begin(), other.singles.end(),
                   std::back_inserter(both));
    singles = std::move(both);
  }
  compact();
}

void Clock::raise(std::vector<std::uint64_t>& values, AgentId agent, std::uint64_t value) {
  const auto i = static_cast<std::size_t>(agent);
  if (i >= values.size()) values.resize(i + 1, 0);
  values[i] = std::max(values[i], value);
}

const Completed* Clock::completed(AgentId agent, int pe) const {
  const auto found = completed_.find({agent, pe});
  return found == completed_.end() ? nullptr : &found->second;
}

void Clock::forget_transfers(AgentId agent) {
  completed_.erase(completed_.lower_bound({agent, INT32_MIN}),
                   completed_.upper_bound({agent, INT32_MAX}));
}

void Clock::join(const Clock& other) {
  auto join_values = [](std::vector<std::uint64_t>& mine,
                        const std::vector<std::uint64_t>& theirs) {
    if (mine.size() < theirs.size()) mine.resize(theirs.size(), 0);
    for (std::size_t i = 0; i < theirs.size(); ++i) mine[i] = std::max(mine[i], theirs[i]);
  };
  join_values(ticks_, other.ticks_);
  join_values(quiets_, other.quiets_);
  for (const auto& [key, theirs] : other.completed_) completed_[key].join(theirs);
}

}  // namespace sym::check
