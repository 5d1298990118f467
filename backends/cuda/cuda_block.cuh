// CudaBlock: sym::Block on one thread block of a GPU whose peers' memory it can load and store.
//
// Transfers are loads and stores by the block's lanes. Signals are sent, and waits polled, by the
// first warp alone (the control warp), lane r for the team's member of rank r: so `sent` and `seen`
// of a peer have one owner at a time, and a team's signals share one system-scope release.
//
// Why quiet and fence cost almost nothing here, under PTX's memory model. A lane has read its
// source when its store issues, so after quiet's CTA barrier every source may be rewritten. A
// destination can lawfully be looked at only by someone who acquired a later signal of this block.
// A signal is: CTA barrier, fence.acq_rel.sys, relaxed store, by one lane. The barrier puts every
// lane's earlier stores before that fence in causality order, and release is cumulative; so the
// signal releases all transfers of the block, fenced or not. quiet therefore only owes a fence,
// which the next signal pays anyway. Verbs that a peer could observe without acquiring a signal
// (fetch_add), and put and put_value after a quiet, pay it themselves first: every lane fences,
// because a release must be by the lane that then writes; the barrier of quiet or fence has made it
// cumulative over the others.
#pragma once

#include <type_traits>

#include "backends/cuda/block_start.cuh"
#include "backends/cuda/count_lanes.cuh"
#include "backends/cuda/fold_lanes.cuh"
#include "backends/cuda/packet_runs.cuh"
#include "core/block.hpp"

namespace sym::cuda {

class CudaBlock : private BlockStart {
 public:
  // `context` must be the kernel's own __grid_constant__ parameter. Blocks have whole warps.
  __device__ __forceinline__ explicit CudaBlock(const KernelContext& context)
      : BlockStart(context) {}
  __device__ __forceinline__ ~CudaBlock() { await_history(); }
  CudaBlock(const CudaBlock&) = delete;
  CudaBlock& operator=(const CudaBlock&) = delete;

  __device__ __forceinline__ int pe() const { return context_.pe; }
  __device__ __forceinline__ int n_pes() const { return context_.n_pes; }
  __device__ __forceinline__ int index() const { return static_cast<int>(blockIdx.x); }
  __device__ __forceinline__ int count() const { return static_cast<int>(gridDim.x); }
  __device__ __forceinline__ bool failed() const { return failed_; }

  // The claim is made when memory is first touched, and its answer waited for later still: it comes
  // 0.5 us later to a lane that has nothing else to do, and gates the first wait.
  __device__ void enter(const Channel& channel, Site site = Site::here()) {
    if (index() >= channel.blocks) [[unlikely]]
      return refuse("enter", site, blockIdx.x, -1, channel.blocks, gridDim.x);
    claim(busy(channel));
  }
  __device__ void leave(const Channel& channel, Site site = Site::here()) {
    if (failed_) return;
    begin();
    const bool taken = claimed_by_other(site);
    meet();
    if (is_claimer() && !taken) ptx::store_relaxed_gpu(busy(channel), 0);
  }

  template <class T, Operand S>
  __device__ void put(Window<T> dst, S src, Range range, int pe, Site site = Site::here()) {
    if (!admit("put", site, range, pe, dst, src)) return;
    pay_quiet();
    copy_lanes<T>(at(dst, pe) + range.first, own(src) + range.first, range.count);
    unreleased_ = true;
  }
  template <Operand D, class T>
  __device__ void get(D dst, Window<T> src, Range range, int pe, Site site = Site::here()) {
    if (!admit("get", site, range, pe, dst, src)) return;
    copy_lanes<T>(own(dst) + range.first, at(src, pe) + range.first, range.count);
    unreleased_ = true;
  }
  template <class T, Operand S>
  __device__ void put_signal(Window<T> dst, S src, Range range, const Signals& signals,
                             std::size_t slot, int pe, Site site = Site::here()) {
    if (!admit("put_signal", site, range, pe, dst, src)) return;
    __syncthreads();
    pay_quiet();
    copy_lanes<T>(at(dst, pe) + range.first, own(src) + range.first, range.count);
    send("put_signal", signals, slot, Team::strided(pe, pe, 1, 1), -1, site);
  }
  template <class T>
  __device__ void put_value(Window<T> dst, std::size_t index, T value, int pe,
                            Site site = Site::here()) {
    if (!admit("put_value", site, Range{index, 1}, pe, dst)) return;
    pay_quiet();
    if (threadIdx.x == 0) store_value(at(dst, pe) + index, value);
    unreleased_ = true;
  }

  __device__ void signal(const Signals& signals, std::size_t slot, int pe,
                         Site site = Site::here()) {
    if (!admit("signal", site, Range{}, pe)) return;
    send("signal", signals, slot, Team::strided(pe, pe, 1, 1), -1, site);
  }
  __device__ void signal(const Signals& signals, std::size_t slot, const Team& team,
                         Site site = Site::here()) {
    if (!failed_) send("signal", signals, slot, team, context_.pe, site);
  }
  __device__ bool wait_until(const Signals& signals, std::size_t slot, const Team& team,
                             Site site = Site::here());
  __device__ std::uint64_t wait_until(const Signals& signals, std::size_t slot, std::uint64_t value,
                                      Site site = Site::here());
  __device__ std::uint64_t test(const Signals& signals, std::size_t slot, Site site = Site::here());

  __device__ __forceinline__ void fence(int) {
    fence_owed_ = fence_owed_ || unreleased_;
    __syncthreads();
  }
  __device__ __forceinline__ void quiet(Site = Site::here()) {
    quiet_owed_ = quiet_owed_ || unreleased_;
    unreleased_ = false;
    meet();
  }
  __device__ __forceinline__ void sync() { __syncthreads(); }

  template <Operand D, class T, class Op>
  __device__ void reduce(D dst, Window<T> src, Range range, const Team& team, Op op,
                         Site site = Site::here()) {
    static_assert(std::is_same_v<typename D::value_type, T>, "reduce keeps the element type");
    if (!admit("reduce", site, range, context_.pe, dst, src)) return;
    const std::size_t skip = src.offset_bytes + range.first * sizeof(T);
    const auto from = [this, skip, &team](int rank) {
      return reinterpret_cast<const T*>(heap(team.pe(rank)) + skip);
    };
    // Heaps of all PEs are aligned alike (pitch and base are multiples of 16).
    const bool aligned = skip % static_cast<unsigned>(wide_unit<T, Shared<T>::elements>) == 0;
    reduce_lanes<T>(own(dst) + range.first, range.count, team.size(), aligned, from, op);
  }
  template <Memory D, class T, class Op, class F, Memory... S>
  __device__ void reduce(D dst, Window<T> src, RangeAt where, const Team& team, Op op, F f,
                         S... more);
  template <class T, class Op>
  __device__ void reduce(Matrix<T> dst, Matrix<T> src, const Team& team, Op op,
                         Site site = Site::here());
  template <Operand D, Operand S, class T, class Op>
  __device__ void reduce_slots(D dst, S mine, PerMember<Window<T>> slots, Range range,
                               const Team& team, Op op, Site site = Site::here());
  template <Memory D, class F, Memory... S>
  __device__ void transform(D dst, RangeAt where, F f, S... src) {
    if (!admit("transform", where.site, where.range, context_.pe, dst, src...)) return;
    const std::size_t first = where.range.first;
    if constexpr (is_scratch<D> || (is_scratch<S> || ...)) {
      map_views(view(dst, first), where.range.count, f, view(src, first)...);
    } else {
      map_lanes<typename D::value_type>(
          own(dst) + first, where.range.count, f,
          static_cast<const typename S::value_type*>(own(src) + first)...);
    }
  }
  template <Memory S, class F>
  __device__ Accumulator<typename S::value_type> sum(S src, Range range, F f,
                                                     Site site = Site::here()) {
    return fold("sum", src, range, f, Sum{}, site);
  }
  template <Memory S, class F>
  __device__ Accumulator<typename S::value_type> max(S src, Range range, F f,
                                                     Site site = Site::here()) {
    return fold("max", src, range, f, Max{}, site);
  }
  template <Memory D, class F, class G, Memory S, Memory... More>
  __device__ void transform_by_sum(D dst, RangeAt where, F f, G make, S src, More... more) {
    by_sum(dst, NoView{}, where, f, make, src, more...);
  }
  template <Memory D, Memory K, class F, class G, Memory S, Memory... More>
  __device__ void transform_by_sum(WithSource<D, K> dst, RangeAt where, F f, G make, S src,
                                   More... more);
  template <Memory S>
  __device__ typename S::value_type read(S memory, std::size_t index, Site site = Site::here());
  template <Operand K>
  __device__ bool tally(Scratch<std::uint32_t> counts, K keys, Range range,
                        Site site = Site::here());
  template <Operand K, Memory P>
  __device__ void tally(Scratch<std::uint32_t> counts, K keys, Range range, P places,
                        Site site = Site::here());
  template <Memory D, Memory S, class F>
  __device__ typename D::value_type scan(D dst, S src, Range range, F f, Site site = Site::here());
  template <Operand D, class T, class F>
  __device__ void weighted_sum(D dst, Window<T> src, Range range, int n, F term,
                               Site site = Site::here());
  template <class F>
  __device__ void warps(std::size_t n, F f, Site site = Site::here());
  __device__ __forceinline__ bool require(bool holds, const char* what, std::uint64_t value = 0,
                                          std::uint64_t limit = 0, Site site = Site::here()) {
    if (!holds && !failed_) {
      fail(Finding{FailureKind::refused, "require", site, 0, -1, limit, value, what});
    }
    return holds;
  }
  template <Operand S>
  __device__ __forceinline__ void put_packets(const Packets& packets, std::size_t slot, S src,
                                              Range range, const Team& team,
                                              Site site = Site::here()) {
    put_packets(packets, slot, per_member(src, 0), range, team, site);
  }
  template <class S>
  __device__ void put_packets(const Packets& packets, std::size_t slot, PerMember<S> src,
                              Range range, const Team& team, Site site = Site::here());
  template <Operand D, Operand S, class Op>
  __device__ bool reduce_packets(D dst, S mine, Range range, const Packets& packets,
                                 std::size_t slot, const Team& team, Op op,
                                 Site site = Site::here());
  template <class D, Operand S>
  __device__ bool receive_packets(PerMember<D> dst, S mine, Range range, const Packets& packets,
                                  std::size_t slot, const Team& team, Site site = Site::here());
  template <Memory D, Operand S, class Op, class F, Memory... More>
  __device__ bool reduce_packets(D dst, S mine, RangeAt where, const Packets& packets,
                                 std::size_t slot, const Team& team, Op op, F f, More... more);
  // Integers of 32 or 64 bits.
  template <class T>
  __device__ T fetch_add(Window<T> counter, std::size_t index, std::type_identity_t<T> value,
                         int pe, Site site = Site::here()) {
    static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    using Word = std::conditional_t<sizeof(T) == 4, unsigned int, unsigned long long>;
    if (!admit("fetch_add", site, Range{index, 1}, pe, counter)) return T{};
    if (quiet_owed_ || fence_owed_) ptx::fence_system();
    quiet_owed_ = fence_owed_ = false;
    Word before = 0;
    if (threadIdx.x == 0) {
      before = atomicAdd_system(reinterpret_cast<Word*>(at(counter, pe) + index),
                                static_cast<Word>(value));
    }
    return static_cast<T>(tell_all(before));
  }

 private:
  __device__ __forceinline__ std::uint64_t* busy(const Channel& channel) const {
    return own(channel.busy) + blockIdx.x;
  }
  template <class T>
  __device__ __forceinline__ static void store_value(T* to, const T& value) {
    Pack<T, 1, narrow_unit<T>> pack{};
    memcpy(pack.w, &value, sizeof(T));
    pack.store(to);
  }

  // A call that sends or takes messages of one row of an inbox.
  struct Inbox {
    const Packets& packets;
    std::size_t slot;
    Site site;
    const char* verb;
  };
  // Where the message of `epoch` from PE `from` lies in the inbox in somebody's heap: as
  // Packets::offset_bytes says, in short numbers. World::channel sees to it that they are short.
  __device__ __forceinline__ char* message(const Inbox& inbox, int from, std::uint32_t epoch,
                                           char* heap) const {
    const Packets& packets = inbox.packets;
    const unsigned place =
        2 * row_word(inbox, from) + (epoch & static_cast<unsigned>(packets.alternates));
    return heap + packets.cells.offset_bytes +
           static_cast<std::uint64_t>(place) * static_cast<unsigned>(packets.message_bytes());
  }
  __device__ __forceinline__ static unsigned row_word(const Inbox& inbox, int pe) {
    return static_cast<unsigned>(inbox.slot) * static_cast<unsigned>(inbox.packets.lanes.lanes) +
           static_cast<unsigned>(pe);
  }
  // How many messages the row has sent to, or seen from, a PE.
  __device__ __forceinline__ std::uint64_t* count_of(const Inbox& inbox,
                                                     Window<std::uint64_t> counts, int pe) const {
    return own(counts) + row_word(inbox, pe);
  }
  // False, and the block failed, unless this PE's memory has the range and the inbox the room.
  template <class... M>
  __device__ __forceinline__ bool admit_message(const Inbox& inbox, Range range, std::size_t bytes,
                                                const M&... memory) {
    met_ = false;
    if (failed_) return false;
    const Packets& packets = inbox.packets;
    const bool inside = within(range, memory...);
    const bool fits = inbox.slot < packets.lanes.slots && bytes <= packets.capacity_bytes;
    if (inside && fits) [[likely]]
      return true;
    refuse(inbox.verb, inbox.site, inside ? inbox.slot : range.first, inside ? -1 : context_.pe,
           inside ? packets.capacity_bytes : least_room(memory...), inside ? bytes : range.end());
    return false;
  }
  template <template <class> class Access, class T, class Batches>
  __device__ void send_groups(const Inbox& inbox, const T* from, Groups<T> groups, Batches batch,
                              int peer);
  // A message that is waited for, as this lane knows it.
  struct Arriving {
    const char* cell;
    Flags flags;
    int peer;
  };
  template <class Batches, class Run>
  __device__ Arriving look_at_message(const Inbox& inbox, int peer, const Batches& batch,
                                      Run& run) const;
  template <class Batches, class Run>
  __device__ Arrival await_packets(const Arriving& message, const Batches& batch, Run& run) const;
  template <int at_once, class Batches, class Visitor>
  __device__ Lost take_batches(const Inbox& inbox, const Team& team, Batches batch,
                               Visitor visit) const;
  template <class Batches, class Visitor>
  __device__ Lost take_from_one(const Inbox& inbox, const Team& team, Batches batch,
                                Visitor visit) const;
  template <class Make>
  __device__ bool take_messages(const Inbox& inbox, const Team& team, unsigned groups, bool wide,
                                Make make);
  // One more of the row's count for each member but this PE. After a CTA barrier.
  __device__ __forceinline__ void count_messages(const Inbox& inbox, Window<std::uint64_t> counts,
                                                 const Team& team) const {
#pragma unroll 1
    for (int r = static_cast<int>(threadIdx.x); r < team.size();
         r += static_cast<int>(blockDim.x)) {
      const int peer = team.pe(r);
      if (peer != context_.pe) ++*count_of(inbox, counts, peer);
    }
  }

  // Hands lane 0's value to every lane. Ends with a sync.
  __device__ __forceinline__ static std::uint64_t tell_all(std::uint64_t value) {
    __shared__ std::uint64_t box;
    if (threadIdx.x == 0) box = value;
    __syncthreads();
    value = box;
    __syncthreads();
    return value;
  }

  template <Memory S, class F, class Op>
  __device__ __forceinline__ Accumulator<typename S::value_type> fold(const char* verb, S src,
                                                                      Range range, F f, Op op,
                                                                      Site site) {
    const bool met = met_;
    if (!admit(verb, site, range, context_.pe, src)) return {};
    if (!met) __syncthreads();
    const auto folded = fold_lanes(view(src, range.first), range.count, f, op);
    met_ = true;
    took_ = false;
    return folded;
  }

  // transform_by_sum; `keep` is where the source goes besides: a view, or NoView.
  template <Memory D, class K, class F, class G, Memory S, Memory... More>
  __device__ void by_sum(D dst, K keep, RangeAt where, F f, G make, S src, More... more);

  __device__ __forceinline__ void pay_quiet() {
    if (quiet_owed_) ptx::fence_system();
    quiet_owed_ = false;
  }

  // What a control lane knows of the row and peer it used last: a barrier after a barrier then
  // loads nothing. Written through, so memory always holds the same; dropped when another lane
  // comes to serve that peer, whose counting this lane would not see.
  struct Row {
    std::size_t key = ~std::size_t{0};
    std::uint64_t sent = 0;
    std::uint64_t seen = 0;
  };
  __device__ __forceinline__ static std::size_t row_key(const Signals& signals, std::size_t slot,
                                                        int peer) {
    return signals.sent.offset_bytes + signals.word(slot, peer) * sizeof(std::uint64_t);
  }
  __device__ __forceinline__ void recall(const Signals& signals, std::size_t slot, int peer) {
    const std::size_t key = row_key(signals, slot, peer);
    if (row_.key == key) return;
    const std::size_t word = signals.word(slot, peer);
    row_ = Row{key, own(signals.sent)[word], own(signals.seen)[word]};
  }
  // Drops what this lane knows of a peer that another lane serves with this team. Looks at the team
  // only if what it knows is of this row, and not of its own peer there.
  __device__ __forceinline__ void drop_others_peer(const Signals& signals, std::size_t slot,
                                                   const Team& team) {
    const std::size_t peer = (row_.key - row_key(signals, slot, 0)) / sizeof(std::uint64_t);
    if (peer >= static_cast<std::size_t>(signals.lanes)) return;
    const int known = static_cast<int>(peer);
    const int lane = static_cast<int>(threadIdx.x);
    if (lane < team.size() && team.pe(lane) == known) return;
#pragma unroll 1
    for (int r = 0; r < team.size(); ++r) {
      if (team.pe(r) == known) row_ = Row{};
    }
  }

  __device__ void send(const char* verb, const Signals& signals, std::size_t slot, const Team& team,
                       int skip, Site site);
  __device__ bool poll(const char* verb, const std::uint64_t* word, const Signals& signals,
                       std::uint64_t expected, std::uint64_t& seen, std::size_t slot, int peer,
                       Site site) const;

  bool unreleased_ = false;  // transfers since the last signal or quiet
  bool quiet_owed_ = false;  // a quiet whose fence nobody has paid
  bool fence_owed_ = false;  // the same for fence(pe)
  Row row_;
};

}  // namespace sym::cuda

#include "backends/cuda/cuda_block_compute.cuh"
#include "backends/cuda/cuda_block_packets.cuh"
#include "backends/cuda/cuda_block_reduce.cuh"
#include "backends/cuda/cuda_block_signals.cuh"

namespace sym::cuda {

static_assert(Block<CudaBlock>);

}  // namespace sym::cuda
