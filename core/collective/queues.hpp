// What collectives of queues share: a meeting of all members, and lines over which copies are
// dealt.
//
// An operation of queues is called by the host program of every member, in the same order with
// equal arguments. It enqueues, and may be captured; it begins and ends on the group's main queue,
// so windows may be rewritten, and results read, by what follows there.
#pragma once

#include <cstddef>

#include "core/collective/barrier.hpp"
#include "core/world.hpp"

namespace sym {

// Who takes part, and what the operation uses, one at a time: the channel's first block, flags, and
// queues first, first + 1, ... of which `first` is the main one.
struct QueueGroup {
  Group group;  // a channel of at least one block
  Posts posts;  // a slot for each piece in which parts go, at least one
  int first = 0;
};

// The queues of a group, the main one included.
inline constexpr int copy_lines = 2;
inline constexpr int queues_of_group = 1 + copy_lines + 1;

namespace detail {

struct MeetKernel {
  Group group;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    barrier(block, group);
    block.leave(group.channel);
  }
};

// A barrier of the members' main queues: what each did before is visible to all after.
template <World W>
void meet(W& world, const QueueGroup& queues) {
  LaunchConfig config;
  config.name = "meet";
  config.threads = 32;
  world.queue(queues.first).launch(config, MeetKernel{queues.group});
}

// The queues beside the main one. Copies are dealt to two by turns: what lies between two copies of
// one (its start, a flag) hides behind a copy of the other. A third has what stays on this PE.
// A fork begins after what the main queue has been given so far, which goes on after a join.
template <World W>
class CopyLines {
 public:
  CopyLines(W& world, const QueueGroup& queues) : world_(world), first_(queues.first) {}

  void fork() {
    const Mark begin = main().record();
    for (int turn = 0; turn < copy_lines; ++turn) of_turn(turn).after(begin);
  }
  void join() {
    for (int turn = 0; turn < copy_lines; ++turn) main().after(of_turn(turn).record());
  }
  void fork_own() { own().after(main().record()); }
  void join_own() { main().after(own().record()); }

  auto& main() { return world_.queue(first_); }
  auto& own() { return world_.queue(first_ + queues_of_group - 1); }
  auto& of_turn(int turn) { return world_.queue(first_ + 1 + turn % copy_lines); }

 private:
  W& world_;
  int first_;
};

}  // namespace detail

}  // namespace sym
