// Reporter: what people see of `sym run`, row by row, and the files that it leaves.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/report/findings.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/row_of.hpp"

namespace sym::command {

class Reporter {
 public:
  // Throws UsageError for files that cannot be read or written. `machine` is null where none was
  // named; `csv` gets each row at once; all arguments outlive this.
  Reporter(const Invocation& invocation, const RunOptions& options, const Algorithm& algorithm,
           const models::Machine* machine, CsvFile& csv);

  // A run has come to its end. `last`: of the runs of its point, which share one row.
  void done(const Point& point, const Outcome& outcome, bool last);
  // Writes the other files and the lines after the table. 1 if anything was wrong, else 0. This
  // run's rows join `all`, which the files hold.
  int finish(std::vector<Row>& all);

 private:
  // What the runs of the checker have reached and seen, all together.
  struct Coverage {
    // (file:line, verb) -> times, and in how many runs
    std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> sites;
    std::uint64_t runs = 0, verbs = 0, transfers = 0, accesses = 0, escaped_bytes = 0;
    std::uint64_t executions = 0;
    std::size_t detector_bytes = 0;  // of the largest run
    // pct: the largest program, the smallest chance of a run, and that all runs of a point miss.
    std::size_t actors = 0;
    std::uint64_t steps = 0;
    double least = 1, all_miss = 1;
    std::size_t without_bound = 0;
    void add(const Checked& checked);
  };

  std::string title() const;
  void header();
  void row(const Point& point, const Outcome& outcome);
  void report(const Point& point, const Outcome& outcome);
  void outside_lines(const Row& row) const;
  void checker_lines() const;
  void site_lines() const;

  const Invocation& invocation_;
  const RunOptions& options_;
  const Algorithm& algorithm_;
  const models::Machine* machine_;
  CsvFile& csv_;
  report::Findings findings_;
  Coverage coverage_;
  std::vector<Row> rows_;
  bool began_ = false;
  // Of the point whose runs are under way: the first that was wrong, if one was, else the last.
  bool has_bad_ = false;
  std::pair<Point, Outcome> bad_;
  std::size_t points_ = 0, failed_points_ = 0, incomplete_ = 0, within_bound_ = 0;
  std::size_t over_budget_ = 0;  // of the incomplete
};

}  // namespace sym::command
