// chunk, shares, teams and tags.
#include "core/range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "core/collective/share.hpp"
#include "core/signals.hpp"
#include "core/team.hpp"

namespace sym {
namespace {

TEST(Chunk, PartsAreConsecutiveCoverAndDifferByOneUnit) {
  for (std::size_t count : {0, 1, 2, 7, 8, 9, 63, 64, 65, 1000, 4099}) {
    for (int parts : {1, 2, 3, 7, 33, 100}) {
      for (std::size_t unit : {1, 4, 8, 16}) {
        std::size_t at = 5;
        std::size_t least = SIZE_MAX;
        std::size_t most = 0;
        for (int index = 0; index < parts; ++index) {
          const Range part = chunk(Range{5, count}, index, parts, unit);
          ASSERT_EQ(part.first, at);
          at = part.end();
          ASSERT_TRUE(part.empty() || (part.first - 5) % unit == 0);
          const std::size_t units = (part.count + unit - 1) / unit;
          least = std::min(least, units);
          most = std::max(most, units);
        }
        ASSERT_EQ(at, 5 + count);
        ASSERT_LE(most - least, 1U);
      }
    }
  }
}

TEST(Chunk, IsNotLimitedTo32Bits) {
  const std::size_t count = (std::size_t{1} << 40) + 3;
  const Range last = chunk(Range{0, count}, 2, 3, 8);
  EXPECT_EQ(last.end(), count);
  EXPECT_GT(last.first, std::size_t{1} << 39);
  for (std::size_t more : {0, 1, 7, 8}) {  // on both sides of where the arithmetic changes
    const Range all{3, (std::size_t{1} << 30) - 4 + more};
    std::size_t at = 3;
    for (int index = 0; index < 3; ++index) {
      const Range part = chunk(all, index, 3, 8);
      EXPECT_EQ(part.first, at);
      at = part.end();
    }
    EXPECT_EQ(at, all.end());
  }
}

TEST(Pieces, AreTheChunks) {
  const std::size_t large = std::size_t{1} << 40;  // on both sides of where the arithmetic changes
  for (const Range range :
       {Range{5, 0}, Range{5, 7}, Range{8, 1000}, Range{8, 4099}, Range{3, large + 3},
        Range{0, (std::size_t{1} << 32) * granule<float> - 1}}) {
    for (int count : {1, 2, 7, 100}) {
      const Pieces<float> pieces(range, count);
      for (int index = 0; index < count; ++index)
        ASSERT_EQ(pieces(index), chunk(range, index, count, granule<float>));
      EXPECT_EQ(pieces.begin(count), range.end());
    }
  }
}

TEST(Shares, OfAllRanksAndBlocksCoverOnce) {
  for (std::size_t n : {0, 1, 17, 1000}) {
    std::size_t covered = 0;
    for (int rank = 0; rank < 5; ++rank) {
      for (int block = 0; block < 3; ++block) covered += Shares<bf16>{n, 5, block, 3}(rank).count;
    }
    EXPECT_EQ(covered, n);
  }
}

TEST(Team, StridedAndListed) {
  const Team odd = Team::strided(5, 1, 2, 3);  // 1, 3, 5
  EXPECT_EQ(odd.rank(), 2);
  EXPECT_EQ(odd.pe(1), 3);
  EXPECT_EQ(odd.next(), 0);
  EXPECT_EQ(odd.previous(), 1);
  EXPECT_FALSE(Team::strided(2, 1, 2, 3).contains_self());
  EXPECT_FALSE(Team::strided(7, 1, 2, 3).contains_self());
  EXPECT_FALSE(Team::strided(0, 1, 2, 3).contains_self());
  const std::array<int, 3> members{4, 0, 2};
  const Team listed = Team::listed(2, members.data(), 3);
  EXPECT_EQ(listed.rank(), 2);
  EXPECT_EQ(listed.pe(0), 4);
  EXPECT_EQ(listed.only(0).pe(0), 4);
  EXPECT_EQ(listed.only(0).size(), 1);
  EXPECT_EQ(listed.only(0).rank(), -1);
  EXPECT_EQ(listed.only(2).rank(), 0);
}

// A wait for nobody would be over at once.
TEST(Team, OfNobodyIsRefused) {
  const std::array<int, 1> members{0};
  EXPECT_THROW((void)Team::strided(0, 0, 1, 0), UsageError);
  EXPECT_THROW((void)Team::strided(0, 0, 0, 2), UsageError);
  EXPECT_THROW((void)Team::listed(0, members.data(), 0), UsageError);
  EXPECT_THROW((void)Team::strided(0, 0, 1, 4).slice(1, 2, 0), UsageError);
  static_assert(Team::strided(3, 1, 2, 2).rank() == 1);  // still a constant
}

TEST(Tags, TellOperationsApartAndKeepTheEpoch) {
  std::set<std::uint16_t> tags;
  for (std::uint64_t count = 0; count < 100; ++count) tags.insert(operation_tag(1, count, 4, 2));
  EXPECT_GT(tags.size(), 98U);
  const std::uint64_t word = tagged_word(0x123456789abcULL, 0xfedc);
  EXPECT_EQ(epoch_of(word), 0x123456789abcULL);
  EXPECT_EQ(tag_of(word), 0xfedc);
}

}  // namespace
}  // namespace sym
