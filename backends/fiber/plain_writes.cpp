#include "backends/fiber/plain_writes.hpp"

#include <cstdint>

namespace sym::fiber {

void PlainWrites::note(const Bytes& bytes, const History::Touch& touch) {
  constexpr std::size_t most = 16;  // of an allocation on a PE
  std::vector<Write>& all = writes_[{bytes.space, bytes.pe}];
  std::erase_if(
      all, [&](const Write& one) { return bytes.begin <= one.begin && one.end <= bytes.end(); });
  if (all.size() == most) all.erase(all.begin());
  all.push_back({bytes.begin, bytes.end(), touch});
}

History::Touch PlainWrites::last(const WordId& id) const {
  const auto found = writes_.find({id.space, id.pe});
  if (found == writes_.end()) return {};
  const std::size_t begin = id.index * sizeof(std::uint64_t);
  const auto& all = found->second;
  for (auto write = all.rbegin(); write != all.rend(); ++write) {
    if (write->begin < begin + sizeof(std::uint64_t) && begin < write->end) return write->touch;
  }
  return {};
}

}  // namespace sym::fiber
