// run_point: one point of a shipped collective in any world: fill, run, verify, time.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "experiments/sym/collective_kernels.hpp"
#include "experiments/sym/collective_run.hpp"

namespace sym::command {

template <World W, class T>
class PointRun : private CollectiveRun<W, T> {
  using Base = CollectiveRun<W, T>;
  using Base::count;
  using Base::group;
  using Base::in_;
  using Base::out_;
  using Base::point_;
  using Base::shape_;
  using Base::work_;

 public:
  PointRun(W& world, const Point& point)
      : Base(world, point, point.variant != "ring" && point.variant != "hierarchical_ring") {}

  PointResult run() {
    const bool needs_work = (point_.algorithm == "reduce_scatter" && point_.variant != "direct") ||
                            point_.variant == "hierarchical_ring";
    return Base::run_with(needs_work ? shape_.in : 0, Base::packet_bytes(),
                          [this]<class Op>() { by_variant<Op>(); });
  }

 private:
  template <class Op>
  void by_variant() {
    const std::size_t n = count();
    const std::string& variant = point_.variant;
    if (point_.algorithm == "all_reduce") {
      if (variant == "one_shot")
        this->template verify_and_time<Op>(
            AllReduceKernel<Variant::one_shot, T, Op>{group(), in_, out_, n});
      if (variant == "one_shot_read")
        this->template verify_and_time<Op>(
            AllReduceKernel<Variant::one_shot_read, T, Op>{group(), in_, out_, n});
      if (variant == "two_shot")
        this->template verify_and_time<Op>(
            AllReduceKernel<Variant::two_shot, T, Op>{group(), in_, out_, n});
      if (variant == "ring")
        this->template verify_and_time<Op>(
            AllReduceKernel<Variant::ring, T, Op>{group(), in_, out_, n});
      if (variant == "hierarchical_ring")
        this->template verify_and_time<Op>(
            HierarchicalAllReduceKernel<T, Op>{group(), in_, work_, out_, n, point_.per_node});
    } else if (point_.algorithm == "reduce_scatter") {
      if (variant == "one_shot")
        this->template verify_and_time<Op>(
            ReduceScatterKernel<Variant::one_shot, T, Op>{group(), in_, work_, out_, n});
      if (variant == "direct")
        this->template verify_and_time<Op>(
            ReduceScatterKernel<Variant::direct, T, Op>{group(), in_, work_, out_, n});
      if (variant == "push")
        this->template verify_and_time<Op>(
            ReduceScatterKernel<Variant::push, T, Op>{group(), in_, work_, out_, n, point_.pieces});
      if (variant == "ring")
        this->template verify_and_time<Op>(
            ReduceScatterKernel<Variant::ring, T, Op>{group(), in_, work_, out_, n});
    } else if constexpr (std::is_same_v<Op, Sum>) {  // no operator: one instance is enough
      if (point_.algorithm == "all_gather") {
        if (variant == "one_shot")
          this->template verify_and_time<Op>(
              AllGatherKernel<Variant::one_shot, T>{group(), in_, out_, n});
        if (variant == "direct")
          this->template verify_and_time<Op>(
              AllGatherKernel<Variant::direct, T>{group(), in_, out_, n});
        if (variant == "ring")
          this->template verify_and_time<Op>(
              AllGatherKernel<Variant::ring, T>{group(), in_, out_, n});
      } else if (point_.algorithm == "broadcast") {
        if (variant == "one_shot")
          this->template verify_and_time<Op>(
              BroadcastKernel<Variant::one_shot, T>{group(), in_, out_, n, point_.root});
        if (variant == "direct")
          this->template verify_and_time<Op>(
              BroadcastKernel<Variant::direct, T>{group(), in_, out_, n, point_.root});
        if (variant == "two_shot")
          this->template verify_and_time<Op>(
              BroadcastKernel<Variant::two_shot, T>{group(), in_, out_, n, point_.root});
      }
    }
  }
};

template <World W, class T>
PointResult run_point(W& world, const Point& point) {
  return PointRun<W, T>(world, point).run();
}

}  // namespace sym::command
