#include "backends/fiber/block.hpp"

namespace sym::fiber {

void FiberBlock::misaligned(std::size_t begin, std::size_t alignment) const {
  engine_.refuse("misaligned: byte " + std::to_string(begin) +
                 " of an allocation, where elements begin at multiples of " +
                 std::to_string(alignment));
}

namespace {
// The end as a sum where it would wrap.
std::string elements(Range range) {
  const std::string first = std::to_string(range.first);
  const std::string end = range.end() < range.first ? first + " + " + std::to_string(range.count)
                                                    : std::to_string(range.end());
  return "elements [" + first + ", " + end + ")";
}
}  // namespace

void FiberBlock::beyond(const Elements& window, Range range, int pe) const {
  const bool moved = window.count > most_elements;
  const std::size_t end = window.offset_bytes + window.count * window.size_bytes;  // wraps back
  const Bytes at =
      engine_.memory().resolve(window.segment, moved ? end : window.offset_bytes, 0, pe);
  const std::string of = moved ? "that at() has moved " +
                                     std::to_string(std::size_t{0} - window.count) +
                                     " elements behind its end"
                               : "of " + std::to_string(window.count) + " elements";
  engine_.refuse("out of bounds: " + elements(range) + " of a window " + of + ", in " +
                 engine_.memory().name(at.space) +
                 (moved || at.begin == 0 ? "" : " from byte " + std::to_string(at.begin) + " on") +
                 ", on PE " + std::to_string(pe));
}

void FiberBlock::beyond(const char* kind, Range range, std::size_t count, int pe) const {
  engine_.refuse("out of bounds: " + elements(range) + " of a " + kind + " array of " +
                 std::to_string(count) + " elements on PE " + std::to_string(pe));
}

Bytes FiberBlock::scratch_part(std::size_t offset, std::size_t bytes, std::uint32_t element) const {
  const std::size_t all = agent_.scratch.size();
  if (offset > all || bytes > all - offset) {
    engine_.refuse("out of bounds: bytes [" + std::to_string(offset) + ", " +
                   std::to_string(offset + bytes) + ") of a launch with " + std::to_string(all) +
                   " scratch bytes (LaunchConfig::scratch_bytes)");
  }
  if (offset % element != 0) {
    engine_.refuse("scratch: offset " + std::to_string(offset) + " does not suit elements of " +
                   std::to_string(element) + " bytes");
  }
  const std::size_t begin = static_cast<std::size_t>(agent_.id) * Bytes::scratch_stride + offset;
  return Bytes{agent_.pe,
               Bytes::scratch_space,
               begin,
               bytes,
               const_cast<std::byte*>(agent_.scratch.data()) + offset,
               element};
}

bool FiberBlock::require(bool holds, const char* what, std::uint64_t value, std::uint64_t limit,
                         Site site) {
  before(Verb::require, site, 0, -1);
  if (holds || agent_.failed) return holds;
  agent_.failed = true;
  engine_.stop({"refused", "REFUSED " + std::string(what) + ": " + std::to_string(value) +
                               " against " + std::to_string(limit) + "\n  at     " +
                               engine_.describe(agent_)});
  return false;
}

std::uint64_t* FiberBlock::own(Window<std::uint64_t> table, std::size_t index) const {
  const Bytes bytes = resolve(table, Range{index, 1}, agent_.pe);
  engine_.control(bytes, true);
  return &engine_.memory().own_word(bytes);
}

void FiberBlock::check_slot(const Signals& signals, std::size_t slot) const {
  if (slot < signals.slots) return;
  engine_.refuse("out of bounds: signal slot " + std::to_string(slot) + " of a table of " +
                 std::to_string(signals.slots) + " slots");
}

void FiberBlock::check_inbox(const Packets& packets, std::size_t slot) const {
  if (packets.capacity_bytes == 0) {
    engine_.refuse(
        "packets without an inbox: their channel was made without one "
        "(ChannelRequest::packet_bytes says how much a message may have)");
  }
  check_slot(packets.lanes, slot);
}

void FiberBlock::check_lanes(const Signals& signals, bool rows) const {
  if (engine_.pes() == 1 || rows == (signals.lanes > 1)) return;
  engine_.refuse(
      rows ? "a wait for a team's signals on plain counters (lanes == 1); wait for a value, or "
             "use a table with a lane for each PE"
           : "a wait for a value on a table with a lane for each PE; wait for a team's "
             "signals, or use plain counters (lanes == 1)");
}

WordId FiberBlock::word_id(const Signals& signals, std::size_t slot, int lane, int pe) const {
  const Bytes bytes = resolve(signals.words, Range{signals.word(slot, lane), 1}, pe);
  return WordId{pe, bytes.space, bytes.begin / sizeof(std::uint64_t), slot,
                signals.lanes == 1 ? -1 : lane};
}

void FiberBlock::send(const Signals& signals, std::size_t slot, int pe, bool follows_put) {
  check_slot(signals, slot);
  if (signals.lanes == 1) {
    engine_.signal(word_id(signals, slot, 0, pe), 1, false, follows_put);
    return;
  }
  const WordId id = word_id(signals, slot, agent_.pe, pe);
  const std::uint64_t epoch = ++*own(signals.sent, signals.word(slot, pe));
  if (signals.tagged) {
    engine_.signal(id, tagged_word(epoch, signals.tag), true, follows_put);
  } else {
    engine_.signal(id, 1, false, follows_put);
  }
}

void FiberBlock::signal(const Signals& signals, std::size_t slot, int pe, Site site) {
  before(Verb::signal, site, 0, pe);
  engine_.synced();
  if (!agent_.failed) send(signals, slot, pe, false);
}

void FiberBlock::signal(const Signals& signals, std::size_t slot, const Team& team, Site site) {
  engine_.step({Verb::signal, site, 0, 1, -1, &team});
  engine_.synced();
  if (agent_.failed) return;
  for (int hop = 1; hop <= team.size();
       ++hop) {  // from the next rank on; a non-member's rank is -1
    const int pe = team.pe((team.rank() + hop) % team.size());
    if (pe != agent_.pe) send(signals, slot, pe, false);
  }
}

bool FiberBlock::wait_until(const Signals& signals, std::size_t slot, const Team& team, Site site) {
  engine_.step({Verb::wait_until, site, 0, 1, -1, &team});
  if (agent_.failed) return false;
  check_slot(signals, slot);
  check_lanes(signals, true);
  std::vector<Engine::Want> wants;
  for (int rank = 0; rank < team.size(); ++rank) {
    const int pe = team.pe(rank);
    if (pe == agent_.pe) continue;
    const std::uint64_t expected = ++*own(signals.seen, signals.word(slot, pe));
    wants.push_back(
        {word_id(signals, slot, pe, agent_.pe), expected, signals.tagged ? tag_bits : 0, true});
  }
  engine_.will_sync();
  engine_.wait(wants);
  engine_.synced();
  if (!signals.tagged) return true;
  return !mismatched(wants, signals.tag);
}

// True, and reported, if a tagged word shows the epoch that was waited for with another tag.
bool FiberBlock::mismatched(const std::vector<Engine::Want>& wants, std::uint16_t tag) {
  for (const Engine::Want& want : wants) {
    const std::uint64_t seen = want.word->value();
    if (!shows(seen, want.value) || tag_of(seen) == tag) continue;
    agent_.failed = true;
    report_mismatch(wants, want, tag);
    return true;
  }
  return false;
}

// A tag says that two operations differ and not in what, but who came from where with how many
// blocks is known, and who of the team came for which.
void FiberBlock::report_mismatch(const std::vector<Engine::Want>& wants, const Engine::Want& other,
                                 std::uint16_t tag) {
  const Place here = engine_.place_of(agent_, "wait");
  const History& history = other.word->history;
  const History::Touch& touch = history.updates.empty() ? history.reset : history.updates.back();
  const Agent& sender =
      touch.agent < 0 ? agent_ : *engine_.agents()[static_cast<std::size_t>(touch.agent)];
  const Place there = touch.agent < 0 ? here : engine_.place_of(touch, "signal");
  const int blocks = sender.launch == there.launch ? sender.blocks : agent_.blocks;
  std::string with = "PE " + std::to_string(agent_.pe), against;
  for (const Engine::Want& want : wants) {
    const std::uint64_t seen = want.word->value();
    if (!shows(seen, want.value)) continue;
    std::string& side = tag_of(seen) == tag ? with : against;
    side += (side.empty() ? "PE " : ", ") + std::to_string(want.id.lane);
  }
  const auto number = [](int n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::string what;
  if (here.launch_name != there.launch_name)
    what += "the kernels (" + here.launch_name + " and " + there.launch_name + "), ";
  if (blocks != agent_.blocks)
    what +=
        "the grids (" + number(agent_.blocks, "block") + " and " + std::to_string(blocks) + "), ";
  if (here.site.line != there.site.line || std::string(here.site.file) != there.site.file)
    what += "the lines, ";
  const std::string differs =
      what.empty() ? "kernel, grid and line are the same, so operation, count or type differ"
                   : "what differs: " + what + "perhaps operation, count and type";
  const std::string why = with + " came for one operation, " + against + " for another; " + differs;
  const std::string fix =
      "let every PE call the same operation, with the same count, type and number of blocks, in "
      "the "
      "same order, or give each operation a channel of its own";
  const std::string whose = " block " + std::to_string(there.block) + "  launch " +
                            std::to_string(there.launch) + " (" + there.launch_name + ")  " +
                            to_string(there.verb) + " at " + there.site.file + ":" +
                            std::to_string(there.site.line);
  engine_.stop({"mismatch",
                "MISMATCH PE " + std::to_string(there.pe) +
                    " arrived for another operation, count, type or grid than PE " +
                    std::to_string(agent_.pe) + ", at " + engine_.memory().name(other.id.space) +
                    " slot " + std::to_string(other.id.slot) + "\n  at     " +
                    engine_.describe(agent_) + "\n  there  PE " + std::to_string(there.pe) + whose +
                    "\n  why    " + why + "\n  fix    " + fix,
                "",
                why,
                fix,
                {here, there}});
}

std::uint64_t FiberBlock::wait_until(const Signals& signals, std::size_t slot, std::uint64_t value,
                                     Site site) {
  before(Verb::wait_until, site, 0, -1);
  if (agent_.failed) return 0;
  check_slot(signals, slot);
  check_lanes(signals, false);
  const WordId id = word_id(signals, slot, 0, agent_.pe);
  engine_.will_sync();
  std::vector<Engine::Want> wants{{id, value, 0, false}};
  engine_.wait(wants);
  engine_.synced();
  return wants.front().word->value();
}

std::uint64_t FiberBlock::test(const Signals& signals, std::size_t slot, Site site) {
  before(Verb::test, site, 0, -1);
  check_slot(signals, slot);
  check_lanes(signals, false);
  engine_.will_sync();
  const std::uint64_t seen = engine_.test(word_id(signals, slot, 0, agent_.pe));
  engine_.synced();
  return agent_.failed ? 0 : seen;
}

Bytes FiberBlock::message(const Packets& packets, std::size_t slot, int from, std::uint64_t epoch,
                          int pe) const {
  const std::size_t first = packets.offset_bytes(slot, from, epoch) / sizeof(std::uint64_t);
  return resolve(packets.cells, Range{first, packets.message_bytes() / sizeof(std::uint64_t)}, pe);
}

void FiberBlock::send_packet(const Packets& packets, std::size_t slot, const Bytes& from,
                             Range range, int pe) {
  check_inbox(packets, slot);
  if (from.size > packets.capacity_bytes) {
    engine_.refuse("a packet message of " + std::to_string(from.size) + " bytes in an inbox for " +
                   std::to_string(packets.capacity_bytes) + " (ChannelRequest::packet_bytes)");
  }
  const std::size_t word = packets.lanes.word(slot, pe);
  const std::uint64_t epoch = ++*own(packets.lanes.sent, word);
  // The buffer was last used two messages ago. That the peer has read it is known from its last
  // one.
  if (!has_come(*own(packets.lanes.seen, word) + 1, epoch, 0)) {
    engine_.refuse(
        "packets: message " + std::to_string(epoch) + " to PE " + std::to_string(pe) +
        " may overwrite one that it has not read; receive its message before sending again");
  }
  Bytes to = message(packets, slot, agent_.pe, epoch, pe).part(0, from.size);
  const WordId id = word_id(packets.lanes, slot, agent_.pe, pe);
  engine_.packet(from, to, id, tagged_word(epoch, packets.lanes.tag), range);
}

// True, and reported, if a message that has come is not of the range that is received.
bool FiberBlock::other_range(const std::vector<Engine::Want>& wants, std::uint16_t tag,
                             Wanted wanted) {
  const auto text = [](Range range, std::uint32_t element) {
    return "elements [" + std::to_string(range.first) + ", " + std::to_string(range.end()) +
           ") of " + std::to_string(element) + " bytes";
  };
  for (const Engine::Want& want : wants) {
    const Engine::Message* const sent = engine_.message(want.id, tagged_word(want.value, tag));
    if (sent == nullptr) continue;
    if (sent->range == wanted.range && sent->element == wanted.element) continue;
    agent_.failed = true;
    const Place sender = engine_.place_of(sent->sent, "send");
    const std::string why = "the two ends of a message must name the same range and element type";
    const std::string fix = "give put_packets and what receives the same range on both PEs";
    engine_.stop({"mismatch",
                  "MISMATCH a message of " + text(sent->range, sent->element) + " is received as " +
                      text(wanted.range, wanted.element) + "\n  sent   PE " +
                      std::to_string(sender.pe) + " block " + std::to_string(sender.block) +
                      "  launch " + std::to_string(sender.launch) + "  put_packets at " +
                      sender.site.file + ":" + std::to_string(sender.site.line) + "\n  at     " +
                      engine_.describe(agent_) + "\n  why    " + why + "\n  fix    " + fix,
                  "",
                  why,
                  fix,
                  {engine_.place_of(agent_, "receive"), sender}});
    return true;
  }
  return false;
}

bool FiberBlock::receive_packets(const Packets& packets, std::size_t slot, const Team& team,
                                 Wanted wanted, const std::function<void(int, std::byte*)>& take) {
  if (agent_.failed) return false;
  check_inbox(packets, slot);
  std::vector<Engine::Want> wants;
  for (int rank = 0; rank < team.size(); ++rank) {
    const int pe = team.pe(rank);
    if (pe == agent_.pe) continue;
    const std::uint64_t epoch = ++*own(packets.lanes.seen, packets.lanes.word(slot, pe));
    wants.push_back({word_id(packets.lanes, slot, pe, agent_.pe), epoch, tag_bits, true});
  }
  engine_.wait(wants);
  if (mismatched(wants, packets.lanes.tag)) return false;
  if (other_range(wants, packets.lanes.tag, wanted)) return false;
  for (int rank = 0; rank < team.size(); ++rank) {
    const int pe = team.pe(rank);
    if (pe == agent_.pe) {
      take(pe, nullptr);
      continue;
    }
    const std::uint64_t epoch = *own(packets.lanes.seen, packets.lanes.word(slot, pe));
    const Bytes from =
        message(packets, slot, pe, epoch, agent_.pe).part(0, wanted.range.count * wanted.element);
    engine_.received(from, word_id(packets.lanes, slot, pe, agent_.pe));
    take(pe, from.data);
  }
  return true;
}

void FiberBlock::fence(int pe, Site site) {
  before(Verb::fence, site, 0, pe);
  engine_.will_sync();
  engine_.fence(pe);
  engine_.synced();
}

void FiberBlock::quiet(Site site) {
  before(Verb::quiet, site, 0, -1);
  engine_.will_sync();
  engine_.quiet();
  engine_.synced();
}

void FiberBlock::sync(Site site) {
  before(Verb::sync, site, 0, -1);
  engine_.synced();
}

void FiberBlock::enter(const Channel& channel, Site site) {
  before(Verb::enter, site, 0, -1);
  if (agent_.block >= channel.blocks) {
    engine_.refuse("a launch of " + std::to_string(agent_.blocks) + " blocks on a channel for " +
                   std::to_string(channel.blocks));
  }
  const Range mine{static_cast<std::size_t>(agent_.block), 1};
  engine_.claim(resolve(channel.busy, mine, agent_.pe));
  if (agent_.failed) return;
  std::uint64_t* busy = own(channel.busy, mine.first);
  if (*busy != 0) {
    agent_.failed = true;
    engine_.stop({"busy",
                  "CHANNEL BUSY nobody has entered the channel, and something has written "
                  "the word that says so\n  at     " +
                      engine_.describe(agent_)});
    return;
  }
  *busy = 1;
}

void FiberBlock::leave(const Channel& channel, Site site) {
  before(Verb::leave, site, 0, -1);
  engine_.synced();
  if (agent_.failed) return;
  const Range mine{static_cast<std::size_t>(agent_.block), 1};
  *own(channel.busy, mine.first) = 0;
  engine_.give_back(resolve(channel.busy, mine, agent_.pe));
}

}  // namespace sym::fiber
