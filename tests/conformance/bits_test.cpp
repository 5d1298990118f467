// The same bits everywhere: a seeded bf16 all-reduce of random data against each variant's own
// definition, and against hashes that every backend of every build must reproduce
// (tests/golden/bits.txt).
#include <gtest/gtest.h>

#include "tests/conformance/cases_bits.hpp"
#include "tests/conformance/stamp_fiber.hpp"
#include "tests/conformance/stamp_thread.hpp"

namespace sym::conformance {
namespace {

class Bits : public testing::TestWithParam<BitsKey> {
 protected:
  const std::uint64_t golden = golden_hash(SYM_SOURCE_DIR "/tests/golden/bits.txt", GetParam());
  void expect_golden(const BitsResult& result) {
    const BitsKey& key = GetParam();
    ASSERT_EQ(result.hashes.size(), static_cast<std::size_t>(key.pes));
    for (const auto& [pe, hash] : result.hashes) {
      EXPECT_EQ(hex(hash), hex(golden)) << name_of_key(key) << " PE " << pe;
    }
    EXPECT_EQ(hex(golden), hex(hash_of(promised_sum(key))));
  }
};

TEST_P(Bits, OnThread) {
  BitsResult result;
  thread::ThreadOptions options;
  options.pes = GetParam().pes;
  thread::run_threads(
      options, [&](thread::ThreadWorld& world) { hash_all_reduce(world, GetParam(), result); });
  expect_golden(result);
}

TEST_P(Bits, OnCheck) {
  for (const char* schedule : {"worst", "random", "fifo"}) {
    BitsResult result;
    check::CheckOptions options;
    options.pes = GetParam().pes;
    options.schedule = schedule;
    const auto report = check::run_check(
        options, [&](fiber::FiberWorld& world) { hash_all_reduce(world, GetParam(), result); });
    EXPECT_EQ(report.text(), "");
    expect_golden(result);
  }
}

TEST_P(Bits, OnSim) {
  BitsResult result;
  sim::SimOptions options;
  options.machine = models::load_machine("dgx-h200");
  options.pes = GetParam().pes;
  options.network = "ports";
  options.fibres = 0;  // all blocks: some orders depend on their number
  (void)sim::run_sim(options,
                     [&](fiber::FiberWorld& world) { hash_all_reduce(world, GetParam(), result); });
  expect_golden(result);
}

INSTANTIATE_TEST_SUITE_P(All, Bits, testing::ValuesIn(bits_keys()),
                         [](const auto& one) { return name_of_key(one.param); });

}  // namespace
}  // namespace sym::conformance
