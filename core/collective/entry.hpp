// Host entry points on ordinary memory and a stream: sym::all_reduce(channel, in, out, op, stream).
//
// The caller's tensors are `Local` memory that no peer can address, so each call stages through
// symmetric windows that the channel owns; larger tensors go in rounds. Operations on one channel
// are in order; two streams need two channels (overlapping use is an error, not a race).
#pragma once

#include <algorithm>

#include "core/collective/all_reduce.hpp"
#include "core/world.hpp"

namespace sym {

struct StagedRequest {
  int blocks = 8;
  std::size_t staging_bytes = std::size_t{1} << 20;  // of each of two windows
};

// A channel with staging windows. Making one is collective; it must outlive what it launched.
template <World W>
struct StagedChannel {
  W& world;
  Channel channel;
  Window<std::uint64_t> stage_in, stage_out;  // of 16-byte aligned storage, used as any T
  int blocks = 1;
};

template <World W>
StagedChannel<W> staged_channel(W& world, StagedRequest request = {}) {
  const std::size_t words = std::max<std::size_t>(request.staging_bytes / sizeof(std::uint64_t), 2);
  const auto in = world.template allocate<std::uint64_t>(words);
  const auto out = world.template allocate<std::uint64_t>(words);
  return StagedChannel<W>{world, world.channel({request.blocks}), in, out, request.blocks};
}

namespace detail {

// Block b stages exactly the parts that block b of each member will read: barriers among blocks of
// equal index are then enough.
template <class T, class Op>
struct StagedAllReduce {
  Group group;
  Window<T> stage_in, stage_out;
  Local<const T> in;
  Local<T> out;
  std::size_t n;
  Op op;

  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Shares<T> shares = shares_of<T>(block, n, group.team);
    block.enter(group.channel);
    for (int rank = 0; rank < group.team.size(); ++rank) {
      block.transform(stage_in, shares(rank), Identity{}, in);
    }
    all_reduce_two_shot(block, group, stage_in, stage_out, n, op);
    for (int rank = 0; rank < group.team.size(); ++rank) {
      block.transform(out, shares(rank), Identity{}, stage_out);
    }
    block.leave(group.channel);
  }
};

}  // namespace detail

// out[i] = op over `team` of in[i], for i < out.count, in the order of the stream. Called by every
// member with equal counts (a difference is a mismatch, which names the PE). `in` and `out` may be
// the same memory. Two-shot: the same bits on all PEs. Throws UsageError if the counts of in and
// out differ.
template <World W, class T, class Op>
void all_reduce(StagedChannel<W>& channel, Local<const T> in, Local<T> out, Op op, int stream,
                const Team& team) {
  if (in.count != out.count)
    throw UsageError("all_reduce: in and out differ in their number of elements");
  const Window<T> stage_in = channel.stage_in.template as<T>();
  const Window<T> stage_out = channel.stage_out.template as<T>();
  std::size_t done = 0;
  do {
    const std::size_t n = std::min(out.count - done, stage_in.count);
    const auto tag = operation_tag(operation_of(Op::name), out.count, sizeof(T),
                                   static_cast<std::uint64_t>(channel.blocks));
    LaunchConfig config;
    config.name = "all_reduce";
    config.blocks = channel.blocks;
    config.stream = stream;
    channel.world.launch(
        config, detail::StagedAllReduce<T, Op>{Group{channel.channel.tagged(tag), team}, stage_in,
                                               stage_out, in.at(done), out.at(done), n, op});
    done += n;
  } while (done < out.count);
}

template <World W, class T, class Op>
void all_reduce(StagedChannel<W>& channel, Local<const T> in, Local<T> out, Op op, int stream = 0) {
  all_reduce(channel, in, out, op, stream, channel.world.team());
}

}  // namespace sym
