#include "backends/fiber/block.hpp"

namespace sym::fiber {

std::uint64_t* FiberBlock::own(Window<std::uint64_t> table, std::size_t index) const {
  const Bytes bytes = resolve(table, Range{index, 1}, agent_.pe);
  return reinterpret_cast<std::uint64_t*>(bytes.data);
}

void FiberBlock::check_slot(const Signals& signals, std::size_t slot) const {
  if (slot < signals.slots) return;
  throw Failure("out of bounds: signal slot " + std::to_string(slot) + " of a table of " +
                std::to_string(signals.slots) + " slots");
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
  for (int hop = 1; hop < team.size(); ++hop) {
    const int pe = team.pe((team.rank() + hop) % team.size());
    send(signals, slot, pe, false);
  }
}

bool FiberBlock::wait_until(const Signals& signals, std::size_t slot, const Team& team, Site site) {
  engine_.step({Verb::wait_until, site, 0, 1, -1, &team});
  if (agent_.failed) return false;
  check_slot(signals, slot);
  std::vector<Engine::Want> wants;
  for (int rank = 0; rank < team.size(); ++rank) {
    const int pe = team.pe(rank);
    if (pe == agent_.pe) continue;
    const std::uint64_t expected = ++*own(signals.seen, signals.word(slot, pe));
    wants.push_back({word_id(signals, slot, pe, agent_.pe), expected, signals.tagged ? tag_bits : 0, true});
  }
  engine_.wait(wants);
  engine_.synced();
  if (!signals.tagged) return true;
  for (const Engine::Want& want : wants) {
    const std::uint64_t seen = engine_.word(want.id).value;
    if (epoch_of(seen) != want.value || tag_of(seen) == signals.tag) continue;
    agent_.failed = true;
    engine_.report({"mismatch", "MISMATCH PE " + std::to_string(want.id.lane) +
                                    " arrived for another operation, count, type or grid than PE " +
                                    std::to_string(agent_.pe) + "\n  at     " + engine_.describe(agent_)});
    return false;
  }
  return true;
}

std::uint64_t FiberBlock::wait_until(const Signals& signals, std::size_t slot, std::uint64_t value,
                                     Site site) {
  before(Verb::wait_until, site, 0, -1);
  if (agent_.failed) return 0;
  check_slot(signals, slot);
  const WordId id = word_id(signals, slot, 0, agent_.pe);
  engine_.wait({{id, value, 0, false}});
  engine_.synced();
  return engine_.word(id).value;
}

std::uint64_t FiberBlock::test(const Signals& signals, std::size_t slot, Site site) {
  before(Verb::test, site, 0, -1);
  check_slot(signals, slot);
  const std::uint64_t seen = engine_.test(word_id(signals, slot, 0, agent_.pe));
  engine_.synced();
  return agent_.failed ? 0 : seen;
}

void FiberBlock::fence(int pe, Site site) {
  before(Verb::fence, site, 0, pe);
  engine_.fence(pe);
  engine_.synced();
}

void FiberBlock::quiet(Site site) {
  before(Verb::quiet, site, 0, -1);
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
    throw Failure("a launch of " + std::to_string(agent_.blocks) + " blocks on a channel for " +
                  std::to_string(channel.blocks));
  }
  std::uint64_t* busy = own(channel.busy, static_cast<std::size_t>(agent_.block));
  if (*busy != 0) {
    agent_.failed = true;
    engine_.report({"busy", "CHANNEL BUSY another launch uses the channel's rows\n  at     " +
                                engine_.describe(agent_)});
    return;
  }
  *busy = 1;
}

void FiberBlock::leave(const Channel& channel, Site site) {
  before(Verb::leave, site, 0, -1);
  engine_.synced();
  if (!agent_.failed) *own(channel.busy, static_cast<std::size_t>(agent_.block)) = 0;
}

}  // namespace sym::fiber
