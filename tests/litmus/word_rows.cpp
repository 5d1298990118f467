// Words of a signal table that other verbs write as well.
#include "tests/litmus/litmus.hpp"

namespace sym::litmus {

namespace {

using Number = std::uint64_t;

// W-PUT: a put to a word, and who looks at it. A wait is ended by it, too late or not.
Kernel put_and(bool waits) {
  return [waits](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.put_value(desk.f.words, 0, Number{5}, 1);
    } else {
      seen.r[0] =
          static_cast<int>(waits ? block.wait_until(desk.f, 0, Number{1}) : block.test(desk.f, 0));
    }
  };
}

// W-ADD: a fetch_add is a signal that brings nothing.
Kernel add_and(Number wanted) {
  return [wanted](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.put_value(desk.x, 0, 1, 1);
      block.fence(1);
      block.signal(desk.f, 0, 1);
      block.fetch_add(desk.f.words, 0, Number{1}, 1);
    } else {
      (void)block.wait_until(desk.f, 0, wanted);
      seen.r[0] = load(block, desk.x);
    }
  };
}

// W-CLEAR: the word is cleared while a signal is on its way to it, or when that is over.
Kernel clear(bool waits) {
  return [waits](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.signal(desk.f, 0, 1);
    } else {
      if (waits) (void)block.wait_until(desk.f, 0, Number{1});
      block.transform(desk.f.words, one, [] { return Number{0}; });
      block.sync();
      seen.r[0] = static_cast<int>(block.test(desk.f, 0));
    }
  };
}

// W-LANE: a lane is cleared by somebody whom nothing orders with its producer and its waiter.
void lane(FiberWorld& world, Seen& seen) {
  const Desk desk(world);
  const Signals steps = world.channel({1}).steps;
  launch(world, [&](Block& block) {
    if (block.pe() == 0) block.signal(steps, 0, 1);
    if (block.pe() == 1) seen.r[0] = block.wait_until(steps, 0, desk.team.only(0)) ? 1 : 0;
    if (block.pe() == 2) block.put_value(steps.words, steps.word(0, 0), Number{0}, 1);
  });
  world.synchronize();
}

}  // namespace

std::vector<Row> word_rows() {
  return {
      {"W_PUT_wait", 2, program_of(put_and(true)), 1, {"5"}, {"race"}},
      {"W_PUT_test", 2, program_of(put_and(false)), 1, {"0", "5"}, {"race"}},
      {"W_ADD_either", 2, program_of(add_and(1)), 1, {"0", "1"}, {"race"}},
      {"W_ADD_both", 2, program_of(add_and(2)), 1, {"1"}, {}},
      {"W_CLEAR", 2, program_of(clear(false)), 1, {"0", "1"}, {"race"}},
      {"W_CLEAR_waited", 2, program_of(clear(true)), 1, {"0"}, {}},
      {"W_LANE", 3, lane, 1, {"1", "hang"}, {"race", "deadlock"}},
  };
}

}  // namespace sym::litmus
