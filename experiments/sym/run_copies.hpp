// run_copies: one point of a collective whose bytes the copy engine moves, in any world: fill, run,
// verify, time.
#pragma once

#include <string>
#include <type_traits>

#include "core/collective/copy_engine.hpp"
#include "core/collective/staged.hpp"
#include "experiments/sym/collective_run.hpp"

namespace sym::command {

template <World W, class T>
class CopiesRun : private CollectiveRun<W, T> {
  using Base = CollectiveRun<W, T>;
  using Base::count;
  using Base::in_;
  using Base::out_;
  using Base::point_;
  using Base::shape_;
  using Base::work_;
  using Base::world_;

 public:
  CopiesRun(W& world, const Point& point) : Base(world, point, true) {}

  PointResult run() {
    const bool staged = point_.variant == "staged";
    const auto pes = static_cast<std::size_t>(point_.pes);
    const std::size_t slot = point_.algorithm == "reduce_scatter"
                                 ? shape_.n
                                 : StagedShares<T>{shape_.n, point_.pes}(0).count;
    plan_.pieces = point_.pieces;
    plan_.shrink = point_.shrink;
    plan_.kernel = launch_config(point_);
    plan_.head = head(point_.head_bytes / sizeof(T));
    posts_ = world_.posts(posts_of(point_.pieces));
    return Base::run_with(staged ? slot * pes : 0, 0, [this]<class Op>() { by_variant<Op>(); });
  }

 private:
  // Whole granules, or the whole part.
  std::size_t head(std::size_t elements) const {
    return elements + granule<T> > shape_.n ? shape_.n : elements / granule<T> * granule<T>;
  }
  QueueGroup queues() const { return QueueGroup{Base::group(), posts_}; }

  template <class Op>
  void by_variant() {
    const std::size_t n = count();
    const QueueGroup group = queues();
    const auto call = [this](auto enqueue) { this->template verify_and_time_calls<Op>(enqueue); };
    if (point_.algorithm == "all_reduce")
      call([&] { all_reduce_staged(world_, group, in_, work_, out_, n, Op{}, plan_); });
    if (point_.algorithm == "reduce_scatter")
      call([&] { reduce_scatter_staged(world_, group, in_, work_, out_, n, Op{}, plan_); });
    if constexpr (std::is_same_v<Op, Sum>) {  // no operator: one instance is enough
      if (point_.algorithm == "all_gather")
        call([&] { all_gather_copy_engine(world_, group, in_, out_, n, plan_); });
      if (point_.algorithm == "all_to_all")
        call([&] { all_to_all_copy_engine(world_, group, in_, out_, n, plan_); });
    }
  }

  QueuePlan plan_;
  Posts posts_;
};

template <World W, class T>
PointResult run_copies(W& world, const Point& point) {
  return CopiesRun<W, T>(world, point).run();
}

}  // namespace sym::command
