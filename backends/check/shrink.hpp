// Shrinking: a run with a finding, made smaller while it still has it. What a program is made of is
// its owner's business; this chooses what to try, and removes decisions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sym::check {

// Of a list of decisions: those other than the oldest event first, whole.
inline std::size_t decisions_set(const std::vector<std::uint32_t>& decisions) {
  return decisions.size() -
         static_cast<std::size_t>(std::count(decisions.begin(), decisions.end(), 0U));
}

// `Options` has `schedule`, `seed`, `decisions` and `exact_replay`, as CheckOptions.
template <class Options>
class Shrinker {
 public:
  // The decisions that the run took, if it had the finding; nothing if not.
  using Log = std::optional<std::vector<std::uint32_t>>;
  using Run = std::function<Log(const Options&)>;

  Shrinker(Options options, Run run) : best_(std::move(options)), run_(std::move(run)) {}

  // Whether the run has the finding at all; then it is tried without its decisions, and if need be
  // with none of the schedule's: the oldest event first.
  bool begin() {
    if (!try_run(best_)) return false;
    (void)try_run(undecided());
    return true;
  }

  // The least of 1, 2, 3, 4, 6, 8, 12, ... below `now` times `unit` with which the finding stays,
  // in some order of events. `set` puts such a number into the options. Whether there was one.
  template <class Number>
  bool less(Number now, Number unit, const std::function<void(Options&, Number)>& set) {
    for (Number value = unit; value < now && has_tries();) {
      Options options = best_;
      set(options, value);
      if (try_program(options)) return true;
      const Number half = value / 2 / unit * unit;
      const bool power = half > 0 && ((value / unit) & (value / unit - 1)) == 0;
      value = power ? value + half : value == unit ? 2 * unit : value / 3 * 4;
    }
    return false;
  }

  // Delta debugging (Zeller and Hildebrandt 2002): ever smaller parts of the list are made 0, which
  // is the oldest event first, whole; then its end of zeros goes.
  void fewer_decisions() {
    Options options = best_;
    if (options.decisions.empty()) {
      if (log_.empty() || !options.exact_replay) return;
      options.decisions = log_;
    }
    options.exact_replay = false;
    if (!try_run(options)) return;
    for (std::size_t part = options.decisions.size(); part > 0; part /= 2) {
      for (std::size_t first = 0; first < options.decisions.size() && has_tries(); first += part) {
        without(first, std::min(part, options.decisions.size() - first));
      }
    }
    options = best_;
    while (!options.decisions.empty() && options.decisions.back() == 0)
      options.decisions.pop_back();
    (void)try_run(options);
  }

  bool has_tries() const { return tried_ < most_tries; }
  std::size_t tried() const { return tried_; }  // runs that it took
  const Options& best() const { return best_; }

 private:
  static constexpr std::size_t most_tries = 1500;
  static constexpr std::uint64_t seeds = 16;  // of random orders, for a program that became smaller

  Options undecided() const {
    Options options = best_;
    options.decisions.clear();
    options.exact_replay = false;
    return options;
  }

  bool try_run(const Options& options) {
    ++tried_;
    Log log = run_(options);
    if (!log) return false;
    best_ = options;
    log_ = std::move(*log);
    return true;
  }

  // A changed program has other choices, so the old ones are only one of those that are tried.
  bool try_program(Options options) {
    if (try_run(options)) return true;
    const bool chooses = options.schedule != "worst" && options.schedule != "fifo";
    options.decisions.clear();
    options.exact_replay = false;
    if (try_run(options)) return true;
    options.exact_replay = true;
    if (!chooses) return try_run(options);
    options.schedule = "random";
    for (std::uint64_t seed = 1; seed <= seeds && has_tries(); ++seed) {
      options.seed = seed;
      if (try_run(options)) return true;
    }
    return false;
  }

  void without(std::size_t first, std::size_t count) {
    Options fewer = best_;
    const auto begin = fewer.decisions.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    if (std::all_of(begin, end, [](std::uint32_t one) { return one == 0; })) return;
    std::fill(begin, end, 0U);
    (void)try_run(fewer);
  }

  Options best_;
  Run run_;
  std::vector<std::uint32_t> log_;
  std::size_t tried_ = 0;
};

}  // namespace sym::check
