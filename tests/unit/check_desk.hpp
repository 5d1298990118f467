// A kernel of one block on every PE, with memory of every kind, under the checker: what it is
// worth.
#pragma once

#include <string>

#include "backends/check/run.hpp"

namespace sym::check {

using F = fiber::FiberBlock;
inline constexpr std::size_t n = 64;
inline constexpr Range all{0, n};

struct Desk {
  Group group;
  Window<float> x, y;
  Window<std::int32_t> keys;
  Window<std::uint32_t> numbers;
  Local<float> local;
  Scratch<std::uint32_t> counts{0, n};
  Scratch<float> scratch{4 * n, n};
};

struct Zero {
  std::uint32_t operator()() const { return 0; }
};
struct Same {
  template <class A>
  A operator()(A a) const {
    return a;
  }
};
// Of `pe`, from `first` on.
struct From {
  int pe;
  std::size_t first = 0;
  Term operator()(int) const { return Term{pe, first, 1.0F}; }
};

// The findings that a kernel of one block on every PE is worth: kinds, and all text.
struct Found {
  std::string kinds, text;
  std::size_t accesses = 0;
};
template <class Kernel>
Found found(Kernel kernel, int pes = 2, const std::string& schedule = "fifo") {
  CheckOptions options;
  options.pes = pes;
  options.schedule = schedule;
  const auto report = run_check(options, [&](fiber::FiberWorld& world) {
    const Desk desk{{world.channel({1}), world.team()},
                    world.allocate<float>(n),
                    world.allocate<float>(n),
                    world.allocate_control<std::int32_t>(n),
                    world.allocate_control<std::uint32_t>(n),
                    world.local<float>(n)};
    LaunchConfig config;
    config.name = "pieces";
    config.scratch_bytes = 8 * n;
    world.launch(config, [=](F& block) { kernel(block, desk); });
  });
  Found result{"", report.text(), report.accesses};
  for (const auto& finding : report.findings)
    result.kinds += (result.kinds.empty() ? "" : " ") + finding.kind;
  return result;
}

}  // namespace sym::check
