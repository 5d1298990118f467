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
    if (groups.all_whole() && fits_wide<T, Groups<T>::whole>(from)) {
      send_groups<WideGroups>(inbox, from, groups, peer);
    } else {
      send_groups<RaggedGroups>(inbox, from, groups, peer);
    }
  }
  __syncthreads();  // every lane has looked at the counts
  count_messages(inbox, packets.lanes.sent, team);
}

// The count of messages is loaded behind the data and before they are looked at: one round trip.
template <template <class> class Access, class T>
__device__ __forceinline__ void CudaBlock::send_groups(const Inbox& inbox, const T* from,
                                                       Groups<T> groups, int peer) const {
  const Packets& packets = inbox.packets;
  const std::uint64_t* const sent = own(packets.lanes.sent) + packets.lanes.word(inbox.slot, peer);
#pragma unroll 1
  for (Batch batch(groups.count); batch.any(); batch.next()) {
    PacketRun<batch_groups> run;
#pragma unroll
    for (int k = 0; k < batch_groups; ++k)
      if (k < batch.groups()) run.set(k, Access<T>::load(from, groups, batch.group(k)));
    const std::uint32_t epoch = ptx::load4(sent) + 1;
    run.store(message(inbox, context_.pe, epoch, heap(peer)), batch,
              Flags(epoch, packets.lanes.tag, batch));
  }
}

// Polls a lane's packets of a message, loaded once, until all have come; or not, for which `lost`
// says why unless this PE had failed.
template <class Run>
__device__ __forceinline__ bool CudaBlock::await_packets(const Arriving& message,
                                                         const Batch& batch, Run& run,
                                                         Lost& lost) const {
  std::uint64_t started_ns = 0;
#pragma unroll 1
  for (unsigned polls = 1; !run.has_come(batch, message.flags); ++polls) {
    run.load(message.cell, batch);
    if (polls % 256 != 0) [[likely]]
      continue;
    if (ptx::load_relaxed_gpu(context_.failed) != 0) return false;
    const std::uint64_t now_ns = ptx::global_timer_ns();
    if (started_ns == 0) started_ns = now_ns;
    // All of it but the tag is right: a message for another operation.
    const std::uint32_t seen = run.packet[0].w[3];
    const bool other = batch.begins_message() && run.packet[1].w[3] == message.flags.flag &&
                       seen != message.flags.first;
    if (other && polls > 4096) {
      lost = {FailureKind::mismatch, message.peer, message.flags.first, seen};
      return false;
    }
    if (context_.wait_limit_ns == 0 || now_ns - started_ns < context_.wait_limit_ns) continue;
    lost = {FailureKind::expired, message.peer, message.flags.first, seen};
    return false;
  }
  return true;
}

// For each batch of at most visit.depth groups of this lane: visit.begin(batch), visit.take(batch,
// rank, whether that is this PE, run) for each member in rank order, and visit.end(batch). Messages
// of `at_once` members are loaded before the first is waited for.
template <int at_once, class Visitor>
__device__ __forceinline__ bool CudaBlock::take_batches(const Inbox& inbox, const Team& team,
                                                        unsigned groups, Visitor visit,
                                                        Lost& lost) const {
  const Packets& packets = inbox.packets;
  const std::uint64_t* const seen = own(packets.lanes.seen) + packets.lanes.word(inbox.slot, 0);
  bool arrived = !in_control_warp() || stale_ == 0;
#pragma unroll 1
  for (Batch batch(groups); batch.any(); batch.next()) {
    visit.begin(batch);
#pragma unroll 1
    for (int first = 0; first < team.size() && arrived; first += at_once) {
      PacketRun<Visitor::depth> run[at_once];
      Arriving message[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        message[k].peer = first + k < team.size() ? team.pe(first + k) : context_.pe;
        if (message[k].peer == context_.pe) continue;
        const std::uint32_t epoch = static_cast<std::uint32_t>(seen[message[k].peer]) + 1;
        message[k].flags = Flags(epoch, packets.lanes.tag, batch);
        message[k].cell = this->message(inbox, message[k].peer, epoch, context_.own);
        run[k].load(message[k].cell, batch);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (first + k >= team.size() || !arrived) continue;
        const bool mine = message[k].peer == context_.pe;
        if (!mine) arrived = await_packets(message[k], batch, run[k], lost);
        if (arrived) visit.take(batch, first + k, mine, run[k]);
      }
    }
    if (arrived) visit.end(batch);
  }
  return arrived;
}

// Of messages of few groups, a lane's one, several members' are looked at together; of longer ones
// several groups. make.operator()<depth, Access>() makes the visitor.
template <class Make>
__device__ __forceinline__ bool CudaBlock::take_messages(const Inbox& inbox, const Team& team,
                                                         unsigned groups, bool wide, Make make) {
  Lost lost;
  bool arrived;
  __syncthreads();  // the counts that a call before this one has written are there
  if (!wide) [[unlikely]] {
    arrived = take_batches<1>(inbox, team, groups,
                              make.template operator()<batch_groups, RaggedGroups>(), lost);
  } else if (groups > blockDim.x) {
    arrived = take_batches<1>(inbox, team, groups,
                              make.template operator()<batch_groups, WideGroups>(), lost);
  } else {
    arrived = take_batches<2>(inbox, team, groups, make.template operator()<1, WideGroups>(), lost);
  }
  if (lost.kind != FailureKind::none) [[unlikely]] {
    detail::report(context_, Finding{lost.kind, inbox.verb, inbox.site, inbox.slot, lost.peer,
                                     lost.expected, lost.seen});
  }
  arrived = !claimed_by_other(inbox.site) && arrived;
  failed_ = __syncthreads_and(arrived) == 0;
  if (failed_) return false;
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
  return take_messages(inbox, team, groups.count, wide,
                       [&]<int depth, template <class> class Access>() {
                         using Own = OwnRun<T, Access, depth>;
                         return ReducedRun<T, Op, Own, depth>{Own(from, groups), to, operands, op};
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
                       [&]<int depth, template <class> class Access>() {
                         using Own = OwnRun<T, Access, depth>;
                         return StoredRun<T, Own, depth>{Own(from, groups), to, stride};
                       });
}

}  // namespace sym::cuda
