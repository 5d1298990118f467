// sym list, machine and doctor: what there is, and what this machine can do with it.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "backends/report/build.hpp"
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/dtypes.hpp"
#include "models/machine.hpp"
#include "models/what_if.hpp"
#if defined(SYM_HAVE_CUDA)
#include "backends/cuda/probe.hpp"
#endif

namespace sym::command {

namespace {
const char* purpose(const std::string& backend) {
  if (backend == "check") return "is it right under every order that the memory model allows";
  if (backend == "thread") return "does it run with real concurrency";
  if (backend == "sim") return "how long would it take, on a machine that need not exist";
  if (backend == "cuda") return "how fast is it on GPUs joined by NVLink";
  return "how fast is it across nodes";
}

const std::vector<std::string>& dtypes_of(const Algorithm& algorithm) {
  return algorithm.dtypes.empty() ? dtype_names() : algorithm.dtypes;
}
std::vector<std::string> ops_of(const Algorithm& algorithm) {
  return algorithm.has_op ? op_names() : std::vector<std::string>{};
}

// The types that an algorithm takes, and those of variants that take fewer; and its operators.
void print_types(const Algorithm& algorithm) {
  using Types = std::vector<std::string>;
  std::map<Types, Types> fewer;  // types: variants
  for (const auto& [variant, types] : algorithm.fewer_dtypes) fewer[types].push_back(variant);
  std::string text = fmt::format("dtypes {}", fmt::join(dtypes_of(algorithm), ", "));
  for (const auto& [types, variants] : fewer)
    text += fmt::format(" ({}: {}{})", fmt::join(variants, ", "), fmt::join(types, ", "),
                        algorithm.has_op ? "; on GPUs sum alone" : "");
  if (algorithm.has_op) text += fmt::format("; ops {}", fmt::join(op_names(), ", "));
  fmt::print("  {:<20} {}\n", "", text);
}
}  // namespace

int list_command(const Invocation& invocation, bool as_json) {
  if (as_json) {
    nlohmann::ordered_json json;
    for (const Algorithm& algorithm : invocation.registry.algorithms()) {
      json["algorithms"].push_back({{"name", algorithm.name},
                                    {"summary", algorithm.summary},
                                    {"variants", algorithm.variants},
                                    {"dtypes", dtypes_of(algorithm)},
                                    {"fewer_dtypes", algorithm.fewer_dtypes},
                                    {"ops", ops_of(algorithm)}});
    }
    for (const std::string& backend : backend_names()) {
      json["backends"].push_back({{"name", backend}, {"unavailable", why_unavailable(backend)}});
    }
    json["machines"] = models::machine_names();
    json["dtypes"] = dtype_names();
    fmt::print("{}\n", json.dump(2));
    return 0;
  }
  fmt::print("algorithms\n");
  for (const Algorithm& algorithm : invocation.registry.algorithms()) {
    fmt::print("  {:<20} {:<48} {}\n", algorithm.name, algorithm.summary,
               fmt::join(algorithm.variants, ", "));
    print_types(algorithm);
  }
  fmt::print("backends\n");
  for (const std::string& backend : backend_names()) {
    const std::string why = why_unavailable(backend);
    fmt::print("  {:<16} {}\n", backend, why.empty() ? purpose(backend) : "not here: " + why);
  }
  fmt::print("machines\n");
  for (const std::string& name : models::machine_names()) {
    fmt::print("  {:<16} {}\n", name, models::load_machine(name).description);
  }
  fmt::print("dtypes            {}\nops               {}\n", fmt::join(dtype_names(), ", "),
             fmt::join(op_names(), ", "));
  return 0;
}

int machine_command(const std::string& name, const std::string& out, const std::string& what_if) {
  const models::Machine machine = models::what_if(models::load_machine(name), what_if);
  fmt::print("{}", models::to_text(machine));
  if (out.empty()) return 0;
  std::ofstream file(out);
  file << models::to_json(machine);
  if (!file.flush()) throw UsageError("cannot write " + out);
  fmt::print("written to {}\n", out);
  return 0;
}

int doctor_command() {
  fmt::print("sym {} ({})\n", report::version(), report::build_id());
  for (const std::string& backend : backend_names()) {
    const std::string why = why_unavailable(backend);
    fmt::print("  {} {:<8} {}\n", why.empty() ? "ok" : "--", backend,
               why.empty() ? purpose(backend) : why);
  }
#if defined(SYM_HAVE_SIMGRID)
  fmt::print("  ok simgrid  network engine of sim\n");
#else
  fmt::print(
      "  -- simgrid  sim has its own network engine (--network ports); for SimGrid's install "
      "libsimgrid-dev "
      "and build again\n");
#endif
#if defined(SYM_HAVE_CUDA)
  const int gpus = cuda::gpu_count();
  fmt::print("  {} gpus     {} seen{}\n", gpus > 0 ? "ok" : "--", gpus,
             gpus == 1 ? "; several PEs can share it: --pes 8 --gpus 1" : "");
#endif
  return 0;
}

}  // namespace sym::command
