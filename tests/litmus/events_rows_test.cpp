// Litmus rows that need threads, scopes, proxies or launches: each is stated twice, once as it is
// found in kernels and races, and once with what it lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/check/events.hpp"
#include "core/error.hpp"

namespace sym::check {
namespace {

using testing::HasSubstr;
constexpr Events::Strength release{Order::release, Scope::sys};
constexpr Events::Strength acquire{Order::acquire, Scope::sys};
constexpr Events::Strength relaxed{Order::relaxed, Scope::sys};
const Spot x{"x", 1}, flag{"flag", 1};

// All races of a program, one a line.
std::string text(const Events& events) {
  std::string all;
  for (const Events::Race& race : events.races()) all += race.text + "\n";
  return all;
}

// Message passing from PE 0 to PE 1, by a flag.
std::string message(Events::Strength stored, Events::Strength loaded, bool fence = false) {
  Events events;
  const auto sender = events.thread(0, 0);
  const auto receiver = events.thread(1, 0);
  events.write(sender, x);
  if (fence) events.fence(sender, Scope::sys);
  const auto seen = events.store(sender, flag, stored);
  events.load(receiver, flag, loaded, seen);
  events.read(receiver, x);
  return text(events);
}

TEST(EventRows, MP) {
  EXPECT_EQ(message(release, acquire), "");
  EXPECT_THAT(message(relaxed, acquire), HasSubstr("the flag that was seen is relaxed"));
  EXPECT_THAT(message(release, relaxed), HasSubstr("the flag that was seen is relaxed"));
  EXPECT_EQ(message(relaxed, acquire, true), "");  // MP+fence
}

TEST(EventRows, MPScope) {
  const std::string wrong = message({Order::release, Scope::gpu}, acquire);
  EXPECT_THAT(wrong, HasSubstr("an edge exists, but its scope gpu < sys"));
  EXPECT_THAT(wrong, HasSubstr("write of x@1 by PE 0 block 0 and read of x@1 by PE 1 block 0"));
  EXPECT_THAT(message(release, {Order::acquire, Scope::gpu}), HasSubstr("gpu < sys"));
  Events near;  // two blocks of one PE: gpu is enough, cta is not
  const auto sender = near.thread(0, 0);
  const auto receiver = near.thread(0, 1);
  near.write(sender, x);
  const auto seen = near.store(sender, flag, {Order::release, Scope::gpu});
  near.load(receiver, flag, {Order::acquire, Scope::gpu}, seen);
  near.read(receiver, x);
  EXPECT_EQ(text(near), "");
}

// The lanes of a block write, one of them releases: the block's barrier lies between (MP+bar).
TEST(EventRows, MPBar) {
  const auto program = [](bool barrier) {
    Events events;
    const auto lane = events.thread(0, 0);
    const auto leader = events.thread(0, 0);
    const auto receiver = events.thread(1, 0);
    events.write(lane, x);
    if (barrier) events.barrier({lane, leader});
    const auto seen = events.store(leader, flag, release);
    events.load(receiver, flag, acquire, seen);
    events.read(receiver, x);
    return text(events);
  };
  EXPECT_EQ(program(true), "");
  EXPECT_THAT(program(false), HasSubstr("nothing orders them"));
}

// vllm#57059: a barrier of relaxed flags makes no edge; then each reads the other's data.
TEST(EventRows, BarRel) {
  const auto program = [](Events::Strength in, Events::Strength out) {
    Events events;
    const Events::Thread threads[2] = {events.thread(0, 0), events.thread(1, 0)};
    const Spot data[2] = {{"data", 0}, {"data", 1}};
    const Spot arrived[2] = {{"arrived", 0}, {"arrived", 1}};
    Events::Event stored[2] = {};
    for (std::size_t i = 0; i < 2; ++i) events.write(threads[i], data[i]);
    for (std::size_t i = 0; i < 2; ++i) stored[i] = events.store(threads[i], arrived[1 - i], out);
    for (std::size_t i = 0; i < 2; ++i) events.load(threads[i], arrived[i], in, stored[1 - i]);
    for (std::size_t i = 0; i < 2; ++i) events.read(threads[i], data[1 - i]);
    return events.races().size();
  };
  EXPECT_EQ(program(acquire, release), 0U);
  EXPECT_EQ(program(relaxed, relaxed), 2U);
}

// ThunderKittens#194: a bulk store is announced when its source has been read, and not written.
TEST(EventRows, PxSt) {
  const auto program = [](bool whole, bool proxy_fence) {
    Events events;
    const auto sender = events.thread(0, 0);
    const auto receiver = events.thread(1, 0);
    const auto copy = events.copy(sender, {"stage", 0}, x);
    whole ? events.done(sender, copy) : events.read_done(sender, copy);
    if (proxy_fence) events.proxy_fence(sender, Proxy::async);
    const auto seen = events.store(sender, flag, release);
    events.load(receiver, flag, acquire, seen);
    events.read(receiver, x);
    return text(events);
  };
  EXPECT_EQ(program(true, true), "");
  EXPECT_THAT(program(false, true), HasSubstr("nothing orders them"));
  EXPECT_THAT(program(true, false), HasSubstr("crosses proxies (async to generic)"));
}

// DeepEP#632: what a generic acquire brought is loaded by a bulk copy.
TEST(EventRows, PxLd) {
  const auto program = [](bool proxy_fence) {
    Events events;
    const auto sender = events.thread(0, 0);
    const auto receiver = events.thread(1, 0);
    events.write(sender, x);
    const auto seen = events.store(sender, flag, release);
    events.load(receiver, flag, acquire, seen);
    if (proxy_fence) events.proxy_fence(receiver, Proxy::async);
    events.copy(receiver, x, {"stage", 1});
    return text(events);
  };
  EXPECT_EQ(program(true), "");
  EXPECT_THAT(program(false),
              HasSubstr("crosses proxies (generic to async) without a proxy fence"));
}

// nccl-extensions#8: a stage is read by lanes, they meet, and a bulk load overwrites it.
TEST(EventRows, PxWar) {
  const auto program = [](bool proxy_fence) {
    Events events;
    const auto lane = events.thread(0, 0);
    const auto leader = events.thread(0, 0);
    events.read(lane, {"stage", 0});
    events.barrier({lane, leader});
    if (proxy_fence) events.proxy_fence(leader, Proxy::async);
    events.copy(leader, {"x", 0}, {"stage", 0});
    return text(events);
  };
  EXPECT_EQ(program(true), "");
  EXPECT_THAT(program(false), HasSubstr("crosses proxies"));
}

// A multicast store and a load by the usual address.
TEST(EventRows, Alias) {
  const auto program = [](bool at_store, bool at_load) {
    Events events;
    const auto sender = events.thread(0, 0);
    const auto receiver = events.thread(1, 0);
    events.write(sender, x, Proxy::alias);
    if (at_store) events.proxy_fence(sender, Proxy::alias);
    const auto seen = events.store(sender, flag, release);
    events.load(receiver, flag, acquire, seen);
    if (at_load) events.proxy_fence(receiver, Proxy::alias);
    events.read(receiver, x);
    return text(events);
  };
  EXPECT_EQ(program(true, false), "");
  EXPECT_THAT(program(false, false), HasSubstr("crosses proxies (alias to generic)"));
  EXPECT_NE(program(false, true), "");  // on the wrong side: the store was never made known
}

// uccl#903: a non-coherent load of what came during the launch.
TEST(EventRows, Nc) {
  const auto program = [](Proxy proxy) {
    Events events;
    const auto sender = events.thread(0, 0);
    const auto receiver = events.thread(1, 0);
    events.write(sender, x);
    const auto seen = events.store(sender, flag, release);
    events.load(receiver, flag, acquire, seen);
    events.read(receiver, x, proxy);
    return text(events);
  };
  EXPECT_EQ(program(Proxy::generic), "");
  EXPECT_THAT(program(Proxy::nc), HasSubstr("non-coherent loads are outside"));
  Events next;  // of what was there when the launch began, it is fine
  const auto before = next.thread(0, 0, "first");
  const auto after = next.thread(0, 0, "second");
  next.write(before, x);
  next.read(after, x, Proxy::nc);
  EXPECT_NE(text(next), "");
  next.in_stream(before, after);
  EXPECT_EQ(text(next), "");
  EXPECT_THROW(next.proxy_fence(after, Proxy::nc), UsageError);
}

// vllm#2760: eight writers of a byte each, and one load of the eight bytes.
TEST(EventRows, Mix) {
  const auto races = [](std::size_t bytes) {
    Events events;
    const auto reader = events.thread(0, 0);
    Events::Event last = -1;
    for (std::size_t i = 0; i < 8; i += bytes) {
      const auto writer = events.thread(static_cast<int>(i) + 1, 0);
      last = events.store(writer, {"flag", 0, i, bytes}, release);
    }
    events.load(reader, {"flag", 0, 0, 8}, acquire, last);
    return events.races();
  };
  EXPECT_EQ(races(8).size(), 0U);
  ASSERT_EQ(races(1).size(), 8U);
  EXPECT_THAT(races(1)[0].text, HasSubstr("different bytes"));
}

// Lanes write a source, and one of them rings a NIC's bell.
TEST(EventRows, NicSrc) {
  const auto program = [](bool barrier, Scope scope) {
    Events events;
    const auto lane = events.thread(0, 0);
    const auto leader = events.thread(0, 0);
    events.write(lane, {"source", 0});
    if (barrier) events.barrier({lane, leader});
    events.fence(leader, scope);
    events.copy(leader, {"source", 0}, x, Proxy::nic);
    return text(events);
  };
  EXPECT_EQ(program(true, Scope::sys), "");
  EXPECT_THAT(program(true, Scope::gpu), HasSubstr("without a sys-scope fence"));
  EXPECT_THAT(program(false, Scope::sys), HasSubstr("nothing orders them"));
}

// vllm#45448: a kernel lets its dependents begin before its last store; they must wait for it.
TEST(EventRows, Pdl) {
  const auto program = [](bool waits) {
    Events events;
    const auto before = events.thread(0, 0, "k - 2");
    const auto first = events.thread(0, 0, "k - 1");
    const auto dependent = events.thread(0, 0, "k");
    events.in_stream(before, dependent);
    events.write(before, {"old", 0});
    events.write(first, {"new", 0});
    events.read(dependent, {"old", 0});
    if (waits) events.wait_for_launch(dependent, first);
    events.read(dependent, {"new", 0});
    return text(events);
  };
  EXPECT_EQ(program(true), "");
  const std::string wrong = program(false);
  EXPECT_THAT(wrong, HasSubstr("write of new@0 by PE 0 block 0 (k - 1)"));
  EXPECT_THAT(wrong, testing::Not(HasSubstr("old@0")));
}

}  // namespace
}  // namespace sym::check
