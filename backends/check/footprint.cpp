#include "backends/check/footprint.hpp"

#include <algorithm>
#include <limits>

namespace sym::check {

void Footprint::add(const fiber::Memory& memory, const fiber::Bytes& bytes, bool write) {
  if (bytes.size == 0 || bytes.space == fiber::Bytes::scratch_space) return;
  Touch touch{Touch::Kind::memory, write, bytes.pe, bytes.space, bytes.begin, bytes.end(), 0, 0};
  if (bytes.space == fiber::Bytes::local_space) {
    // Addresses differ from one execution to the next. Memory that is not the world's own counts as
    // one place.
    touch.kind = Touch::Kind::local;
    const auto [nth, offset] = memory.local_place(bytes.pe, bytes.begin);
    touch.space = nth;
    touch.begin = nth < 0 ? 0 : offset;
    touch.end = nth < 0 ? std::numeric_limits<std::size_t>::max() : offset + bytes.size;
  }
  touches.push_back(touch);
}

bool conflict(const Footprint& a, const Footprint& b) {
  if (a.all || b.all) return true;
  return std::any_of(a.touches.begin(), a.touches.end(), [&](const Touch& one) {
    return std::any_of(b.touches.begin(), b.touches.end(), [&](const Touch& other) {
      return (one.write || other.write) && one.meets(other);
    });
  });
}

bool enables(const Footprint& earlier, const Footprint& later) {
  return std::any_of(earlier.touches.begin(), earlier.touches.end(), [&](const Touch& arrival) {
    if (arrival.kind != Touch::Kind::word || !arrival.write) return false;
    return std::any_of(later.touches.begin(), later.touches.end(), [&](const Touch& wait) {
      return !wait.write && wait.meets(arrival) && (arrival.value >> wait.shift) < wait.value;
    });
  });
}

}  // namespace sym::check
