// FiberBlock: a block of the engine's PEs. The same type in `check` and `sim`; what happens when,
// and what it costs, is the policy's business.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/fiber/engine.hpp"
#include "backends/host/elements.hpp"
#include "core/block.hpp"
#include "core/error.hpp"

namespace sym::fiber {

class FiberBlock {
 public:
  FiberBlock(Engine& engine, Agent& agent) : engine_(engine), agent_(agent) {}

  int pe() const { return agent_.pe; }
  int n_pes() const { return engine_.pes(); }
  int index() const { return agent_.block; }
  int count() const { return agent_.blocks; }
  bool failed() const { return agent_.failed; }

  void enter(const Channel& channel, Site site = Site::here());
  void leave(const Channel& channel, Site site = Site::here());

  template <class T, Operand S>
  void put(Window<T> dst, S src, Range range, int pe, Site site = Site::here()) {
    before(Verb::put, site, range.count * sizeof(T), pe);
    if (agent_.failed || range.empty()) return;
    engine_.put(resolve(src, range, agent_.pe), resolve(dst, range, pe), Transfer::Kind::put);
  }

  template <Operand D, class T>
  void get(D dst, Window<T> src, Range range, int pe, Site site = Site::here()) {
    before(Verb::get, site, range.count * sizeof(T), pe);
    if (agent_.failed || range.empty()) return;
    engine_.put(resolve(src, range, pe), resolve(dst, range, agent_.pe), Transfer::Kind::get);
  }

  template <class T, Operand S>
  void put_signal(Window<T> dst, S src, Range range, const Signals& signals, std::size_t slot,
                  int pe, Site site = Site::here()) {
    before(Verb::put_signal, site, range.count * sizeof(T), pe);
    engine_.synced();
    if (agent_.failed) return;
    if (!range.empty()) {
      engine_.put(resolve(src, range, agent_.pe), resolve(dst, range, pe), Transfer::Kind::put);
    }
    send(signals, slot, pe, !range.empty());
  }

  template <class T>
  void put_value(Window<T> dst, std::size_t index, T value, int pe, Site site = Site::here()) {
    before(Verb::put_value, site, sizeof(T), pe);
    if (agent_.failed) return;
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    engine_.put_value(std::move(bytes), resolve(dst, Range{index, 1}, pe));
  }

  void signal(const Signals& signals, std::size_t slot, int pe, Site site = Site::here());
  void signal(const Signals& signals, std::size_t slot, const Team& team, Site site = Site::here());
  bool wait_until(const Signals& signals, std::size_t slot, const Team& team,
                  Site site = Site::here());
  std::uint64_t wait_until(const Signals& signals, std::size_t slot, std::uint64_t value,
                           Site site = Site::here());
  std::uint64_t test(const Signals& signals, std::size_t slot, Site site = Site::here());
  void fence(int pe, Site site = Site::here());
  void quiet(Site site = Site::here());
  void sync(Site site = Site::here());

  template <Operand D, class T, class Op>
  void reduce(D dst, Window<T> src, Range range, const Team& team, Op op,
              Site site = Site::here()) {
    engine_.step({Verb::reduce, site, range.count * sizeof(T), 1, -1, &team});
    if (range.empty()) return;
    const Bytes to = resolve(dst, range, agent_.pe);
    std::vector<const T*> sources;
    for (int rank = 0; rank < team.size(); ++rank) {
      const Bytes from = resolve(src, range, team.pe(rank));
      engine_.access(from, false);
      sources.push_back(reinterpret_cast<const T*>(from.data));
    }
    engine_.access(to, true);
    if (to.data == nullptr || sources[0] == nullptr) return;
    if (agent_.failed) {
      std::memset(to.data, 0, to.size);
      return;
    }
    host::reduce(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources), range.count,
                 op);
  }

  template <Operand D, class F, Operand... S>
  void transform(D dst, RangeAt at, F f, S... src) {
    using T = typename D::value_type;
    const Range range = at.range;
    engine_.step({Verb::transform, at.site, range.count * sizeof(T), sizeof...(S), -1, nullptr});
    if (range.empty()) return;
    const Bytes to = resolve(dst, range, agent_.pe);
    bool stored = to.data != nullptr;
    auto read = [&](auto operand) {
      Bytes from = resolve(operand, range, agent_.pe);
      from.element = sizeof(T);  // lanes are cut by the type of the destination
      engine_.access(from, false);
      stored = stored && from.data != nullptr;
      return reinterpret_cast<const typename decltype(operand)::value_type*>(from.data);
    };
    const std::tuple sources{read(src)...};
    engine_.access(to, true);
    if (!stored) return;
    std::apply(
        [&](auto... from) {
          host::transform(reinterpret_cast<T*>(to.data), range.count, f, from...);
        },
        sources);
  }

  template <Operand S, class F>
  Accumulator<typename S::value_type> sum(S src, Range range, F f, Site site = Site::here()) {
    return fold(
        Verb::sum, src, range, f, [](auto a, auto b) { return Sum{}.combine(a, b); }, site);
  }
  template <Operand S, class F>
  Accumulator<typename S::value_type> max(S src, Range range, F f, Site site = Site::here()) {
    return fold(
        Verb::max, src, range, f, [](auto a, auto b) { return Max{}.combine(a, b); }, site);
  }

  template <Operand S>
  void put_packets(const Packets& packets, std::size_t slot, S src, Range range, const Team& team,
                   Site site = Site::here()) {
    const Bytes from = resolve(src, range, agent_.pe);
    engine_.step({Verb::put_packets, site, from.size, 1, -1, &team});
    if (agent_.failed) return;
    for (int hop = 1; hop < team.size(); ++hop) {
      send_packet(packets, slot, from, team.pe((team.rank() + hop) % team.size()));
    }
  }
  template <Operand D, Operand S, class Op>
  bool reduce_packets(D dst, S own, Range range, const Packets& packets, std::size_t slot,
                      const Team& team, Op op, Site site = Site::here()) {
    using T = typename D::value_type;
    const Bytes to = resolve(dst, range, agent_.pe);
    engine_.step({Verb::receive_packets, site, 0, 1, -1, &team});
    std::vector<const T*> sources;
    if (!receive_packets(packets, slot, team, to.size, [&](int pe, std::byte* message) {
          sources.push_back(reinterpret_cast<const T*>(
              pe == agent_.pe ? resolve(own, range, agent_.pe).data : message));
        })) {
      return false;
    }
    engine_.step({Verb::reduce_packets, site, to.size, 1, -1, &team});
    engine_.access(resolve(own, range, agent_.pe), false);
    engine_.access(to, true);
    engine_.synced();
    if (to.data != nullptr && sources[0] != nullptr) {
      host::reduce(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources), range.count,
                   op);
    }
    return true;
  }

  template <class T>
  T fetch_add(Window<T> dst, std::size_t index, T value, int pe, Site site = Site::here()) {
    before(Verb::fetch_add, site, sizeof(T), pe);
    const Bytes to = resolve(dst, Range{index, 1}, pe);
    engine_.access(to, true, true);
    engine_.synced();
    if (to.data == nullptr || agent_.failed) return T{};
    T old;
    std::memcpy(&old, to.data, sizeof(T));
    const T sum = Sum{}.combine(old, value);
    std::memcpy(to.data, &sum, sizeof(T));
    return old;
  }

  // A raw pointer to this PE's bytes, for code that cannot go through verbs. What passes through it
  // is neither ordered nor checked; it is counted, and the run says so.
  template <class T>
  T* escape(Window<T> window, Range range) {
    engine_.statistics().escaped_bytes += range.count * sizeof(T);
    return reinterpret_cast<T*>(resolve(window, range, agent_.pe).data);
  }

 private:
  void before(Verb verb, Site site, std::size_t bytes, int pe) {
    engine_.step({verb, site, bytes, 1, pe, nullptr});
  }

  template <class T>
  Bytes resolve(Window<T> window, Range range, int pe) const {
    Bytes bytes = engine_.memory().resolve(
        window.segment, window.offset_bytes + range.first * sizeof(T), range.count * sizeof(T), pe);
    bytes.element = sizeof(T);
    return bytes;
  }
  template <class T>
  Bytes resolve(Local<T> local, Range range, int pe) const {
    if (range.end() > local.count) throw Failure("out of bounds: elements of a local array");
    auto* data =
        reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(local.data + range.first));
    return Bytes{pe,
                 Bytes::local_space,
                 reinterpret_cast<std::uintptr_t>(data),
                 range.count * sizeof(T),
                 engine_.memory().payload_storage() ? data : nullptr,
                 sizeof(T)};
  }

  template <Operand S, class F, class Combine>
  Accumulator<typename S::value_type> fold(Verb verb, S src, Range range, F f, Combine combine,
                                           Site site) {
    before(verb, site, range.count * sizeof(typename S::value_type), -1);
    const Bytes from = resolve(src, range, agent_.pe);
    engine_.access(from, false);
    engine_.synced();
    if (from.data == nullptr || agent_.failed) return {};
    return host::fold(reinterpret_cast<const typename S::value_type*>(from.data), range.count, f,
                      combine);
  }

  std::uint64_t* own(Window<std::uint64_t> table, std::size_t index) const;
  WordId word_id(const Signals& signals, std::size_t slot, int lane, int pe) const;
  void send(const Signals& signals, std::size_t slot, int pe, bool follows_put);
  void send_packet(const Packets& packets, std::size_t slot, const Bytes& from, int pe);
  Bytes message(const Packets& packets, std::size_t slot, int from, std::uint64_t epoch,
                int pe) const;
  // Waits for the next message of every other member, then calls take(pe, message) in rank order.
  bool receive_packets(const Packets& packets, std::size_t slot, const Team& team,
                       std::size_t bytes, const std::function<void(int, std::byte*)>& take);
  bool mismatched(const std::vector<Engine::Want>& wants, std::uint16_t tag);
  void check_slot(const Signals& signals, std::size_t slot) const;

  Engine& engine_;
  Agent& agent_;
};

static_assert(Block<FiberBlock>);

}  // namespace sym::fiber
