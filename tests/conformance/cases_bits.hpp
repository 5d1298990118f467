// A seeded all-reduce of random bf16 values, as a hash of its result; also printed by
// `sym run all_reduce --data random --seed 7 --iterations 1 --pes P --bytes 20014 --blocks 3
// --variant V --per-node G`.
#pragma once

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/collective/staged.hpp"
#include "experiments/sym/collective_kernels.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/scale_kernels.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/conformance/reference_sums.hpp"

namespace sym::conformance {

struct BitsKey {
  std::string variant;
  int pes;
  int per_node = 1;
  friend void PrintTo(const BitsKey& key, std::ostream* out) { *out << key.variant << key.pes; }
};
inline constexpr std::size_t bits_count = 10007;
inline constexpr int bits_blocks = 3;

inline std::vector<BitsKey> bits_keys() {
  std::vector<BitsKey> all;
  for (const char* variant : {"one_shot", "one_shot_read", "two_shot", "staged", "ring"}) {
    for (int pes : {2, 3, 8}) all.push_back({variant, pes});
  }
  for (const char* variant : {"ring_pipelined", "halving_doubling", "double_tree"}) {
    for (int pes : {3, 8}) all.push_back({variant, pes});
  }
  for (const char* variant : {"hierarchical_ring", "hierarchical_hd", "hierarchical_tree"})
    all.push_back({variant, 6, 2});
  return all;
}
inline std::string name_of_key(const BitsKey& key) {
  return key.variant + "_" + std::to_string(key.pes);
}
inline std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// The line "VARIANT PES HASH PER_NODE" of the golden file.
inline std::uint64_t golden_hash(const std::string& path, const BitsKey& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string variant, hash;
    int pes = 0;
    if (words >> variant >> pes >> hash && variant == key.variant && pes == key.pes)
      return std::stoull(hash, nullptr, 16);
  }
  throw std::runtime_error(path + " has no line for " + name_of_key(key));
}

inline std::vector<bf16> bits_input(const BitsKey& key, int pe) {
  std::vector<bf16> all(bits_count);
  command::fill(all.data(), bits_count, command::random_pattern<bf16>({7, 0, key.pes}, pe), 0);
  return all;
}
inline std::uint64_t hash_of(const std::vector<bf16>& all) {
  return command::hash_bytes(all.data(), all.size() * sizeof(bf16));
}

// What one- and two-shot and staged promise: rank order, in f32, rounded once.
inline std::vector<bf16> direct_sum(const BitsKey& key) {
  std::vector<float> total(bits_count);
  for (int pe = 0; pe < key.pes; ++pe) {
    const std::vector<bf16> input = bits_input(key, pe);
    for (std::size_t i = 0; i < bits_count; ++i)
      total[i] = pe == 0 ? to_float(input[i]) : total[i] + to_float(input[i]);
  }
  std::vector<bf16> all(bits_count);
  for (std::size_t i = 0; i < bits_count; ++i) all[i] = to_bf16(total[i]);
  return all;
}

// What the others promise, element by element.
inline bf16 promised(const BitsKey& key, const Inputs& inputs, std::size_t i) {
  const Range all{0, bits_count};
  const Numbers numbers = at_element(inputs, i);
  const auto in_levels = [&](auto rail) {
    return in_two_levels(inputs, i, key.per_node, bits_blocks, rail);
  };
  if (key.variant == "halving_doubling") return by_halving(numbers);
  if (key.variant == "double_tree") return along_tree(numbers, part_of(all, 2, i));
  if (key.variant == "hierarchical_hd")
    return in_levels([](const Numbers& sums, Place) { return by_halving(sums); });
  if (key.variant == "hierarchical_tree")
    return in_levels([](const Numbers& sums, Place at) { return along_tree(sums, at.block % 2); });
  if (key.variant == "hierarchical_ring") {
    return in_levels([i](const Numbers& sums, Place at) {
      const int nodes = static_cast<int>(sums.size());
      return round_the_ring(sums, static_cast<std::size_t>(part_of(at.part, nodes, i)));
    });
  }
  return round_the_ring(numbers, static_cast<std::size_t>(part_of(all, key.pes, i)));
}
inline std::vector<bf16> promised_sum(const BitsKey& key) {
  if (key.variant.find("_shot") != std::string::npos || key.variant == "staged")
    return direct_sum(key);
  Inputs inputs;
  for (int pe = 0; pe < key.pes; ++pe) inputs.push_back(bits_input(key, pe));
  std::vector<bf16> all(bits_count);
  for (std::size_t i = 0; i < bits_count; ++i) all[i] = promised(key, inputs, i);
  return all;
}

struct BitsResult {
  std::mutex mutex;
  std::map<int, std::uint64_t> hashes;  // by PE
};

template <World W>
void hash_all_reduce(W& world, const BitsKey& key, BitsResult& result) {
  using command::AllReduceKernel;
  using command::Scale;
  using command::ScaleKernel;
  using command::Variant;
  const auto in = world.template allocate<bf16>(bits_count);
  const auto out = world.template allocate<bf16>(bits_count);
  const auto work = world.template allocate<bf16>(3 * bits_count);
  const Group group{world.channel({bits_blocks, 4096}), world.team()};
  write_all(world, in, bits_input(key, world.pe()));
  const LaunchConfig config = launch_of("bits", bits_blocks);
  const auto launch_if = [&](const char* variant, const auto& kernel) {
    if (key.variant == variant) world.launch(config, kernel);
  };
  launch_if("one_shot", AllReduceKernel<Variant::one_shot, bf16, Sum>{group, in, out, bits_count});
  launch_if("one_shot_read",
            AllReduceKernel<Variant::one_shot_read, bf16, Sum>{group, in, out, bits_count});
  launch_if("two_shot", AllReduceKernel<Variant::two_shot, bf16, Sum>{group, in, out, bits_count});
  launch_if("ring", AllReduceKernel<Variant::ring, bf16, Sum>{group, in, out, bits_count});
  launch_if("hierarchical_ring", command::HierarchicalAllReduceKernel<bf16, Sum>{
                                     group, in, work, out, bits_count, key.per_node});
  const command::ScaleArguments<bf16> scale{group, in, work, out, bits_count, key.per_node, 3};
  launch_if("ring_pipelined", ScaleKernel<Scale::ring_pipelined, bf16, Sum>{scale});
  launch_if("halving_doubling", ScaleKernel<Scale::halving_doubling, bf16, Sum>{scale});
  launch_if("double_tree", ScaleKernel<Scale::double_tree, bf16, Sum>{scale});
  launch_if("hierarchical_hd", ScaleKernel<Scale::hierarchical_hd, bf16, Sum>{scale});
  launch_if("hierarchical_tree", ScaleKernel<Scale::hierarchical_tree, bf16, Sum>{scale});
  if (key.variant == "staged") {
    constexpr int pieces = 3;
    all_reduce_staged(world, QueueGroup{group, world.posts(posts_of(pieces))}, in, work, out,
                      bits_count, Sum{}, QueuePlan{pieces, config});
  }
  const std::uint64_t hash = hash_of(read_all(world, out, bits_count));
  const std::lock_guard lock(result.mutex);
  result.hashes[world.pe()] = hash;
}

}  // namespace sym::conformance
