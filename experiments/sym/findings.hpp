// Findings: what all runs of a command found, each bug once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sym/finding.hpp"
#include "experiments/sym/options.hpp"
#include "experiments/sym/point.hpp"
#include "experiments/sym/suppress.hpp"

namespace sym::command {

struct KnownFinding {
  Finding finding;
  std::string key;
  Point first;             // the run that showed it first
  std::size_t runs = 0;    // that showed it
  std::string suppressed;  // why; empty: it is not
  std::string replay;      // the file's name, where one was written
};

class Findings {
 public:
  // Reads the suppressions, and refuses files that cannot be written before anything runs.
  explicit Findings(const RunOptions& options);

  // Notes what one run found. Returns the places in all() of those that count and are new.
  std::vector<std::size_t> add(const Point& point, const std::vector<Finding>& found);
  // Those of one run that are not suppressed.
  std::vector<Finding> counted(const std::vector<Finding>& found);
  void incomplete(const std::string& why) { incomplete_.push_back(why); }

  std::vector<KnownFinding>& all() { return all_; }
  std::size_t runs() const { return runs_; }
  // Lines for people: how often each was seen, what was suppressed, and which entries are unused.
  std::vector<std::string> summary() const;
  // The files that were asked for: JSON lines and SARIF. Throws Failure if one cannot be written.
  void write() const;

 private:
  RunOptions options_;
  Suppressions suppressions_;
  std::vector<KnownFinding> all_;
  std::vector<std::string> incomplete_;
  std::size_t runs_ = 0;
};

// SARIF 2.1.0 (OASIS): one run, a rule for each kind, a result for each finding.
std::string to_sarif(const std::vector<KnownFinding>& findings,
                     const std::vector<std::string>& incomplete, std::size_t runs);

}  // namespace sym::command
