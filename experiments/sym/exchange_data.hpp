// Data of the exchanges whose counts are data: who sends how much to whom, which experts a token
// chooses, and rows that name their source and place. Pure functions of (seed, iteration, PE):
// every PE knows what every other one does, so results are verified without a second
// implementation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

// Integers of at most 8 bits, which bf16 holds exactly, also times two. Other on every PE.
template <class T>
std::vector<T> row_pattern(const Point& point, int iteration, int pe) {
  std::vector<T> values(pattern_period);
  const std::uint64_t key = mix(mix(point.seed * 1000003 + static_cast<std::uint64_t>(iteration)) ^
                                (static_cast<std::uint64_t>(pe) << 32));
  for (std::size_t i = 0; i < pattern_period; ++i) {
    const std::uint64_t byte = mix(key ^ i) % 256;
    values[i] = narrow<T>(static_cast<Accumulator<T>>(byte) -
                          (std::is_floating_point_v<Accumulator<T>> ? 128 : 0));
  }
  return values;
}

// Row r of a PE is its pattern from here on. Distinct for 8191 rows in a row: 2741 is prime to it.
constexpr std::size_t row_shift(std::size_t row) { return row * 2741 % pattern_period; }

inline std::uint64_t exchange_key(const Point& point, int iteration, std::uint64_t what) {
  return mix(mix(point.seed + 0x5eed) ^ mix((static_cast<std::uint64_t>(iteration) << 40) ^ what));
}

// --- all_to_all_v ---

// Rows that `from` sends to each PE.
inline std::vector<std::uint32_t> splits_of(const Point& point, int iteration, int from) {
  static constexpr std::uint32_t primes[] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                                             41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};
  const std::size_t pes = static_cast<std::size_t>(point.pes);
  const std::size_t tokens = point.moe.tokens;
  std::vector<std::uint32_t> rows(pes);
  for (std::size_t to = 0; to < pes; ++to) {
    const std::size_t pair = static_cast<std::size_t>(from) * pes + to;
    const std::size_t turn = pair + static_cast<std::size_t>(iteration);
    const std::string& name = point.moe.splits;
    if (name == "primes") {
      rows[to] = primes[turn % std::size(primes)];
    } else if (name == "one_peer") {
      const bool target = to == static_cast<std::size_t>(iteration) % pes;
      rows[to] = target ? static_cast<std::uint32_t>(tokens) : 0;
    } else {
      const std::size_t random = exchange_key(point, iteration, pair) % (2 * tokens / pes + 1);
      // zero: two of three pairs have no rows, one PE sends none and one gets none.
      const std::size_t silent = static_cast<std::size_t>(iteration + 1) % pes;
      const bool none =
          name == "zero" &&
          (turn % 3 != 0 || static_cast<std::size_t>(from) == silent || to == (silent + 1) % pes);
      rows[to] = none ? 0 : static_cast<std::uint32_t>(random);
    }
  }
  return rows;
}

// --- MoE ---

// Tokens of a PE: all of them first, then in every second iteration one fewer for each rank.
inline std::size_t tokens_of(const Point& point, int iteration, int pe) {
  const std::size_t less = iteration % 2 == 0 ? 0 : static_cast<std::size_t>(pe);
  return point.moe.tokens - std::min(point.moe.tokens, less);
}

// Choices and weights of one PE's tokens; tokens that it does not have have no choices.
struct Choices {
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
};

class Router {
 public:
  explicit Router(const Point& point) : point_(point) {
    double total = 0;
    for (int rank = 1; rank <= point.moe.experts; ++rank) {  // Zipf with exponent 1
      total += 1.0 / rank;
      cumulative_.push_back(total);
    }
  }

  // Weights are powers of two, so that their sums are exact. From the second iteration on some
  // choices are none, and some tokens have none at all.
  Choices choices(int iteration, int pe) const {
    const std::size_t topk = static_cast<std::size_t>(point_.moe.topk);
    Choices all;
    all.ids.assign(point_.moe.tokens * topk, -1);
    all.weights.assign(all.ids.size(), 1.0F);
    static constexpr float weights[] = {0.25F, 0.5F, 1.0F, 2.0F};
    for (std::size_t token = 0; token < tokens_of(point_, iteration, pe); ++token) {
      const std::size_t first = token * topk;
      const std::uint64_t key =
          exchange_key(point_, iteration, (static_cast<std::uint64_t>(pe) << 32) ^ token);
      choose(all.ids.data() + first, iteration, key);
      for (std::size_t j = 0; j < topk; ++j) {
        const std::uint64_t h = mix(key ^ (j << 20));
        all.weights[first + j] = weights[h % 4];
        const bool none = iteration > 0 && (key % 11 == 0 || h % 13 == 0);
        if (none) all.ids[first + j] = -1;
      }
    }
    return all;
  }

 private:
  // topk distinct experts.
  void choose(std::int32_t* ids, int iteration, std::uint64_t key) const {
    const int experts = point_.moe.experts;
    for (int j = 0; j < point_.moe.topk; ++j) {
      int expert = 0;
      if (point_.moe.routing == "one_expert") {
        expert = static_cast<int>((static_cast<std::uint64_t>(iteration) * 7 + point_.seed +
                                   static_cast<std::uint64_t>(j)) %
                                  static_cast<std::uint64_t>(experts));
      } else {
        key = mix(key);
        expert = point_.moe.routing == "skewed"
                     ? zipf(key)
                     : static_cast<int>(key % static_cast<std::uint64_t>(experts));
      }
      while (std::find(ids, ids + j, expert) != ids + j) expert = (expert + 1) % experts;
      ids[j] = expert;
    }
  }

  int zipf(std::uint64_t key) const {
    const double at = static_cast<double>(key >> 11) * 0x1p-53 * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
    const auto index = static_cast<int>(found - cumulative_.begin());
    return std::min(index, point_.moe.experts - 1);
  }

  const Point& point_;
  std::vector<double> cumulative_;
};

}  // namespace sym::command
