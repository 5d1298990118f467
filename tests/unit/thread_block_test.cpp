// What the thread backend's blocks have of their own: scratch, and what they refuse.
#include <gmock/gmock.h>

#include "core/collective/broadcast.hpp"
#include "core/collective/reduce_scatter.hpp"
#include "core/collective/rms_norm.hpp"
#include "core/collective/tile_list.hpp"
#include "tests/unit/thread_programs.hpp"

namespace sym::thread {
namespace {

using testing::HasSubstr;

struct Same {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};

std::string failure_of(const std::function<void(ThreadBlock&)>& body) {
  return thrown<Failure>({.pes = 1}, [&](ThreadWorld& world) {
    world.launch({.name = "bad", .scratch_bytes = 64}, Calls{&body});
  });
}

TEST(Blocks, ScratchIsPoisonedAtEachLaunch) {
  std::vector<std::uint32_t> seen;
  auto kernel = [&](auto& block) {
    const Scratch<std::uint32_t> scratch{8, 4};
    seen.push_back(block.read(scratch, 3));
    block.transform(scratch, scratch.all(), [] { return 5U; });
    seen.push_back(block.read(scratch, 3));
    seen.push_back(block.sum(scratch, Range{1, 3}, [](std::uint32_t x) { return x; }));
  };
  run_threads({.pes = 1}, [&](ThreadWorld& world) {
    for (int i = 0; i < 2; ++i) {
      world.launch({.name = "kernel", .scratch_bytes = 24}, Calls{&kernel});
    }
    world.synchronize();
  });
  EXPECT_THAT(seen, testing::ElementsAre(0xa5a5a5a5U, 5U, 15U, 0xa5a5a5a5U, 5U, 15U));
}

TEST(Blocks, ScratchHasBounds) {
  using Words = Scratch<std::uint32_t>;
  const auto reads = [](Words words, std::size_t index) {
    return failure_of([=](auto& block) { (void)block.read(words, index); });
  };
  EXPECT_THAT(reads({0, 16}, 16), HasSubstr("read of element 16 of 16"));
  EXPECT_THAT(reads({0, 17}, 16),
              HasSubstr("of a launch with 64 scratch bytes; PE 0 block 0 of bad at "));
  EXPECT_THAT(reads({1U << 30, 8}, 0), HasSubstr("out of bounds"));
  EXPECT_THAT(reads({2, 8}, 0), HasSubstr("misaligned"));
  EXPECT_EQ(reads({60, 1}, 0), "nothing was thrown");
  EXPECT_THAT(failure_of([](auto& block) {
                (void)block.max(Words{0, 16}, Range{8, 9}, Same{});
              }),
              HasSubstr("elements 8 to 17 of a scratch of 16 elements"));
}

TEST(Blocks, WhatTheyRequireIsNamed) {
  const std::string text = failure_of([](auto& block) {
    EXPECT_TRUE(block.require(true, "tokens fit", 4, 4));
    EXPECT_FALSE(block.failed());
    EXPECT_FALSE(block.require(false, "tokens fit", 5, 4));
    EXPECT_TRUE(block.failed());
  });
  EXPECT_THAT(text, HasSubstr("REFUSED tokens fit: 5 against 4; PE 0 block 0 of bad at "));
  EXPECT_THAT(text, HasSubstr("thread_block_test.cpp:"));
}

TEST(Blocks, TransfersThatOverlapAreNamed) {
  const auto copies = [](bool gets, std::size_t to, std::size_t from) {
    return thrown<Failure>({.pes = 1}, [=](ThreadWorld& world) {
      const auto x = world.allocate<float>(16);
      auto kernel = [=](auto& block) {
        if (gets) block.get(x.at(to), x.at(from), Range{0, 4}, 0);
        if (!gets) block.put(x.at(to), x.at(from), Range{0, 4}, 0);
      };
      world.launch({.name = "copies"}, Calls{&kernel});
      world.synchronize();
    });
  };
  EXPECT_THAT(copies(false, 3, 0), HasSubstr("overlap: source and destination of one verb"));
  EXPECT_THAT(copies(true, 0, 3), HasSubstr("PE 0 block 0 of copies at "));
  EXPECT_EQ(copies(false, 4, 0), "nothing was thrown");
  EXPECT_EQ(copies(true, 4, 4), "nothing was thrown");
}

// `out` of a matrix of 4 x 8 elements, 16 from row to row, so many elements behind `in`.
TEST(Blocks, TilesThatOverlapTheirResultAreNamed) {
  const auto reduced = [](std::size_t behind) {
    return thrown<Failure>({.pes = 2}, [=](ThreadWorld& world) {
      const auto memory = world.allocate<float>(256);
      const Group group{world.channel({1}), world.team()};
      const TileList tiles = tile_list(
          world, {.rows = 4, .cols = 8, .element_bytes = 4, .ranks = 2}, {{{0, 0, 4, 8}, 1}});
      const Matrix<float> in{memory.at(64), 4, 8, 16}, out{memory.at(64 + behind - 32), 4, 8, 16};
      auto kernel = [&](auto& block) {
        block.enter(group.channel);
        tile_reduce(block, group, tiles, in, out, Sum{});
        block.leave(group.channel);
      };
      world.launch({.name = "tiles"}, Calls{&kernel});
      world.synchronize();
    });
  };
  EXPECT_EQ(reduced(32), "nothing was thrown");      // the same
  EXPECT_EQ(reduced(32 + 8), "nothing was thrown");  // beside it
  EXPECT_EQ(reduced(32 - 8), "nothing was thrown");
  EXPECT_EQ(reduced(32 + 64), "nothing was thrown");  // behind it
  for (const std::size_t behind : {33, 31, 16, 48, 39, 25})
    EXPECT_THAT(reduced(behind), HasSubstr("does not overlap its output")) << behind;
}

TEST(Blocks, NormsThatOverlapWhatTheyReadAreNamed) {
  const auto normed = [](std::size_t out, std::size_t bias, std::size_t residual,
                         std::size_t hidden) {
    return thrown<Failure>({.pes = 2}, [=](ThreadWorld& world) {
      const auto memory = world.allocate<float>(256);
      const Group group{world.channel({1, 64}), world.team()};
      RmsNorm<Window<float>, true> norm;
      norm.rows = 2, norm.hidden = hidden;
      norm.in = memory.at(32), norm.out = memory.at(out), norm.bias = memory.at(bias);
      norm.weight = memory.at(200), norm.residual = memory.at(residual);
      auto kernel = [&](auto& block) {
        block.enter(group.channel);
        all_reduce_rms_norm_one_shot(block, group, norm);
        block.leave(group.channel);
      };
      world.launch({.name = "norm", .scratch_bytes = 64}, Calls{&kernel});
      world.synchronize();
    });
  };
  EXPECT_EQ(normed(32, 128, 96, 8), "nothing was thrown");  // in place
  EXPECT_EQ(normed(64, 128, 96, 8), "nothing was thrown");
  const auto overlaps = HasSubstr("overlap nothing else");
  EXPECT_THAT(normed(40, 128, 96, 8), overlaps);   // a row on
  EXPECT_THAT(normed(64, 71, 96, 8), overlaps);    // the bias in the output
  EXPECT_THAT(normed(64, 128, 47, 8), overlaps);   // x over the input
  EXPECT_THAT(normed(64, 128, 121, 8), overlaps);  // and over the bias
  EXPECT_THAT(normed(64, 128, 96, 0), HasSubstr("one element or more"));
}

TEST(Blocks, MessagesOfNothingNeedAnInboxToo) {
  const std::string text = thrown<Failure>({.pes = 2}, [](ThreadWorld& world) {
    const auto x = world.allocate<float>(10);
    const Group group{world.channel({1}), world.team()};
    auto kernel = [&](auto& block) {
      block.enter(group.channel);
      broadcast_one_shot(block, group, x, x, 10, 0);
      block.leave(group.channel);
    };
    world.launch({.name = "packets"}, Calls{&kernel});
    world.synchronize();
  });
  EXPECT_THAT(text, HasSubstr("packets without an inbox"));
}

TEST(Blocks, WorkThatIsTooSmallAndNoPiecesAreNamed) {
  const auto push = [](std::size_t room, int pieces) {
    return thrown<Failure>({.pes = 3}, [=](ThreadWorld& world) {
      constexpr std::size_t n = 8;
      const auto in = world.allocate<float>(3 * n);
      const auto work = world.allocate<float>(room);
      const auto out = world.allocate<float>(n);
      const Group group{world.channel({1}), world.team()};
      auto kernel = [&](auto& block) {
        block.enter(group.channel);
        reduce_scatter_push(block, group, in, work, out, n, Sum{}, pieces);
        block.leave(group.channel);
      };
      world.launch({.name = "push"}, Calls{&kernel});
      world.synchronize();
    });
  };
  EXPECT_EQ(push(24, 2), "nothing was thrown");
  EXPECT_THAT(push(10, 2), HasSubstr("has room for what it needs: 24 against 10"));
  EXPECT_THAT(push(24, 0), HasSubstr("goes in one or more: 0 against 1"));
}

// A part that begins behind the end of its window has nothing, though its count wraps.
TEST(Blocks, PartsBeyondAWindowHaveBounds) {
  const auto puts = [](std::size_t first) {
    return thrown<Failure>({.pes = 1}, [=](ThreadWorld& world) {
      const auto x = world.allocate<float>(64);
      const Window<float> few{x.segment, x.offset_bytes, 16};
      auto kernel = [=](auto& block) { block.put(few.at(first), x.at(32), Range{0, 8}, 0); };
      world.launch({.name = "beyond"}, Calls{&kernel});
      world.synchronize();
    });
  };
  EXPECT_EQ(puts(8), "nothing was thrown");
  EXPECT_THAT(puts(12), HasSubstr("out of bounds: 8 elements from 0 on of a window of 4 elements"));
  EXPECT_THAT(puts(24), HasSubstr("out of bounds: 8 elements from 0 on of a window"));
}

TEST(Blocks, MessagesOfAnotherRangeAreNamed) {
  const auto exchange = [](Range sent) {
    return thrown<Failure>({.pes = 2}, [sent](ThreadWorld& world) {
      const Channel channel = world.channel({1, 64});
      const auto x = world.allocate<float>(16);
      auto kernel = [&](auto& block) {
        const Range mine = block.pe() == 0 ? Range{0, 8} : sent;
        block.put_packets(channel.inbox, 0, x, mine, world.team());
        block.reduce_packets(x, x, Range{0, 8}, channel.inbox, 0, world.team(), Sum{});
      };
      world.launch({.name = "exchange"}, Calls{&kernel});
      world.synchronize();
    });
  };
  EXPECT_THAT(exchange({0, 4}), HasSubstr("mismatch: PE 1 sent a message of elements [0, 4) of 4 "
                                          "bytes, which is received as elements [0, 8)"));
  EXPECT_THAT(exchange({8, 8}), HasSubstr("elements [8, 16) of 4 bytes"));
  EXPECT_EQ(exchange({0, 8}), "nothing was thrown");
}

TEST(Blocks, TermsOutOfTheirWindowAreNamed) {
  const std::string text = thrown<Failure>({.pes = 1}, [](ThreadWorld& world) {
    const auto window = world.allocate<float>(8);
    auto kernel = [window](auto& block) {
      block.weighted_sum(window, window, Range{0, 4}, 2, [](int j) {
        return Term{0, static_cast<std::size_t>(5 * j), 1};
      });
    };
    world.launch({.name = "sums"}, Calls{&kernel});
    world.synchronize();
  });
  EXPECT_THAT(text, HasSubstr("term 1 of weighted_sum is elements 5 to 9 of a window of 8"));
}

}  // namespace
}  // namespace sym::thread
