#include "backends/thread/block.hpp"

namespace sym::thread {

namespace {
using Clock = std::chrono::steady_clock;

std::string at(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }
}  // namespace

void ThreadBlock::fail(const std::string& what, Site site) {
  verdict_.set(what + "; PE " + std::to_string(place_.pe) + " block " +
               std::to_string(place_.index) + " of " + place_.launch_name + " at " + at(site));
  pe_failed_.store(true, std::memory_order_relaxed);
}

bool ThreadBlock::lies_in(Range range, std::size_t count, const char* what, Site site) {
  constexpr std::size_t most = ~std::size_t{0} / 2;  // at() behind the end counts nearly 2^64
  if (range.first <= count && range.count <= count - range.first && count <= most) return true;
  fail("out of bounds: " + std::to_string(range.count) + " elements from " +
           std::to_string(range.first) + " on of a " + what + " of " + std::to_string(count) +
           " elements",
       site);
  return false;
}

std::byte* ThreadBlock::scratch_at(Elements scratch, Range range, Site site) {
  const std::size_t offset = scratch.offset_bytes;
  const bool inside = range.first <= scratch.count && range.count <= scratch.count - range.first &&
                      offset <= scratch_.size() &&
                      range.end() <= (scratch_.size() - offset) / scratch.size_bytes;
  if (!inside) {
    fail("out of bounds: elements " + std::to_string(range.first) + " to " +
             std::to_string(range.end()) + " of a scratch of " + std::to_string(scratch.count) +
             " elements of " + std::to_string(scratch.size_bytes) + " bytes from byte " +
             std::to_string(offset) + " on, of a launch with " + std::to_string(scratch_.size()) +
             " scratch bytes",
         site);
    return nullptr;
  }
  if (offset % scratch.size_bytes != 0) {
    fail("misaligned: a scratch of elements of " + std::to_string(scratch.size_bytes) +
             " bytes begins at byte " + std::to_string(offset),
         site);
    return nullptr;
  }
  return scratch_.data() + offset + range.first * scratch.size_bytes;
}

bool ThreadBlock::require(bool holds, const char* what, std::uint64_t value, std::uint64_t limit,
                          Site site) {
  if (failed()) return holds;
  if (!holds) {
    fail("REFUSED " + std::string(what) + ": " + std::to_string(value) + " against " +
             std::to_string(limit),
         site);
  }
  return holds;
}

std::uint64_t* ThreadBlock::word(const Signals& signals, Slot at, int pe, Site site) {
  if (at.slot >= signals.slots) {
    fail("out of bounds: signal slot " + std::to_string(at.slot) + " of " +
             std::to_string(signals.slots),
         site);
    return nullptr;
  }
  const std::size_t index = signals.word(at.slot, at.lane < 0 ? 0 : at.lane);
  return address(signals.words, Range{index, 1}, pe, site);
}

void ThreadBlock::signal(const Signals& signals, std::size_t slot, int pe, Site site) {
  if (failed()) return;
  if (signals.lanes == 1) {
    std::uint64_t* counter = word(signals, {slot, -1}, pe, site);
    if (counter != nullptr) std::atomic_ref(*counter).fetch_add(1, std::memory_order_release);
    return;
  }
  std::uint64_t* lane = word(signals, {slot, place_.pe}, pe, site);
  if (lane == nullptr) return;
  std::uint64_t* sent = address(signals.sent, Range{signals.word(slot, pe), 1}, place_.pe, site);
  const std::uint64_t epoch = ++*sent;
  // This PE is the lane's only producer, so the new count can be stored.
  const std::uint64_t value = signals.tagged ? tagged_word(epoch, signals.tag) : epoch;
  std::atomic_ref(*lane).store(value, std::memory_order_release);
}

void ThreadBlock::signal(const Signals& signals, std::size_t slot, const Team& team, Site site) {
  for (int hop = 1; hop <= team.size();
       ++hop) {  // from the next rank on; a non-member's rank is -1
    const int pe = team.pe((team.rank() + hop) % team.size());
    if (pe != place_.pe) signal(signals, slot, pe, site);
  }
}

// Spins, politely, until the word has reached `target` or the limit is over.
std::uint64_t ThreadBlock::poll(std::uint64_t* word, std::uint64_t target, int shift, Slot at,
                                Site site) {
  const std::atomic_ref<std::uint64_t> counter(*word);
  const auto limit = shared_.options.wait_limit;
  const auto start = Clock::now();
  for (std::uint64_t spins = 0;; ++spins) {
    const std::uint64_t seen = counter.load(std::memory_order_acquire);
    const bool come = at.lane < 0 ? seen >= target : has_come(seen, target, shift);
    if (come) return seen;
    if (failed()) return 0;
    if (spins % 16 != 15) continue;
    std::this_thread::yield();
    if (limit.count() == 0 || Clock::now() - start < limit) continue;
    const std::string who = at.lane < 0 ? "" : ": missing PE " + std::to_string(at.lane);
    fail("wait expired after " + std::to_string(limit.count()) + " ms in wait_until" + who +
             ", slot " + std::to_string(at.slot) + ", expected " + std::to_string(target) +
             ", seen " + std::to_string(seen >> shift),
         site);
    return 0;
  }
}

bool ThreadBlock::wait_until(const Signals& signals, std::size_t slot, const Team& team,
                             Site site) {
  const int shift = signals.tagged ? tag_bits : 0;
  for (int rank = 0; rank < team.size() && !failed(); ++rank) {
    const int pe = team.pe(rank);
    if (pe == place_.pe) continue;
    std::uint64_t* lane = word(signals, {slot, pe}, place_.pe, site);
    if (lane == nullptr) return false;
    std::uint64_t* seen = address(signals.seen, Range{signals.word(slot, pe), 1}, place_.pe, site);
    const std::uint64_t expected = ++*seen;
    const std::uint64_t value = poll(lane, expected, shift, {slot, pe}, site);
    if (failed()) return false;
    if (signals.tagged && shows(value, expected) && tag_of(value) != signals.tag) {
      fail("mismatch: PE " + std::to_string(pe) +
               " arrived for another operation, count, type or grid, slot " + std::to_string(slot),
           site);
    }
  }
  return !failed();
}

std::uint64_t ThreadBlock::wait_until(const Signals& signals, std::size_t slot, std::uint64_t value,
                                      Site site) {
  std::uint64_t* counter = word(signals, {slot, -1}, place_.pe, site);
  return counter == nullptr ? 0 : poll(counter, value, 0, {slot, -1}, site);
}

std::uint64_t ThreadBlock::test(const Signals& signals, std::size_t slot, Site site) {
  std::uint64_t* counter = word(signals, {slot, -1}, place_.pe, site);
  if (counter == nullptr || failed()) return 0;
  return std::atomic_ref(*counter).load(std::memory_order_acquire);
}

// A message is its bytes, then its flag: the lane's word, which carries the epoch and the tag.
// Host backends use half of a message's cell for its bytes; what range they are stands behind.
void ThreadBlock::send_packet(const Packets& packets, std::size_t slot, Message message, int pe,
                              Site site) {
  if (packets.capacity_bytes == 0) {
    fail("packets without an inbox (ChannelRequest::packet_bytes)", site);
  } else if (message.bytes() > packets.capacity_bytes) {
    fail("a packet message of " + std::to_string(message.bytes()) + " bytes in an inbox for " +
             std::to_string(packets.capacity_bytes),
         site);
  }
  if (failed()) return;
  std::uint64_t* sent =
      address(packets.lanes.sent, Range{packets.lanes.word(slot, pe), 1}, place_.pe, site);
  const std::size_t first =
      packets.offset_bytes(slot, place_.pe, *sent + 1) / sizeof(std::uint64_t);
  std::uint64_t* cell = address(
      packets.cells, Range{first, packets.message_bytes() / sizeof(std::uint64_t)}, pe, site);
  if (failed()) return;
  std::memcpy(cell, message.from, message.bytes());
  std::uint64_t* range = cell + packets.capacity_bytes / sizeof(std::uint64_t);
  range[0] = message.range.first;
  range[1] = message.range.count << 8 | message.element;
  signal(packets.lanes, slot, pe, site);
}

const void* ThreadBlock::receive_packet(const Packets& packets, std::size_t slot, Message wanted,
                                        int from, Site site) {
  if (packets.capacity_bytes == 0)
    fail("packets without an inbox (ChannelRequest::packet_bytes)", site);
  if (failed()) return nullptr;
  std::uint64_t* lane = word(packets.lanes, {slot, from}, place_.pe, site);
  if (lane == nullptr) return nullptr;
  std::uint64_t* seen =
      address(packets.lanes.seen, Range{packets.lanes.word(slot, from), 1}, place_.pe, site);
  const std::uint64_t epoch = ++*seen;
  const std::uint64_t value = poll(lane, epoch, tag_bits, {slot, from}, site);
  if (!failed() && shows(value, epoch) && tag_of(value) != packets.lanes.tag) {
    fail("mismatch: PE " + std::to_string(from) +
             " arrived for another operation, count, type or grid, slot " + std::to_string(slot),
         site);
  }
  const std::size_t first = packets.offset_bytes(slot, from, epoch) / sizeof(std::uint64_t);
  const std::uint64_t* cell =
      address(packets.cells, Range{first, packets.message_bytes() / sizeof(std::uint64_t)},
              place_.pe, site);
  if (failed()) return nullptr;
  const std::uint64_t* range = cell + packets.capacity_bytes / sizeof(std::uint64_t);
  if (range[0] == wanted.range.first && range[1] == (wanted.range.count << 8 | wanted.element)) {
    return cell;
  }
  const auto text = [](std::size_t begin, std::size_t count, std::size_t element) {
    return "elements [" + std::to_string(begin) + ", " + std::to_string(begin + count) + ") of " +
           std::to_string(element) + " bytes";
  };
  fail("mismatch: PE " + std::to_string(from) + " sent a message of " +
           text(range[0], range[1] >> 8, range[1] & 0xff) + ", which is received as " +
           text(wanted.range.first, wanted.range.count, wanted.element),
       site);
  return nullptr;
}

void ThreadBlock::enter(const Channel& channel, Site site) {
  if (place_.index >= channel.blocks) {
    fail("a launch of " + std::to_string(place_.count) + " blocks on a channel for " +
             std::to_string(channel.blocks),
         site);
    return;
  }
  std::uint64_t* busy =
      address(channel.busy, Range{static_cast<std::size_t>(place_.index), 1}, place_.pe, site);
  if (busy == nullptr || std::atomic_ref(*busy).exchange(1, std::memory_order_acq_rel) == 0) return;
  fail("channel busy: another launch uses the channel's rows, or this block has entered before",
       site);
}

void ThreadBlock::leave(const Channel& channel) {
  if (failed()) return;
  std::uint64_t* busy =
      address(channel.busy, Range{static_cast<std::size_t>(place_.index), 1}, place_.pe, Site{});
  if (busy != nullptr) std::atomic_ref(*busy).store(0, std::memory_order_release);
}

}  // namespace sym::thread
