// The command `sym` with one algorithm more.
#include "backends/thread/world.hpp"
#if defined(SYM_HAVE_FIBER)
#include "backends/fiber/world.hpp"
#endif
#if defined(SYM_HAVE_CUDA)
#include "backends/cuda/cuda_world.hpp"
#endif
#include "experiments/sym/registry.hpp"
#include "experiments/tutorial/program.hpp"

#if defined(SYM_HAVE_CUDA)
// In tutorial.cu: only nvcc can stamp it.
extern template sym::command::PointResult tutorial::run_all_to_all<sym::cuda::CudaWorld>(
    sym::cuda::CudaWorld&, const sym::command::Point&);
#endif

int main(int argc, char** argv) {
  sym::command::Algorithm algorithm;
  algorithm.name = "my_all_to_all";  // all_to_all is shipped
  algorithm.summary = "out = row r of the input of every PE, by rank";
  algorithm.variants = {"direct"};
  algorithm.has_op = false;
  algorithm.has_bound = false;  // models/bounds.hpp has none for it
  algorithm.thread = tutorial::run_all_to_all<sym::thread::ThreadWorld>;
#if defined(SYM_HAVE_FIBER)
  algorithm.fiber = tutorial::run_all_to_all<sym::fiber::FiberWorld>;  // check and sim
#endif
#if defined(SYM_HAVE_CUDA)
  algorithm.cuda = tutorial::run_all_to_all<sym::cuda::CudaWorld>;
#endif
  sym::command::Registry registry;
  registry.add(algorithm);
  return sym::command::main_command(argc, argv, registry);
}
