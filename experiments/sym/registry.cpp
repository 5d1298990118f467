#include "experiments/sym/registry.hpp"

#include <algorithm>

#include "core/world.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {

// Defined in experiments/sym/run_point.hpp, instantiated in the generated instances.
template <World W, class T>
PointResult run_point(W& world, const Point& point);

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

template <class W>
auto runner() {
  return [](W& world, const Point& point) {
    return with_dtype(point.dtype, [&]<class T>() { return run_point<W, T>(world, point); });
  };
}

Algorithm collective(const std::string& name, const std::string& summary,
                     std::vector<std::string> variants, bool has_op) {
  Algorithm algorithm;
  algorithm.name = name;
  algorithm.summary = summary;
  algorithm.variants = std::move(variants);
  algorithm.has_op = has_op;
  algorithm.thread = runner<thread::ThreadWorld>();
#if defined(SYM_HAVE_FIBER)
  algorithm.fiber = runner<fiber::FiberWorld>();
#endif
#if defined(SYM_HAVE_CUDA)
  algorithm.cuda = runner<cuda::CudaWorld>();
#endif
  return algorithm;
}

}  // namespace

Registry::Registry() {
  add(collective("all_reduce", "out = op over all PEs of in",
                 {"one_shot", "one_shot_read", "two_shot", "ring"}, true));
  add(collective("all_gather", "out = the inputs of all PEs, by rank", {"direct", "ring"}, false));
  add(collective("reduce_scatter", "out = this rank's share of op over all PEs", {"direct", "ring"},
                 true));
  add(collective("broadcast", "out = the root's input", {"direct", "two_shot"}, false));
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

void require_variant(const Algorithm& algorithm, const std::string& variant) {
  if (variant == "auto") return;
  const auto& names = algorithm.variants;
  if (std::find(names.begin(), names.end(), variant) != names.end()) return;
  throw UsageError("unknown variant '" + variant + "' of " + algorithm.name + "; the nearest is '" +
                   nearest_name(variant, names) + "' (or auto)");
}

}  // namespace sym::command
