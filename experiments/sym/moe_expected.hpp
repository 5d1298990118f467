// What one dispatch must bring to a PE, and one combine: from the choices of all PEs.
#pragma once

#include <map>
#include <vector>

#include "core/moe/experts.hpp"
#include "experiments/sym/exchange_data.hpp"

namespace sym::command {

// The stand-in for an expert doubles its rows if its number is odd, so that a combine that takes
// the row of another expert shows.
SYM_HD constexpr float expert_factor(std::size_t expert) { return expert % 2 == 0 ? 1.0F : 2.0F; }

// A row that arrives, by who sends it.
struct Arrival {
  int from = 0;
  std::size_t token = 0;
};

// The layout that every PE must find, and the rows of one of them.
class MoeExpected {
 public:
  MoeExpected(const Point& point, const Router& router, int iteration, int pe)
      : experts_{static_cast<std::uint32_t>(point.moe.experts), point.pes},
        alignment_(point.moe.alignment),
        own_(experts_.of(pe)),
        arrivals_(own_.count) {
    const std::size_t topk = static_cast<std::size_t>(point.moe.topk);
    std::vector<std::size_t> totals(experts_.count);
    for (int from = 0; from < point.pes; ++from) {
      const Choices choices = router.choices(iteration, from);
      for (std::size_t i = 0; i < choices.ids.size(); ++i) {
        if (choices.ids[i] < 0) continue;
        const std::size_t expert = static_cast<std::size_t>(choices.ids[i]);
        ++totals[expert];
        if (expert >= own_.first && expert < own_.end())
          arrivals_[expert - own_.first].push_back({from, i / topk});
      }
    }
    for (int rank = 0; rank < point.pes; ++rank) {
      const Range owned = experts_.of(rank);
      std::size_t rows = 0;
      for (std::size_t e = owned.first; e < owned.end(); ++e) rows += aligned(totals[e]);
      most_rows_ = std::max(most_rows_, rows);
    }
    offsets_.push_back(0);
    for (const std::vector<Arrival>& rows : arrivals_) {
      counts_.push_back(static_cast<std::uint32_t>(rows.size()));
      offsets_.push_back(offsets_.back() + static_cast<std::uint32_t>(aligned(rows.size())));
    }
  }

  const Range& own() const { return own_; }
  const std::vector<Arrival>& arrivals(std::size_t local) const { return arrivals_[local]; }
  const std::vector<std::uint32_t>& counts() const { return counts_; }
  const std::vector<std::uint32_t>& offsets() const { return offsets_; }
  std::size_t most_rows() const { return most_rows_; }  // of any PE, padding included

 private:
  std::size_t aligned(std::size_t rows) const {
    return (rows + alignment_ - 1) / alignment_ * alignment_;
  }

  Experts experts_;
  std::size_t alignment_;
  Range own_;
  std::vector<std::vector<Arrival>> arrivals_;  // by local expert, in the order of their rows
  std::vector<std::uint32_t> counts_, offsets_;
  std::size_t most_rows_ = 0;
};

// The rows of one PE after combine, for each sum of weights: exact, so products are made once.
template <class T>
class ScaledRows {
 public:
  explicit ScaledRows(std::vector<T> pattern) : pattern_(std::move(pattern)) {}
  const std::vector<T>& operator()(float factor) {
    std::vector<T>& scaled = scaled_[factor];
    if (!scaled.empty()) return scaled;
    scaled.reserve(pattern_.size());
    for (const T& value : pattern_) {
      const Accumulator<T> product = widen(value) * static_cast<Accumulator<T>>(factor);
      scaled.push_back(narrow<T>(product + 0));  // of no choices the sum is +0, never -0
    }
    return scaled;
  }

 private:
  std::vector<T> pattern_;
  std::map<float, std::vector<T>> scaled_;
};

}  // namespace sym::command
