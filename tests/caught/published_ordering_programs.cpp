// Reports of other projects: an edge that is missing, on the wrong side, or too weak.
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range all{0, Desk::n};
constexpr Range row{0, 8};

// What a volatile load in a loop is: it sees the value, and orders nothing. Gives up after a while,
// so that a schedule that lets only this block run ends.
template <Block B>
SYM_FN bool polled(B& block, Window<std::uint64_t> word, std::uint64_t value) {
  constexpr int most_polls = 2000;
  for (int poll = 0; poll < most_polls; ++poll) {
    if (block.fetch_add(word, 0, std::uint64_t{0}, block.pe()) >= value) return true;
  }
  return false;
}

// vllm-project/vllm#2760: every PE stores its byte of one flag, the reader loads all eight.
struct FlagOfBytes {
  Desk desk;
  Window<std::uint8_t> flag;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const auto me = static_cast<std::size_t>(block.pe());
    const Signals& steps = desk.group.channel.steps;
    const Window<float> place = desk.a.at(me * row.count);
    if (me != 0 && fixed) {
      block.put_signal(place, desk.b, row, steps, 0, 0);
    } else if (me != 0) {
      block.put(place, desk.b, row, 0);
      block.fence(0);
      block.put_value(flag, me, std::uint8_t{1}, 0);
    } else {
      if (fixed) block.wait_until(steps, 0, desk.group.team);
      if (!fixed && block.read(flag.as<std::uint64_t>(), 0) != 0x010100) return;
      block.transform(desk.out, Range{row.count, 2 * row.count}, detail::Identity{}, desk.a);
    }
    block.quiet();
  }
};
void flag_of_bytes(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const auto flag = world.allocate<std::uint8_t>(8);
  world.launch(launch_of("flag"), FlagOfBytes{desk, flag, fixed});
}

// vllm-project/vllm#8404, #8558: the start flag is volatile; the data behind it may be older.
struct VolatileFlag {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.transform(desk.a, all, detail::Identity{}, desk.b);
      if (fixed) block.signal(desk.counter, 0, 1);
      if (!fixed) block.fetch_add(desk.words, 0, std::uint64_t{1}, 1);
      block.quiet();
    } else if (fixed ? block.wait_until(desk.counter, 0, std::uint64_t{1}) != 0
                     : polled(block, desk.words, 1)) {
      block.reduce(desk.out, desk.a, all, desk.group.team.only(0), Sum{});
    }
  }
};

// vllm-project/vllm#57059: a barrier of relaxed adds and loads: everybody has come, nothing is
// ordered.
struct RelaxedBarrier {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.a, all, detail::Identity{}, desk.b);
    if (fixed) {
      barrier(block, desk.group);
    } else {
      for (int pe = 0; pe < block.n_pes(); ++pe) {
        block.fetch_add(desk.words, 0, std::uint64_t{1}, pe);
      }
      if (!polled(block, desk.words, static_cast<std::uint64_t>(block.n_pes()))) return;
    }
    block.reduce(desk.out, desk.a, all, desk.group.team, Sum{});
  }
};

// lightseekorg/tokenspeed#351: two algorithms at work at once count completions in one counter.
struct SharedCompletion {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Window<float> mine = block.index() == 0 ? desk.a : desk.b;  // an algorithm each
    const std::size_t slot = fixed ? static_cast<std::size_t>(block.index()) : 0;
    if (block.pe() == 0) {
      block.put_signal(mine, desk.out, all, desk.counter, slot, 1);
      block.quiet();
    } else {
      block.wait_until(desk.counter, slot, std::uint64_t{1});
      block.sum(mine, all, detail::Identity{});
    }
  }
};

// open-mpi/ompi#5536: the fence stands behind the flag instead of before it.
struct FenceBehindFlag {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, all, 1);
      if (fixed) block.fence(1);
      block.signal(desk.counter, 0, 1);
      if (!fixed) block.fence(1);
      block.quiet();
    } else {
      block.wait_until(desk.counter, 0, std::uint64_t{1});
      block.transform(desk.out, all, detail::Identity{}, desk.a);
    }
  }
};

// deepseek-ai/DeepEP#703: two producers take places of a queue and move one ready index on. That it
// stands at one does not say that place 0 is the one that is filled.
struct OneReadyIndex {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const auto index = static_cast<std::size_t>(block.index());
    const Signals& steps = desk.group.channel.steps;
    if (block.pe() == 0) {
      const std::uint64_t place = block.fetch_add(desk.words, 0, std::uint64_t{1}, 1);
      block.put_signal(desk.a.at(place * row.count), desk.b, row, desk.counter, fixed ? place : 0,
                       1);
      block.wait_until(steps, index, desk.group.team);
      block.quiet();
    } else {
      if (index == 0) block.wait_until(desk.counter, 0, std::uint64_t{1});
      if (index == 0) block.transform(desk.out, row, detail::Identity{}, desk.a);
      block.signal(steps, index, 0);
      block.quiet();
    }
  }
};

// ROCm/aorta#205: the data is sent by another block than the one that has written it, and nothing
// makes it visible to the sender.
struct SentByOtherBlock {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.index() == 0) {
      block.transform(desk.b, all, detail::Identity{}, desk.out);
      if (fixed) block.signal(desk.counter, 0, block.pe());
    } else {
      if (fixed) block.wait_until(desk.counter, 0, std::uint64_t{1});
      block.put(desk.a, desk.b, all, 1 - block.pe());
    }
    block.quiet();
  }
};

// NVIDIA/nccl#2053, #740, #831, #596: the last word of a line is its flag, on a path that does not
// deliver lines whole. Repaired, the message goes as packets, whose granule is declared.
struct FlagInLine {
  Group group;
  Window<float> line;
  Local<float> in, out;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range whole{0, 32}, data{0, 31};
    const Packets& inbox = group.channel.inbox;
    if (fixed) {
      block.put_packets(inbox, 0, in, whole, group.team);
      block.reduce_packets(out, in, whole, inbox, 0, group.team, Sum{});
    } else {
      block.put(line, in, whole, 1 - block.pe());
      if (block.read(line, 31) == 1) block.transform(out, data, detail::Identity{}, line);
    }
    block.quiet();
  }
};
void flag_in_line(FiberWorld& world, bool fixed) {
  const Group group{world.channel({1, 128}), world.team()};
  const auto in = world.local<float>(32);
  write_all(world, in, std::vector<float>(32, 1.0F));
  const FlagInLine kernel{group, world.allocate<float>(32), in, world.local<float>(32), fixed};
  world.launch(launch_of("line"), kernel);
}

}  // namespace

std::vector<Program> published_ordering_programs() {
  return {
      {"flag_of_bytes", "race", 3, flag_of_bytes, {"put_value", "read"}},
      {"volatile_flag", "race", 2, one_launch_of<VolatileFlag>, {"transform", "reduce"}},
      {"relaxed_barrier", "race", 3, one_launch_of<RelaxedBarrier>, {"transform", "reduce"}},
      {"shared_completion", "race", 2, one_launch_of<SharedCompletion, 2>, {"put_signal", "sum"}},
      {"fence_behind_flag", "race", 2, one_launch_of<FenceBehindFlag>, {"put", "transform"}},
      {"one_ready_index", "race", 2, one_launch_of<OneReadyIndex, 2>, {"put_signal", "transform"}},
      {"sent_by_other_block", "race", 2, one_launch_of<SentByOtherBlock, 2>, {"transform", "put"}},
      {"flag_in_line", "race", 2, flag_in_line, {"put", "read"}}};
}

}  // namespace sym::caught
