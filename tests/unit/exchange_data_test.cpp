// Test data of the exchanges and of the distributed product: what verification relies on.
#include "experiments/sym/exchange_data.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "experiments/sym/gemm_data.hpp"
#include "experiments/sym/moe_expected.hpp"

namespace sym::command {
namespace {

const std::vector<std::string> routings{"uniform", "one_expert", "skewed"};

Point moe_point(const std::string& routing) {
  Point point;
  point.pes = 3;
  point.moe = {.tokens = 200,
               .hidden = 4,
               .experts = 16,
               .topk = 4,
               .routing = routing,
               .splits = "",
               .inject = ""};
  return point;
}

TEST(Router, ChoosesDistinctExpertsInRange) {
  for (const std::string& routing : routings) {
    const Point point = moe_point(routing);
    const Router router(point);
    for (int iteration = 0; iteration < 3; ++iteration) {
      const Choices choices = router.choices(iteration, 2);
      std::size_t none = 0;
      std::size_t tokens_without = 0;
      for (std::size_t token = 0; token < 200; ++token) {
        std::set<int> chosen;
        for (std::size_t j = 0; j < 4; ++j) {
          const int id = choices.ids[token * 4 + j];
          ASSERT_TRUE(id >= -1 && id < 16) << routing;
          if (id >= 0) {
            ASSERT_TRUE(chosen.insert(id).second) << routing << " token " << token;
          }
          none += id < 0 ? 1 : 0;
        }
        tokens_without += chosen.empty() ? 1 : 0;
      }
      EXPECT_EQ(none == 0, iteration == 0) << routing;
      EXPECT_EQ(tokens_without == 0, iteration == 0) << routing;
    }
  }
}

TEST(Router, PatternsDiffer) {
  const auto most_rows = [](const std::string& routing) {
    const Point point = moe_point(routing);
    return MoeExpected(point, Router(point), 0, 0).most_rows();
  };
  const std::size_t uniform = most_rows("uniform");
  EXPECT_LT(uniform, most_rows("skewed"));
  EXPECT_LT(most_rows("skewed"), most_rows("one_expert"));
  EXPECT_EQ(most_rows("one_expert"), 3U * 200U * 4U);  // experts 1 to 4 all lie on PE 0
}

TEST(Splits, PatternsAreWhatTheySay) {
  Point point;
  point.pes = 6;
  point.moe.tokens = 60;
  for (int from = 0; from < 6; ++from) {
    point.moe.splits = "one_peer";
    EXPECT_EQ(splits_of(point, 2, from), (std::vector<std::uint32_t>{0, 0, 60, 0, 0, 0}));
    point.moe.splits = "primes";
    const std::vector<std::uint32_t> primes = splits_of(point, 0, from);
    EXPECT_NE(primes, splits_of(point, 1, from));
    for (const std::uint32_t rows : primes) {
      for (std::uint32_t d = 2; d < rows; ++d) EXPECT_NE(rows % d, 0U);
    }
    point.moe.splits = "zero";
    const std::vector<std::uint32_t> zero = splits_of(point, 0, from);
    EXPECT_EQ(zero[2], 0U);  // gets none
    if (from == 1) {         // sends none
      EXPECT_EQ(std::accumulate(zero.begin(), zero.end(), 0U), 0U);
    }
  }
}

// The cheap result against the plain product of the rows as they are written.
TEST(GemmData, ResultIsTheProduct) {
  for (const std::size_t k : {1U, 83U, 128U, 129U, 1000U}) {
    Point point;
    point.gemm = {.m = 7, .n = 5, .k = k, .beta = 3, .bias = true};
    const GemmData<float> data(point, 1);
    const std::vector<float> bias = data.bias();
    for (std::size_t m = 0; m < 7; ++m) {
      std::vector<float> a(k), c(5);
      data.row_of_a(a.data(), m, 0, k);
      data.row_of_c(c.data(), m, 0, 5);
      float size = 0;
      for (const float value : a) size += value * value;
      EXPECT_LE(size, 128);
      EXPECT_GT(size, 0);
      for (std::size_t n = 0; n < 5; ++n) {
        std::vector<float> b(k);
        data.row_of_b(b.data(), n, 0, k);
        const float sum = std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
        EXPECT_EQ(static_cast<float>(data.result(m, n)), sum + 3 * c[n] + bias[n]);
      }
    }
  }
}

// A row in parts is the row.
TEST(GemmData, PartsOfARow) {
  Point point;
  point.gemm = {.m = 3, .n = 3, .k = 700};
  const GemmData<float> data(point, 0);
  std::vector<float> whole(700), part(123);
  data.row_of_a(whole.data(), 2, 0, 700);
  data.row_of_a(part.data(), 2, 345, 123);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 345));
}

}  // namespace
}  // namespace sym::command
