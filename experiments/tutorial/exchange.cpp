// A first program with an exchange that only the device knows the size of, on threads.
#include <cstdio>
#include <vector>

#include "backends/thread/world.hpp"
#include "core/moe/all_to_all_v.hpp"

// PE p sends p + 1 rows of 4 elements to every PE.
int main() {
  sym::thread::run_threads({.pes = 3}, [](sym::thread::ThreadWorld& world) {
    const std::size_t pes = 3, row = 4, capacity = 6;
    auto channel = sym::all_to_all_v_channel(
        world, {.row = row, .capacity = capacity, .blocks = 2});  // collective
    const auto out = world.allocate<float>(capacity * row);       // collective
    const auto mine = static_cast<std::uint32_t>(world.pe() + 1);
    const auto in = world.local<float>(mine * pes * row);
    const auto splits = world.local<std::uint32_t>(pes);
    world.write(in, std::vector<float>(in.count, static_cast<float>(mine)).data(), in.count);
    world.write(splits, std::vector<std::uint32_t>(pes, mine).data(), pes);
    sym::all_to_all_v(channel, in, splits, out);
    world.synchronize();
    std::vector<std::uint32_t> offsets(pes + 1);  // rows of rank s begin at offsets[s]
    world.read(offsets.data(), channel.tables.offsets, pes + 1);
    std::printf("PE %d has %u rows\n", world.pe(), offsets[pes]);
  });
}
