// MutantBlock: a Block whose synchronisation a Mutation may change, call by call. Every other verb
// is the Block's own. Made of the Block's verbs alone, so it suits any Block.
//
// What a block has sent and seen is kept in control memory by the verbs. A change says which way it
// goes: a dropped call has counted nothing; a call that waits for what has come before has counted
// as the true one would.
#pragma once

#include <cstdint>
#include <utility>

#include "backends/fiber/mutation.hpp"
#include "core/block.hpp"

namespace sym::fiber {

template <class B>
class MutantBlock : public B {
 public:
  template <class... A>
  explicit MutantBlock(Mutation* mutation, A&&... block)
      : B(std::forward<A>(block)...), mutation_(mutation) {}

  void enter(const Channel& channel, Site site = Site::here()) {
    if (at(Verb::enter, site) != Change::drop) B::enter(channel, site);
  }
  void leave(const Channel& channel, Site site = Site::here()) {
    if (at(Verb::leave, site) != Change::drop) B::leave(channel, site);
  }
  void fence(int pe, Site site = Site::here()) {
    const Change change = at(Verb::fence, site);
    if (change != Change::drop) B::fence(change == Change::other_pe ? after(pe) : pe, site);
  }
  void quiet(Site site = Site::here()) {
    if (at(Verb::quiet, site) != Change::drop) B::quiet(site);
  }
  void sync(Site site = Site::here()) {
    if (at(Verb::sync, site) != Change::drop) B::sync(site);
  }

  using B::put;  // by multicast: to all, so to no other
  template <class T, Operand S>
  void put(Window<T> dst, S src, Range range, int pe, Site site = Site::here()) {
    B::put(dst, src, range, at(Verb::put, site) == Change::other_pe ? after(pe) : pe, site);
  }
  template <class T>
  void put_value(Window<T> dst, std::size_t index, T value, int pe, Site site = Site::here()) {
    const bool other = at(Verb::put_value, site) == Change::other_pe;
    B::put_value(dst, index, value, other ? after(pe) : pe, site);
  }
  template <class T, Operand S>
  void put_signal(Window<T> dst, S src, Range range, const Signals& signals, std::size_t slot,
                  int pe, Site site = Site::here()) {
    const Change change = at(Verb::put_signal, site);
    slot = row(change, signals, slot);
    if (change == Change::other_pe) pe = after(pe);
    if (change == Change::signal_first) B::signal(signals, slot, pe, site);
    if (change == Change::drop || change == Change::split || change == Change::signal_first) {
      B::put(dst, src, range, pe, site);
    } else {
      B::put_signal(dst, src, range, signals, slot, pe, site);
    }
    if (change == Change::split) B::signal(signals, slot, pe, site);
  }

  void signal(const Signals& signals, std::size_t slot, int pe, Site site = Site::here()) {
    const Change change = at(Verb::signal, site);
    slot = row(change, signals, slot);
    if (change != Change::drop)
      B::signal(signals, slot, change == Change::other_pe ? after(pe) : pe, site);
  }
  void signal(const Signals& signals, std::size_t slot, const Team& team,
              Site site = Site::here()) {
    const Change change = at(Verb::signal, site);
    if (change == Change::drop) return;
    slot = row(change, signals, slot);
    if (change != Change::other_pe) return B::signal(signals, slot, team, site);
    for (int hop = 1; hop + 1 < team.size(); ++hop)
      B::signal(signals, slot, team.pe((team.rank() + hop) % team.size()), site);
  }

  bool wait_until(const Signals& signals, std::size_t slot, const Team& team,
                  Site site = Site::here()) {
    const Change change = at(Verb::wait_until, site);
    if (change == Change::drop) return !B::failed();
    if (change == Change::previous) {
      count_seen(signals, slot, team, 1, site);
      B::sync(site);
      return !B::failed();
    }
    slot = row(change, signals, slot);
    if (change == Change::other_pe) return wait_for_others(signals, slot, team, site);
    return B::wait_until(signals, slot, team, site);
  }
  std::uint64_t wait_until(const Signals& signals, std::size_t slot, std::uint64_t value,
                           Site site = Site::here()) {
    const Change change = at(Verb::wait_until, site);
    if (change == Change::drop) return B::failed() ? 0 : value;
    slot = row(change, signals, slot);
    if (change != Change::previous || value == 0) return B::wait_until(signals, slot, value, site);
    const std::uint64_t seen = B::wait_until(signals, slot, value - 1, site);
    return seen < value && !B::failed() ? value : seen;  // or the caller would take it for expired
  }

  template <Operand S>
  void put_packets(const Packets& packets, std::size_t slot, S src, Range range, const Team& team,
                   Site site = Site::here()) {
    put_packets(packets, slot, per_member(src, 0), range, team, site);
  }
  template <class S>
  void put_packets(const Packets& packets, std::size_t slot, PerMember<S> src, Range range,
                   const Team& team, Site site = Site::here()) {
    const Change change = at(Verb::put_packets, site);
    if (change == Change::drop) return;
    slot = row(change, packets.lanes, slot);
    B::put_packets(change == Change::one_buffer ? packets.in_one_buffer() : packets, slot, src,
                   range, team, site);
  }
  template <Operand D, Operand S, class Op>
  bool reduce_packets(D dst, S own, Range range, const Packets& packets, std::size_t slot,
                      const Team& team, Op op, Site site = Site::here()) {
    return receive({Verb::reduce_packets, site, packets, slot, team},
                   [&](const Packets& from, std::size_t row) {
                     return B::reduce_packets(dst, own, range, from, row, team, op, site);
                   });
  }
  template <class D, Operand S>
  bool receive_packets(PerMember<D> dst, S own, Range range, const Packets& packets,
                       std::size_t slot, const Team& team, Site site = Site::here()) {
    return receive({Verb::receive_packets, site, packets, slot, team},
                   [&](const Packets& from, std::size_t row) {
                     return B::receive_packets(dst, own, range, from, row, team, site);
                   });
  }
  template <sym::Memory D, Operand S, class Op, class F, sym::Memory... More>
  bool reduce_packets(D dst, S own, RangeAt at, const Packets& packets, std::size_t slot,
                      const Team& team, Op op, F f, More... more) {
    return receive({Verb::reduce_packets, at.site, packets, slot, team},
                   [&](const Packets& from, std::size_t row) {
                     return B::reduce_packets(dst, own, at, from, row, team, op, f, more...);
                   });
  }

 private:
  struct Plus {
    std::uint64_t change;
    std::uint64_t operator()(std::uint64_t count) const { return count + change; }
  };

  Change at(Verb verb, Site site) const {
    return mutation_ == nullptr ? Change::none : mutation_->at(verb, site, B::pe(), B::index());
  }
  int after(int pe) const { return pe + 1 == B::n_pes() ? 0 : pe + 1; }
  static std::size_t row(Change change, const Signals& signals, std::size_t slot) {
    if (change == Change::other_slot) return (slot + 1) % signals.slots;
    return change == Change::first_slot ? 0 : slot;
  }
  // A call that takes messages: true_one(packets, slot) makes it.
  struct Receipt {
    Verb verb;
    Site site;
    const Packets& packets;
    std::size_t slot;
    const Team& team;
  };
  template <class F>
  bool receive(const Receipt& call, F true_one) {
    const Change change = at(call.verb, call.site);
    if (change == Change::drop) return !B::failed();
    const Signals& lanes = call.packets.lanes;
    const std::size_t slot = row(change, lanes, call.slot);
    const bool early = change == Change::previous && has_seen(lanes, slot, call.team, call.site);
    if (early) count_seen(lanes, slot, call.team, ~std::uint64_t{0}, call.site);
    const bool came =
        true_one(change == Change::one_buffer ? call.packets.in_one_buffer() : call.packets, slot);
    if (early) count_seen(lanes, slot, call.team, 1, call.site);
    return came;
  }
  // seen += change (wrapping) for every member but this PE.
  void count_seen(const Signals& signals, std::size_t slot, const Team& team, std::uint64_t change,
                  Site site) {
    for (int rank = 0; rank < team.size(); ++rank) {
      if (team.pe(rank) == B::pe()) continue;
      const Range word{signals.word(slot, team.pe(rank)), 1};
      B::transform(signals.seen, RangeAt{word, site}, Plus{change}, signals.seen);
    }
  }
  bool has_seen(const Signals& signals, std::size_t slot, const Team& team, Site site) {
    for (int rank = 0; rank < team.size(); ++rank) {
      const int pe = team.pe(rank);
      if (pe != B::pe() && B::read(signals.seen, signals.word(slot, pe), site) == 0) return false;
    }
    return true;
  }
  // One member: the next PE in its place. Several: all but the last.
  bool wait_for_others(const Signals& signals, std::size_t slot, const Team& team, Site site) {
    if (team.size() == 1) {
      int pe = after(team.pe(0));
      if (pe == B::pe()) pe = after(pe);
      return B::wait_until(signals, slot, Team::strided(B::pe(), pe, 1, 1), site);
    }
    int last = team.size() - 1;
    if (team.pe(last) == B::pe()) --last;
    count_seen(signals, slot, team.only(last), 1, site);
    bool came = true;
    for (int rank = 0; rank < team.size() && came; ++rank) {
      if (rank != last && team.pe(rank) != B::pe())
        came = B::wait_until(signals, slot, team.only(rank), site);
    }
    return came;
  }

  Mutation* mutation_;
};

}  // namespace sym::fiber
