#include "experiments/sym/registry.hpp"

#include <algorithm>
#include <tuple>

#include "core/gemm/instances.hpp"
#include "core/world.hpp"
#include "experiments/sym/dtypes.hpp"
#include "models/rails.hpp"

namespace sym::command {

// Each is defined in the header of its name, and instantiated in the generated instances.
template <World W, class T>
PointResult run_point(W& world, const Point& point);
template <World W, class T>
PointResult run_scale(W& world, const Point& point);
template <World W, class T>
PointResult run_copies(W& world, const Point& point);
template <World W, class T>
PointResult run_all_to_all_v(W& world, const Point& point);
template <World W, class T>
PointResult run_moe(W& world, const Point& point);
template <World W, class T>
PointResult run_gemm(W& world, const Point& point);
template <World W, class T>
PointResult run_rms_norm(W& world, const Point& point);
template <World W, class T>
PointResult run_tile_reduce(W& world, const Point& point);

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

// The host program of a family, and the types that it is stamped for: all, and those for GPUs in a
// quick build. CMakeLists.txt has the same lists.
struct Collectives {
  using Types = std::tuple<bf16, f16, float, double, std::int32_t, std::int64_t, std::uint8_t>;
  using Quick = std::tuple<bf16, std::int32_t>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_point<W, T>(world, point);
  }
};
// Variants for many PEs, and all_to_all: few types, because each is compiled for every operator.
struct AtScale {
  using Types = std::tuple<bf16, float, std::int32_t>;
  using Quick = std::tuple<bf16, std::int32_t>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_scale<W, T>(world, point);
  }
};
// By the copy engine: of the GPU's code a kernel that reduces, and no more.
struct Copies {
  using Types = Collectives::Types;
  using Quick = Collectives::Quick;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_copies<W, T>(world, point);
  }
};
struct AllToAllV {
  using Types = std::tuple<bf16, float, std::uint8_t>;
  using Quick = std::tuple<bf16, std::uint8_t>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_all_to_all_v<W, T>(world, point);
  }
};
struct Moe {
  using Types = std::tuple<bf16, float>;
  using Quick = std::tuple<bf16, float>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_moe<W, T>(world, point);
  }
};
struct Gemms {
  using Types = std::tuple<bf16, f16, float, double>;
  using Quick = std::tuple<bf16, float>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_gemm<W, T>(world, point);
  }
};

struct Norms {
  using Types = std::tuple<bf16, f16, float>;
  using Quick = std::tuple<bf16, float>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_rms_norm<W, T>(world, point);
  }
};
struct Tiles {
  using Types = std::tuple<bf16, f16, float, std::int32_t>;
  using Quick = std::tuple<bf16, std::int32_t>;
  template <class W, class T>
  static PointResult run(W& world, const Point& point) {
    return run_tile_reduce<W, T>(world, point);
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
#if defined(SYM_HAVE_CUDA) && defined(SYM_QUICK_CUDA)
  typename Program::Quick* const few = nullptr;
  algorithm.cuda = runner<Program, cuda::CudaWorld>(few);
#elif defined(SYM_HAVE_CUDA)
  algorithm.cuda = runner<Program, cuda::CudaWorld>(types);
#endif
  return algorithm;
}

Algorithm collective(const std::string& name, const std::string& summary,
                     std::vector<std::string> variants) {
  Algorithm algorithm = compiled<Collectives>(name, summary);
  algorithm.variants = std::move(variants);
  algorithm.has_nccl = true;
  algorithm.has_op = name == "all_reduce" || name == "reduce_scatter";
  algorithm.family.equal_outputs = name != "reduce_scatter";
  return algorithm;
}

template <class F>
void choose_by_variant(F& function, const F& at_scale, const std::vector<std::string>& variants) {
  if (!function) return;
  function = [few = function, at_scale, variants](auto& world, const Point& point) {
    const bool scale = std::find(variants.begin(), variants.end(), point.variant) != variants.end();
    return scale ? at_scale(world, point) : few(world, point);
  };
}
// Adds variants that another program runs.
template <class Program>
Algorithm with(Algorithm algorithm, const std::vector<std::string>& variants) {
  const Algorithm more = compiled<Program>(algorithm.name, algorithm.summary);
  choose_by_variant(algorithm.thread, more.thread, variants);
  choose_by_variant(algorithm.fiber, more.fiber, variants);
  choose_by_variant(algorithm.cuda, more.cuda, variants);
  algorithm.variants.insert(algorithm.variants.end(), variants.begin(), variants.end());
  return algorithm;
}
Algorithm with_scale(Algorithm algorithm, const std::vector<std::string>& variants) {
  for (const std::string& variant : variants)
    algorithm.fewer_dtypes[variant] = names_of(static_cast<AtScale::Types*>(nullptr));
  return with<AtScale>(std::move(algorithm), variants);
}
Algorithm all_to_all() {
  Algorithm algorithm =
      compiled<AtScale>("all_to_all", "out = of every PE's input the part for this rank");
  algorithm.variants = {"one_shot", "direct", "two_hop"};
  algorithm.has_op = false;
  algorithm.has_nccl = true;
  return with<Copies>(std::move(algorithm), {"copy_engine"});
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
  add(with_scale(with<Copies>(collective("all_reduce", "out = op over all PEs of in",
                                         {"one_shot", "one_shot_read", "two_shot", "ring",
                                          "hierarchical_ring"}),
                              {"staged"}),
                 {"ring_pipelined", "halving_doubling", "double_tree", "hierarchical_hd",
                  "hierarchical_tree", "nvls", "nvls_tree"}));
  add(with_scale(with<Copies>(collective("all_gather", "out = the inputs of all PEs, by rank",
                                         {"one_shot", "direct", "ring"}),
                              {"copy_engine"}),
                 {"hierarchical", "nvls"}));
  add(with_scale(
      with<Copies>(collective("reduce_scatter", "out = this rank's share of op over all PEs",
                              {"one_shot", "direct", "push", "ring"}),
                   {"staged"}),
      {"hierarchical", "nvls"}));
  add(all_to_all());
  add(collective("broadcast", "out = the root's input", {"one_shot", "direct", "two_shot"}));
  add(of_family<AllToAllV>("all_to_all_v", "rows to every PE, counts in device memory",
                           all_to_all_v_family(), {"direct"}));
  add(of_family<Moe>("moe_dispatch_combine", "tokens to their experts, and back as weighted sums",
                     moe_family(), {"expert_major"}));
  add(of_family<Norms>("all_reduce_rms_norm",
                       "out = RMSNorm of (the sum over all PEs of in) + residual + bias",
                       norm_family(), {"one_shot", "two_shot", "unfused"}));
  Algorithm tiles =
      of_family<Tiles>("tile_reduce", "tiles of a matrix, each reduced to a root of its own",
                       tile_family(), {"direct"});
  tiles.has_op = true;
  add(std::move(tiles));
  Family products = gemm_family();
  products.schedules = gemm_schedules();
  add(of_family<Gemms>("gemm", "D = A B^T + beta C + bias, in tiles over all PEs", products,
                       gemm_schedules()));
}

void Registry::add(Algorithm algorithm) {
  const bool known = std::any_of(algorithms_.begin(), algorithms_.end(),
                                 [&](const Algorithm& one) { return one.name == algorithm.name; });
  if (!known) {
    algorithms_.push_back(std::move(algorithm));
  } else if (twice_.empty()) {
    twice_ = algorithm.name;
  }
}

void Registry::require_distinct() const {
  if (!twice_.empty()) {
    throw UsageError("algorithm '" + twice_ + "' is registered twice; give yours another name");
  }
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

namespace {
const std::vector<std::string>& dtypes_of(const Algorithm& algorithm, const std::string& variant) {
  const auto fewer = algorithm.fewer_dtypes.find(variant);
  return fewer == algorithm.fewer_dtypes.end() ? algorithm.dtypes : fewer->second;
}
}  // namespace

bool has_dtype(const Algorithm& algorithm, const std::string& variant, const std::string& dtype) {
  const std::vector<std::string>& names = dtypes_of(algorithm, variant);
  return names.empty() || std::find(names.begin(), names.end(), dtype) != names.end();
}

void require_dtype(const Algorithm& algorithm, const std::string& variant,
                   const std::string& dtype) {
  if (has_dtype(algorithm, variant, dtype)) return;
  std::string known;
  for (const std::string& name : dtypes_of(algorithm, variant))
    known += (known.empty() ? "" : ", ") + name;
  const bool of_variant = algorithm.fewer_dtypes.contains(variant);
  throw UsageError(algorithm.name + (of_variant ? " " + variant : "") +
                   " was not compiled for dtype " + dtype + "; it takes " + known);
}

bool chooses_levels(const Algorithm& algorithm, const std::string& variant) {
  const auto has = [&](const char* name) {
    return std::find(algorithm.variants.begin(), algorithm.variants.end(), name) !=
           algorithm.variants.end();
  };
  return variant == models::in_levels_variant && !has(models::in_levels_variant) &&
         has(models::levels_on_a_ring);
}

void require_variant(const Algorithm& algorithm, const std::string& variant) {
  if (variant == "auto" || (variant == nccl_variant && algorithm.has_nccl)) return;
  if (chooses_levels(algorithm, variant)) return;
  const auto& names = algorithm.variants;
  if (std::find(names.begin(), names.end(), variant) != names.end()) return;
  throw UsageError("unknown variant '" + variant + "' of " + algorithm.name + "; the nearest is '" +
                   nearest_name(variant, names) + "' (or auto)");
}

}  // namespace sym::command
