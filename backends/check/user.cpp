#include "backends/check/user.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "backends/check/user_options.hpp"
#include "backends/check/user_session.hpp"
#include "core/error.hpp"

namespace sym::check {

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
  void add(const fiber::FiberWorld& world, const std::string& what) {
    const auto same =
        std::find_if(all_.begin(), all_.end(), [&](const One& one) { return one.what == what; });
    One& one = same == all_.end() ? all_.emplace_back(One{what, {}, world.last_call()}) : *same;
    one.pes.insert(world.pe());
  }
  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  std::vector<fiber::Finding> findings() const {
    std::vector<fiber::Finding> all;
    for (const One& one : all_) {
      const std::string last = one.last.site.line == 0
                                   ? ""
                                   : "\n  last   PE " + std::to_string(one.last.pe) + " host  " +
                                         to_string(one.last.verb) + fiber::at(one.last.site);
      all.push_back({"exception",
                     "EXCEPTION on " + who(one.pes) + ": " + one.what + last,
                     "",
                     "",
                     "",
                     {one.last}});
    }
    return all;
  }

 private:
  struct One {
    std::string what;
    std::set<int> pes;
    fiber::Place last;  // call of the first of them
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
  CheckOptions mine = options;
  mine.begins = [&thrown] { thrown.clear(); };
  CheckReport report = run_check(mine, [&](fiber::FiberWorld& world) {
    try {
      program(world);
      if (!world.capturing()) world.synchronize(Site{});  // it may throw what failed in a launch
    } catch (const std::exception& error) {
      world.thrown();
      thrown.add(world, error.what());
    } catch (...) {
      world.thrown();
      thrown.add(world, "something that is no std::exception");
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
  const std::string name = argc > 0 ? argv[0] : "program";
  try {
    if (!arguments.empty() && arguments[0] == "replay") {
      return replay_session({arguments.begin() + 1, arguments.end()}, program, name);
    }
    const UserOptions options = parse_user_options(arguments);
    if (options.help) {
      std::printf("%s", user_help().c_str());
      return 0;
    }
    return run_session(options, program, name);
  } catch (const std::exception& error) {  // bad usage, and programs that no search can repeat
    std::fprintf(stderr, "check: %s\n", error.what());
    return 2;
  }
}

}  // namespace sym::check
