// What observers may disagree on: independent writes, and reads that come before a write of one's
// own has arrived.
#include "tests/litmus/litmus.hpp"

namespace sym::litmus {

namespace {

// SB: each PE writes at the other, then reads what the other writes here.
Kernel store_buffering(bool complete) {
  return [complete](Block& block, const Desk& desk, Seen& seen) {
    const bool first = block.pe() == 0;
    block.put_value(first ? desk.x : desk.y, 0, 1, 1 - block.pe());
    if (complete) block.quiet();
    seen.r[first ? 0 : 1] = load(block, first ? desk.y : desk.x);
  };
}

// LB: each PE reads, then writes what the other reads. "1 1" needs a verb that takes effect before
// the one in front of it has read: the contract allows no such thing to be relied on, hardware has
// it for relaxed accesses, and the engine never shows it.
void load_buffering(Block& block, const Desk& desk, Seen& seen) {
  const bool first = block.pe() == 0;
  seen.r[first ? 0 : 1] = load(block, first ? desk.x : desk.y);
  block.put_value(first ? desk.y : desk.x, 0, 1, 1 - block.pe());
}

// CoRR: one observer, one counter: it does not go back.
void coherent(Block& block, const Desk& desk, Seen& seen) {
  if (block.pe() == 0) {
    block.signal(desk.f, 0, 1);
  } else {
    seen.r[0] = static_cast<int>(block.test(desk.f, 0));
    seen.r[1] = static_cast<int>(block.test(desk.f, 0));
  }
}

// IRIW: two producers, each to both observers, who look in opposite order.
void independent(Block& block, const Desk& desk, Seen& seen) {
  const int pe = block.pe();
  if (pe < 2) {
    const auto slot = static_cast<std::size_t>(pe);
    block.signal(desk.f, slot, 2);
    block.signal(desk.f, slot, 3);
    return;
  }
  const std::size_t at = pe == 2 ? 0 : 2;
  const std::size_t slot = pe == 2 ? 0 : 1;
  seen.r[at] = static_cast<int>(block.test(desk.f, slot));
  seen.r[at + 1] = static_cast<int>(block.test(desk.f, 1 - slot));
}

// Two adders, one counter in memory: each gets another value.
void adders(Block& block, const Desk& desk, Seen& seen) {
  const auto at = static_cast<std::size_t>(block.pe());
  seen.r[at] = block.fetch_add(desk.x, 0, 1, 0);
}

std::set<std::string> all_of_four() {
  std::set<std::string> all;
  for (unsigned bits = 0; bits < 16; ++bits) {
    std::string text;
    for (unsigned i = 0; i < 4; ++i) text += (i == 0 ? "" : " ") + std::to_string((bits >> i) & 1);
    all.insert(text);
  }
  return all;
}

}  // namespace

std::vector<Row> order_rows() {
  return {
      {"SB", 2, program_of(store_buffering(false)), 2, {"0 0", "0 1", "1 0", "1 1"}, {"race"}},
      {"SB_quiet", 2, program_of(store_buffering(true)), 2, {"0 1", "1 0", "1 1"}, {"race"}},
      {"LB", 2, program_of(load_buffering), 2, {"0 0", "0 1", "1 0"}, {"race"}},
      {"CoRR", 2, program_of(coherent), 2, {"0 0", "0 1", "1 1"}, {}},
      {"IRIW", 4, program_of(independent), 4, all_of_four(), {}},
      {"ADD", 2, program_of(adders), 2, {"0 1", "1 0"}, {}},
  };
}

}  // namespace sym::litmus
