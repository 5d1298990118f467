#include "experiments/sym/shrink.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "backends/check/shrink.hpp"
#include "backends/report/build.hpp"
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {

namespace {

class AlgorithmShrinker {
 public:
  AlgorithmShrinker(const Registry& registry, const Replay& replay)
      : algorithm_(registry.find(replay.arguments.at(0))),
        machine_(models::load_machine("h200x2")),
        wanted_(replay.wanted),
        run_(run_of(registry, replay)),
        shrinker_(run_.options, [this](const RunOptions& options) { return log_of(options); }) {}

  Shrunk shrink() {
    if (!shrinker_.begin()) throw Failure("the run of this file has no such finding any more");
    while (smaller_program() && shrinker_.has_tries()) {
    }
    shrinker_.fewer_decisions();
    return result();
  }

 private:
  using Log = check::Shrinker<RunOptions>::Log;

  // The decisions of the run, if it has the finding.
  Log log_of(const RunOptions& options) {
    try {
      const Planning planning{algorithm_, options, machine_, options.pes.at(0)};
      const Point point = algorithm_.family.points(planning).at(0);
      const Outcome outcome = run_on_check(algorithm_, point, options);
      const std::vector<Finding> found = found_by(outcome);
      const bool hit = std::any_of(found.begin(), found.end(), [this](const Finding& finding) {
        return finding.bug() == wanted_;
      });
      if (!hit) return std::nullopt;
      run_ = {point, options};
      found_ = found;
      return outcome.checked.decisions;
    } catch (const std::exception&) {
      return std::nullopt;  // options that do not go together: not a smaller run of this program
    }
  }

  bool smaller_program() {
    const auto takes = [this](const char* option) {
      const auto& all = algorithm_.family.takes;
      return std::find(all.begin(), all.end(), option) != all.end();
    };
    using Set = std::function<void(RunOptions&, std::size_t)>;
    const Point point = run_.point;
    const std::size_t element = std::max<std::size_t>(dtype_bytes(point.dtype), 1);
    bool any = shrinker_.less<int>(point.pes, 1, [](RunOptions& o, int n) {
      o.pes = {n};
      // The file's arguments say how many PEs a node has: fewer PEs must still be whole nodes.
      if (o.per_node > 0) o.per_node = std::gcd(n, o.per_node);
    });
    any |= shrinker_.less<int>(run_.point.iterations, 1,
                               [](RunOptions& o, int n) { o.iterations = n; });
    any |= shrinker_.less<int>(run_.point.blocks, 1, [](RunOptions& o, int n) { o.blocks = n; });
    const auto size = [&](const char* option, std::size_t now, std::size_t unit, const Set& set) {
      if (takes(option)) any |= shrinker_.less<std::size_t>(now, unit, set);
    };
    size("--bytes", point.bytes, element, [](RunOptions& o, std::size_t n) { o.sizes = {n}; });
    size("--tokens", point.moe.tokens, 1, [](RunOptions& o, std::size_t n) { o.tokens = {n}; });
    size("--hidden", point.moe.hidden, 1, [](RunOptions& o, std::size_t n) { o.hidden = n; });
    size("--m", point.gemm.m, 1, [](RunOptions& o, std::size_t n) { o.m = n; });
    size("--n", point.gemm.n, 1, [](RunOptions& o, std::size_t n) { o.n = n; });
    size("--k", point.gemm.k, 1, [](RunOptions& o, std::size_t n) { o.k = n; });
    return any;
  }

  Shrunk result() const {
    Shrunk shrunk;
    shrunk.run = run_;
    shrunk.tried = shrinker_.tried();
    shrunk.replay.arguments = replay_arguments(algorithm_, run_.point, run_.options);
    shrunk.replay.decisions = run_.options.decisions;
    shrunk.replay.exact = run_.options.exact_replay;
    shrunk.replay.findings = found_;
    shrunk.replay.wanted = wanted_;
    return shrunk;
  }

  const Algorithm& algorithm_;
  const models::Machine machine_;
  const std::string wanted_;
  ReplayedRun run_;  // the smallest so far
  std::vector<Finding> found_;
  check::Shrinker<RunOptions> shrinker_;
};

}  // namespace

Shrunk shrink(const Registry& registry, const Replay& replay) {
  return AlgorithmShrinker(registry, replay).shrink();
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
  std::string command;
  for (const std::string& word : shrunk.replay.arguments) command += " " + word;
  std::printf("# sym run%s\n", command.c_str());
  std::printf("# %zu runs tried; %zu decisions other than the oldest first, from %zu\n",
              shrunk.tried, check::decisions_set(shrunk.replay.decisions),
              check::decisions_set(before.decisions));
  std::printf("  replay %s replay %s\n", invocation.program.c_str(), name.c_str());
  return 1;
}

}  // namespace sym::command
