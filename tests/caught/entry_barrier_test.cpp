// The planted bug of the issue: a race on every seed and schedule, while every value is right.
#include <gmock/gmock.h>

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {
namespace {

using testing::HasSubstr;

struct Planted {
  Desk desk;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.a, desk.a.all(), detail::Identity{}, desk.out);  // line_of_write
    block.reduce(desk.b, desk.a, desk.a.all(), desk.group.team, Sum{});   // line_of_read
    barrier(block, desk.group);
  }
  static constexpr int line_of_write = __LINE__ - 4;
  static constexpr int line_of_read = __LINE__ - 4;
};

TEST(MissingEntryBarrier, IsARaceOnEverySeedWhileEveryValueIsRight) {
  std::vector<check::CheckOptions> all(2);
  all[1].schedule = "fifo";
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    all.emplace_back();
    all.back().schedule = "random";
    all.back().seed = seed;
  }
  for (check::CheckOptions options : all) {
    options.pes = 3;
    SCOPED_TRACE(options.schedule + " " + std::to_string(options.seed));
    conformance::Errors errors;
    const auto report = check::run_check(options, [&](FiberWorld& world) {
      const Desk desk(world);
      const auto mine = conformance::values<float>({1, world.pe(), 3}, Desk::n);
      write_all(world, desk.out, mine);
      write_all(world, desk.a, mine);
      world.barrier();
      for (int launch = 0; launch < 3; ++launch) {
        world.launch(launch_of("planted"), Planted{desk});
        conformance::expect_equal(errors, "sum", read_all(world, desk.b, Desk::n),
                                  conformance::combined<float>(1, world.team(), Desk::n, 0, Sum{}));
      }
    });
    EXPECT_EQ(errors.text(), "");
    ASSERT_FALSE(report.clean());
    EXPECT_EQ(report.findings[0].kind, "race");
    const std::string file = "entry_barrier_test.cpp:";
    EXPECT_THAT(report.text(), HasSubstr(file + std::to_string(Planted::line_of_write)));
    EXPECT_THAT(report.text(), HasSubstr(file + std::to_string(Planted::line_of_read)));
    EXPECT_THAT(report.text(), HasSubstr("write  PE "));
    EXPECT_THAT(report.text(), HasSubstr("read   PE "));
  }
}

}  // namespace
}  // namespace sym::caught
