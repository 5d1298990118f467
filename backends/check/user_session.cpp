#include "backends/check/user_session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "backends/check/found.hpp"
#include "backends/report/covered.hpp"
#include "backends/report/replay_file.hpp"
#include "backends/report/wording.hpp"

namespace sym::check {

namespace {

using report::number_of;

// On GitHub: the line that marks the place in the change under review. The file is named as the
// compiler was given it; sym_add_checked_kernel sees to it that this is from the project's folder.
void annotate(const report::Finding& finding) {
  const char* github = std::getenv("GITHUB_ACTIONS");
  if (github == nullptr || std::string(github) != "true") return;
  const std::string title = finding.text.substr(0, finding.text.find('\n'));
  for (const report::Place& place : finding.places) {
    if (place.line == 0) continue;
    std::printf("::error file=%s,line=%d,title=%s::%s\n", place.file.c_str(), place.line,
                finding.kind.c_str(), (title + " " + finding.why).c_str());
    return;
  }
  std::printf("::error title=%s::%s\n", finding.kind.c_str(), title.c_str());
}

// What the runs of one schedule in one world have come to.
struct Tally {
  std::uint64_t bad = 0, executions = 0;
  std::string unfinished;  // why; empty: all came to their end
  bool within_bound = false;
  CheckReport last;
  double missed = 1;  // the probability that pct has missed a bug of its depth
};

class Session {
 public:
  Session(const UserOptions& options, const Program& program, std::string name)
      : options_(options), program_(program), name_(std::move(name)), findings_(options.files) {}

  int run() {
    for (int pes : options_.pes) {
      for (const std::string& schedule : options_.schedules) run_all(pes, schedule);
    }
    findings_.write();
    for (const std::string& line : findings_.summary()) std::printf("%s\n", line.c_str());
    if (sites_.empty() && !wrong_) {
      std::printf("NOTHING was checked: no kernel and no queue has called a verb\n");
      return 1;
    }
    print_sites();
    return wrong_ ? 1 : 0;
  }

 private:
  std::uint64_t runs_of(const std::string& schedule) const {
    return is_seeded(schedule) ? options_.runs : 1;
  }

  // Every seed of one schedule in one world, and a line about them.
  void run_all(int pes, const std::string& schedule) {
    const std::uint64_t runs = runs_of(schedule);
    CheckOptions options = options_.check;
    options.pes = pes;
    options.schedule = schedule;
    Tally tally;
    for (std::uint64_t run = 0; run < runs && !never_yields(tally.last); ++run, ++options.seed) {
      one(options, tally);
      if (run == 0) options.pct_steps = tally.last.pct.steps;
    }
    wrong_ = wrong_ || tally.bad > 0 || !tally.unfinished.empty();
    print(options, tally);
  }

  // Each seed of such a program takes as long as a kernel may compute, to say the same.
  static bool never_yields(const CheckReport& report) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [](const auto& finding) { return finding.kind == "no-yield"; });
  }

  void one(const CheckOptions& options, Tally& tally) {
    tally.last = check_program(options, program_);
    const CheckReport& last = tally.last;
    const std::vector<report::Finding> found = report::distinct(found_of(last.findings));
    tell(options, found, last.decisions);
    if (!findings_.counted(found).empty()) ++tally.bad;
    tally.executions += last.executions;
    tally.missed *= 1 - last.pct.bound;
    tally.within_bound = tally.within_bound || last.within_bound;
    for (const auto& [site, times] : last.statistics.sites) sites_[site] += times;
    std::string why = findings_.ended_early(found);
    if (last.incomplete && !last.within_bound)
      why = "a budget ended it, and nothing is known of the rest: " + last.not_reached;
    if (why.empty()) return;
    findings_.incomplete(why);
    tally.unfinished = why;
  }

  void print(const CheckOptions& options, const Tally& tally) const {
    const bool exhaustive = options.schedule == "exhaustive";
    std::printf("%-10s %d PEs  %-10s %s, %s, %s in the last\n",
                tally.bad > 0                         ? "FINDINGS"
                : !tally.unfinished.empty()           ? "INCOMPLETE"
                : tally.last.statistics.sites.empty() ? "nothing"
                                                      : "clean",
                options.pes, options.schedule.c_str(),
                number_of(tally.executions, exhaustive ? "execution" : "run").c_str(),
                number_of(tally.last.statistics.sites.size(), "op site").c_str(),
                number_of(tally.last.statistics.transfers, "transfer").c_str());
    if (options.schedule == "pct") {
      std::printf(
          "%-10s a bug of depth %d, if there is one, is found with probability %.3g or more\n", "",
          options.pct_depth, 1 - tally.missed);
    }
    if (exhaustive) {
      std::printf("%-10s %s, %s\n", "", report::search_extent(options.bound).c_str(),
                  report::search_end(!tally.unfinished.empty(), tally.within_bound).c_str());
    }
    if (!tally.unfinished.empty()) std::printf("%-10s %s\n", "", tally.unfinished.c_str());
    if (never_yields(tally.last) && tally.executions < runs_of(options.schedule)) {
      std::printf("%-10s not all of %s: a kernel that never yields is the same with each seed\n",
                  "", number_of(runs_of(options.schedule), "run").c_str());
    }
  }

  // Tells what is new, once, with what has it again.
  void tell(const CheckOptions& options, const std::vector<report::Finding>& found,
            const std::vector<std::uint32_t>& decisions) {
    const report::Origin origin{name_.substr(name_.rfind('/') + 1),
                                "",
                                "check",
                                options.schedule,
                                options.pes,
                                options.seed};
    const std::vector<std::size_t> fresh = findings_.add(origin, found);
    if (fresh.empty()) return;
    for (std::size_t at : fresh) {
      std::printf("%s\n", findings_.all()[at].finding.text.c_str());
      annotate(findings_.all()[at].finding);
    }
    report::Replay replay;
    replay.arguments = options_.arguments_of(options);
    replay.decisions = decisions;
    replay.findings = found;
    replay.wanted = findings_.all()[fresh.front()].finding.bug();
    std::string words = name_;
    for (const std::string& word : replay.arguments) words += " " + word;
    std::printf("  again  %s\n", words.c_str());
    if (!report::has_json()) return;
    if (options.schedule == "exhaustive") of_one_execution(options, replay);
    const std::string file = report::write_replay(replay, "", replay_identity());
    for (std::size_t at : fresh) findings_.all()[at].replay = file;
    std::printf("  replay %s replay %s\n", name_.c_str(), file.c_str());
    std::fflush(stdout);
  }

  // The file is about the first execution that had a finding.
  void of_one_execution(const CheckOptions& options, report::Replay& replay) const {
    CheckOptions execution = options;
    execution.decisions = replay.decisions;
    replay.findings = report::distinct(found_of(check_program(execution, program_).findings));
    if (!replay.findings.empty()) replay.wanted = replay.findings.front().bug();
  }

  void print_sites() const {
    if (options_.coverage) {
      for (const auto& [site, times] : sites_) {
        std::printf("  %s  %s  x%llu\n", site.first.c_str(), site.second.c_str(),
                    static_cast<unsigned long long>(times));
      }
    } else if (!wrong_) {
      report::Sites sites;
      for (const auto& [site, times] : sites_) sites.insert(site);
      for (const std::string& line : report::covered_lines(sites))
        std::printf("covered    %s\n", line.c_str());
    }
  }

  const UserOptions& options_;
  const Program& program_;
  std::string name_;
  report::Findings findings_;
  decltype(fiber::Statistics::sites) sites_;  // of all runs
  bool wrong_ = false;
};

}  // namespace

int run_session(const UserOptions& options, const Program& program, const std::string& name) {
  return Session(options, program, name).run();
}

}  // namespace sym::check
