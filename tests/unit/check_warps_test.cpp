// What the race detector makes of the pieces of warps.
#include <gmock/gmock.h>

#include "core/collective/barrier.hpp"
#include "tests/unit/check_desk.hpp"

namespace sym::check {
namespace {

using testing::HasSubstr;

TEST(Warps, PiecesThatTouchTheirOwnPartsAreFine) {
  for (const char* schedule : {"fifo", "worst", "random"}) {
    EXPECT_EQ(found(
                  [](F& b, const Desk& d) {
                    b.transform(d.numbers, Range{0, 9}, Zero{});  // warps begins with a sync
                    b.warps(8, [&](auto& piece, std::size_t i) {
                      (void)piece.read(d.numbers, 0);
                      const Range part{8 * i, 8};
                      piece.weighted_sum(d.local, d.x, part, 1, From{b.pe()});
                      piece.put(d.y, d.local, part, 1 - b.pe());
                    });
                    b.transform(d.numbers, Range{0, 5}, Zero{});  // ... and ends with one
                    b.quiet();
                    b.transform(d.local, Range{0, 9}, Same{}, d.x);
                    barrier(b, d.group);
                    (void)b.sum(d.y, all, Same{});
                  },
                  2, schedule)
                  .text,
              "");
  }
}

// Exactly the same range, which two verbs of a block might touch.
TEST(Warps, TwoPiecesWithOneResultRace) {
  for (const char* schedule : {"fifo", "worst", "random"}) {
    const Found sums = found(
        [](F& b, const Desk& d) {
          b.warps(2, [&](auto& piece, std::size_t) {
            piece.weighted_sum(d.local, d.x, Range{0, 8}, 1, From{b.pe()});
          });
        },
        1, schedule);
    EXPECT_EQ(sums.kinds, "race");
    EXPECT_THAT(sums.text, HasSubstr("two pieces of one warps() touch the same memory"));
    const Found puts = found(
        [](F& b, const Desk& d) {
          b.warps(2, [&](auto& piece, std::size_t) { piece.put(d.y, d.x, Range{0, 8}, 0); });
          b.quiet();
        },
        1, schedule);
    EXPECT_EQ(puts.kinds, "race");
    EXPECT_THAT(puts.text, HasSubstr("two pieces of one warps() touch the same memory"));
  }
}

TEST(Warps, APieceMayNotUseWhatAnotherMakes) {
  const auto program = [](bool one_call) {
    return [one_call](F& b, const Desk& d) {
      const auto sum = [&](auto& piece, std::size_t i) {
        piece.weighted_sum(d.local, d.x, Range{8 * i, 8}, 1, From{b.pe()});
      };
      const auto put = [&](auto& piece, std::size_t i) {
        piece.put(d.y, d.local, Range{8 * (7 - i), 8}, b.pe());
      };
      b.warps(8, sum);
      if (!one_call) b.warps(8, put);
      if (one_call) {
        b.warps(8, [&](auto& piece, std::size_t i) {
          sum(piece, i);
          put(piece, i);
        });
      }
      b.quiet();
    };
  };
  for (const char* schedule : {"fifo", "worst", "random"}) {
    EXPECT_EQ(found(program(false), 1, schedule).text, "");
    const Found wrong = found(program(true), 1, schedule);
    EXPECT_THAT(wrong.kinds, HasSubstr("race"));
    EXPECT_THAT(wrong.text, HasSubstr("two pieces of one warps() touch the same memory"));
  }
}

TEST(Warps, WithinAPieceTheRulesOfABlockHold) {
  const Found wrong = found(
      [](F& b, const Desk& d) {
        b.warps(1, [&](auto& piece, std::size_t) {
          piece.weighted_sum(d.local, d.x, Range{0, 8}, 1, From{b.pe()});
          piece.put(d.y, d.local, Range{0, 7}, b.pe());
        });
        b.quiet();
      },
      1);
  EXPECT_EQ(wrong.kinds, "missing-sync");
}

TEST(Warps, PutsNeedAQuietLikeThoseOfABlock) {
  EXPECT_EQ(found(
                [](F& b, const Desk& d) {
                  b.warps(2, [&](auto& piece, std::size_t i) {
                    piece.put(d.y, d.x, Range{8 * i, 8}, b.pe());
                  });
                  b.transform(d.x, Range{0, 8}, Same{}, d.local);
                },
                1)
                .kinds,
            "race");
}

// Of what all pieces read, two stand for all: a piece that writes conflicts with one of them, and
// so does a peer.
TEST(Warps, ManyReadersAndOneWriter) {
  constexpr std::size_t many = 20000;
  const auto program = [](std::size_t writer) {
    return [writer](F& b, const Desk& d) {
      b.warps(many, [&](auto& piece, std::size_t i) {
        (void)piece.read(d.y, 3);
        if (i == writer) piece.weighted_sum(d.y, d.x, Range{3, 1}, 1, From{b.pe()});
      });
    };
  };
  const Found right = found(program(many), 1);
  EXPECT_EQ(right.text, "");
  EXPECT_GE(right.accesses, many);
  for (const std::size_t writer : {std::size_t{0}, std::size_t{1}, many - 1}) {
    const Found wrong = found(program(writer), 1);
    EXPECT_THAT(wrong.kinds, HasSubstr("race")) << writer;
    EXPECT_THAT(wrong.text, HasSubstr("two pieces of one warps()")) << writer;
  }
  // The first piece's put is in order after its own read, but not after the others'.
  const Found late = found(
      [](F& b, const Desk& d) {
        b.warps(n, [&](auto& piece, std::size_t i) {
          piece.weighted_sum(d.local.at(i), d.y, Range{0, 1}, 1, From{b.pe(), 3});
          if (i == 0) piece.put(d.y, d.x, Range{3, 1}, b.pe());
        });
        b.quiet();
      },
      1, "worst");
  EXPECT_EQ(late.kinds, "race");
  EXPECT_THAT(late.text, HasSubstr("RACE  weighted_sum vs put"));
  EXPECT_EQ(found([](F& b, const Desk& d) {
              if (b.pe() == 1) b.put(d.y, d.x, all, 0);
              if (b.pe() == 0)
                b.warps(9, [&](auto& piece, std::size_t) { (void)piece.read(d.y, 3); });
            }).kinds,
            "race");
}

}  // namespace
}  // namespace sym::check
