// Refusals that the kernel catches, calls that have no other half, and places that nobody wrote.
#include "core/collective/barrier.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range few{0, 8};

// Goes on as if nothing had been.
template <class Act>
void ignoring(Act act) {
  try {
    act();
  } catch (...) {
  }
}

struct Swallows {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    ignoring([&] { block.put(desk.a.at(fixed ? 0 : 90), desk.b, few, block.pe()); });
    block.quiet();
    barrier(block, desk.group);
  }
};

struct SwallowsAtTheEnd {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    ignoring([&] { (void)block.read(desk.a, fixed ? 0 : Desk::n); });
  }
};

// Tries again until it succeeds, with nothing in between at which the run could end.
struct InsistsInAPiece {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.warps(1, [&](auto& piece, std::size_t) {
      bool done = false;
      while (!done) {
        ignoring([&] {
          (void)piece.read(desk.a, fixed ? 0 : Desk::n);
          done = true;
        });
      }
    });
  }
};

void insists_on_the_world(FiberWorld& world, bool fixed) {
  world.launch(launch_of("planted", 1), [&world, fixed](auto& block) {
    bool done = false;
    while (!done) {
      ignoring([&] {
        block.sync();
        while (!fixed && !done) ignoring([&] { done = world.local<int>(1).count == 1; });
        done = true;
      });
    }
  });
}

void capture_left_open(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.begin_capture();
  world.launch(launch_of("planted", 1), SwallowsAtTheEnd{desk, true});
  if (fixed) world.replay(world.end_capture());
}

// A path of the kernel goes round one of the two.
template <bool enters, bool leaves>
struct HalfAChannel {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (fixed || enters) block.enter(desk.group.channel);
    barrier(block, desk.group);
    if (fixed || leaves) block.leave(desk.group.channel);
  }
};

// A block that has the rows takes them again.
struct EntersTwice {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(desk.group.channel);
    if (fixed) block.leave(desk.group.channel);
    block.enter(desk.group.channel);
    block.leave(desk.group.channel);
  }
};

// Keys that are left out have no place.
struct LeavesPlaces {
  Desk desk;
  Window<std::int32_t> keys;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Scratch<std::uint32_t> counts{0, 4};
    const Scratch<std::uint32_t> places{16, 8};
    const auto zero = []() { return std::uint32_t{0}; };
    block.transform(counts, counts.all(), zero);
    block.tally(counts, keys, few, places);
    (void)block.read(places, fixed ? 3 : 4);
  }
};
void places_left_out(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const auto keys = world.allocate_control<std::int32_t>(8);
  write_all(world, keys, std::vector<std::int32_t>{0, 1, -1, 3, -1, 2, 2, 4});
  world.barrier();
  LaunchConfig config = launch_of("planted", 1);
  config.scratch_bytes = 64;
  world.launch(config, LeavesPlaces{desk, keys, fixed});
}

// Each writes words that verbs of a table keep for themselves. Repaired, it has words of its own.
struct PutsIntoSent {
  template <Block B>
  void operator()(B& block, const Group& group, Window<std::uint64_t> words) const {
    block.put_value(words, 0, std::uint64_t{9}, group.team.pe(group.team.next()));
  }
  static Window<std::uint64_t> words_of(const Channel& channel) { return channel.steps.sent; }
};
struct FillsSeen {
  template <Block B>
  void operator()(B& block, const Group&, Window<std::uint64_t> words) const {
    block.transform(words, words.all(), []() { return std::uint64_t{0}; });
  }
  static Window<std::uint64_t> words_of(const Channel& channel) { return channel.barriers.seen; }
};
struct ClearsBusy {
  template <Block B>
  void operator()(B& block, const Group& group, Window<std::uint64_t> words) const {
    block.enter(group.channel);
    block.fetch_add(words, 0, std::uint64_t{1}, block.pe());
    block.leave(group.channel);
  }
  static Window<std::uint64_t> words_of(const Channel& channel) { return channel.busy; }
};
struct CopiesIntoSeen {
  template <Block B>
  void operator()(B& block, const Group& group, Window<std::uint64_t> words) const {
    block.put(words, group.channel.steps.words, Range{0, 1}, group.team.pe(group.team.next()));
  }
  static Window<std::uint64_t> words_of(const Channel& channel) { return channel.steps.seen; }
};

template <class Act>
struct WritesOwnWords {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const auto theirs = Act::words_of(desk.group.channel);
    Act{}(block, desk.group, fixed ? desk.words : theirs);
    block.quiet();
  }
};

}  // namespace

std::vector<Program> refusal_programs() {
  const std::string left_open = "by the end of the ";
  const std::string alone = "only the verbs of its table may";
  return {
      {"swallowed_refusal", "error", 2, one_launch_of<Swallows>, {"out of bounds", "put at "}},
      {"swallowed_refusal_at_the_end",
       "error",
       1,
       one_launch_of<SwallowsAtTheEnd>,
       {"out of bounds: read of element 96 of 96"}},
      {"insists_in_a_piece", "error", 2, one_launch_of<InsistsInAPiece>, {"out of bounds: read"}},
      {"insists_on_the_world",
       "error",
       2,
       insists_on_the_world,
       {"World::local is called from inside a kernel"}},
      {"capture_left_open",
       "unbalanced",
       2,
       capture_left_open,
       {left_open + "program", "PE 0 host  World::begin_capture at "},
       "never run"},
      {"channel_not_left",
       "unbalanced",
       2,
       one_launch_of<HalfAChannel<true, false>>,
       {"was entered and not left", "enter at "},
       "leave the channel"},
      {"channel_not_entered",
       "unbalanced",
       2,
       one_launch_of<HalfAChannel<false, true>>,
       {"is left that was not entered", "leave at "},
       "enter the channel"},
      {"channel_entered_twice",
       "busy",
       1,
       one_launch_of<EntersTwice>,
       {"this block has entered the channel and not left it", "launch 1 (planted) block 0  enter"},
       "leave the channel before entering it again"},
      {"places_left_out",
       "uninitialised-read",
       1,
       places_left_out,
       {"UNINITIALISED READ  read of scratch"}},
      {"puts_into_sent",
       "error",
       2,
       one_launch_of<WritesOwnWords<PutsIntoSent>>,
       {"a put_value writes channel #0 steps sent", alone}},
      {"fills_seen",
       "error",
       2,
       one_launch_of<WritesOwnWords<FillsSeen>>,
       {"a transform writes channel #0 barriers seen", alone}},
      {"clears_busy",
       "error",
       2,
       one_launch_of<WritesOwnWords<ClearsBusy>>,
       {"a fetch_add writes channel #0 busy", alone}},
      {"copies_into_seen",
       "error",
       2,
       one_launch_of<WritesOwnWords<CopiesIntoSeen>>,
       {"a put writes channel #0 steps seen", alone}}};
}

}  // namespace sym::caught
