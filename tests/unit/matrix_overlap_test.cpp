// overlap() and same_place() of matrices against the elements themselves.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/matrix.hpp"

namespace sym {
namespace {

std::set<std::size_t> bytes_of(const Matrix<float>& x) {
  std::set<std::size_t> all;
  for (std::size_t row = 0; row < x.rows; ++row) {
    for (std::size_t byte = 0; byte < x.cols * sizeof(float); ++byte) {
      all.insert(x.data.offset_bytes + row * x.ld * sizeof(float) + byte);
    }
  }
  return all;
}

bool share_a_byte(const Matrix<float>& x, const Matrix<float>& y) {
  const std::set<std::size_t> ours = bytes_of(x);
  for (const std::size_t byte : bytes_of(y)) {
    if (ours.count(byte) != 0) return true;
  }
  return false;
}

// All small ones: rows that touch, rows with gaps, one row, nothing, and between each other's rows.
std::vector<Matrix<float>> small_ones() {
  std::vector<Matrix<float>> all;
  for (const std::size_t first : {0U, 1U, 2U, 5U}) {
    for (const std::size_t rows : {0U, 1U, 3U}) {
      for (const std::size_t cols : {1U, 2U}) {
        for (const std::size_t gap : {0U, 1U, 4U}) {
          const Window<float> data{Segment::payload, first * sizeof(float), 64};
          all.push_back({data, rows, cols, cols + gap});
        }
      }
    }
  }
  return all;
}

TEST(MatrixOverlap, IsThatOfTheElements) {
  for (const Matrix<float>& x : small_ones()) {
    for (const Matrix<float>& y : small_ones()) {
      EXPECT_EQ(overlap(x, y), share_a_byte(x, y))
          << x.data.offset_bytes << " " << x.rows << "x" << x.cols << " ld " << x.ld << " and "
          << y.data.offset_bytes << " " << y.rows << "x" << y.cols << " ld " << y.ld;
    }
  }
}

TEST(MatrixOverlap, IsOfOneSegment) {
  const Matrix<float> x{Window<float>{Segment::payload, 0, 64}, 2, 2, 2};
  Matrix<float> y = x;
  EXPECT_TRUE(overlap(x, y));
  EXPECT_TRUE(same_place(x, y));
  y.data.segment = Segment::control;
  EXPECT_FALSE(overlap(x, y));
  EXPECT_FALSE(same_place(x, y));
}

TEST(MatrixOverlap, TheSamePlaceIsElementForElement) {
  const Matrix<float> x{Window<float>{Segment::payload, 0, 64}, 2, 2, 4};
  EXPECT_FALSE(same_place(x, Matrix<float>{x.data, 2, 2, 3}));
  EXPECT_FALSE(same_place(x, Matrix<float>{x.data.at(1), 2, 2, 4}));
  EXPECT_FALSE(same_place(x, Matrix<float>{x.data, 1, 2, 4}));
  EXPECT_TRUE(same_place(row_of(x.data, 0, 4), Matrix<float>{x.data, 1, 4, 9}));
}

}  // namespace
}  // namespace sym
