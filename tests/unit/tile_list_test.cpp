// What tile_list refuses, and how it cuts tiles to bands.
#include "core/collective/tile_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sym {
namespace {

const TileShape shape{100, 80, 2, 3};

std::string refusal(const std::vector<RootedTile>& tiles, TileShape of = shape) {
  try {
    (void)tile_bands(of, tiles);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TileList, TilesOutsideTheMatrixAreRefused) {
  EXPECT_EQ(refusal({{{90, 70, 10, 10}, 0}}), "");
  EXPECT_THAT(refusal({{{90, 70, 11, 10}, 0}}),
              testing::StartsWith("tile_reduce: a tile of rows 90 to 101, columns 70 to 80 lies "
                                  "outside its matrix of 100 x 80"));
  EXPECT_THAT(refusal({{{0, 80, 1, 1}, 0}}), testing::HasSubstr("outside"));
  EXPECT_THAT(refusal({{{1, 0, ~std::size_t{0}, 1}, 0}}), testing::HasSubstr("outside"));
}

TEST(TileList, ARootIsARank) {
  EXPECT_THAT(refusal({{{0, 0, 1, 1}, 3}}), testing::HasSubstr("root 3 is no rank of 3 PEs"));
  EXPECT_THAT(refusal({{{0, 0, 1, 1}, -1}}), testing::HasSubstr("root -1"));
}

TEST(TileList, ElementsHaveBytesAndTeamsPes) {
  const auto of = [](std::size_t element_bytes, int ranks) {
    TileShape bad = shape;
    bad.element_bytes = element_bytes;
    bad.ranks = ranks;
    try {
      (void)tile_bands(bad, {{{0, 0, 1, 1}, 0}});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(of(0, 3), testing::HasSubstr("elements of 0 bytes on 3 PEs"));
  EXPECT_THAT(of(2, 0), testing::HasSubstr("on 0 PEs"));
  EXPECT_THAT(of(2, -1), testing::HasSubstr("on -1 PEs"));
  EXPECT_EQ(of(2, 3), "");
}

TEST(TileList, TilesThatOverlapAreRefused) {
  EXPECT_THAT(refusal({{{0, 0, 4, 4}, 0}, {{9, 9, 1, 1}, 0}, {{0, 0, 4, 4}, 1}}),
              testing::HasSubstr("is named twice"));
  EXPECT_THAT(refusal({{{0, 0, 4, 4}, 0}, {{3, 3, 4, 4}, 1}}),
              testing::HasSubstr("the tiles of rows 0 to 4, columns 0 to 4 and of rows 3 to 7, "
                                 "columns 3 to 7 overlap"));
  EXPECT_THAT(refusal({{{5, 10, 4, 4}, 0}, {{0, 0, 9, 80}, 1}}), testing::HasSubstr("overlap"));
  EXPECT_THAT(refusal({{{0, 20, 9, 9}, 0}, {{0, 0, 9, 20}, 1}, {{4, 25, 1, 40}, 1}}),
              testing::HasSubstr("overlap"));
  EXPECT_EQ(refusal({{{0, 0, 4, 4}, 0}, {{0, 4, 4, 4}, 1}, {{4, 0, 4, 8}, 1}}), "");
  EXPECT_EQ(refusal({{{0, 0, 0, 4}, 0}, {{0, 0, 0, 4}, 1}}), "");  // of nothing
}

TEST(TileList, ARootHasOneTileWhereItShall) {
  TileShape single = shape;
  single.one_a_root = true;
  const std::vector<RootedTile> tiles{{{0, 0, 4, 4}, 2}, {{4, 0, 4, 4}, 2}};
  EXPECT_EQ(refusal(tiles), "");
  EXPECT_THAT(refusal(tiles, single), testing::HasSubstr("root 2 is named twice"));
}

TEST(TileList, BandsCoverTheirTileByRoot) {
  TileShape small = shape;
  small.band_bytes = 64;
  const auto bands = tile_bands(small, {{{10, 8, 7, 16}, 1}, {{0, 0, 2, 80}, 0}});
  ASSERT_EQ(bands.size(), 6U);
  EXPECT_EQ(bands[0].tile, (Tile{0, 0, 1, 80}));  // a row at least
  EXPECT_EQ(bands[0].root, 0);
  EXPECT_EQ(bands[2].tile, (Tile{10, 8, 2, 16}));
  EXPECT_EQ(bands[5].tile, (Tile{16, 8, 1, 16}));
  EXPECT_EQ(bands[5].root, 1);
}

}  // namespace
}  // namespace sym
