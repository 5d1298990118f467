// World: one PE's host view of the job, and what every backend's World offers.
//
// A host program is written once per PE, as under torchrun: `template <World W> void program(W&)`.
// Each backend has a runner that calls it on every PE: as a thread (`thread`), as a fibre (`check`,
// `sim`), or as the process that it is in (`cuda`). No global state: everything comes from the
// World.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/block.hpp"
#include "core/error.hpp"

namespace sym {

// How a kernel is launched on one PE's stream. `blocks` must be equal on all PEs of the operation.
struct LaunchConfig {
  const char* name = "kernel";  // short; shown in reports, traces and NVTX ranges; a string literal
  int blocks = 1;
  int threads = 512;  // lanes of a block on GPUs; elsewhere meaningless
  int stream = 0;     // streams of one PE are in order each, unordered among themselves
  // True: every block does the same amount of the same work, so a simulation may run fewer fibres,
  // each standing for several blocks.
  bool symmetric = true;
};

// A sequence of launches, captured once and replayed: arguments and ranges are frozen by value.
// Replays of one graph on one PE do not overlap.
struct GraphId {
  int index = -1;
};

namespace detail {
struct ArchetypeKernel {
  template <Block B>
  SYM_FN void operator()(B&) const {}
};
}  // namespace detail

// Members marked [collective] are called by every PE, in the same order with equal arguments; a
// difference is an error that names the PEs. Allocation and free are barriers with quiet over
// everything launched before; memory is zeroed before any PE returns from allocate. Errors: Error
// and its kinds (core/error.hpp). After one expired wait every later launch fails until recover().
// clang-format off
template <class W>
concept World = requires(W world, LaunchConfig config, Window<float> window, Local<float> local, float* host,
                         const float* source, std::size_t n, ChannelRequest request, GraphId graph,
                         std::vector<int> members, detail::ArchetypeKernel kernel) {
  { world.pe() } -> std::convertible_to<int>;
  { world.n_pes() } -> std::convertible_to<int>;
  { world.team() } -> std::same_as<Team>;             // all PEs
  { world.team(members) } -> std::same_as<Team>;      // the listed PEs; the World keeps the list
  { world.template allocate<float>(n) } -> std::same_as<Window<float>>;  // [collective] payload
  { world.template allocate_control<float>(n) } -> std::same_as<Window<float>>;  // [collective]
  world.free(window);                                                    // [collective]
  { world.template local<float>(n) } -> std::same_as<Local<float>>;  // this PE's own, zeroed, World-owned
  { world.channel(request) } -> std::same_as<Channel>;               // [collective]
  // Copies between host memory and this PE's part of a window, in order with `stream` 0 and complete
  // on return.
  world.write(window, source, n);
  world.read(host, window, n);
  world.write(local, source, n);
  world.read(host, local, n);
  world.launch(config, kernel);   // asynchronous
  world.synchronize();            // this PE's launches have ended; throws what failed in them
  world.barrier();                // [collective] host barrier; completes nothing of the device
  world.begin_capture();          // launches until end_capture are recorded, not run
  { world.end_capture() } -> std::same_as<GraphId>;
  world.replay(graph);            // asynchronous, on stream 0
  world.recover();                // [collective] forgets failed waits; channels start anew
  // Microseconds on this PE's own clock: simulated (`sim`), wall (`thread`), device time at the end
  // of what has been launched on stream 0 (`cuda`); 0 where time has no meaning (`check`).
  { world.mark_us() } -> std::convertible_to<double>;
  { world.moves_data() } -> std::convertible_to<bool>;  // false: payload has no storage
};
// clang-format on

}  // namespace sym
