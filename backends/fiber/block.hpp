// FiberBlock: a block of the engine's PEs. The same type in `check` and `sim`; what happens when,
// and what it costs, is the policy's business.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backends/fiber/engine.hpp"
#include "backends/host/elements.hpp"
#include "core/block.hpp"
#include "core/error.hpp"
#include "core/multicast.hpp"

namespace sym::fiber {

class FiberPiece;

class FiberBlock {
 public:
  // For one launch. The agent's scratch is made here, and holds rubbish.
  FiberBlock(Engine& engine, Agent& agent) : engine_(engine), agent_(agent) {
    agent_.scratch.assign(agent_.scratch_bytes, std::byte{0xA5});
  }

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
    reduce_row(dst, src, range, team, op);
  }

  template <sym::Memory D, class T, class Op, class F, sym::Memory... S>
  void reduce(D dst, Window<T> src, RangeAt at, const Team& team, Op op, F f, S... more);
  template <class T, class Op>
  void reduce(Matrix<T> dst, Matrix<T> src, const Team& team, Op op, Site site = Site::here());
  template <Operand D, Operand S, class T, class Op>
  void reduce_slots(D dst, S own, PerMember<Window<T>> slots, Range range, const Team& team, Op op,
                    Site site = Site::here());

  template <class T, Operand S>
  void put(Multicast<T> dst, S src, Range range, Site site = Site::here());
  template <Operand D, class T, class Op>
  void reduce(D dst, Multicast<T> src, Range range, Op op, Site site = Site::here());
  template <class T, class Op>
  void reduce(Multicast<T> dst, Multicast<T> src, Range range, Op op, Site site = Site::here());

  template <sym::Memory D, class F, sym::Memory... S>
  void transform(D dst, RangeAt at, F f, S... src) {
    transform_as(Verb::transform, dst, at, f, src...);
  }

  template <sym::Memory S, class F>
  Accumulator<typename S::value_type> sum(S src, Range range, F f, Site site = Site::here()) {
    return fold(
        Verb::sum, src, range, f, [](auto a, auto b) { return Sum{}.combine(a, b); }, site);
  }
  template <sym::Memory S, class F>
  Accumulator<typename S::value_type> max(S src, Range range, F f, Site site = Site::here()) {
    return fold(
        Verb::max, src, range, f, [](auto a, auto b) { return Max{}.combine(a, b); }, site);
  }
  template <sym::Memory D, class F, class G, sym::Memory S, sym::Memory... More>
  void transform_by_sum(D dst, RangeAt at, F f, G make, S src, More... more) {
    const auto total = fold(
        Verb::transform_by_sum_first, src, at.range, f,
        [](auto a, auto b) { return Sum{}.combine(a, b); }, at.site);
    transform_as(Verb::transform_by_sum, dst, at, make(total), src, more...);
  }
  template <sym::Memory D, sym::Memory K, class F, class G, sym::Memory S, sym::Memory... More>
  void transform_by_sum(WithSource<D, K> dst, RangeAt at, F f, G make, S src, More... more) {
    transform_as(
        Verb::transform_by_sum_keep, dst.source, at, [](auto x) { return x; }, src);
    transform_by_sum(dst.result, at, f, make, src, more...);
  }

  template <sym::Memory S>
  typename S::value_type read(S src, std::size_t index, Site site = Site::here());
  template <Operand K>
  bool tally(Scratch<std::uint32_t> counts, K keys, Range range, Site site = Site::here());
  template <Operand K, sym::Memory P>
  void tally(Scratch<std::uint32_t> counts, K keys, Range range, P places,
             Site site = Site::here());
  template <sym::Memory D, sym::Memory S, class F>
  typename D::value_type scan(D dst, S src, Range range, F f, Site site = Site::here());
  template <Operand D, class T, class F>
  void weighted_sum(D dst, Window<T> src, Range range, int n, F term, Site site = Site::here());
  template <class F>
  void warps(std::size_t n, F f, Site site = Site::here());
  bool require(bool holds, const char* what, std::uint64_t value = 0, std::uint64_t limit = 0,
               Site site = Site::here());

  template <Operand S>
  void put_packets(const Packets& packets, std::size_t slot, S src, Range range, const Team& team,
                   Site site = Site::here()) {
    put_packets(packets, slot, per_member(src, 0), range, team, site);
  }
  template <class S>
  void put_packets(const Packets& packets, std::size_t slot, PerMember<S> src, Range range,
                   const Team& team, Site site = Site::here()) {
    engine_.step(
        {Verb::put_packets, site, range.count * sizeof(typename S::value_type), 1, -1, &team});
    if (agent_.failed) return;
    for (int hop = 1; hop <= team.size(); ++hop) {
      const int rank = (team.rank() + hop) % team.size();
      if (team.pe(rank) == agent_.pe) continue;
      send_packet(packets, slot, resolve(src.of(rank), range, agent_.pe), range, team.pe(rank));
    }
  }
  template <Operand D, Operand S, class Op>
  bool reduce_packets(D dst, S own, Range range, const Packets& packets, std::size_t slot,
                      const Team& team, Op op, Site site = Site::here());
  template <sym::Memory D, Operand S, class Op, class F, sym::Memory... More>
  bool reduce_packets(D dst, S own, RangeAt at, const Packets& packets, std::size_t slot,
                      const Team& team, Op op, F f, More... more);

  template <class D, Operand S>
  bool receive_packets(PerMember<D> dst, S own, Range range, const Packets& packets,
                       std::size_t slot, const Team& team, Site site = Site::here()) {
    constexpr std::uint32_t element = sizeof(typename D::value_type);
    static_assert(std::is_same_v<typename S::value_type, typename D::value_type>);
    engine_.step({Verb::receive_packets, site, 0, 1, -1, &team});
    refuse_overlaps(dst, resolve(own, range, agent_.pe), range, team);
    std::vector<const std::byte*> messages;
    if (!receive_packets(packets, slot, team, {range, element},
                         [&](int, std::byte* message) { messages.push_back(message); })) {
      return false;
    }
    engine_.step({Verb::store_packets, site, range.count * element, 1, -1, &team});
    for (int rank = 0; rank < team.size(); ++rank) {
      const Bytes to = resolve(dst.of(rank), range, agent_.pe);
      const std::byte* from = messages[static_cast<std::size_t>(rank)];
      if (team.pe(rank) == agent_.pe) {
        const Bytes mine = resolve(own, range, agent_.pe);
        engine_.access(mine, false);
        from = mine.data;
      }
      engine_.access(to, true);
      if (to.data != nullptr && from != nullptr) std::memmove(to.data, from, to.size);
    }
    engine_.synced();
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
    if (sum == old) {
      engine_.looked(to.data, std::hash<T>()(old));
    } else {
      engine_.changed();
    }
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
  friend class FiberPiece;
  void before(Verb verb, Site site, std::size_t bytes, int pe) {
    engine_.step({verb, site, bytes, 1, pe, nullptr});
  }

  template <class T>
  Bytes resolve(Window<T> window, Range range, int pe) const {
    if (window.count > most_elements || !lies_in(range, window.count))
      beyond({window.segment, window.offset_bytes, window.count, sizeof(T)}, range, pe);
    Bytes bytes = engine_.resolve(window.segment, window.offset_bytes + range.first * sizeof(T),
                                  range.count * sizeof(T), pe);
    if (bytes.begin % alignof(T) != 0) misaligned(bytes.begin, alignof(T));
    bytes.element = sizeof(T);
    return bytes;
  }
  template <class T>
  Bytes resolve(Local<T> local, Range range, int pe) const {
    if (!lies_in(range, local.count)) beyond("local", range, local.count, pe);
    if (range.count > 0 && local.data == nullptr) engine_.refuse("a Local of no memory (null)");
    auto* data =
        reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(local.data + range.first));
    return Bytes{pe,
                 Bytes::local_space,
                 reinterpret_cast<std::uintptr_t>(data),
                 range.count * sizeof(T),
                 engine_.memory().payload_storage() ? data : nullptr,
                 sizeof(T)};
  }

  template <class T>
  Bytes resolve(Scratch<T> scratch, Range range, int pe) const {
    if (!lies_in(range, scratch.count)) beyond("scratch", range, scratch.count, pe);
    return scratch_part(scratch.offset_bytes + range.first * sizeof(T), range.count * sizeof(T),
                        sizeof(T));
  }
  // Sums of sizes that no memory has may wrap.
  static constexpr bool lies_in(Range range, std::size_t count) {
    return range.first <= count && range.count <= count - range.first;
  }
  // A window that at() has moved behind its end has a count that wrapped: more than this.
  static constexpr std::size_t most_elements = std::size_t{1} << 46;
  struct Elements {
    Segment segment;
    std::size_t offset_bytes, count, size_bytes;
  };
  // Refused: a window may be a part of its allocation, whose own bounds memory knows.
  [[noreturn]] void beyond(const Elements& window, Range range, int pe) const;
  [[noreturn]] void beyond(const char* kind, Range range, std::size_t count, int pe) const;
  // Refused: GPUs load and store elements where they are aligned.
  [[noreturn]] void misaligned(std::size_t begin, std::size_t alignment) const;
  // Refused unless the bytes lie in the launch's scratch and the offset suits the element.
  Bytes scratch_part(std::size_t offset, std::size_t bytes, std::uint32_t element) const;

  // What transform does, as a step of `verb`.
  template <sym::Memory D, class F, sym::Memory... S>
  void transform_as(Verb verb, D dst, RangeAt at, F f, S... src) {
    using T = typename D::value_type;
    const Range range = at.range;
    engine_.step({verb, at.site, range.count * sizeof(T), sizeof...(S), -1, nullptr});
    if (range.empty()) return;
    const Bytes to = resolve(dst, range, agent_.pe);
    bool stored = to.data != nullptr;
    [[maybe_unused]] const auto source = [&](auto operand) {
      Bytes from = resolve(operand, range, agent_.pe);
      from.element = sizeof(T);  // lanes are cut by the type of the destination
      engine_.refuse_overlap(from, to);
      engine_.access(from, false);
      stored = stored && from.data != nullptr;
      return reinterpret_cast<const typename decltype(operand)::value_type*>(from.data);
    };
    const std::tuple<const typename S::value_type*...> sources{source(src)...};
    engine_.access(to, true);
    if (!stored) return;
    std::apply(
        [&](auto... from) {
          host::transform(reinterpret_cast<T*>(to.data), range.count, f, from...);
        },
        sources);
  }
  template <sym::Memory S>
  typename S::value_type read_element(S src, std::size_t index);
  // Both forms of tally, after their step: count(counts, keys) does it.
  template <class T>
  void write_places(const Bytes& to, const T* keys, std::size_t n, std::size_t bins);
  template <Operand K, class F>
  void tally_keys(Scratch<std::uint32_t> counts, K keys, Range range, F count);
  // The operands of a weighted_sum that are there, in order, noted in the agent's fetches. A term
  // may read; the agent is back in `step` after each.
  template <class T>
  struct Terms {
    std::vector<Bytes> from;
    std::vector<float> weights;
  };
  template <class T, class F>
  Terms<T> terms(Window<T> src, Range range, int n, F term, const Step& step);
  template <class T>
  void add_up(const Bytes& to, const Terms<T>& terms);

  template <sym::Memory S, class F, class Combine>
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
  void send_packet(const Packets& packets, std::size_t slot, const Bytes& from, Range range,
                   int pe);
  Bytes message(const Packets& packets, std::size_t slot, int from, std::uint64_t epoch,
                int pe) const;
  // Waits for the next message of every other member, then calls take(pe, message) in rank order.
  struct Wanted {
    Range range;
    std::uint32_t element = 1;
  };
  bool receive_packets(const Packets& packets, std::size_t slot, const Team& team, Wanted wanted,
                       const std::function<void(int, std::byte*)>& take);
  // The same, all in rank order, with this PE's own memory in its place.
  template <class T, Operand S>
  bool received(S own, Range range, const Packets& packets, std::size_t slot, const Team& team,
                std::vector<const T*>& sources);
  // What reduce does after its step.
  template <Operand D, class T, class Op>
  void reduce_row(D dst, Window<T> src, Range range, const Team& team, Op op);
  // The members' parts of a window, read, for a verb that writes `to`.
  template <class T>
  std::vector<const T*> gathered(Window<T> src, Range range, const Team& team, const Bytes& to);
  // Reads this PE's operands of a verb that writes `to` and whose lanes are cut by its elements,
  // then calls compute(pointers...) unless one of them has no storage.
  template <class C, sym::Memory... S>
  void with_operands(Range range, const Bytes& to, C compute, S... operands);
  // Of receive_packets: each message and this PE's own part have a place of their own.
  template <class D>
  void refuse_overlaps(PerMember<D> dst, const Bytes& own, Range range, const Team& team);
  bool mismatched(const std::vector<Engine::Want>& wants, std::uint16_t tag);
  bool other_range(const std::vector<Engine::Want>& wants, std::uint16_t tag, Wanted wanted);
  void report_mismatch(const std::vector<Engine::Want>& wants, const Engine::Want& other,
                       std::uint16_t tag);
  void check_slot(const Signals& signals, std::size_t slot) const;
  void check_inbox(const Packets& packets, std::size_t slot) const;
  // For waits of a team's next signals (`rows`) and for those of a counter's value.
  void check_lanes(const Signals& signals, bool rows) const;

  Engine& engine_;
  Agent& agent_;
};

}  // namespace sym::fiber

#include "backends/fiber/block_compute.hpp"
#include "backends/fiber/block_multicast.hpp"
#include "backends/fiber/block_reduce.hpp"

namespace sym::fiber {
static_assert(MulticastBlock<FiberBlock>);
}  // namespace sym::fiber
