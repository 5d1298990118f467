// ThreadBlock: a block as one OS thread. Real concurrency; transfers happen at once, in program
// order, so the ordering here is stronger than the contract: what it proves is freedom from data
// races (ThreadSanitizer) and from hangs, not from missing fences (that is `check`).
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "backends/host/elements.hpp"
#include "backends/thread/shared.hpp"
#include "core/block.hpp"
#include "core/multicast.hpp"

namespace sym::thread {

class ThreadBlock {
 public:
  struct Place {
    int pe = 0;
    int index = 0;
    int count = 1;
    const char* launch_name = "";
    std::size_t scratch_bytes = 0;
  };
  ThreadBlock(Shared& shared, Verdict& verdict, std::atomic<bool>& pe_failed, Place place)
      : shared_(shared),
        verdict_(verdict),
        pe_failed_(pe_failed),
        place_(place),
        scratch_(place.scratch_bytes, std::byte{0xA5}) {}  // poison: its first value is undefined

  int pe() const { return place_.pe; }
  int n_pes() const { return shared_.options.pes; }
  int index() const { return place_.index; }
  int count() const { return place_.count; }
  bool failed() const { return pe_failed_.load(std::memory_order_relaxed); }

  void enter(const Channel& channel, Site site = Site::here());
  void leave(const Channel& channel);

  template <class T, Operand S>
  void put(Window<T> dst, S src, Range range, int pe, Site site = Site::here()) {
    const T* from = address(src, range, place_.pe, site);
    move(address(dst, range, pe, site), from, range.count, site);
  }
  template <Operand D, class T>
  void get(D dst, Window<T> src, Range range, int pe, Site site = Site::here()) {
    const T* from = address(src, range, pe, site);
    move(address(dst, range, place_.pe, site), from, range.count, site);
  }
  template <class T, Operand S>
  void put_signal(Window<T> dst, S src, Range range, const Signals& signals, std::size_t slot,
                  int pe, Site site = Site::here()) {
    put(dst, src, range, pe, site);
    signal(signals, slot, pe, site);
  }
  template <class T>
  void put_value(Window<T> dst, std::size_t index, T value, int pe, Site site = Site::here()) {
    T* to = address(dst, Range{index, 1}, pe, site);
    if (!failed()) *to = value;
  }

  void signal(const Signals& signals, std::size_t slot, int pe, Site site = Site::here());
  void signal(const Signals& signals, std::size_t slot, const Team& team, Site site = Site::here());
  bool wait_until(const Signals& signals, std::size_t slot, const Team& team,
                  Site site = Site::here());
  std::uint64_t wait_until(const Signals& signals, std::size_t slot, std::uint64_t value,
                           Site site = Site::here());
  std::uint64_t test(const Signals& signals, std::size_t slot, Site site = Site::here());
  void fence(int) {}
  void quiet(Site = {}) {}
  void sync() {}

  template <Operand D, class T, class Op>
  void reduce(D dst, Window<T> src, Range range, const Team& team, Op op,
              Site site = Site::here()) {
    T* to = address(dst, range, place_.pe, site);
    std::vector<const T*> sources;
    for (int rank = 0; rank < team.size(); ++rank) {
      sources.push_back(address(src, range, team.pe(rank), site));
    }
    if (range.empty()) return;
    if (failed()) {
      if (to != nullptr) std::memset(static_cast<void*>(to), 0, range.count * sizeof(T));
      return;
    }
    host::reduce(to, std::span<const T* const>(sources), range.count, op);
  }

  template <Memory D, class T, class Op, class F, Memory... S>
  void reduce(D dst, Window<T> src, RangeAt at, const Team& team, Op op, F f, S... more);
  template <class T, class Op>
  void reduce(Matrix<T> dst, Matrix<T> src, const Team& team, Op op, Site site = Site::here());
  template <Operand D, Operand S, class T, class Op>
  void reduce_slots(D dst, S own, PerMember<Window<T>> slots, Range range, const Team& team, Op op,
                    Site site = Site::here());

  template <class T, Operand S>
  void put(Multicast<T> dst, S src, Range range, Site site = Site::here()) {
    for (int rank = 0; rank < dst.team.size(); ++rank)
      put(dst.window, src, range, dst.team.pe(rank), site);
  }
  template <Operand D, class T, class Op>
  void reduce(D dst, Multicast<T> src, Range range, Op op, Site site = Site::here()) {
    reduce(dst, src.window, range, src.team, op, site);
  }
  template <class T, class Op>
  void reduce(Multicast<T> dst, Multicast<T> src, Range range, Op op, Site site = Site::here()) {
    std::vector<T> sums(range.count);  // of all, before the first is stored: dst may be src
    const Local<T> local{sums.data(), sums.size()};
    reduce(local, src.at(range.first), local.all(), op, site);
    put(dst.at(range.first), local, local.all(), site);
  }

  template <Memory D, class F, Memory... S>
  void transform(D dst, RangeAt at, F f, S... src) {
    auto* to = address(dst, at.range, place_.pe, at.site);
    const std::tuple sources{read_address(src, at.range, at.site)...};
    if (failed()) return;
    std::apply([&](auto... from) { host::transform(to, at.range.count, f, from...); }, sources);
  }

  template <Memory S, class F>
  Accumulator<typename S::value_type> sum(S src, Range range, F f, Site site = Site::here()) {
    const auto* from = read_address(src, range, site);
    if (failed()) return {};
    return host::fold(from, range.count, f, [](auto a, auto b) { return Sum{}.combine(a, b); });
  }
  template <Memory S, class F>
  Accumulator<typename S::value_type> max(S src, Range range, F f, Site site = Site::here()) {
    const auto* from = read_address(src, range, site);
    if (failed()) return {};
    return host::fold(from, range.count, f, [](auto a, auto b) { return Max{}.combine(a, b); });
  }
  template <Memory D, class F, class G, Memory S, Memory... More>
  void transform_by_sum(D dst, RangeAt at, F f, G make, S src, More... more) {
    transform(dst, at, make(sum(src, at.range, f, at.site)), src, more...);
  }
  template <Memory D, Memory K, class F, class G, Memory S, Memory... More>
  void transform_by_sum(WithSource<D, K> dst, RangeAt at, F f, G make, S src, More... more) {
    transform(
        dst.source, at, [](auto x) { return x; }, src);
    transform_by_sum(dst.result, at, f, make, src, more...);
  }

  template <Operand S>
  void put_packets(const Packets& packets, std::size_t slot, S src, Range range, const Team& team,
                   Site site = Site::here()) {
    put_packets(packets, slot, per_member(src, 0), range, team, site);
  }
  template <class S>
  void put_packets(const Packets& packets, std::size_t slot, PerMember<S> src, Range range,
                   const Team& team, Site site = Site::here()) {
    for (int hop = 1; hop <= team.size(); ++hop) {
      const int rank = (team.rank() + hop) % team.size();
      if (team.pe(rank) == place_.pe) continue;
      const auto* from = read_address(src.of(rank), range, site);
      send_packet(packets, slot, {from, range, sizeof(typename S::value_type)}, team.pe(rank),
                  site);
    }
  }
  template <Operand D, Operand S, class Op>
  bool reduce_packets(D dst, S own, Range range, const Packets& packets, std::size_t slot,
                      const Team& team, Op op, Site site = Site::here()) {
    using T = typename D::value_type;
    T* to = address(dst, range, place_.pe, site);
    const std::vector<const T*> sources =
        received<T>(own, RangeAt{range, site}, packets, slot, team);
    if (failed()) return false;
    host::reduce(to, std::span<const T* const>(sources), range.count, op);
    return true;
  }
  template <Memory D, Operand S, class Op, class F, Memory... More>
  bool reduce_packets(D dst, S own, RangeAt at, const Packets& packets, std::size_t slot,
                      const Team& team, Op op, F f, More... more);

  template <class D, Operand S>
  bool receive_packets(PerMember<D> dst, S own, Range range, const Packets& packets,
                       std::size_t slot, const Team& team, Site site = Site::here()) {
    using T = typename D::value_type;
    static_assert(std::is_same_v<typename S::value_type, T>);
    for (int rank = 0; rank < team.size() && !failed(); ++rank) {
      const int pe = team.pe(rank);
      T* to = address(dst.of(rank), range, place_.pe, site);
      const T* from = pe == place_.pe ? read_address(own, range, site)
                                      : static_cast<const T*>(receive_packet(
                                            packets, slot, {nullptr, range, sizeof(T)}, pe, site));
      move(to, from, range.count, site);
    }
    return !failed();
  }

  template <class T>
  T fetch_add(Window<T> dst, std::size_t index, T value, int pe, Site site = Site::here()) {
    T* to = address(dst, Range{index, 1}, pe, site);
    if (failed()) return T{};
    return std::atomic_ref<T>(*to).fetch_add(value, std::memory_order_relaxed);
  }

  template <Memory S>
  typename S::value_type read(S src, std::size_t index, Site site = Site::here());
  template <Operand K>
  bool tally(Scratch<std::uint32_t> counts, K keys, Range range, Site site = Site::here());
  template <Operand K, Memory P>
  void tally(Scratch<std::uint32_t> counts, K keys, Range range, P places,
             Site site = Site::here());
  template <Memory D, Memory S, class F>
  typename D::value_type scan(D dst, S src, Range range, F f, Site site = Site::here());
  template <Operand D, class T, class F>
  void weighted_sum(D dst, Window<T> src, Range range, int n, F term, Site site = Site::here());
  template <class F>
  void warps(std::size_t n, F piece, Site = {});
  bool require(bool holds, const char* what, std::uint64_t value = 0, std::uint64_t limit = 0,
               Site site = Site::here());

 private:
  // Whether the range is one of so many elements; fails the block if not.
  bool lies_in(Range range, std::size_t count, const char* what, Site site);
  // The address of a range, or null after failing the block because it is out of bounds.
  template <class T>
  T* address(Window<T> window, Range range, int pe, Site site) {
    if (!lies_in(range, window.count, "window", site)) return nullptr;
    std::byte* at =
        shared_.heap.at(pe, window.offset_bytes + range.first * sizeof(T), range.count * sizeof(T));
    if (at == nullptr)
      fail("out of bounds: a range outside the heap of PE " + std::to_string(pe), site);
    return reinterpret_cast<T*>(at);
  }
  template <class T>
  std::remove_const_t<T>* address(Local<T> local, Range range, int, Site site) {
    if (!lies_in(range, local.count, "local array", site)) return nullptr;
    return const_cast<std::remove_const_t<T>*>(local.data) + range.first;
  }
  template <class T>
  T* address(Scratch<T> scratch, Range range, int, Site site) {
    return reinterpret_cast<T*>(
        scratch_at({scratch.offset_bytes, scratch.count, sizeof(T)}, range, site));
  }
  // Elements of a Scratch, as what is not a template sees them.
  struct Elements {
    std::size_t offset_bytes, count, size_bytes;
  };
  std::byte* scratch_at(Elements scratch, Range range, Site site);
  template <Memory S>
  const typename S::value_type* read_address(S src, Range range, Site site) {
    return address(src, range, place_.pe, site);
  }

  struct Slot {
    std::size_t slot;
    int lane;  // -1: a plain counter
  };
  struct Message {
    const void* from;
    Range range;
    std::size_t element;  // bytes
    std::size_t bytes() const { return range.count * element; }
  };
  void send_packet(const Packets& packets, std::size_t slot, Message message, int pe, Site site);
  // The members' messages in rank order, this PE's own memory among them.
  template <class T, Operand S>
  std::vector<const T*> received(S own, RangeAt at, const Packets& packets, std::size_t slot,
                                 const Team& team) {
    std::vector<const T*> sources;
    for (int rank = 0; rank < team.size() && !failed(); ++rank) {
      const int pe = team.pe(rank);
      sources.push_back(pe == place_.pe
                            ? read_address(own, at.range, at.site)
                            : reinterpret_cast<const T*>(receive_packet(
                                  packets, slot, {nullptr, at.range, sizeof(T)}, pe, at.site)));
    }
    return sources;
  }
  // Fails the block if the message is not of the wanted range.
  const void* receive_packet(const Packets& packets, std::size_t slot, Message wanted, int from,
                             Site site);
  // Fails the block if the two overlap and are not the same.
  template <class T>
  void move(T* to, const T* from, std::size_t count, Site site) {
    if (failed() || from == to || count == 0) return;
    if (to < from + count && from < to + count) {
      fail("overlap: source and destination of one verb must be the same range, or apart", site);
      return;
    }
    std::memcpy(to, from, count * sizeof(T));
  }
  std::uint64_t* word(const Signals& signals, Slot at, int pe, Site site);
  std::uint64_t poll(std::uint64_t* word, std::uint64_t target, int shift, Slot at, Site site);
  void fail(const std::string& what, Site site);

  Shared& shared_;
  Verdict& verdict_;
  std::atomic<bool>& pe_failed_;
  Place place_;
  std::vector<std::byte> scratch_;
};

}  // namespace sym::thread

#include "backends/thread/block_compute.hpp"
#include "backends/thread/block_reduce.hpp"
