#include "experiments/sym/shrink.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "backends/report/build.hpp"
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {

namespace {

constexpr std::size_t most_tries = 1500;
constexpr std::uint64_t seeds = 16;  // of random orders, for a program that has become smaller

class Shrinker {
 public:
  Shrinker(const Registry& registry, const Replay& replay)
      : algorithm_(registry.find(replay.arguments.at(0))),
        machine_(models::load_machine("h200x2")),
        wanted_(replay.wanted),
        best_(run_of(registry, replay)) {}

  Shrunk shrink() {
    if (!try_run(best_.options)) throw Failure("the run of this file has no such finding any more");
    // Without decisions, if need be none of the schedule's: the oldest event first.
    RunOptions plain = best_.options;
    plain.decisions.clear();
    plain.exact_replay = false;
    (void)try_run(plain);
    while (smaller_program() && tried_ < most_tries) {
    }
    fewer_decisions();
    return result();
  }

 private:
  // Whether the run has the finding; then it is the best so far.
  bool try_run(const RunOptions& options) {
    ++tried_;
    try {
      const Planning planning{algorithm_, options, machine_, options.pes.at(0)};
      const Point point = algorithm_.family.points(planning).at(0);
      const Outcome outcome = run_on_check(algorithm_, point, options);
      const std::vector<Finding> found = found_by(outcome);
      const bool hit = std::any_of(found.begin(), found.end(), [this](const Finding& finding) {
        return finding.bug() == wanted_;
      });
      if (!hit) return false;
      best_ = {point, options};
      found_ = found;
      log_ = outcome.checked.decisions;
      return true;
    } catch (const std::exception&) {
      return false;  // options that do not go together: not a smaller run of this program
    }
  }

  // A changed program has other choices, so the old ones are only one of those that are tried.
  bool try_program(RunOptions options) {
    if (try_run(options)) return true;
    const bool chooses = options.schedule != "worst" && options.schedule != "fifo";
    options.decisions.clear();
    options.exact_replay = false;
    if (try_run(options)) return true;
    options.exact_replay = true;
    if (!chooses) return try_run(options);
    options.schedule = "random";
    for (std::uint64_t seed = 1; seed <= seeds && tried_ < most_tries; ++seed) {
      options.seed = seed;
      if (try_run(options)) return true;
    }
    return false;
  }

  // The least of 1, 2, 3, 4, 6, 8, 12, ... below `now` times `unit` with which the finding stays.
  template <class Number>
  bool less(Number now, Number unit, const std::function<void(RunOptions&, Number)>& set) {
    for (Number value = unit; value < now && tried_ < most_tries;) {
      RunOptions options = best_.options;
      set(options, value);
      if (try_program(options)) return true;
      const Number half = value / 2 / unit * unit;
      const bool power = half > 0 && ((value / unit) & (value / unit - 1)) == 0;
      value = power ? value + half : value == unit ? 2 * unit : value / 3 * 4;
    }
    return false;
  }

  bool smaller_program() {
    const auto takes = [this](const char* option) {
      const auto& all = algorithm_.family.takes;
      return std::find(all.begin(), all.end(), option) != all.end();
    };
    using Set = std::function<void(RunOptions&, std::size_t)>;
    const Point point = best_.point;
    const std::size_t element = std::max<std::size_t>(dtype_bytes(point.dtype), 1);
    bool any = less<int>(point.pes, 1, [](RunOptions& o, int n) {
      o.pes = {n};
      // The file's arguments say how many PEs a node has: fewer PEs must still be whole nodes.
      if (o.per_node > 0) o.per_node = std::gcd(n, o.per_node);
    });
    any |= less<int>(best_.point.iterations, 1, [](RunOptions& o, int n) { o.iterations = n; });
    any |= less<int>(best_.point.blocks, 1, [](RunOptions& o, int n) { o.blocks = n; });
    const auto size = [&](const char* option, std::size_t now, std::size_t unit, const Set& set) {
      if (takes(option)) any |= less<std::size_t>(now, unit, set);
    };
    size("--bytes", point.bytes, element, [](RunOptions& o, std::size_t n) { o.sizes = {n}; });
    size("--tokens", point.moe.tokens, 1, [](RunOptions& o, std::size_t n) { o.tokens = {n}; });
    size("--hidden", point.moe.hidden, 1, [](RunOptions& o, std::size_t n) { o.hidden = n; });
    size("--m", point.gemm.m, 1, [](RunOptions& o, std::size_t n) { o.m = n; });
    size("--n", point.gemm.n, 1, [](RunOptions& o, std::size_t n) { o.n = n; });
    size("--k", point.gemm.k, 1, [](RunOptions& o, std::size_t n) { o.k = n; });
    return any;
  }

  // Ever smaller parts of the list are made 0; then its end of zeros goes.
  void fewer_decisions() {
    RunOptions options = best_.options;
    if (options.decisions.empty()) {
      if (log_.empty() || !options.exact_replay) return;
      options.decisions = log_;
    }
    options.exact_replay = false;
    if (!try_run(options)) return;
    for (std::size_t part = options.decisions.size(); part > 0; part /= 2) {
      for (std::size_t first = 0; first < options.decisions.size() && tried_ < most_tries;
           first += part) {
        RunOptions fewer = best_.options;
        const auto begin = fewer.decisions.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            begin + static_cast<std::ptrdiff_t>(std::min(part, fewer.decisions.size() - first));
        if (std::all_of(begin, end, [](std::uint32_t one) { return one == 0; })) continue;
        std::fill(begin, end, 0U);
        (void)try_run(fewer);
      }
    }
    options = best_.options;
    while (!options.decisions.empty() && options.decisions.back() == 0)
      options.decisions.pop_back();
    (void)try_run(options);
  }

  Shrunk result() const {
    Shrunk shrunk;
    shrunk.run = best_;
    shrunk.tried = tried_;
    shrunk.replay.arguments = replay_arguments(algorithm_, best_.point, best_.options);
    shrunk.replay.decisions = best_.options.decisions;
    shrunk.replay.exact = best_.options.exact_replay;
    shrunk.replay.findings = found_;
    shrunk.replay.wanted = wanted_;
    return shrunk;
  }

  const Algorithm& algorithm_;
  const models::Machine machine_;
  const std::string wanted_;
  ReplayedRun best_;
  std::vector<Finding> found_;
  std::vector<std::uint32_t> log_;
  std::size_t tried_ = 0;
};

}  // namespace

Shrunk shrink(const Registry& registry, const Replay& replay) {
  return Shrinker(registry, replay).shrink();
}

int shrink_command(const Invocation& invocation, const std::string& file, const std::string& out) {
  const Replay before = report::read_replay(file, report::source_id());
  const Shrunk shrunk = shrink(invocation.registry, before);
  const Algorithm& algorithm = invocation.registry.find(shrunk.replay.arguments.at(0));
  std::fputs(shrunk.replay.text().c_str(), stdout);
  for (const std::string& line :
       timeline_on_check(algorithm, shrunk.run.point, shrunk.run.options, before.wanted)) {
    std::printf("  %s\n", line.c_str());
  }
  const std::string name = report::write_replay(shrunk.replay, out, report::source_id());
  const auto set = [](const std::vector<std::uint32_t>& decisions) {
    return decisions.size() -
           static_cast<std::size_t>(std::count(decisions.begin(), decisions.end(), 0U));
  };
  std::string command;
  for (const std::string& word : shrunk.replay.arguments) command += " " + word;
  std::printf("# sym run%s\n", command.c_str());
  std::printf("# %zu runs tried; %zu decisions other than the oldest first, from %zu\n",
              shrunk.tried, set(shrunk.replay.decisions), set(before.decisions));
  std::printf("  replay %s replay %s\n", invocation.program.c_str(), name.c_str());
  return 1;
}

}  // namespace sym::command
