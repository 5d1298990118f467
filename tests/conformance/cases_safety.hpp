// What programs do to collectives: one PE comes late, two streams and two teams at once, graphs of
// both, memory at any element; and PEs that come with different counts.
#pragma once

#include <array>

#include "experiments/sym/norm_kernels.hpp"
#include "tests/conformance/cases_collective.hpp"
#include "tests/conformance/cases_launch.hpp"

namespace sym::conformance {

// --- a delayed PE --------------------------------------------------------------------------------

// Keeps a stream busy.
struct Toil {
  Window<float> memory;
  int times;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    for (int i = 0; i < times; ++i) block.transform(memory, memory.all(), Add{}, memory, memory);
  }
};

// Each PE in turn is late by a launch that takes long; the others wait for it, or are ahead by what
// the variant allows, and their inputs are rewritten as soon as their own launch has ended.
template <class W>
void one_pe_is_late(W& world, Errors& errors) {
  Collectives<float, W> collectives(world, errors, 260);
  const auto memory = world.template allocate<float>(2048);
  for (int late = 0; late < world.n_pes(); ++late) {
    for (std::size_t n : {1, 260}) {
      const auto delay = [&] {
        if (world.pe() == late) world.launch(launch_of("toil"), Toil{memory, 40});
      };
      delay();
      collectives.template reductions<Sum>(world.team(), n, 2);
      delay();
      collectives.movements(world.team(), n, 2);
    }
  }
}

// --- streams, teams and graphs -------------------------------------------------------------------

// One all-reduce on a stream of its own, with a channel and windows of its own.
template <class W>
struct SideBySide {
  using T = std::int32_t;
  W& world;
  Team team;
  int stream;
  std::size_t n;
  Window<T> in, out;
  Group group;

  SideBySide(W& w, const Team& members, int number, std::size_t count)
      : world(w),
        team(members),
        stream(number),
        n(count),
        in(w.template allocate<T>(count)),
        out(w.template allocate<T>(count)),
        group{w.channel({2, 512}), members} {}

  void fill(int iteration) {
    if (!team.contains_self()) return;
    write_all(world, in, values<T>({iteration, world.pe(), team.size()}, n));
    write_all(world, out, poison<T>(n));
  }
  void launch() {
    if (!team.contains_self()) return;
    world.launch(launch_of("two_shot", 2, stream),
                 AllReduceKernel<Variant::two_shot, T, Sum>{group, in, out, n});
    world.launch(launch_of("one_shot", 2, stream),
                 AllReduceKernel<Variant::one_shot, T, Max>{group, out, out, n});
  }
  void expect(Errors& errors, int iteration, const std::string& what) {
    if (!team.contains_self()) return;
    expect_equal(errors, who(world, what + ", stream " + std::to_string(stream)),
                 read_all(world, out, n), combined<T>(iteration, team, n, 0, Sum{}));
  }
};

template <class W>
void run_side_by_side(W& world, Errors& errors, const Team& first, const Team& second) {
  SideBySide<W> low(world, first, 0, 301);
  SideBySide<W> high(world, second, 1, 157);
  const auto both = [&](auto f) {
    f(low);
    f(high);
  };
  for (int iteration = 1; iteration <= 2; ++iteration) {
    both([&](auto& side) { side.fill(iteration + side.stream); });
    for (int times = 0; times < 2; ++times) both([](auto& side) { side.launch(); });
    world.synchronize();
    both([&](auto& side) { side.expect(errors, iteration + side.stream, "launched"); });
  }
  world.begin_capture();
  both([](auto& side) { side.launch(); });
  const GraphId graph = world.end_capture();
  for (int iteration = 5; iteration <= 7; ++iteration) {
    both([&](auto& side) { side.fill(iteration + side.stream); });
    world.replay(graph);
    world.synchronize();
    both([&](auto& side) { side.expect(errors, iteration + side.stream, "replayed"); });
  }
}

template <class W>
void two_streams_one_team(W& world, Errors& errors) {
  run_side_by_side(world, errors, world.team(), world.team());
}
// All but the last PE, and all but the first: at the same time.
template <class W>
void two_teams_at_once(W& world, Errors& errors) {
  const int most = world.n_pes() - 1;
  run_side_by_side(world, errors, Team::strided(world.pe(), 0, 1, most),
                   Team::strided(world.pe(), 1, 1, most));
}

// --- memory at any element -----------------------------------------------------------------------

template <class T, class W>
class Shifted : public Collectives<T, W> {
 public:
  Shifted(W& world, Errors& errors, std::size_t most, std::array<std::size_t, 3> by)
      : Collectives<T, W>(world, errors, most) {
    this->in_ = this->in_.at(by[0]);
    this->out_ = this->out_.at(by[1]);
    this->work_ = this->work_.at(by[2]);
  }
};

template <class T, class W>
void at_any_element(W& world, Errors& errors) {
  for (const auto& by : std::array<std::array<std::size_t, 3>, 2>{{{1, 1, 1}, {3, 0, 5}}}) {
    Shifted<T, W> shifted(world, errors, 520, by);
    for (std::size_t n : {0, 7, 511}) {
      shifted.template reductions<Sum>(world.team(), n, 2);
      shifted.movements(world.team(), n, 2);
    }
  }
}

template <class W>
std::vector<Case<W>> safety_cases() {
  const Effort once = Effort::worst_only;
  std::vector<Case<W>> cases{
      {"one_pe_is_late", {2, 3}, one_pe_is_late<W>},
      {"two_streams_one_team", {2, 3}, two_streams_one_team<W>},
      {"two_teams_at_once", {3, 4}, two_teams_at_once<W>, Effort::every_schedule, 3},
      {"at_any_element_bf16", {2, 5}, at_any_element<bf16, W>, once}};
  if constexpr (!few_kernels)
    cases.push_back({"at_any_element_u8", {3}, at_any_element<std::uint8_t, W>, once});
  return cases;
}

// --- refusals, on worlds that recover ------------------------------------------------------------

// The last PE comes with another count. At least one PE is told that it is a mismatch, nobody
// hangs, and after recover() the same channel works.
template <Variant variant, class W>
void counts_differ(W& world, Errors& errors) {
  constexpr std::size_t n = 200;
  const auto in = world.template allocate<float>(n);
  const auto out = world.template allocate<float>(n);
  const Channel channel = world.channel({2, 1024});
  const std::size_t mine = world.pe() + 1 == world.n_pes() ? n - 1 : n;
  const auto launch = [&](std::size_t count) {
    const Group group{channel.tagged(operation_tag(1, count, sizeof(float), 2)), world.team()};
    world.launch(launch_of("counted", 2),
                 AllReduceKernel<variant, float, Sum>{group, in, out, count});
    world.synchronize();
  };
  try {
    launch(mine);
    errors.add(who(world, "counts differ, and nothing was said"));
  } catch (const Failure& failure) {
    const std::string text = failure.what();
    if (text.find("mismatch") == std::string::npos &&
        text.find("another operation") == std::string::npos &&
        text.find("wait") == std::string::npos)
      errors.add(who(world, "no word of a mismatch in: " + text));
  }
  world.recover();
  write_all(world, in, values<float>({1, world.pe(), world.n_pes()}, n));
  launch(n);
  expect_equal(errors, who(world, "after recovery"), read_all(world, out, n),
               combined<float>(1, world.team(), n, 0, Sum{}));
}

// Every PE must be told of an overlap, and the world must work again.
template <class W, class Kernel>
void expect_overlap(W& world, Errors& errors, const char* name, const Kernel& kernel) {
  std::string text = "nothing was refused";
  try {
    world.launch(launch_of(name), kernel);
    world.synchronize();
  } catch (const Failure& failure) {
    text = failure.what();
  }
  if (text.find("overlap its output") == std::string::npos &&
      text.find("overlaps neither its input nor its output") == std::string::npos)
    errors.add(who(world, std::string(name) + ": no word of an overlap in: " + text));
  world.recover();
}

// An input that overlaps its output in part is refused on every PE, in words; in place is right.
template <class W>
void overlap_is_refused(W& world, Errors& errors) {
  constexpr std::size_t n = 40;
  const auto ranks = static_cast<std::size_t>(world.n_pes());
  const auto memory = world.template allocate<float>(n * (ranks + 1));
  const Group group{world.channel({1, 256}), world.team()};
  const auto refused = [&](const char* name, const auto& kernel) {
    expect_overlap(world, errors, name, kernel);
  };
  const auto behind = memory.at(1);
  refused("two_shot", AllReduceKernel<Variant::two_shot, float, Sum>{group, memory, behind, n});
  refused("ring", AllReduceKernel<Variant::ring, float, Sum>{group, memory, memory, n});
  refused("read", AllReduceKernel<Variant::one_shot_read, float, Sum>{group, behind, memory, n});
  refused("all_gather", AllGatherKernel<Variant::direct, float>{group, behind, memory, n});
  refused("packets", AllReduceKernel<Variant::one_shot, float, Sum>{group, memory, behind, n});
  refused("gather packets", AllGatherKernel<Variant::one_shot, float>{group, behind, memory, n});
  const auto scatter = [&](auto kernel, const char* name) {
    kernel.group = group, kernel.n = n;
    kernel.in = memory, kernel.work = behind;
    kernel.out = memory.at(ranks * n - 1);  // the last element alone
    refused(name, kernel);
  };
  scatter(ReduceScatterKernel<Variant::direct, float, Sum>{}, "scatter");
  scatter(ReduceScatterKernel<Variant::one_shot, float, Sum>{}, "scatter packets");
  scatter(ReduceScatterKernel<Variant::push, float, Sum>{}, "scatter push");
  scatter(ReduceScatterKernel<Variant::ring, float, Sum>{}, "scatter ring");
  if (world.n_pes() == 1) {  // the root alone reads its input
    refused("broadcast", BroadcastKernel<Variant::direct, float>{group, memory, behind, n, 0});
    refused("packets", BroadcastKernel<Variant::one_shot, float>{group, memory, behind, n, 0});
    refused("two_shot", BroadcastKernel<Variant::two_shot, float>{group, behind, memory, n, 0});
  }
  const auto place = memory.at(static_cast<std::size_t>(world.pe()) * n);
  write_all(world, place, values<float>({1, world.pe(), 1}, n));
  world.launch(launch_of("in place"),
               AllGatherKernel<Variant::direct, float>{group, place, memory, n});
  std::vector<float> wanted;
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    const std::vector<float> part = values<float>({1, pe, 1}, n);
    wanted.insert(wanted.end(), part.begin(), part.end());
  }
  expect_equal(errors, who(world, "in place"), read_all(world, memory, n * ranks), wanted);
}

template <class W>
std::vector<Case<W>> safety_recovery_cases() {
  return {{"overlap_is_refused", {1, 2, 3}, overlap_is_refused<W>},
          {"counts_differ_two_shot", {2, 3}, counts_differ<Variant::two_shot, W>},
          {"counts_differ_one_shot", {2, 3}, counts_differ<Variant::one_shot, W>}};
}

}  // namespace sym::conformance
