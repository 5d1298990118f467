// put, get, put_signal and put_value: what arrives, where, and that nothing else is touched.
#pragma once

#include "core/collective/barrier.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

enum class Way { put, get };

// Block b moves its part of `range` between this PE's `mine` and `theirs` at the next PE.
template <Way way, class D, class S>
struct Move {
  Group group;
  D dst;
  S src;
  Range range;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range part = chunk(range, block.index(), block.count());
    const int next = group.team.pe(group.team.next());
    block.enter(group.channel);
    if (!barrier(block, group)) return;
    if constexpr (way == Way::put) block.put(dst, src, part, next);
    if constexpr (way == Way::get) block.get(dst, src, part, next);
    barrier(block, group);
    block.leave(group.channel);
  }
};

// Moves every count, checks the range and that the rest is still poison. `shift`: source and
// destination begin at different, unaligned elements.
template <class T, Way way, class D, class S, World W>
void move_and_check(W& world, Errors& errors, D dst, S src, std::size_t shift) {
  const Group group{world.channel({2}), world.team()};
  const std::size_t room = dst.count;
  const int next = (world.pe() + 1) % world.n_pes();
  const int previous = (world.pe() + world.n_pes() - 1) % world.n_pes();
  int iteration = 0;
  for (std::size_t n : {0, 1, 3, 8, 17, 1000, 4099}) {
    ++iteration;
    write_all(world, dst, poison<T>(room));
    write_all(world, src, values<T>({iteration, world.pe(), 1}, src.count));
    const Range range{5, n};
    world.launch(launch_of("move", 2),
                 Move<way, D, S>{group, dst.at(shift), src.at(2 * shift), range});
    std::vector<T> wanted = poison<T>(room);
    const int from = way == Way::put ? previous : next;
    for (std::size_t i = 5; i < 5 + n; ++i)
      wanted[i + shift] = value<T>({iteration, from, 1}, i + 2 * shift);
    expect_equal(errors, who(world, std::to_string(n) + " elements"), read_all(world, dst, room),
                 wanted);
  }
}

inline constexpr std::size_t move_room = 4200;

template <class W>
void put_from_window(W& world, Errors& errors) {
  const auto dst = world.template allocate<float>(move_room);
  const auto src = world.template allocate<float>(move_room);
  move_and_check<float, Way::put>(world, errors, dst, src, 0);
}
template <class W>
void put_from_local(W& world, Errors& errors) {
  const auto dst = world.template allocate<bf16>(move_room);
  move_and_check<bf16, Way::put>(world, errors, dst, world.template local<bf16>(move_room), 3);
}
template <class W>
void put_shifted(W& world, Errors& errors) {
  const auto dst = world.template allocate<std::uint8_t>(move_room);
  const auto src = world.template allocate<std::uint8_t>(move_room);
  move_and_check<std::uint8_t, Way::put>(world, errors, dst, src, 7);
}
template <class W>
void get_to_window(W& world, Errors& errors) {
  const auto dst = world.template allocate<double>(move_room);
  const auto src = world.template allocate<double>(move_room);
  move_and_check<double, Way::get>(world, errors, dst, src, 1);
}
template <class W>
void get_to_local(W& world, Errors& errors) {
  const auto src = world.template allocate<std::int32_t>(move_room);
  move_and_check<std::int32_t, Way::get>(world, errors,
                                         world.template local<std::int32_t>(move_room), src, 0);
}

// Every PE sends row `pe` of every peer its data, n elements, with a signal; n may be 0.
template <class T>
struct SendRows {
  Group group;
  Window<T> rows, src;
  std::size_t n, row;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Team& team = group.team;
    const std::size_t slot = static_cast<std::size_t>(block.index());
    const Range part = chunk(Range{0, n}, block.index(), block.count());
    block.enter(group.channel);
    if (!barrier(block, group)) return;
    for (int hop = 1; hop < team.size(); ++hop) {
      const int peer = team.pe((team.rank() + hop) % team.size());
      block.put_signal(rows.at(static_cast<std::size_t>(team.rank()) * row), src, part,
                       group.channel.steps, slot, peer);
    }
    block.put_value(rows, static_cast<std::size_t>(team.rank()) * row + row - 1 - slot,
                    src_value(slot), team.pe(team.next()));
    if (!block.wait_until(group.channel.steps, slot, team)) return;
    barrier(block, group);
    block.leave(group.channel);
  }
  SYM_HD static constexpr T src_value(std::size_t slot) { return static_cast<T>(100 + slot); }
};

// put_signal of every count, zero included (it still signals), and put_value beside it.
template <class W>
void put_signal_rows(W& world, Errors& errors) {
  using T = std::int64_t;
  constexpr std::size_t row = 1010;
  const auto pes = static_cast<std::size_t>(world.n_pes());
  const auto rows = world.template allocate<T>(row * pes);
  const auto src = world.template allocate<T>(row);
  const Group group{world.channel({2}), world.team()};
  int iteration = 0;
  for (std::size_t n : {0, 1, 17, 1000}) {
    ++iteration;
    write_all(world, rows, poison<T>(row * pes));
    write_all(world, src, values<T>({iteration, world.pe(), 1}, row));
    world.launch(launch_of("rows", 2, 0, false), SendRows<T>{group, rows, src, n, row});
    std::vector<T> wanted = poison<T>(row * pes);
    for (int pe = 0; pe < world.n_pes(); ++pe) {
      const std::size_t first = static_cast<std::size_t>(pe) * row;
      for (std::size_t i = 0; i < n && pe != world.pe(); ++i)
        wanted[first + i] = value<T>({iteration, pe, 1}, i);
      if ((pe + 1) % world.n_pes() != world.pe()) continue;
      for (std::size_t slot : {0, 1}) wanted[first + row - 1 - slot] = SendRows<T>::src_value(slot);
    }
    expect_equal(errors, who(world, std::to_string(n) + " elements"),
                 read_all(world, rows, row * pes), wanted);
  }
}

template <class W>
std::vector<Case<W>> transfer_cases() {
  return {{"put_from_window", {1, 2, 5}, put_from_window<W>},
          {"put_from_local", {2, 3}, put_from_local<W>},
          {"put_shifted", {2, 3}, put_shifted<W>},
          {"get_to_window", {2, 5}, get_to_window<W>},
          {"get_to_local", {1, 3}, get_to_local<W>},
          {"put_signal_rows", {1, 3, 8}, put_signal_rows<W>}};
}

}  // namespace sym::conformance
