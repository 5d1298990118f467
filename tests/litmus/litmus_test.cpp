// Every row of the litmus tables: its outcomes and findings are those that the search sees, with
// and without the reduction.
#include "tests/litmus/litmus.hpp"

#include <gmock/gmock.h>

namespace sym::litmus {
namespace {

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const auto& some :
       {message_rows(), order_rows(), transfer_rows(), reuse_rows(), host_rows(), word_rows()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

struct Found {
  std::set<std::string> outcomes, kinds, findings;
  check::CheckReport report;
};

// A finding but for what its execution alone decides: of a race, which access came first, which of
// the PEs that race at these places did so first, and why the other one knows nothing of it.
std::string what(const fiber::Finding& finding) {
  if (finding.kind != "race") return finding.text;
  std::set<std::string> places;
  for (const fiber::Place& place : finding.places) {
    places.insert(place.role + " " + to_string(place.verb) + ":" + std::to_string(place.site.line));
  }
  std::string text = finding.kind;
  for (const std::string& place : places) text += ", " + place;
  return text;
}

// What one execution came to.
std::string outcome_of(const fiber::Engine& engine, const Row& row, const Seen& seen) {
  for (const fiber::Finding& finding : engine.findings()) {
    if (finding.kind == "deadlock") return "hang";
  }
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(row.reads); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(seen.r[i]);
  }
  return text;
}

enum class How { reduced, unreduced, whole };

Found explored(const Row& row, How effort, int bound = -1) {
  check::CheckOptions options;
  options.pes = row.pes;
  options.bound = bound;
  if (effort == How::whole) options.most_steps = 50'000;
  options.resident_blocks = row.resident;
  options.knobs.wrap = row.wrap;
  Found found;
  Seen seen;
  check::Exploration how;
  how.reduce = effort == How::reduced;
  how.whole = effort == How::whole;
  how.pieces = row.pieces;
  how.begin = [&] { seen = {}; };
  how.end = [&](const fiber::Engine& engine) {
    found.outcomes.insert(outcome_of(engine, row, seen));
    for (const fiber::Finding& finding : engine.findings()) {
      found.kinds.insert(finding.kind);
      found.findings.insert(what(finding));
    }
  };
  const auto program = [&](FiberWorld& world) { row.program(world, seen); };
  found.report = check::explore(options, program, how);
  return found;
}

class Litmus : public testing::TestWithParam<Row> {};

TEST_P(Litmus, ShowsExactlyWhatIsAllowed) {
  const Found found = explored(GetParam(), How::reduced);
  EXPECT_EQ(found.outcomes, GetParam().outcomes);
  EXPECT_EQ(found.kinds, GetParam().findings) << found.report.text();
  EXPECT_FALSE(found.report.incomplete);
  RecordProperty("executions", std::to_string(found.report.executions));
}

TEST_P(Litmus, ReductionLosesNothing) {
  const Found reduced = explored(GetParam(), How::reduced);
  const Found whole = explored(GetParam(), How::unreduced);
  EXPECT_EQ(reduced.outcomes, whole.outcomes);
  EXPECT_EQ(reduced.findings, whole.findings);
  EXPECT_FALSE(whole.report.incomplete);
  EXPECT_LE(reduced.report.executions, whole.report.executions);
  RecordProperty("executions", std::to_string(whole.report.executions));
}

// The same with a bound: of what few preemptions show, nothing is left out.
TEST_P(Litmus, ReductionLosesNothingWithinABound) {
  for (int bound = 0; bound <= 3; ++bound) {
    const Found reduced = explored(GetParam(), How::reduced, bound);
    const Found whole = explored(GetParam(), How::unreduced, bound);
    EXPECT_EQ(reduced.outcomes, whole.outcomes) << "at most " << bound;
    EXPECT_EQ(reduced.findings, whole.findings) << "at most " << bound;
    EXPECT_LE(reduced.report.executions, whole.report.executions);
  }
}

// Also of events that the search takes as of no consequence to others: every order, if that is not
// too much, else the first of them.
TEST_P(Litmus, LocalEventsAreOfNoConsequence) {
  const Found found = explored(GetParam(), How::whole);
  for (const std::string& outcome : found.outcomes) {
    EXPECT_THAT(GetParam().outcomes, testing::Contains(outcome));
  }
  for (const std::string& kind : found.kinds) {
    EXPECT_THAT(GetParam().findings, testing::Contains(kind));
  }
  RecordProperty("executions", std::to_string(found.report.executions));
  RecordProperty("complete", found.report.incomplete ? "no" : "yes");
  if (found.report.incomplete) return;
  EXPECT_EQ(found.outcomes, GetParam().outcomes);
  EXPECT_EQ(found.kinds, GetParam().findings);
}

INSTANTIATE_TEST_SUITE_P(All, Litmus, testing::ValuesIn(rows()),
                         [](const auto& one) { return one.param.id; });

}  // namespace
}  // namespace sym::litmus
