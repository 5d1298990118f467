// Test data: exact in every type for every operator and number of PEs, and different where it must
// be.
#include "experiments/sym/pattern.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sym::command {
namespace {

// Folding forwards, backwards and with a rounding at each step gives the same: no result is
// rounded.
template <class T, class Op>
void expect_exact(int pes) {
  const PatternKey key{3, 1, pes};
  std::vector<std::vector<T>> all;
  for (int pe = 0; pe < pes; ++pe) all.push_back(exact_pattern<T, Op>(key, pe));
  const std::vector<T> forwards = reduced(all, Op{});
  for (std::size_t i = 0; i < pattern_period; i += 7) {
    T total = all.back()[i];
    for (std::size_t pe = all.size() - 1; pe-- > 0;) {
      total = narrow<T>(Op{}.combine(widen(total), widen(all[pe][i])));
    }
    total = narrow<T>(Op{}.finish(widen(total), pes));
    ASSERT_EQ(std::memcmp(&total, &forwards[i], sizeof(T)), 0)
        << Op::name << " of " << pes << " PEs, element " << i;
  }
}

template <class T>
class Pattern : public testing::Test {};
using Types = testing::Types<bf16, f16, float, double, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(Pattern, Types);

TYPED_TEST(Pattern, EveryPartialResultIsExact) {
  for (int pes : {1, 2, 3, 8, 33, 128, 200}) {
    expect_exact<TypeParam, Sum>(pes);
    expect_exact<TypeParam, Prod>(pes);
    expect_exact<TypeParam, Max>(pes);
    expect_exact<TypeParam, Min>(pes);
  }
}

TYPED_TEST(Pattern, NamesIterationPeAndIndex) {
  const auto differ = [](const std::vector<TypeParam>& a, const std::vector<TypeParam>& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < pattern_period; ++i)
      count += std::memcmp(&a[i], &b[i], sizeof(TypeParam)) != 0 ? 1 : 0;
    return count;
  };
  const auto base = exact_pattern<TypeParam, Sum>({1, 0, 4}, 0);
  EXPECT_GT(differ(base, exact_pattern<TypeParam, Sum>({1, 1, 4}, 0)), pattern_period / 2);
  EXPECT_GT(differ(base, exact_pattern<TypeParam, Sum>({1, 0, 4}, 1)), pattern_period / 2);
  EXPECT_GT(differ(base, exact_pattern<TypeParam, Sum>({2, 0, 4}, 0)), pattern_period / 2);
  const auto rough = random_pattern<TypeParam>({1, 0, 4}, 0);
  EXPECT_GT(differ(rough, random_pattern<TypeParam>({1, 0, 4}, 1)), pattern_period / 2);
}

TEST(Fill, RepeatsFromAnyShift) {
  std::vector<int> pattern(pattern_period);
  for (std::size_t i = 0; i < pattern_period; ++i) pattern[i] = static_cast<int>(i);
  std::vector<int> filled(2 * pattern_period + 5);
  fill(filled.data(), filled.size(), pattern, 8000);
  for (std::size_t i = 0; i < filled.size(); ++i)
    ASSERT_EQ(filled[i], static_cast<int>((i + 8000) % pattern_period));
}

TEST(Hash, InPartsIsTheWholeAndEveryByteCounts) {
  std::string text(1003, 'a');
  Hash parts;
  parts.add(text.data(), 8);
  parts.add(text.data() + 8, 992);
  parts.add(text.data() + 1000, 3);
  EXPECT_EQ(parts.value(), hash_bytes(text.data(), text.size()));
  std::set<std::uint64_t> hashes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = 'b';
    hashes.insert(hash_bytes(text.data(), text.size()));
    text[i] = 'a';
  }
  EXPECT_EQ(hashes.size(), text.size());
}

}  // namespace
}  // namespace sym::command
