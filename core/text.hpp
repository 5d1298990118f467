// Text helpers shared by everything that reads names from people. Standard library only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace sym {

// Levenshtein distance in bytes: insertions, deletions and substitutions from `a` to `b`.
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// The candidate with the smallest edit distance to `word`, the first of several; "" if there is
// none.
inline std::string nearest_name(const std::string& word,
                                const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t distance = edit_distance(word, candidates[i]);
    if (i == 0 || distance < best_distance) {
      best = candidates[i];
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace sym
