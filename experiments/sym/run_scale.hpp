// run_scale: one point of a variant for many PEs, in any world: fill, run, verify, time.
#pragma once

#include <string>
#include <type_traits>

#include "experiments/sym/collective_run.hpp"
#include "experiments/sym/scale_kernels.hpp"

namespace sym::command {

// Throws UsageError for a variant that has no kernel here.
inline Scale scale_of(const Point& point) {
  const std::string& variant = point.variant;
  const bool nvls = variant == "nvls";
  if (point.algorithm == "all_gather")
    return nvls ? Scale::all_gather_nvls : Scale::all_gather_hierarchical;
  if (point.algorithm == "reduce_scatter")
    return nvls ? Scale::reduce_scatter_nvls : Scale::reduce_scatter_hierarchical;
  if (point.algorithm == "all_to_all")
    return variant == "two_hop"    ? Scale::all_to_all_two_hop
           : variant == "one_shot" ? Scale::all_to_all_one_shot
                                   : Scale::all_to_all_direct;
  if (variant == "ring_pipelined") return Scale::ring_pipelined;
  if (variant == "halving_doubling") return Scale::halving_doubling;
  if (variant == "double_tree") return Scale::double_tree;
  if (variant == "hierarchical_hd") return Scale::hierarchical_hd;
  if (variant == "hierarchical_tree") return Scale::hierarchical_tree;
  if (nvls) return Scale::nvls;
  if (variant == "nvls_tree") return Scale::nvls_tree;
  throw UsageError("unknown variant '" + variant + "' of " + point.algorithm);
}

template <World W, class T>
class ScaleRun : private CollectiveRun<W, T> {
  using Base = CollectiveRun<W, T>;
  using Base::point_;
  using Base::shape_;

 public:
  ScaleRun(W& world, const Point& point)
      : Base(world, point, point.algorithm == "all_gather" || point.algorithm == "all_to_all"),
        variant_(scale_of(point)) {}

  PointResult run() {
    const std::size_t work =
        scale_work<T>(variant_, shape_.n, point_.pes, point_.per_node, point_.blocks);
    return Base::run_with(work, Base::packet_bytes(), [this]<class Op>() { by_variant<Op>(); });
  }

 private:
  // families.cpp refuses other operators on GPUs, for which nothing is compiled.
  template <class Op>
  void by_variant() {
    if constexpr (compiles_slowly<W> && !std::is_same_v<Op, Sum>) {
      throw UsageError(point_.algorithm + " " + point_.variant + ": on GPUs sum alone is compiled");
    } else {
      launch_its_kernel<Op>();
    }
  }
  template <class Op>
  void launch_its_kernel() {
    launch_if<Op, Scale::ring_pipelined, Scale::halving_doubling, Scale::double_tree,
              Scale::hierarchical_hd, Scale::hierarchical_tree, Scale::reduce_scatter_hierarchical,
              Scale::nvls, Scale::nvls_tree, Scale::reduce_scatter_nvls>();
    if constexpr (std::is_same_v<Op, Sum>)  // no operator: one instance is enough
      launch_if<Op, Scale::all_gather_hierarchical, Scale::all_gather_nvls,
                Scale::all_to_all_one_shot, Scale::all_to_all_direct, Scale::all_to_all_two_hop>();
  }
  template <class Op, Scale... variants>
  void launch_if() {
    (launch_one<Op, variants>(), ...);
  }
  template <class Op, Scale variant>
  void launch_one() {
    if (variant != variant_) return;
    const ScaleArguments<T> arguments{Base::group(), Base::in_,       Base::work_,  Base::out_,
                                      Base::count(), point_.per_node, point_.pieces};
    this->template verify_and_time<Op>(ScaleKernel<variant, T, Op>{arguments});
  }

  const Scale variant_;
};

template <World W, class T>
PointResult run_scale(W& world, const Point& point) {
  return ScaleRun<W, T>(world, point).run();
}

}  // namespace sym::command
