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
#include <type_traits>
#include <vector>

#include "core/block.hpp"
#include "core/error.hpp"
#include "core/launch.hpp"
#include "core/queue.hpp"

namespace sym {

// A sequence of launches and queue operations, captured once and replayed: arguments and ranges are
// frozen by value. Replays of one graph on one PE do not overlap.
struct GraphId {
  int index = -1;
};

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
  // The stream `number` as a Queue. The object stays the World's and lives as long.
  requires Queue<std::remove_reference_t<decltype(world.queue(0))>>;
  { world.posts(n) } -> std::same_as<Posts>;  // [collective] n slots for each pair of PEs
  // Launches and queue operations until end_capture are recorded, not run. Nothing that allocates,
  // copies or waits (but barrier) may be called until then.
  world.begin_capture();
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
