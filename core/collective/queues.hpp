// What collectives of queues share: a meeting of all members, and lines over which copies are
// dealt.
//
// An operation of queues is called by the host program of every member, in the same order with
// equal arguments. It enqueues, and may be captured; it begins and ends on the group's main queue,
// so windows may be rewritten, and results read, by what follows there.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "core/collective/barrier.hpp"
#include "core/error.hpp"
#include "core/world.hpp"

namespace sym {

// The queues of a group: the main one, two for copies, and one for what stays on the PE.
inline constexpr int copy_lines = 2;
inline constexpr int queues_of_group = 1 + copy_lines + 1;

// How an operation of queues runs, equal on all members: in how many pieces what goes to a member
// is sent (at least 1), the kernels that reduce pieces or copy what stays on the PE, how many
// elements of each part they put themselves (all_gather, all_to_all): a copy takes long to start;
// and how long a piece is beside the one before (above 0).
struct QueuePlan {
  int pieces = 1;
  LaunchConfig kernel{};
  std::size_t head = 0;
  double shrink = 1;
};

// Who takes part, and what the operation uses, one at a time: the channel's blocks, flags, and
// queues first, first + 1, ... of which `first` is the main one.
struct QueueGroup {
  Group group;  // a channel of at least one block; of plan.kernel.blocks, where they put heads
  Posts posts;  // posts_of(pieces) slots
  int first = 0;
};

// A flag for each piece, and one of each line for its end.
constexpr std::size_t posts_of(int pieces) {
  return static_cast<std::size_t>(pieces) + static_cast<std::size_t>(copy_lines);
}

namespace detail {

// On the host: throws UsageError for a plan that nothing could follow.
inline void require_plan(const QueueGroup& queues, const QueuePlan& plan) {
  if (plan.pieces < 1) {
    throw UsageError("QueuePlan::pieces is " + std::to_string(plan.pieces) +
                     "; what goes to a member is sent in at least one");
  }
  if (!(plan.shrink > 0) || !std::isfinite(plan.shrink)) {
    throw UsageError("QueuePlan::shrink is " + std::to_string(plan.shrink) +
                     "; a piece is so many times as long as the one before, above 0");
  }
  if (queues.posts.slots < posts_of(plan.pieces)) {
    throw UsageError("QueueGroup::posts has " + std::to_string(queues.posts.slots) +
                     " slots; posts_of(pieces) is " + std::to_string(posts_of(plan.pieces)));
  }
}

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

// Two queues of copies: what lies between two copies of one (its start, a flag) hides behind a copy
// of the other. Flags say when they have been made, to the main queue as well: a kernel that looks
// for one costs a GPU less than a kernel that waits for a copy's end.
template <World W>
class CopyLines {
 public:
  // `lines`: how many will be used at most.
  CopyLines(W& world, const QueueGroup& queues, int lines)
      : world_(world), queues_(queues), used_(lines < copy_lines ? lines : copy_lines) {}

  // They begin after what the main queue has been given so far.
  void fork() {
    const Mark begin = main().record();
    for (int line = 0; line < used_; ++line) of_turn(line).after(begin);
  }
  // The main queue goes on when the copies have been made: this PE's, or those to it as well.
  void finish_own() { finish(queues_.group.team.rank(), 1); }
  void finish_all() { finish(0, queues_.group.team.size()); }

  auto& main() { return world_.queue(queues_.first); }
  auto& own() { return world_.queue(queues_.first + queues_of_group - 1); }
  auto& of_turn(int turn) { return world_.queue(queues_.first + 1 + turn % copy_lines); }

 private:
  void finish(int first_rank, int ranks) {
    const Team& team = queues_.group.team;
    const auto each = [&](auto f) {
      for (int line = 0; line < used_; ++line) {
        for (int rank = first_rank; rank < first_rank + ranks; ++rank)
          f(line, queues_.posts.slots - copy_lines + static_cast<std::size_t>(line), team.pe(rank));
      }
    };
    each([&](int line, std::size_t slot, int pe) { of_turn(line).post(queues_.posts, slot, pe); });
    each([&](int, std::size_t slot, int pe) { main().take(queues_.posts, slot, pe); });
  }

  W& world_;
  const QueueGroup& queues_;
  int used_;
};

}  // namespace detail

}  // namespace sym
