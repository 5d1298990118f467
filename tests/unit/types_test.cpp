// bf16 and f16 against Eigen, bit for bit.
#include "core/types.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/ops.hpp"

namespace sym {
namespace {

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

template <class E>
std::uint16_t bits16(E value) {
  return std::bit_cast<std::uint16_t>(value);
}

TEST(Types, EveryBf16WidensAsEigenSays) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto raw = static_cast<std::uint16_t>(i);
    const float wanted = static_cast<float>(std::bit_cast<Eigen::bfloat16>(raw));
    ASSERT_EQ(bits(to_float(bf16{raw})), bits(wanted)) << i;
    if (wanted == wanted) {
      ASSERT_EQ(to_bf16(wanted).bits, raw) << i;
    } else {
      ASSERT_EQ(to_bf16(wanted).bits, 0x7fff) << i;
    }
  }
}

TEST(Types, EveryF16WidensAsEigenSays) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto raw = static_cast<std::uint16_t>(i);
    const float wanted = static_cast<float>(std::bit_cast<Eigen::half>(raw));
    const float got = to_float(f16{raw});
    if (wanted != wanted) {
      ASSERT_TRUE(got != got) << i;
      ASSERT_EQ(to_f16(got).bits, 0x7fff) << i;
      continue;
    }
    ASSERT_EQ(bits(got), bits(wanted)) << i;
    ASSERT_EQ(to_f16(got).bits, raw) << i;
  }
}

// Every 16-bit value, the values half way between two, their neighbours, and a stride over all
// floats.
std::vector<float> floats_around(float (*widen_one)(std::uint16_t)) {
  std::vector<float> all;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const float value = widen_one(static_cast<std::uint16_t>(i));
    if (!std::isfinite(value)) continue;
    const float next = widen_one(static_cast<std::uint16_t>(i + 1));
    if (!std::isfinite(next)) continue;
    const float middle = value + (next - value) / 2;
    for (float one : {value, middle, std::nextafter(middle, value), std::nextafter(middle, next)})
      all.push_back(one);
  }
  for (std::uint64_t i = 0; i < (std::uint64_t{1} << 32); i += 4093) {
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(i)));
  }
  for (float one : {std::numeric_limits<float>::max(), 65504.0F, 65519.996F, 65520.0F, 0x1p-24F,
                    0x1p-25F, 0x1.000002p-25F}) {
    all.push_back(one);
    all.push_back(-one);
  }
  return all;
}

TEST(Types, NarrowingToBf16RoundsToNearestEven) {
  for (float one : floats_around([](std::uint16_t raw) { return to_float(bf16{raw}); })) {
    if (one != one) {
      ASSERT_EQ(to_bf16(one).bits, 0x7fff);
      continue;
    }
    ASSERT_EQ(to_bf16(one).bits, bits16(Eigen::bfloat16(one))) << one;
  }
}

TEST(Types, NarrowingToF16RoundsToNearestEven) {
  for (float one : floats_around([](std::uint16_t raw) { return to_float(f16{raw}); })) {
    if (one != one) {
      ASSERT_EQ(to_f16(one).bits, 0x7fff);
      continue;
    }
    ASSERT_EQ(to_f16(one).bits, bits16(Eigen::half(one))) << one;
  }
}

TEST(Ops, IntegersWrapAndNanIsNeverHidden) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  static_assert(Sum{}.combine(most, 1) == std::numeric_limits<std::int32_t>::min());
  static_assert(Prod{}.combine(most, 2) == -2);
  static_assert(Sum{}.combine(std::uint8_t{200}, std::uint8_t{100}) == 44);
  static_assert(Avg{}.finish(7, 2) == 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (float other : {-1.0F, 0.0F, std::numeric_limits<float>::infinity()}) {
    EXPECT_TRUE(std::isnan(Max{}.combine(nan, other)));
    EXPECT_TRUE(std::isnan(Max{}.combine(other, nan)));
    EXPECT_TRUE(std::isnan(Min{}.combine(nan, other)));
    EXPECT_TRUE(std::isnan(Min{}.combine(other, nan)));
  }
}

}  // namespace
}  // namespace sym
