// Suppressions: findings that somebody has looked at and accepts, each with a reason.
//
// A file has a line for each: KIND PLACE REASON. KIND is a finding's kind or *. PLACE is FILE or
// FILE:LINE, where FILE is a path as findings print it, or its last part; * and ? stand for any
// characters and any one. REASON is the rest of the line, and must be there. Empty lines and those
// that begin with # are left out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/sym/finding.hpp"

namespace sym::command {

class Suppressions {
 public:
  Suppressions() = default;
  // Throws UsageError, with the line's number, for a line that is no suppression.
  explicit Suppressions(const std::string& path);

  // Why the finding is suppressed: one of its places is in an entry of its kind. Null: it is not.
  const std::string* reason(const Finding& finding);
  // A sentence for each entry that no finding has matched.
  std::vector<std::string> unused() const;

 private:
  struct Entry {
    std::size_t number = 0;
    std::string kind, file, reason;
    int line = 0;  // 0: any
    bool used = false;
    bool matches(const Place& place) const;
  };
  void add(const std::string& text, std::size_t number);

  std::string path_;
  std::vector<Entry> entries_;
};

}  // namespace sym::command
