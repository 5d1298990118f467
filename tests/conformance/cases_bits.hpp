// A seeded all-reduce of random bf16 values, as a hash of its result; also printed by
// `sym run all_reduce --data random --seed 7 --iterations 1 --pes P --bytes 20014 --variant V`.
#pragma once

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "experiments/sym/collective_kernels.hpp"
#include "experiments/sym/pattern.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

struct BitsKey {
  std::string variant;
  int pes;
  friend void PrintTo(const BitsKey& key, std::ostream* out) { *out << key.variant << key.pes; }
};
inline constexpr std::size_t bits_count = 10007;

inline std::vector<BitsKey> bits_keys() {
  std::vector<BitsKey> all;
  for (const char* variant : {"one_shot", "one_shot_read", "two_shot", "ring"}) {
    for (int pes : {2, 3, 8}) all.push_back({variant, pes});
  }
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

// The line "VARIANT PES HASH" of the golden file.
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

// What one- and two-shot promise: rank order, in f32, rounded once.
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

// What the ring promises: the share of rank r in the order r+1, r+2, ..., r, rounded at each hop.
inline std::vector<bf16> ring_sum(const BitsKey& key) {
  std::vector<std::vector<bf16>> inputs;
  for (int pe = 0; pe < key.pes; ++pe) inputs.push_back(bits_input(key, pe));
  std::vector<bf16> all(bits_count);
  for (int rank = 0; rank < key.pes; ++rank) {
    const Range share = chunk(Range{0, bits_count}, rank, key.pes, granule<bf16>);
    for (std::size_t i = share.first; i < share.end(); ++i) {
      all[i] = inputs[static_cast<std::size_t>((rank + 1) % key.pes)][i];
      for (int hop = 2; hop <= key.pes; ++hop) {
        all[i] = to_bf16(to_float(all[i]) +
                         to_float(inputs[static_cast<std::size_t>((rank + hop) % key.pes)][i]));
      }
    }
  }
  return all;
}

struct BitsResult {
  std::mutex mutex;
  std::map<int, std::uint64_t> hashes;  // by PE
};

template <World W>
void hash_all_reduce(W& world, const BitsKey& key, BitsResult& result) {
  using command::AllReduceKernel;
  using command::Variant;
  const auto in = world.template allocate<bf16>(bits_count);
  const auto out = world.template allocate<bf16>(bits_count);
  const Group group{world.channel({3, 4096}), world.team()};
  write_all(world, in, bits_input(key, world.pe()));
  const LaunchConfig config = launch_of("bits", 3);
  if (key.variant == "one_shot")
    world.launch(config, AllReduceKernel<Variant::one_shot, bf16, Sum>{group, in, out, bits_count});
  if (key.variant == "one_shot_read")
    world.launch(config,
                 AllReduceKernel<Variant::one_shot_read, bf16, Sum>{group, in, out, bits_count});
  if (key.variant == "two_shot")
    world.launch(config, AllReduceKernel<Variant::two_shot, bf16, Sum>{group, in, out, bits_count});
  if (key.variant == "ring")
    world.launch(config, AllReduceKernel<Variant::ring, bf16, Sum>{group, in, out, bits_count});
  const std::uint64_t hash = hash_of(read_all(world, out, bits_count));
  const std::lock_guard lock(result.mutex);
  result.hashes[world.pe()] = hash;
}

}  // namespace sym::conformance
