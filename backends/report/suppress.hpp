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

#include "backends/report/finding.hpp"

namespace sym::report {

class Suppressions {
 public:
  Suppressions() = default;
  // Throws UsageError for a file that cannot be read, and, with the line's number, for a line that
  // is no suppression.
  explicit Suppressions(const std::string& path);

  // Whether an entry of its kind names any one of the finding's places.
  bool accepts(const Finding& finding) const;
  struct Accepted {
    std::string reason;  // empty: no entry does
    std::string entry;   // accepted.txt:3
  };
  // What the first entry says that does. Every entry that does counts the finding as matched.
  Accepted take(const Finding& finding);
  // A sentence for each entry: how many findings it matched.
  std::vector<std::string> summary() const;

 private:
  struct Entry {
    std::size_t number = 0;
    std::string kind, file, reason;
    int line = 0;  // 0: any
    std::size_t matched = 0;
    bool matches(const Finding& finding) const;
  };
  void add(const std::string& text, std::size_t number);

  std::string path_;
  std::vector<Entry> entries_;
};

}  // namespace sym::report
