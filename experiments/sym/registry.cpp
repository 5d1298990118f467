#include "experiments/sym/registry.hpp"

#include <algorithm>
#include <tuple>

#include "core/gemm/instances.hpp"
#include "core/world.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {

// Each is defined in the header of its name, and instantiated in the generated instances.
template <World W, class T>
PointResult run_point(W& world, const Point& point);
template <World W, class T>
PointResult run_all_to_all_v(W& world, const Point& point);
template <World W, class T>
PointResult run_moe(W& world, const Point& point);
template <World W, class T>
PointResult run_gemm(W& world, const Point& point);

}  // namespace sym::command

// The worlds' headers after the declaration above, for completeness of their types only.
#include "backends/thread/world.hpp"
#if defined(SYM_HAVE_FIBER)
#include "backends/fiber/world.hpp"
#endif
#if defined(SYM_HAVE_CUDA)
#include "backends/cuda/cuda_world.hpp"
#endif

namespace sym::command {

namespace {

// The host program of a family, and the types that it is stamped for: CMakeLists.txt has the same
// list.
struct Collectives {
  using Types = std::tuple<bf16, f16, float, double, std::int32_t, std::int64_t, std::uint8_t>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_point<W, T>(world, point);
  }
};
struct AllToAllV {
  using Types = std::tuple<bf16, float, std::uint8_t>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_all_to_all_v<W, T>(world, point);
  }
};
struct Moe {
  using Types = std::tuple<bf16, float>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_moe<W, T>(world, point);
  }
};
struct Gemms {
  using Types = std::tuple<bf16, f16, float, double>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_gemm<W, T>(world, point);
  }
};

// The program for a world, by the point's type.
template <class Program, class W, class... T>
auto runner(std::tuple<T...>*) {
  return [](W& world, const Point& point) {
    PointResult result;
    const auto run_if_named = [&]<class U>() {
      if (point.dtype != dtype_name<U>()) return false;
      result = Program::template run<W, U>(world, point);
      return true;
    };
    if (!(run_if_named.template operator()<T>() || ...))
      throw UsageError(point.algorithm + " was not compiled for dtype " + point.dtype);
    return result;
  };
}
template <class... T>
std::vector<std::string> names_of(std::tuple<T...>*) {
  return {dtype_name<T>()...};
}

template <class Program>
Algorithm compiled(const std::string& name, const std::string& summary) {
  using Types = typename Program::Types;
  Types* const types = nullptr;
  Algorithm algorithm;
  algorithm.name = name;
  algorithm.summary = summary;
  algorithm.dtypes = names_of(types);
  algorithm.thread = runner<Program, thread::ThreadWorld>(types);
#if defined(SYM_HAVE_FIBER)
  algorithm.fiber = runner<Program, fiber::FiberWorld>(types);
#endif
#if defined(SYM_HAVE_CUDA)
  algorithm.cuda = runner<Program, cuda::CudaWorld>(types);
#endif
  return algorithm;
}

Algorithm collective(const std::string& name, const std::string& summary,
                     std::vector<std::string> variants) {
  Algorithm algorithm = compiled<Collectives>(name, summary);
  algorithm.variants = std::move(variants);
  algorithm.has_op = name == "all_reduce" || name == "reduce_scatter";
  algorithm.family.equal_outputs = name != "reduce_scatter";
  return algorithm;
}

// An algorithm of another family: no operator, and no closed form that bounds it.
template <class Program>
Algorithm of_family(const std::string& name, const std::string& summary, Family family,
                    std::vector<std::string> variants) {
  Algorithm algorithm = compiled<Program>(name, summary);
  algorithm.variants = std::move(variants);
  algorithm.has_op = false;
  algorithm.has_bound = false;
  algorithm.family = std::move(family);
  return algorithm;
}

std::vector<std::string> gemm_schedules() {
  std::vector<std::string> names;
  for (const gemm::ScheduleMaker& maker : gemm::schedules()) names.push_back(maker.name);
  return names;
}

}  // namespace

Registry::Registry() {
  add(collective("all_reduce", "out = op over all PEs of in",
                 {"one_shot", "one_shot_read", "two_shot", "ring", "hierarchical"}));
  add(collective("all_gather", "out = the inputs of all PEs, by rank", {"direct", "ring"}));
  add(collective("reduce_scatter", "out = this rank's share of op over all PEs",
                 {"direct", "ring"}));
  add(collective("broadcast", "out = the root's input", {"direct", "two_shot"}));
  add(of_family<AllToAllV>("all_to_all_v", "rows to every PE, counts in device memory",
                           all_to_all_v_family(), {"direct"}));
  add(of_family<Moe>("moe_dispatch_combine", "tokens to their experts, and back as weighted sums",
                     moe_family(), {"expert_major"}));
  Family products = gemm_family();
  products.schedules = gemm_schedules();
  add(of_family<Gemms>("gemm", "D = A B^T + beta C + bias, in tiles over all PEs", products,
                       gemm_schedules()));
}

const Algorithm& Registry::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms_) {
    if (algorithm.name == name) return algorithm;
    names.push_back(algorithm.name);
  }
  throw UsageError("unknown algorithm '" + name + "'; the nearest is '" +
                   nearest_name(name, names) + "' (sym list shows all)");
}

void require_dtype(const Algorithm& algorithm, const std::string& dtype) {
  const auto& names = algorithm.dtypes;
  if (names.empty() || std::find(names.begin(), names.end(), dtype) != names.end()) return;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  throw UsageError(algorithm.name + " was not compiled for dtype " + dtype + "; it takes " + known);
}

void require_variant(const Algorithm& algorithm, const std::string& variant) {
  if (variant == "auto") return;
  const auto& names = algorithm.variants;
  if (std::find(names.begin(), names.end(), variant) != names.end()) return;
  throw UsageError("unknown variant '" + variant + "' of " + algorithm.name + "; the nearest is '" +
                   nearest_name(variant, names) + "' (or auto)");
}

}  // namespace sym::command
