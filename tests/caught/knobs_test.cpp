// Each knob of `worst` finds a bug that nothing else of it finds: programs whose values come out
// right with every other knob on, and wrong with this one. Races are not looked for here: values
// alone count.
#include <gtest/gtest.h>

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {
namespace {

using conformance::Errors;
using conformance::expect_equal;
using conformance::poison;
using conformance::values;

constexpr Range all{0, Desk::n};

std::vector<float> data(int iteration) { return values<float>({iteration, 0, 1}, Desk::n); }

// late_source: the source is rewritten after the put, before quiet.
struct Rewrites {
  Desk desk;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, all, 1);
      block.transform(desk.b, all, detail::Identity{}, desk.out);
    }
    barrier(block, desk.group);
  }
};
void rewrites(FiberWorld& world, Errors& errors) {
  const Desk desk(world);
  write_all(world, desk.b, data(1));
  write_all(world, desk.out, data(2));
  world.launch(launch_of("rewrites"), Rewrites{desk});
  if (world.pe() == 1)
    expect_equal(errors, "what was put", read_all(world, desk.a, Desk::n), data(1));
}

// late_delivery: a signal that no fence puts behind the data.
struct Unfenced {
  Desk desk;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put_value(desk.a, 0, 1.0F, 1);
      block.signal(desk.counter, 0, 1);
    } else {
      block.wait_until(desk.counter, 0, std::uint64_t{1});
      block.transform(desk.out, Range{0, 1}, detail::Identity{}, desk.a);
    }
  }
};
void unfenced(FiberWorld& world, Errors& errors) {
  const Desk desk(world);
  world.launch(launch_of("unfenced"), Unfenced{desk});
  if (world.pe() == 1)
    expect_equal(errors, "what was signalled", read_all(world, desk.out, 1), {1.0F});
}

// split: the last element is taken for a flag that says that the others are there.
struct FlagInside {
  Desk desk;
  float flag;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, all, 1);
      block.signal(desk.counter, 0, 1);
    } else {
      block.wait_until(desk.counter, 0, std::uint64_t{1});
      const float last = block.sum(desk.a, Range{Desk::n - 1, 1}, detail::Identity{});
      if (last == flag) block.transform(desk.out, all, detail::Identity{}, desk.a);
    }
  }
};
void flag_inside(FiberWorld& world, Errors& errors) {
  const Desk desk(world);
  std::vector<float> message = data(1);
  message.back() = 1000;
  write_all(world, desk.b, message);
  world.launch(launch_of("flagged"), FlagInside{desk, message.back()});
  if (world.pe() != 1) return;
  const std::vector<float> got = read_all(world, desk.out, Desk::n);
  if (got.back() != 0) expect_equal(errors, "what the flag vouched for", got, message);
}

// skew: PE 1 samples PE 0's buffer once a launch, as if PEs went in lock step.
struct LockStep {
  Desk desk;
  Local<float> source;
  std::size_t launch;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range one{launch, 1};
    if (block.pe() == 0) block.transform(desk.a, all, detail::Identity{}, source);
    block.sync();
    if (block.pe() == 1) block.reduce(desk.b, desk.a, one, desk.group.team.only(0), Sum{});
  }
};
void lock_step(FiberWorld& world, Errors& errors) {
  const Desk desk(world);
  std::vector<float> wanted;
  std::vector<Local<float>> sources;
  for (std::size_t launch = 0; launch < 3; ++launch) {
    sources.push_back(world.local<float>(Desk::n));
    write_all(world, sources[launch], data(static_cast<int>(launch)));
    wanted.push_back(data(static_cast<int>(launch))[launch]);
  }
  world.barrier();
  for (std::size_t launch = 0; launch < 3; ++launch) {
    world.launch(launch_of("lock step"), LockStep{desk, sources[launch], launch});
  }
  if (world.pe() == 1) expect_equal(errors, "samples", read_all(world, desk.b, 3), wanted);
}

// poison: data that is there already is fetched again, and read before it has come.
struct FetchedAgain {
  Desk desk;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.get(desk.a, desk.b, all, 0);
    block.quiet();
    block.get(desk.a, desk.b, all, 0);
    block.transform(desk.out, Range{2, Desk::n - 4}, detail::Identity{}, desk.a);
    barrier(block, desk.group);
  }
};
void fetched_again(FiberWorld& world, Errors& errors) {
  const Desk desk(world);
  write_all(world, desk.b, data(1));
  world.barrier();
  world.launch(launch_of("again"), FetchedAgain{desk});
  std::vector<float> wanted = data(1);
  std::vector<float> got = read_all(world, desk.out, Desk::n);
  for (std::size_t i : {std::size_t{0}, std::size_t{1}, Desk::n - 2, Desk::n - 1})
    got[i] = wanted[i];
  if (world.pe() == 1) expect_equal(errors, "the copy", got, wanted);
}

struct KnobProgram {
  const char* name;
  bool check::Knobs::*knob;
  void (*run)(FiberWorld&, Errors&);
};
const std::vector<KnobProgram>& table() {
  static const std::vector<KnobProgram> programs{
      {"late_source", &check::Knobs::late_source, rewrites},
      {"late_delivery", &check::Knobs::late_delivery, unfenced},
      {"split", &check::Knobs::split, flag_inside},
      {"skew", &check::Knobs::skew, lock_step},
      {"poison", &check::Knobs::poison, fetched_again}};
  return programs;
}

bool right(const KnobProgram& program, const check::Knobs& knobs,
           const std::string& schedule = "worst") {
  check::CheckOptions options;
  options.schedule = schedule;
  options.knobs = knobs;
  options.detect_races = false;
  Errors errors;
  const check::CheckReport report =
      check::run_check(options, [&](FiberWorld& world) { program.run(world, errors); });
  EXPECT_EQ(report.text(), "");
  return errors.text().empty();
}

// What a knob needs to show itself: to read late, to split or to poison, delivery must be late as
// well.
check::Knobs alone(bool check::Knobs::*knob) {
  check::Knobs knobs{false, false, false, false, false};
  knobs.*knob = true;
  if (knob != &check::Knobs::skew) knobs.late_delivery = true;
  return knobs;
}

TEST(Knobs, EachFindsWhatNoOtherFinds) {
  for (const KnobProgram& program : table()) {
    SCOPED_TRACE(program.name);
    check::Knobs others;
    others.*program.knob = false;
    EXPECT_FALSE(right(program, check::Knobs{})) << "worst does not find it";
    EXPECT_TRUE(right(program, others)) << "found without the knob";
    EXPECT_FALSE(right(program, alone(program.knob))) << "the knob alone does not find it";
    EXPECT_TRUE(right(program, check::Knobs{false, false, false, false, false}))
        << "found with no knob at all";
    EXPECT_TRUE(right(program, check::Knobs{}, "fifo")) << "found in order";
    for (const KnobProgram& other : table()) {
      const check::Knobs knobs = alone(other.knob);
      if (knobs.*program.knob) continue;
      EXPECT_TRUE(right(program, knobs)) << "found by " << other.name << " alone";
    }
  }
}

}  // namespace
}  // namespace sym::caught
