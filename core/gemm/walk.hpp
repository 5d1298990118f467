// The order in which a rank does what its plan says. Written once: the executor (run.hpp) walks a
// plan to enqueue it, verify walks it to prove it.
//
// Two lines of execution: `compute` multiplies, `copies` fetches ahead. The call begins and ends on
// `compute`, so it can be captured, and is done when that line is. What copies need of other ranks
// is told and waited for on their own line, beside the products.
#pragma once

#include <vector>

#include "core/gemm/plan.hpp"

namespace sym::gemm {

enum class Line { compute, copies };

// What a walk needs of its target. Operations of one line happen in the order of the calls.
template <class Target>
concept WalkTarget = requires(Target& on, const Flag& flag, const Pull& pull, const Stage& stage,
                              const Delivery& delivery) {
  on.post(Line::compute, flag);
  on.take(Line::compute, flag);
  on.after(Line::compute, on.record(Line::copies));
  on.pull(pull);         // on copies
  on.multiply(stage);    // on compute
  on.deliver(delivery);  // on compute
};

template <WalkTarget Target>
void walk(const Plan& plan, int rank, Target& on) {
  const RankPlan& mine = plan.ranks[to_index(rank)];
  using Mark = decltype(on.record(Line::compute));
  std::vector<Mark> ended(mine.stages.size());
  const auto post = [&on](Line line, const std::vector<Flag>& flags) {
    for (const Flag& flag : flags) on.post(line, flag);
  };
  const auto take = [&on](Line line, const std::vector<Flag>& flags) {
    for (const Flag& flag : flags) on.take(line, flag);
  };

  if (mine.copies()) on.after(Line::copies, on.record(Line::compute));
  post(Line::copies, mine.tiles.ready);
  post(Line::compute, mine.addends.ready);
  for (std::size_t s = 0; s < mine.stages.size(); ++s) {
    const Stage& stage = mine.stages[s];
    for (const Pull& pull : stage.pulls) {
      take(Line::copies, pull.takes);
      if (pull.after >= 0) on.after(Line::copies, ended[to_index(pull.after)]);
      on.pull(pull);
      post(Line::copies, pull.posts);
    }
    if (!stage.pulls.empty()) on.after(Line::compute, on.record(Line::copies));
    take(Line::compute, stage.takes);
    on.multiply(stage);
    if (stage.credit) ended[s] = on.record(Line::compute);
    post(Line::compute, stage.posts);
  }
  for (const Delivery& delivery : mine.deliveries) {
    take(Line::compute, delivery.takes);
    on.deliver(delivery);
    post(Line::compute, delivery.posts);
  }
  take(Line::copies, mine.tiles.finished);
  if (mine.copies()) on.after(Line::compute, on.record(Line::copies));
  take(Line::compute, mine.addends.finished);
}

}  // namespace sym::gemm
