#include "models/nccl_channels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sym::models::detail {
namespace {

double of_protocol(const char* group, const char* key, const NcclChoice& choice) {
  return nccl_table().member(group).member(key).member(choice.protocol).positive();
}

int copies() {
  return static_cast<int>(nccl_table().member("channels").member("copies").positive());
}

// The proxy's time for one message.
double message_us(const NcclSystem& system, double wire_bytes) {
  const bool split = system.split_bytes > 0 && wire_bytes > system.split_bytes;
  return (split ? 2 : 1) * system.overhead_us;
}

// Channels for each peer, and what the last byte waits for. A receiver copies a step out of its
// buffer after the sender has filled it, so the last step takes twice.
void share_channels(const NcclSystem& system, const NcclCall& call, NcclChoice& choice) {
  const JsonAt sends = nccl_table().member("sends");
  const int all = static_cast<int>(
      std::bit_ceil(static_cast<unsigned>(copies() * nccl_graph(system, "ring").channels)));
  const double of_peer = call.bytes / system.pes;
  const bool low = of_peer <= all * sends.member("ll_bytes").positive();
  choice.protocol = low ? "LL" : "Simple";
  const double step = of_protocol("sends", "step_bytes", choice);
  const double least = step * sends.member("least_part").positive();
  const double most = step * sends.member("most_part").positive();
  int channels =
      std::max(1, all / static_cast<int>(std::bit_ceil(static_cast<unsigned>(system.pes))));
  channels = std::min(channels, static_cast<int>(std::max(1.0, std::ceil(of_peer / least))));
  while (of_peer / channels > most && channels <= all / 2) channels *= 2;
  choice.channels = std::min(all, channels * (system.pes - 1));
  const double rate = system.channel_gbps / of_protocol("messages", "wire", choice);
  choice.busbw_gbps = std::min(choice.busbw_gbps, choice.channels * rate);
  const double part = std::max(least, of_peer / channels);
  if (!low) choice.fill_us = std::min({step, part, of_peer}) / (rate * 1e3);
}

}  // namespace

double ring_requests_us(const NcclSystem& system, const NcclCall& call, const NcclChoice& choice) {
  if (system.nodes == 1 || choice.algorithm != "ring") return 0;
  double least = of_protocol("channels", "least_bytes", choice);
  if (choice.protocol == "LL") least *= system.pes;
  const double channels =
      std::clamp(std::floor(call.bytes / least), 1.0, 1.0 * copies() * choice.channels);
  // The channels of the search are spread over the GPUs, each of which has a proxy.
  const double of_a_proxy = std::ceil(channels / std::min(choice.channels, system.per_node));
  const double part = call.bytes / system.pes / channels;
  const double slice = std::clamp(part / of_protocol("messages", "slices", choice),
                                  of_protocol("messages", "least_bytes", choice),
                                  of_protocol("messages", "most_bytes", choice));
  const double wire = std::min(part, slice) * of_protocol("messages", "wire", choice);
  return of_a_proxy * std::max(1.0, std::ceil(part / slice)) * message_us(system, wire);
}

double ring_channels_gbps(const NcclSystem& system, const NcclChoice& choice) {
  if (system.channel_gbps <= 0 || choice.algorithm != "ring")
    return std::numeric_limits<double>::infinity();
  return copies() * choice.channels * system.channel_gbps / of_protocol("messages", "wire", choice);
}

NcclChoice nccl_sends(const NcclSystem& system, const NcclCall& call) {
  const JsonAt ring = nccl_table().member("latency").member("ring");
  NcclChoice choice;
  choice.algorithm = "p2p";
  choice.protocol = "Simple";
  choice.base_us = ring.member("base").member("Simple").positive();
  choice.latency_us = choice.base_us +
                      ring.member(system.nodes == 1 ? "nvlink" : "net").member("Simple").positive();
  const double others = system.pes - 1.0;
  choice.busbw_gbps = system.nvlink_gbps;
  if (system.nodes > 1) {  // of a PE's peers, those in other nodes by its share of the NICs
    const double share = system.nic_gbps * system.nics / system.per_node;
    choice.busbw_gbps =
        std::min(choice.busbw_gbps, share * others / (system.pes - system.per_node));
  }
  if (system.nodes == 1 && system.channel_gbps > 0) share_channels(system, call, choice);
  choice.algbw_gbps = choice.busbw_gbps * system.pes / others;
  choice.us = choice.latency_us + call.bytes / (choice.algbw_gbps * 1e3);
  return choice;
}

double sends_nic_gbps(const NcclSystem& system, const NcclCall& call, double gbps) {
  const double of_peer = call.bytes / system.pes;
  double chunk = system.chunk_bytes;
  for (const JsonAt& rule : nccl_table().member("sends").member("net_shorter").elements()) {
    if (of_peer >= rule.elements()[0].positive() * system.chunk_bytes) continue;
    chunk *= rule.elements()[1].positive();
    break;
  }
  chunk = std::min(chunk, of_peer);
  const double us = chunk / (gbps * 1e3) + message_us(system, chunk);
  return chunk / (us * 1e3);
}

}  // namespace sym::models::detail
