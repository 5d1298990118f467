// `replay FILE` of a checked kernel: the same run again, or a smaller one.
#include <cstdio>

#include "backends/check/found.hpp"
#include "backends/check/program_id.hpp"
#include "backends/check/shrink.hpp"
#include "backends/check/timeline.hpp"
#include "backends/check/user_session.hpp"
#include "backends/report/build.hpp"
#include "backends/report/wording.hpp"
#include "core/error.hpp"

namespace sym::check {

namespace {

struct Arguments {
  std::string file, out;
  bool shrink = false;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--shrink") {
      arguments.shrink = true;
    } else if (words[i] == "--out" && i + 1 < words.size() && !words[i + 1].empty()) {
      arguments.out = words[++i];
    } else if (arguments.file.empty() && !words[i].empty() && words[i][0] != '-') {
      arguments.file = words[i];
    } else {
      throw UsageError("replay FILE [--shrink [--out G]]: '" + words[i] + "' is not expected");
    }
  }
  if (arguments.file.empty()) throw UsageError("replay FILE: one file is wanted");
  if (!arguments.out.empty() && !arguments.shrink) throw UsageError("--out goes with --shrink");
  return arguments;
}

CheckOptions run_of(const UserOptions& options, const report::Replay& replay) {
  CheckOptions run = options.check;
  run.pes = options.pes.at(0);
  run.schedule = options.schedules.at(0);
  run.decisions = replay.decisions;
  run.exact_replay = replay.exact;
  return run;
}

void print_timeline(CheckOptions run, const Program& program, const std::string& bug) {
  constexpr std::size_t most_lines = 20;
  Timeline timeline([&](const fiber::Finding& finding) { return found_of(finding).bug() == bug; });
  run.tracer = &timeline;
  (void)check_program(run, program);
  for (const std::string& line : timeline.lines(most_lines)) std::printf("  %s\n", line.c_str());
}

// Fewer PEs, then fewer decisions: what else a program is made of is in its host code.
int shrink_session(const Arguments& arguments, const report::Replay& before, const Program& program,
                   const std::string& name) {
  const UserOptions options = parse_user_options(before.arguments);
  report::Replay after = before;
  Shrinker<CheckOptions> shrinker(
      run_of(options, before), [&](const CheckOptions& run) -> Shrinker<CheckOptions>::Log {
        const CheckReport report = check_program(run, program);
        std::vector<report::Finding> found = report::distinct(found_of(report.findings));
        const bool hit = std::any_of(found.begin(), found.end(), [&](const auto& finding) {
          return finding.bug() == before.wanted;
        });
        if (!hit) return std::nullopt;
        after.findings = std::move(found);
        return report.decisions;
      });
  if (!shrinker.begin()) throw Failure("the run of this file has no such finding any more");
  (void)shrinker.less<int>(shrinker.best().pes, 1, [](CheckOptions& run, int n) { run.pes = n; });
  shrinker.fewer_decisions();
  after.arguments = options.arguments_of(shrinker.best());
  after.decisions = shrinker.best().decisions;
  after.exact = shrinker.best().exact_replay;
  std::fputs(after.text().c_str(), stdout);
  print_timeline(shrinker.best(), program, before.wanted);
  const std::string file = report::write_replay(after, arguments.out, replay_identity());
  std::printf(
      "# %s, from %d; %zu decisions other than the oldest first, from %zu; %zu runs tried\n",
      report::number_of(static_cast<std::uint64_t>(shrinker.best().pes), "PE").c_str(),
      options.pes.at(0), decisions_set(after.decisions), decisions_set(before.decisions),
      shrinker.tried());
  std::printf("  replay %s replay %s\n", name.c_str(), file.c_str());
  return 1;
}

}  // namespace

report::Identity replay_identity() { return report::source_id() + ", program " + program_id(); }

int replay_session(const std::vector<std::string>& words, const Program& program,
                   const std::string& name) {
  const Arguments arguments = parse(words);
  const report::Replay replay = report::read_replay(arguments.file, replay_identity());
  if (arguments.shrink) return shrink_session(arguments, replay, program, name);
  report::Replay again;
  const CheckOptions run = run_of(parse_user_options(replay.arguments), replay);
  again.findings = report::distinct(found_of(check_program(run, program).findings));
  return report::compare_replays(replay, again);
}

}  // namespace sym::check
