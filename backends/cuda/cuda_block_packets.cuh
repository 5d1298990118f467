// CudaBlock's packets. Included by cuda_block.cuh, which declares them.
#pragma once

#include "backends/cuda/cuda_block.cuh"

namespace sym::cuda {

template <class S>
__device__ __forceinline__ void CudaBlock::put_packets(const Packets& packets, std::size_t slot,
                                                       PerMember<S> src, Range range,
                                                       const Team& team, Site site) {
  using T = typename S::value_type;
  const Inbox inbox{packets, slot, site, "put_packets"};
  const std::size_t bytes = range.count * sizeof(T);
  if (!admit_message(inbox, range, bytes, src.first, src.of(team.size() - 1))) return;
  const Groups<T> groups(range.count);
  int rank = team.rank();
#pragma unroll 1
  for (int hop = 0; hop < team.size(); ++hop) {  // staggered: no PE is everyone's target at once
    if (++rank >= team.size()) rank = 0;
    const int peer = team.pe(rank);
    if (peer == context_.pe) continue;
    const T* const from = own(src.of(rank)) + range.first;
    if (!groups.all_whole() || !fits_wide<T, Groups<T>::whole>(from)) {
      send_groups<RaggedGroups>(inbox, from, groups, Batch(groups.count), peer);
    } else if (groups.count > blockDim.x) {
      send_groups<WideGroups>(inbox, from, groups, Batch(groups.count), peer);
    } else {
      send_groups<WideGroups>(inbox, from, groups, SingleBatch(groups.count), peer);
    }
  }
  meet();  // every lane has looked at the counts, and at its source
  count_messages(inbox, packets.lanes.sent, team);
}

// The count of messages is loaded behind the data and before they are looked at: one round trip.
template <template <class> class Access, class T, class Batches>
__device__ __forceinline__ void CudaBlock::send_groups(const Inbox& inbox, const T* from,
                                                       Groups<T> groups, Batches batch, int peer) {
  constexpr int depth = Batches::depth;
  const std::uint64_t* const sent = count_of(inbox, inbox.packets.lanes.sent, peer);
  await_history();
#pragma unroll 1
  for (; batch.any(); batch.next()) {
    PacketRun<depth> run;
#pragma unroll
    for (int k = 0; k < depth; ++k)
      if (k < batch.groups()) run.set(k, Access<T>::load(from, groups, batch.group(k)));
    const std::uint32_t before = ptx::load4(sent);
    begin();  // asks while these are under way
    const std::uint32_t epoch = before + 1;
    run.store(message(inbox, context_.pe, epoch, heap(peer)), batch,
              Flags(epoch, inbox.packets.lanes.tag, batch.begins_message()));
  }
}

// Polls a lane's packets of a message, loaded once, until all have come.
template <class Batches, class Run>
__device__ __forceinline__ Arrival CudaBlock::await_packets(const Arriving& message,
                                                            const Batches& batch, Run& run) const {
  if (batch.groups() == 0) return Arrival::came;
  std::uint64_t started_ns = 0;
#pragma unroll 1
  for (unsigned polls = 0;; polls += 256) {
#pragma unroll 1
    for (int left = 256; left > 0; --left) {  // as quick as can be
      if (run.has_come(batch, message.flags)) return Arrival::came;
      run.load(message.cell, batch);
    }
    if (ptx::load_relaxed_gpu(context_.failed) != 0) return Arrival::failed;
    const std::uint64_t now_ns = ptx::global_timer_ns();
    if (started_ns == 0) started_ns = now_ns;
    // All of it but the tag is right: a message for another operation. (Its first packet may come
    // long after its second, where the sender is stopped between them.)
    const std::uint32_t first = run.packet[0].w[3];
    if (batch.begins_message() && run.packet[1].w[3] == message.flags.flag &&
        is_tagged(first, message.flags.flag) && first != message.flags.first)
      return Arrival::mismatch;
    if (context_.wait_limit_ns != 0 && now_ns - started_ns >= context_.wait_limit_ns)
      return Arrival::expired;
  }
}

// The next message of a peer, as this lane knows it. Begins to load its packets of the batch.
template <class Batches, class Run>
__device__ __forceinline__ CudaBlock::Arriving CudaBlock::look_at_message(const Inbox& inbox,
                                                                          int peer,
                                                                          const Batches& batch,
                                                                          Run& run) const {
  const Signals& lanes = inbox.packets.lanes;
  const std::uint32_t epoch = ptx::load4(count_of(inbox, lanes.seen, peer)) + 1;
  const Arriving message{this->message(inbox, peer, epoch, context_.own),
                         Flags(epoch, lanes.tag, batch.begins_message()), peer};
  run.load(message.cell, batch);
  return message;
}

// For each of this lane's batches: visit.begin(batch), visit.take(batch, rank, whether that is this
// PE, run) for each member in rank order, and visit.end(batch). Messages of `at_once` members are
// loaded before the first is waited for.
template <int at_once, class Batches, class Visitor>
__device__ __forceinline__ Lost CudaBlock::take_batches(const Inbox& inbox, const Team& team,
                                                        Batches batch, Visitor visit) const {
#pragma unroll 1
  for (; batch.any(); batch.next()) {
    visit.begin(batch);
#pragma unroll 1
    for (int first = 0; first < team.size(); first += at_once) {
      PacketRun<Batches::depth> run[at_once];
      Arriving message[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        message[k].peer = first + k < team.size() ? team.pe(first + k) : context_.pe;
        if (message[k].peer == context_.pe) continue;
        message[k] = look_at_message(inbox, message[k].peer, batch, run[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (first + k >= team.size()) continue;
        const bool mine = message[k].peer == context_.pe;
        const Arrival how = mine ? Arrival::came : await_packets(message[k], batch, run[k]);
        if (how != Arrival::came) [[unlikely]]
          return {how, message[k].peer, message[k].flags.first, run[k].packet[0].w[3]};
        visit.take(batch, first + k, mine, run[k]);
      }
    }
    visit.end(batch);
  }
  return {};
}

// The same for two members of which this PE is one: what small messages of few PEs are to be quick
// in.
template <class Batches, class Visitor>
__device__ __forceinline__ Lost CudaBlock::take_from_one(const Inbox& inbox, const Team& team,
                                                         Batches batch, Visitor visit) const {
  const bool leads = team.rank() == 0;
  const int peer = team.pe(leads ? 1 : 0);
#pragma unroll 1
  for (; batch.any(); batch.next()) {
    PacketRun<Batches::depth> run;
    const Arriving message = look_at_message(inbox, peer, batch, run);
    visit.begin(batch);
    const Arrival how = await_packets(message, batch, run);
    if (how != Arrival::came) [[unlikely]]
      return {how, peer, message.flags.first, run.packet[0].w[3]};
    visit.take(batch, 0, leads, run);
    visit.take(batch, 1, !leads, run);
    visit.end(batch);
  }
  return {};
}

// make.operator()<Batches, Access>() makes the visitor. A lane that gives up leaves its groups, and
// the block fails. Of short messages of many members two are looked at together.
template <class Make>
__device__ __forceinline__ bool CudaBlock::take_messages(const Inbox& inbox, const Team& team,
                                                         unsigned groups, bool wide, Make make) {
  begin();
  if (took_) __syncthreads();  // the counts that a call before this one has written are there
  const bool is_short = groups <= blockDim.x;
  const bool pair = team.size() == 2 && team.contains_self();
  Lost lost;
  if (in_control_warp() && stale_ != 0) [[unlikely]] {
    lost.how = Arrival::failed;
  } else if (!wide) {
    lost = take_batches<1>(inbox, team, Batch(groups),
                           make.template operator()<Batch, RaggedGroups>());
  } else if (pair && is_short) {
    lost = take_from_one(inbox, team, SingleBatch(groups),
                         make.template operator()<SingleBatch, WideGroups>());
  } else if (pair) {
    lost = take_from_one(inbox, team, Batch(groups), make.template operator()<Batch, WideGroups>());
  } else if (is_short) {
    lost = take_batches<2>(inbox, team, SingleBatch(groups),
                           make.template operator()<SingleBatch, WideGroups>());
  } else {
    lost =
        take_batches<1>(inbox, team, Batch(groups), make.template operator()<Batch, WideGroups>());
  }
  if (lost.how > Arrival::failed) [[unlikely]] {
    const FailureKind kind =
        lost.how == Arrival::mismatch ? FailureKind::mismatch : FailureKind::expired;
    detail::report(context_, Finding{kind, inbox.verb, inbox.site, inbox.slot, lost.peer,
                                     lost.expected, lost.seen});
  }
  const bool arrived = !claimed_by_other(inbox.site) && lost.how == Arrival::came;
  failed_ = __syncthreads_and(arrived) == 0;
  if (failed_) return false;
  met_ = took_ = true;
  count_messages(inbox, inbox.packets.lanes.seen, team);
  return true;
}

template <Operand D, Operand S, class Op>
__device__ bool CudaBlock::reduce_packets(D dst, S mine, Range range, const Packets& packets,
                                          std::size_t slot, const Team& team, Op op, Site site) {
  using T = typename D::value_type;
  static_assert(std::is_same_v<typename S::value_type, T>, "reduce_packets keeps the element type");
  const Inbox inbox{packets, slot, site, "reduce_packets"};
  if (!admit_message(inbox, range, range.count * sizeof(T), dst, mine)) return false;
  T* const to = own(dst) + range.first;
  const T* const from = own(mine) + range.first;
  const Groups<T> groups(range.count);
  const int operands = team.size();
  const bool wide = groups.all_whole() && fits_wide<T, Groups<T>::whole>(from) &&
                    fits_wide<T, Groups<T>::whole>(to);
  return take_messages(
      inbox, team, groups.count, wide, [&]<class Batches, template <class> class Access>() {
        using Own = OwnRun<T, Access, Batches::depth>;
        return ReducedRun<T, Op, Own, Batches::depth>{Own(from, groups), to, operands, op};
      });
}

template <class D, Operand S>
__device__ bool CudaBlock::receive_packets(PerMember<D> dst, S mine, Range range,
                                           const Packets& packets, std::size_t slot,
                                           const Team& team, Site site) {
  using T = typename D::value_type;
  static_assert(std::is_same_v<typename S::value_type, T>,
                "receive_packets keeps the element type");
  const Inbox inbox{packets, slot, site, "receive_packets"};
  const D last = dst.of(team.size() - 1);
  if (!admit_message(inbox, range, range.count * sizeof(T), dst.first, last, mine)) return false;
  T* const to = own(dst.first) + range.first;
  const T* const from = own(mine) + range.first;
  const Groups<T> groups(range.count);
  const std::size_t stride = dst.stride;
  const bool wide = groups.all_whole() && fits_wide<T, Groups<T>::whole>(from) &&
                    fits_wide<T, Groups<T>::whole>(to) &&
                    fits_wide<T, Groups<T>::whole>(to + stride);
  return take_messages(inbox, team, groups.count, wide,
                       [&]<class Batches, template <class> class Access>() {
                         using Own = OwnRun<T, Access, Batches::depth>;
                         return StoredRun<T, Own, Batches::depth>{Own(from, groups), to, stride};
                       });
}

}  // namespace sym::cuda
