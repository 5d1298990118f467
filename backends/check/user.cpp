#include "backends/check/user.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "backends/check/user_options.hpp"
#include "core/error.hpp"

namespace sym::check {

namespace {

bool is_seeded(const std::string& schedule) { return schedule == "random" || schedule == "pct"; }

// The same bug at the same places is one finding, whatever seed has found it.
std::string key_of(const fiber::Finding& finding) {
  if (finding.places.empty()) return finding.kind + finding.text;
  std::string key = finding.kind;
  for (const fiber::Place& place : finding.places) {
    key += std::string(" ") + place.site.file + ":" + std::to_string(place.site.line);
  }
  return key;
}

// On GitHub: the line that marks the place in the change under review. The file is named as the
// compiler was given it; sym_add_checked_kernel sees to it that this is from the project's folder.
void annotate(const fiber::Finding& finding) {
  const char* github = std::getenv("GITHUB_ACTIONS");
  if (github == nullptr || std::string(github) != "true") return;
  const std::string title = finding.text.substr(0, finding.text.find('\n'));
  for (const fiber::Place& place : finding.places) {
    if (place.site.line == 0) continue;
    std::printf("::error file=%s,line=%d,title=%s::%s\n", place.site.file, place.site.line,
                finding.kind.c_str(), (title + " " + finding.why).c_str());
    return;
  }
  std::printf("::error title=%s::%s\n", finding.kind.c_str(), title.c_str());
}

class Session {
 public:
  Session(const UserOptions& options, const Program& program, std::string name)
      : options_(options), program_(program), name_(std::move(name)) {}

  int run() {
    for (int pes : options_.pes) {
      for (const std::string& schedule : options_.schedules) run_all(pes, schedule);
    }
    for (const auto& [key, count] : seen_) {
      if (count > 1) repeated_ += count - 1;
    }
    if (repeated_ > 0) std::printf("and %d repetitions of these findings\n", repeated_);
    return wrong_ ? 1 : 0;
  }

 private:
  // Every seed of one schedule in one world, and a line about them.
  void run_all(int pes, const std::string& schedule) {
    const std::uint64_t runs = is_seeded(schedule) ? options_.runs : 1;
    std::uint64_t bad = 0, unfinished = 0, executions = 0;
    CheckOptions options = options_.check;
    options.pes = pes;
    options.schedule = schedule;
    CheckReport last;
    double missed = 1;  // the probability that pct has missed a bug of its depth
    for (std::uint64_t run = 0; run < runs; ++run, ++options.seed) {
      if (!one(options, last)) ++bad;
      executions += last.executions;
      if (last.incomplete) ++unfinished;
      if (run == 0) options.pct_steps = last.pct.steps;
      missed *= 1 - last.pct.bound;
    }
    wrong_ = wrong_ || bad > 0 || unfinished > 0;
    std::printf("%-10s %d PEs  %-10s %llu %s, %llu op sites, %llu transfers in the last\n",
                bad > 0          ? "FINDINGS"
                : unfinished > 0 ? "INCOMPLETE"
                                 : "clean",
                pes, schedule.c_str(), static_cast<unsigned long long>(executions),
                executions == 1 ? "run" : "runs",
                static_cast<unsigned long long>(last.statistics.sites.size()),
                static_cast<unsigned long long>(last.statistics.transfers));
    if (schedule == "pct") {
      std::printf(
          "%-10s a bug of depth %d, if there is one, is found with probability %.3g or more\n", "",
          options.pct_depth, 1 - missed);
    }
    if (unfinished > 0) {
      std::printf("%-10s a budget ended it, and nothing is known of the rest: %s\n", "",
                  last.incomplete ? last.not_reached.c_str() : "see the runs before");
    }
  }

  bool one(const CheckOptions& options, CheckReport& report) {
    report = check_program(options, program_);
    for (const fiber::Finding& finding : report.findings) {
      if (++seen_[key_of(finding)] > 1) continue;
      std::printf("%s\n  again  %s\n", finding.text.c_str(), command(options).c_str());
      annotate(finding);
    }
    return report.clean();
  }

  // What repeats this run: with the same build and seed it takes the same decisions.
  std::string command(const CheckOptions& options) const {
    std::ostringstream text;
    text << name_ << " --pes " << options.pes << " --schedule " << options.schedule;
    if (is_seeded(options.schedule)) text << " --seed " << options.seed;
    for (const auto& [name, value] : options_.given) text << " " << name << " " << value;
    return text.str();
  }

  const UserOptions& options_;
  const Program& program_;
  std::string name_;
  std::map<std::string, int> seen_;
  int repeated_ = 0;
  bool wrong_ = false;
};

}  // namespace

std::vector<CheckOptions> usual_schedules(const CheckOptions& base, std::uint64_t seeds) {
  std::vector<CheckOptions> all;
  for (const char* name : {"worst", "fifo", "random", "pct"}) {
    const auto& names = schedule_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    CheckOptions options = base;
    options.schedule = name;
    const std::uint64_t runs = is_seeded(name) ? seeds : 1;
    for (std::uint64_t run = 0; run < runs; ++run, ++options.seed) all.push_back(options);
  }
  return all;
}

namespace {

// What host programs have thrown: each text once, with its PEs.
class Thrown {
 public:
  explicit Thrown(int pes) : pes_(pes) {}
  void add(int pe, const std::string& what) {
    const auto same =
        std::find_if(all_.begin(), all_.end(), [&](const One& one) { return one.what == what; });
    One& one = same == all_.end() ? all_.emplace_back(One{what, {}}) : *same;
    one.pes.insert(pe);
  }
  bool empty() const { return all_.empty(); }
  std::vector<fiber::Finding> findings() const {
    std::vector<fiber::Finding> all;
    for (const One& one : all_) {
      all.push_back({"exception", "EXCEPTION on " + who(one.pes) + ": " + one.what});
    }
    return all;
  }

 private:
  struct One {
    std::string what;
    std::set<int> pes;
  };
  std::string who(const std::set<int>& pes) const {
    if (pes.size() == 1) return "PE " + std::to_string(*pes.begin());
    if (static_cast<int>(pes.size()) == pes_) return "all " + std::to_string(pes_) + " PEs";
    std::string text;
    for (const int pe : pes) text += (text.empty() ? "PEs " : ", ") + std::to_string(pe);
    return text;
  }
  int pes_;
  std::vector<One> all_;
};

}  // namespace

CheckReport check_program(const CheckOptions& options, const Program& program) {
  Thrown thrown(options.pes);
  CheckReport report = run_check(options, [&](fiber::FiberWorld& world) {
    try {
      program(world);
      world.synchronize();  // it may throw what failed in a launch
    } catch (const std::exception& error) {
      thrown.add(world.pe(), error.what());
    } catch (...) {
      thrown.add(world.pe(), "something that is no std::exception");
    }
  });
  if (thrown.empty()) return report;
  // Races come first: they may well be why. Then what was thrown, and then what ended the run; but
  // that others wait for who has thrown is no finding.
  std::vector<fiber::Finding>& findings = report.findings;
  std::erase_if(findings, [](const auto& finding) { return finding.kind == "deadlock"; });
  const auto ends = std::stable_partition(findings.begin(), findings.end(),
                                          [](const auto& finding) { return !finding.ended_run; });
  const std::vector<fiber::Finding> exceptions = thrown.findings();
  findings.insert(ends, exceptions.begin(), exceptions.end());
  return report;
}

int check_main(int argc, char** argv, const Program& program) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  try {
    const UserOptions options = parse_user_options(arguments);
    if (options.help) {
      std::printf("%s", user_help().c_str());
      return 0;
    }
    return Session(options, program, argc > 0 ? argv[0] : "program").run();
  } catch (const UsageError& error) {
    std::fprintf(stderr, "check: %s\n", error.what());
    return 2;
  }
}

}  // namespace sym::check
