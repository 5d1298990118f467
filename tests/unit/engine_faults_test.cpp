// Kernels that do what nobody may: each is a finding with its place, and the process goes on.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <thread>

#include "backends/check/run.hpp"
#include "backends/fiber/fault.hpp"

namespace sym::fiber {
namespace {

using testing::HasSubstr;

template <class Body>
check::CheckReport run(Body body, const char* schedule = "worst", double verb_seconds = 0.1) {
  check::CheckOptions options;
  options.schedule = schedule;
  options.verb_seconds = verb_seconds;
  return check::run_check(options, [&](FiberWorld& world) {
    world.launch({.name = "faulty", .blocks = 2}, [body](FiberBlock& block) {
      block.sync();
      if (block.pe() == 1 && block.index() == 1) body();
    });
  });
}

void expect_finding(const check::CheckReport& report, const char* kind, const char* headline) {
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, kind);
  EXPECT_THAT(finding.text, HasSubstr(headline));
  EXPECT_THAT(finding.text, HasSubstr("PE 1 block 1  launch 1 (faulty)  sync at "));
  ASSERT_EQ(finding.places.size(), 1U);
  EXPECT_EQ(finding.places[0].pe, 1);
  EXPECT_EQ(finding.places[0].block, 1);
  EXPECT_EQ(finding.places[0].verb, Verb::sync);
  EXPECT_FALSE(finding.why.empty());
  EXPECT_FALSE(finding.fix.empty());
}

// Not inlined, and each call needs the one below: the compiler cannot make it a loop.
[[gnu::noinline]] int deep(volatile int* below, int n) {
  volatile int here[256];
  here[n % 256] = *below + n;
  return n < 0 ? 0 : deep(here, n + 1) + here[(n + 1) % 256];
}

volatile int zero = 0;
volatile bool forever = true;

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    if (!FaultGuard::works()) GTEST_SKIP() << "a sanitizer wants to see faults itself";
  }
};

TEST_F(Faults, StackOverflow) {
  const auto report = run([] {
    volatile int start = 1;
    zero = zero + 0 * deep(&start, 1);
  });
  expect_finding(report, "stack-overflow", "STACK OVERFLOW more than the 64 KiB");
}

// Larger than a guard page or two: without a probe of each page it would step over the guard.
template <std::size_t bytes>
[[gnu::noinline]] int wide(int at) {
  volatile char here[bytes];
  here[static_cast<std::size_t>(at)] = 1;  // the far end alone
  return here[static_cast<std::size_t>(at)];
}
TEST_F(Faults, AFrameLargerThanTheStack) {
  expect_finding(run([] { zero = zero + 0 * wide<(160 << 10)>(0); }), "stack-overflow",
                 "STACK OVERFLOW");
  expect_finding(run([] { zero = zero + 0 * wide<(8 << 20)>(0); }), "stack-overflow",
                 "STACK OVERFLOW");
}

// A byte before or behind an allocation, written by a raw pointer, in `where` of it.
std::string written_beside(std::ptrdiff_t at, bool local, std::size_t n = 10) {
  const auto report = check::run_check({}, [=](FiberWorld& world) {
    const auto unused = world.allocate<char>(10);
    const auto window = world.allocate<char>(n);
    const auto own = world.local<char>(n);
    world.launch({.name = "before"}, [](FiberBlock& block) { block.sync(); });
    world.launch({.name = "writes"}, [=](FiberBlock& block) {
      char* const begin = local ? own.data : block.escape(window, Range{0, n});
      if (block.pe() == 1) begin[at] = 7;
    });
    world.synchronize();
    world.free(unused);
  });
  if (report.findings.size() != 1) return "findings:\n" + report.text();
  EXPECT_EQ(report.findings[0].kind, "overrun");
  EXPECT_THAT(report.text(), HasSubstr("PE 1 block 0  launch 2 (writes)"));
  return report.text().substr(0, report.text().find('\n'));
}
TEST_F(Faults, BytesBesideAnAllocation) {
  EXPECT_EQ(written_beside(10, false),
            "OVERRUN  byte 1 behind the end of payload allocation #1 of PE 1 has been written");
  EXPECT_EQ(written_beside(-4, false),
            "OVERRUN  byte 4 before payload allocation #1 of PE 1 has been written");
  EXPECT_EQ(written_beside(30, true),
            "OVERRUN  byte 21 behind the end of local array #0 of PE 1 has been written");
  EXPECT_EQ(written_beside(-1, true),
            "OVERRUN  byte 1 before local array #0 of PE 1 has been written");
  EXPECT_EQ(written_beside(std::ptrdiff_t{3} << 20, false, std::size_t{3} << 20),
            "OVERRUN  byte 1 behind the end of payload allocation #1 of PE 1 has been written");
  for (const bool local : {false, true}) {  // pages of its own, and guards on both sides
    const std::string what = local ? "local array #0" : "payload allocation #1";
    EXPECT_EQ(written_beside(300000, local, 300000),
              "OVERRUN  byte 1 behind the end of " + what + " of PE 1 has been written");
    EXPECT_EQ(written_beside(-128, local, 300000),
              "OVERRUN  byte 128 before " + what + " of PE 1 has been written");
  }
  EXPECT_EQ(written_beside(9, false), "findings:\n");
  EXPECT_EQ(written_beside(0, true), "findings:\n");
}

// What the host does beside an allocation is seen when it is freed, or when the run ends.
TEST_F(Faults, BytesBesideAnAllocationThatTheHostHas) {
  for (const bool frees : {false, true}) {
    const auto report = check::run_check({}, [=](FiberWorld& world) {
      const auto window = world.allocate<char>(10);
      const auto own = world.local<char>(10);
      if (world.pe() == 1) own.data[10] = 7;
      if (frees) world.free(window);
    });
    ASSERT_EQ(report.findings.size(), 1U) << report.text();
    EXPECT_EQ(report.findings[0].kind, "overrun");
    EXPECT_THAT(report.text(), HasSubstr("local array #0 of PE 1"));
  }
}

// exit() in the middle of a run would be a success that has checked nothing.
TEST(Exit, IsAFailureWithItsPlace) {
  const auto leaves = [](void (*leave)(int)) { return [leave] { leave(0); }; };
  EXPECT_EXIT(run(leaves(std::exit)), testing::ExitedWithCode(1),
              "EXIT the program called exit.*\n.*PE 1 block 1  launch 1 .faulty.  sync at ");
  EXPECT_EXIT(run(leaves(std::quick_exit)), testing::ExitedWithCode(1), "EXIT the program called");
  EXPECT_EXIT(check::run_check({}, [](FiberWorld&) { std::exit(0); }), testing::ExitedWithCode(1),
              "EXIT .*\n.*PE 0 host");
  EXPECT_EXIT((run([] {}), std::exit(0)), testing::ExitedWithCode(0),
              "");  // after a run it is none
}

// Findings beyond the most that are kept are counted, and what ends the run is always there.
TEST(Findings, TheLastIsNeverLost) {
  const auto report = check::run_check({}, [](FiberWorld& world) {
    Signals never;
    never.words = world.allocate_control<std::uint64_t>(1);
    never.slots = 1;
    const auto x = world.allocate<int>(60);
    world.launch({.name = "many", .blocks = 2}, [=](FiberBlock& block) {
      for (std::size_t i = 0; i < 60; ++i) {
        const Site site{"many.cpp", static_cast<int>(i + 1)};
        block.put_value(x, i, block.index(), 0, site);
      }
      block.wait_until(never, 0, std::uint64_t{1});
    });
  });
  ASSERT_EQ(report.findings.size(), most_findings + 2) << report.text();
  EXPECT_EQ(report.findings[most_findings].kind, "deadlock");
  EXPECT_EQ(report.findings.back().kind, "not-kept");
  EXPECT_THAT(report.findings.back().text, HasSubstr("NOT KEPT 10 more findings"));
}

TEST_F(Faults, RawPointers) {
  const auto wild = [] { *reinterpret_cast<volatile int*>(std::uintptr_t{64}) = 1; };
  expect_finding(run(wild), "bad-pointer", "BAD POINTER");
  expect_finding(run(wild, "random"), "bad-pointer", "BAD POINTER");  // and again, and elsewhere
  expect_finding(run(wild, "pct"), "bad-pointer", "BAD POINTER");
}

// A transfer of Local memory that is none faults where it is named, not where it is delivered.
TEST_F(Faults, LocalMemoryThatIsNone) {
  const auto report = check::run_check({}, [](FiberWorld& world) {
    const auto window = world.allocate<int>(4);
    world.launch({.name = "nowhere"}, [window](FiberBlock& block) {
      const Local<int> nowhere{reinterpret_cast<int*>(std::uintptr_t{64}), 4};
      block.put(window, nowhere, Range{0, 4}, 1 - block.pe());
    });
  });
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "bad-pointer");
  EXPECT_THAT(report.findings[0].text, HasSubstr("(nowhere)  put at"));
}

TEST_F(Faults, Divisions) {
#if defined(__x86_64__)
  expect_finding(run([] { zero = 7 / zero; }), "arithmetic", "ARITHMETIC");
#endif
}

TEST_F(Faults, FailedAssertions) {
  expect_finding(run([] { std::abort(); }), "abort", "ABORT");
}

TEST_F(Faults, ALoopWithoutAVerb) {
  const auto loops = [] {
    while (forever) {
    }
  };
  expect_finding(run(loops), "no-yield", "NEVER YIELDS 0.1");
  // Most of the time in an allocator: it must not be left with its lock held.
  const auto allocates = [] {
    while (forever) {
      auto* volatile bytes = new char[100'000];
      delete[] bytes;
    }
  };
  expect_finding(run(allocates), "no-yield", "NEVER YIELDS");
  EXPECT_NE(std::make_unique<char[]>(100'000), nullptr);
}

// A kernel that waits for something that no GPU has.
TEST_F(Faults, Sleep) {
  const auto sleeps = [] { std::this_thread::sleep_for(std::chrono::hours(1)); };
  expect_finding(run(sleeps, "worst", 0.02), "no-yield", "NEVER YIELDS 0.2 s of waiting");
}

// A host has more time than a kernel, and not for ever. A limit ends it before it is a finding.
TEST_F(Faults, AHostWithoutAVerb) {
  const auto loops = [](FiberWorld& world) {
    while (world.pe() == 1 && forever) {
    }
  };
  check::CheckOptions options;
  options.verb_seconds = 0.05;
  const auto report = check::run_check(options, loops);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "no-yield");
  EXPECT_THAT(report.text(), HasSubstr("NEVER YIELDS 0.3 s of computing"));
  EXPECT_THAT(report.text(), HasSubstr("PE 1 host"));
  options.most_seconds = 0.05;
  for (const char* schedule : {"worst", "exhaustive"}) {
    for (options.verb_seconds = 0; options.verb_seconds < 20; options.verb_seconds += 10) {
      options.schedule = schedule;
      const auto limited = check::run_check(options, loops);
      EXPECT_EQ(limited.text(), "");
      EXPECT_THAT(limited.not_reached, HasSubstr("used up"));
    }
  }
}

// Whoever has nearly used up his time has all of it again after a verb.
TEST_F(Faults, TimeIsCountedFromTheLastVerb) {
  check::CheckOptions options;
  options.verb_seconds = 0.05;
  const auto report = check::run_check(options, [](FiberWorld& world) {
    world.launch({.name = "slow"}, [](FiberBlock& block) {
      for (int round = 0; round < 8; ++round) {
        block.sync();
        const auto computes = std::clock() + CLOCKS_PER_SEC / 50;
        while (std::clock() < computes) {
        }
      }
    });
    world.synchronize();
  });
  EXPECT_EQ(report.text(), "");
}

TEST(Exceptions, OfAKernelAreFindings) {
  expect_finding(run([] { throw std::out_of_range("no such row"); }), "exception",
                 "EXCEPTION no such row");
  expect_finding(run([] { throw 7; }), "exception",
                 "EXCEPTION something that is no std::exception");
}

TEST(Exceptions, OfAHostThatAreNoStandardOnesAreFindings) {
  const auto report = check::run_check({}, [](FiberWorld& world) {
    world.barrier();
    if (world.pe() == 1) throw 7;
  });
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "exception");
  EXPECT_THAT(report.findings[0].text, HasSubstr("PE 1 host"));
}

// Threads have guards of their own, and handlers go back to whoever had them.
TEST_F(Faults, EveryThreadHasItsOwn) {
  struct sigaction before = {}, after = {};
  sigaction(SIGSEGV, nullptr, &before);
  const auto wild = [] { *reinterpret_cast<volatile int*>(std::uintptr_t{64}) = 1; };
  check::CheckReport reports[2];
  std::thread one([&] { reports[0] = run(wild); });
  std::thread other([&] { reports[1] = run([] { std::abort(); }); });
  one.join();
  other.join();
  expect_finding(reports[0], "bad-pointer", "BAD POINTER");
  expect_finding(reports[1], "abort", "ABORT");
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(before.sa_sigaction, after.sa_sigaction);
  constexpr int restorer = 0x04000000;  // the C library's own mark on what it has installed
  EXPECT_EQ(before.sa_flags & ~restorer, after.sa_flags & ~restorer);
}

}  // namespace
}  // namespace sym::fiber
