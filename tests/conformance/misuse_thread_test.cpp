#include <gmock/gmock.h>

#include <chrono>

#include "tests/conformance/cases_misuse.hpp"
#include "tests/conformance/stamp_thread.hpp"

namespace sym::conformance {
namespace {

using testing::HasSubstr;
using thread::ThreadWorld;

constexpr std::chrono::milliseconds limit{300};

// What the run throws, and it must be an E; it may not take much longer than the wait limit.
template <class E>
std::string thrown(int pes, void (*program)(ThreadWorld&)) {
  thread::ThreadOptions options;
  options.pes = pes;
  options.wait_limit = limit;
  const auto begin = std::chrono::steady_clock::now();
  std::string text = "nothing was thrown";
  try {
    thread::run_threads(options, program);
  } catch (const E& error) {
    text = error.what();
  } catch (const std::exception& error) {
    text = std::string("another kind of error: ") + error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10 * limit);
  return text;
}

TEST(MisuseOnThread, DifferentSizesNameThePes) {
  const std::string text = thrown<UsageError>(3, different_sizes<ThreadWorld>);
  EXPECT_THAT(text, HasSubstr("PE 1"));
  EXPECT_THAT(text, HasSubstr("11 elements"));
  EXPECT_THAT(text, HasSubstr("10 elements"));
}

TEST(MisuseOnThread, DifferentOrderNamesThePes) {
  EXPECT_THAT(thrown<UsageError>(2, different_order<ThreadWorld>), HasSubstr("PE 1"));
}

TEST(MisuseOnThread, FreedTwice) {
  EXPECT_THAT(thrown<UsageError>(1, freed_twice<ThreadWorld>),
              HasSubstr("not the start of a live allocation"));
}

TEST(MisuseOnThread, DifferentCountsNameThePe) {
  const std::string text = thrown<Failure>(4, different_counts<ThreadWorld>);
  EXPECT_THAT(text, HasSubstr("mismatch: PE "));
  EXPECT_THAT(text, HasSubstr("all_reduce.hpp:"));
}

TEST(MisuseOnThread, OneSkipsEndsWithinTheLimit) {
  const std::string text = thrown<Failure>(3, one_skips<ThreadWorld>);
  EXPECT_THAT(text, HasSubstr("missing PE 1"));
  EXPECT_THAT(text, HasSubstr("slot "));
  EXPECT_THAT(text, HasSubstr("expected 3, seen 2"));
  EXPECT_THAT(text, HasSubstr("second"));
}

TEST(MisuseOnThread, ChannelOnTwoStreamsIsBusy) {
  EXPECT_THAT(thrown<Failure>(2, channel_on_two_streams<ThreadWorld>), HasSubstr("busy"));
}

TEST(MisuseOnThread, MoreBlocksThanTheChannelHas) {
  EXPECT_THAT(thrown<Failure>(2, too_many_blocks<ThreadWorld>),
              HasSubstr("3 blocks on a channel for 2"));
}

TEST(MisuseOnThread, Recovers) {
  thread::ThreadOptions options;
  options.pes = 3;
  options.wait_limit = limit;
  Errors errors;
  thread::run_threads(options, [&](ThreadWorld& world) { recovers(world, errors); });
  EXPECT_EQ(errors.text(), "");
}

}  // namespace
}  // namespace sym::conformance
