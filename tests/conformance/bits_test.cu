#include "tests/conformance/cases_bits.hpp"
#include "tests/conformance/stamp_cuda.cuh"

namespace sym::conformance {
namespace {

template <class W>
std::vector<Case<W>> bits_cases() {
  std::vector<Case<W>> all;
  for (const BitsKey& key : bits_keys()) {
    all.push_back({name_of_key(key), {key.pes}, [key](W& world, Errors& errors) {
                     if (world.n_pes() != key.pes) return;  // on two GPUs: keys of two PEs
                     BitsResult result;
                     hash_all_reduce(world, key, result);
                     const std::uint64_t golden =
                         golden_hash(SYM_SOURCE_DIR "/tests/golden/bits.txt", key);
                     for (const auto& [pe, hash] : result.hashes) {
                       if (hash != golden)
                         errors.add(who(world, hex(hash) + ", expected " + hex(golden)));
                     }
                   }});
  }
  return all;
}

}  // namespace
}  // namespace sym::conformance

SYM_STAMP_CUDA(Bits, sym::conformance::bits_cases)
