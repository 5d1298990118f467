// Places that are not there.
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "core/queue.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

struct PutTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const std::size_t n = Desk::n / 2 + (fixed ? 0 : 1);
    if (block.pe() == 0) block.put(desk.a.at(Desk::n / 2), desk.b, Range{0, n}, 1);
    barrier(block, desk.group);
  }
};

struct ToNobody {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put(desk.a, desk.b, Range{0, 8},
              fixed ? (block.pe() + 1) % block.n_pes() : block.pe() + 1);
    barrier(block, desk.group);
  }
};

struct SlotTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.signal(desk.counter, fixed ? 1 : 2, 0);
  }
};

struct LocalTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.get(desk.out, desk.a, Range{fixed ? 0U : 1U, Desk::n}, 0);
    block.quiet();
  }
};

// Ranges that land in another window of the same segment, or beyond all memory.
template <std::size_t first>
struct RangeTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.sum(desk.a, Range{fixed ? 0 : first, 8}, detail::Identity{});
  }
};
constexpr std::size_t in_the_next = (Desk::n * sizeof(float) + 4096 + 128) / sizeof(float);

struct WindowTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.sum(desk.a.at(fixed ? 8 : in_the_next), Range{0, 8}, detail::Identity{});
  }
};

// The channel was made without packet_bytes.
struct NoInbox {
  Desk desk;
  Channel channel;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put_packets(channel.inbox, 0, desk.b, Range{0, 8}, desk.group.team);
    block.reduce_packets(desk.a, desk.b, Range{0, 8}, channel.inbox, 0, desk.group.team, Sum{});
    block.quiet();
  }
};
void no_inbox(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const Channel channel = fixed ? world.channel({1, 64}) : desk.group.channel;
  world.launch(launch_of("packets"), NoInbox{desk, channel});
}

// Source and destination of one verb, on oneself, that overlap in part.
struct PutOver {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put(desk.a.at(fixed ? 32 : 16), desk.a, Range{0, 32}, block.pe());
    block.put(desk.b, desk.b, Range{0, 32}, block.pe());  // the same range is no overlap
    block.quiet();
  }
};

struct GetOver {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.get(desk.a, desk.a.at(fixed ? 32 : 1), Range{0, 32}, block.pe());
    block.quiet();
  }
};

struct PutSignalOver {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Window<float> to = desk.a.at(fixed ? 32 : 31);
    block.put_signal(to, desk.a, Range{0, 32}, desk.counter, 0, block.pe());
    block.quiet();
  }
};

void queue_over(FiberWorld& world, bool fixed) {
  const auto x = world.allocate<float>(64);
  const auto rows = [&](std::size_t first) { return Matrix<float>{x.at(first), 2, 4, 16}; };
  world.queue(0).put(rows(fixed ? 4 : 2), rows(0), world.pe());
  world.queue(0).get(rows(8), rows(8), world.pe());
  world.synchronize();
}

// Packets whose two ends do not name the same range.
template <std::size_t first, std::size_t count>
struct OtherMessage {
  Desk desk;
  Channel channel;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range sent = fixed || block.pe() == 0 ? Range{0, 8} : Range{first, count};
    block.put_packets(channel.inbox, 0, desk.b, sent, desk.group.team);
    block.reduce_packets(desk.a, desk.b, Range{0, 8}, channel.inbox, 0, desk.group.team, Sum{});
    block.quiet();
  }
};
template <std::size_t first, std::size_t count>
void other_message(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const Channel channel = world.channel({1, 64});
  world.launch(launch_of("packets"), OtherMessage<first, count>{desk, channel, fixed});
}

struct Puts {
  Group group;
  Window<float> dst, src;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put(dst, src, Range{0, Desk::n}, group.team.pe(group.team.next()));
    barrier(block, group);
  }
};

template <class Kernel>
void one_launch(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.launch(launch_of("reaches"), Kernel{desk, fixed});
}

void use_after_free(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  if (!fixed) world.free(desk.a);
  world.launch(launch_of("late"), Puts{desk.group, desk.a, desk.b});
  world.synchronize();
  if (fixed) world.free(desk.a);
}

}  // namespace

std::vector<Program> memory_programs() {
  return {
      {"out_of_bounds_put",
       "error",
       2,
       one_launch<PutTooFar>,
       {"out of bounds: elements [0, 49) of a window of 48 elements, in payload allocation #0 from "
        "byte 192 on, on PE 1"}},
      {"range_in_another_window",
       "error",
       2,
       one_launch<RangeTooFar<in_the_next>>,
       {"out of bounds: elements [1152, 1160) of a window of 96 elements, in payload allocation "
        "#0, "
        "on PE "}},
      {"range_that_wraps",
       "error",
       2,
       one_launch<RangeTooFar<~std::size_t{3}>>,
       {"elements [18446744073709551612, 18446744073709551612 + 8) of a window of 96 elements"}},
      {"window_behind_its_end",
       "error",
       2,
       one_launch<WindowTooFar>,
       {"elements [0, 8) of a window that at() has moved 1056 elements behind its end, in payload "
        "allocation #0, on PE "}},
      {"no_inbox",
       "error",
       2,
       no_inbox,
       {"packets without an inbox", "ChannelRequest::packet_bytes", "put_packets at"}},
      {"no_such_pe", "error", 2, one_launch<ToNobody>, {"out of bounds: PE 2 of 2"}},
      {"out_of_bounds_slot", "error", 2, one_launch<SlotTooFar>, {"signal slot 2 of a table of 2"}},
      {"out_of_bounds_local",
       "error",
       2,
       one_launch<LocalTooFar>,
       {"elements [1, 97) of a local array of 96 elements on PE "}},
      {"put_overlaps",
       "error",
       1,
       one_launch<PutOver>,
       {"overlap: a put of bytes [0, 128) to bytes [64, 192) of payload allocation #0 of PE 0"}},
      {"get_overlaps", "error", 2, one_launch<GetOver>, {"overlap: a get of bytes [4, 132)"}},
      {"put_signal_overlaps", "error", 1, one_launch<PutSignalOver>, {"overlap: a put_signal"}},
      {"queue_put_overlaps",
       "error",
       2,
       queue_over,
       {"overlap: a put of", "[0, 16)", "[8, 24)"},
       "",
       Found::always,
       "queue 0"},
      {"message_is_shorter",
       "mismatch",
       2,
       other_message<0, 4>,
       {"MISMATCH a message of elements [0, 4) of 4 bytes is received as elements [0, 8)",
        "sent   PE 1 block 0  launch 1  put_packets at", "PE 0 block 0", "reduce_packets at"}},
      {"message_is_longer", "mismatch", 2, other_message<0, 12>, {"elements [0, 12)"}},
      {"message_of_another_range", "mismatch", 2, other_message<8, 8>, {"elements [8, 16)"}},
      {"use_after_free", "error", 2, use_after_free, {"use after free", "put"}}};
}

}  // namespace sym::caught
