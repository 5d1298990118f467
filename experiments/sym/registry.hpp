// What `sym run` can run. A program of its own that links sym_main adds its kernels here before it
// calls main_command (experiments/tutorial, tests/caught).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/sym/families.hpp"
#include "experiments/sym/point.hpp"

namespace sym::thread {
class ThreadWorld;
}
namespace sym::fiber {
class FiberWorld;
}
namespace sym::cuda {
class CudaWorld;
}

namespace sym::command {

struct Algorithm {
  std::string name;
  std::string summary;
  std::vector<std::string> variants;  // the first is the default of one that `auto` does not know
  bool has_op = true;
  bool has_nccl = false;  // "nccl" is a variant on GPUs: NCCL's own call
  bool has_bound = true;  // a lower bound and a bus bandwidth are defined for it
  Family family = collective_family();
  std::vector<std::string> dtypes{};  // that it was compiled for; empty: all
  // ... and of variants that were compiled for fewer.
  std::map<std::string, std::vector<std::string>> fewer_dtypes{};
  // Host program of one PE, for each world that it was compiled for; empty where it was not.
  std::function<PointResult(thread::ThreadWorld&, const Point&)> thread;
  std::function<PointResult(fiber::FiberWorld&, const Point&)> fiber;
  std::function<PointResult(cuda::CudaWorld&, const Point&)> cuda;
};

class Registry {
 public:
  Registry();  // with the shipped collectives

  // A name that is there already is not added: main_command then refuses to run. (It is not thrown
  // here, where programs of one's own have nothing that would catch it.)
  void add(Algorithm algorithm);
  // Throws UsageError if a name was added twice.
  void require_distinct() const;
  const std::vector<Algorithm>& algorithms() const { return algorithms_; }
  // Throws UsageError with the nearest valid name.
  const Algorithm& find(const std::string& name) const;

 private:
  std::vector<Algorithm> algorithms_;
  std::string twice_;  // the first name that came again; empty: none
};

// The variant that is NCCL's own call, see Algorithm::has_nccl.
inline const std::string nccl_variant = "nccl";

// Whether the variant stands for the one in two levels that takes least (models/rails.hpp).
bool chooses_levels(const Algorithm& algorithm, const std::string& variant);

// Throws UsageError, naming the nearest, unless `variant` is one of the algorithm's, stands for
// some of them, or is "auto".
void require_variant(const Algorithm& algorithm, const std::string& variant);

// Whether the variant (or, for "auto" and "all", any) was compiled for `dtype`.
bool has_dtype(const Algorithm& algorithm, const std::string& variant, const std::string& dtype);
// Throws UsageError, naming those that there are, unless it was.
void require_dtype(const Algorithm& algorithm, const std::string& variant,
                   const std::string& dtype);

// The whole command: parses, runs, reports; returns the exit status (0 right, 1 wrong data, race or
// deadlock, 2 bad usage or input, 3 not available here).
int main_command(int argc, char** argv, const Registry& registry);

}  // namespace sym::command
