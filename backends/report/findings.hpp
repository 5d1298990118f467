// Findings: what all runs of a command found, each bug once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/report/finding.hpp"
#include "backends/report/suppress.hpp"

namespace sym::report {

// The run that showed a finding.
struct Origin {
  std::string algorithm, variant, backend, schedule;
  int pes = 0;
  std::uint64_t seed = 0;
};

struct KnownFinding {
  Finding finding;
  std::string key;
  Origin first;            // that showed it
  std::size_t runs = 0;    // that showed it
  std::string suppressed;  // why; empty: it is not
  std::string entry;       // of the suppressions: file and line
  std::string replay;      // the file's name, where one was written
};

// Names of files; empty: none.
struct Files {
  std::string findings, sarif, suppress;
};

class Findings {
 public:
  // Reads the suppressions. Throws UsageError for files that cannot be read or written, before
  // anything runs.
  explicit Findings(const Files& files);

  // Notes what one run found. Returns the places in all() of those that count and are new.
  std::vector<std::size_t> add(const Origin& run, const std::vector<Finding>& found);
  // Those of one run that are not suppressed.
  std::vector<Finding> counted(const std::vector<Finding>& found) const;
  // If a suppressed finding has ended the run, and nothing that counts: a sentence that says so.
  // What it accepts is not what never ran. Else empty.
  std::string ended_early(const std::vector<Finding>& found) const;
  void incomplete(const std::string& why) { incomplete_.push_back(why); }

  std::vector<KnownFinding>& all() { return all_; }
  std::size_t runs() const { return runs_; }
  // Lines for people: how often each was seen, what was suppressed by which entry, and how many
  // findings each entry matched.
  std::vector<std::string> summary() const;
  // The files that were asked for: JSON lines and SARIF. Throws UsageError if one cannot be
  // written.
  void write() const;

 private:
  Files files_;
  Suppressions suppressions_;
  std::vector<KnownFinding> all_;
  std::vector<std::string> incomplete_;
  std::size_t runs_ = 0;
};

// Whether this build writes JSON (nlohmann-json was found). Without it the files below are refused,
// and there are no replay files.
bool has_json();
// One JSON object a line. Throws UsageError without JSON.
std::string to_json_lines(const std::vector<KnownFinding>& findings, std::size_t runs);
// SARIF 2.1.0 (OASIS): one run, a rule for each kind, a result for each finding. Throws UsageError
// without JSON.
std::string to_sarif(const std::vector<KnownFinding>& findings,
                     const std::vector<std::string>& incomplete, std::size_t runs);

// Throws UsageError, "cannot write PATH".
void require_writable(const std::string& path);
void write_file(const std::string& path, const std::string& text);

}  // namespace sym::report
