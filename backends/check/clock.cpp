#include "backends/check/clock.hpp"

#include <algorithm>
#include <utility>

namespace sym::check {

bool Completed::covers(std::uint64_t pe_order) const {
  return pe_order <= prefix || std::binary_search(singles.begin(), singles.end(), pe_order);
}

bool Completed::covers(const Completed& other) const {
  return other.prefix <= prefix && std::all_of(other.singles.begin(), other.singles.end(),
                                               [&](std::uint64_t one) { return covers(one); });
}

void Completed::compact() {
  std::size_t done = 0;
  while (done < singles.size() && singles[done] <= prefix + 1) {
    prefix = std::max(prefix, singles[done]);
    ++done;
  }
  singles.erase(singles.begin(), singles.begin() + static_cast<std::ptrdiff_t>(done));
}

void Completed::add(std::uint64_t pe_order) {
  if (covers(pe_order)) return;
  singles.insert(std::lower_bound(singles.begin(), singles.end(), pe_order), pe_order);
  compact();
}

void Completed::add_prefix(std::uint64_t upto) {
  prefix = std::max(prefix, upto);
  compact();
}

void Completed::join(const Completed& other) {
  prefix = std::max(prefix, other.prefix);
  last_order = std::max(last_order, other.last_order);
  if (!other.singles.empty()) {
    std::vector<std::uint64_t> both;
    std::set_union(singles.begin(), singles.end(), other.singles.begin(), other.singles.end(),
                   std::back_inserter(both));
    singles = std::move(both);
  }
  compact();
}

// --- Clock ---------------------------------------------------------------------------------------

namespace {
bool before(const Clock::Entry& entry, std::pair<AgentId, int> key) {
  return std::pair{entry.agent, entry.pe} < key;
}
}  // namespace

const Clock::Known& Clock::nothing() {
  static const Known known;
  return known;
}

const Clock::Entries& Clock::none() {
  static const Entries entries;
  return entries;
}

Clock::Chunk& Clock::own_chunk(std::size_t chunk) {
  if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
  ChunkRef& shared = chunks_[chunk];
  // A chunk that nobody else has may be written: it was made here, and not as a constant.
  if (shared == nullptr || shared.use_count() > 1) {
    shared = shared == nullptr ? std::make_shared<Chunk>() : std::make_shared<Chunk>(*shared);
  }
  return const_cast<Chunk&>(*shared);
}

Clock::Known& Clock::own(AgentId agent) {
  const auto i = static_cast<std::size_t>(agent);
  return own_chunk(i / chunk_agents)[i % chunk_agents];
}

void Clock::set_tick(AgentId agent, std::uint64_t tick) {
  if (tick > this->tick(agent)) own(agent).tick = tick;
}

void Clock::set_quiet(AgentId agent, std::uint64_t order) {
  if (order > quiet(agent)) own(agent).quiet = order;
}

const Completed* Clock::completed(AgentId agent, int pe) const {
  const Entries& all = entries();
  const auto found = std::lower_bound(all.begin(), all.end(), std::pair{agent, pe}, before);
  const bool there = found != all.end() && found->agent == agent && found->pe == pe;
  return there ? &found->completed : nullptr;
}

Clock::Entries& Clock::own_entries() {
  if (entries_ == nullptr || entries_.use_count() > 1)
    entries_ = std::make_shared<Entries>(entries());
  return const_cast<Entries&>(*entries_);
}

Completed& Clock::completed_for(AgentId agent, int pe) {
  Entries& all = own_entries();
  auto found = std::lower_bound(all.begin(), all.end(), std::pair{agent, pe}, before);
  if (found == all.end() || found->agent != agent || found->pe != pe)
    found = all.insert(found, Entry{agent, pe, {}});
  return found->completed;
}

void Clock::forget_transfers(AgentId agent) {
  const auto own = [&](const Entry& entry) { return entry.agent == agent; };
  if (std::any_of(entries().begin(), entries().end(), own)) std::erase_if(own_entries(), own);
}

void Clock::join(const Clock& other) {
  if (chunks_.size() < other.chunks_.size()) chunks_.resize(other.chunks_.size());
  for (std::size_t i = 0; i < other.chunks_.size(); ++i) {
    const ChunkRef& theirs = other.chunks_[i];
    ChunkRef& mine = chunks_[i];
    if (theirs == mine || theirs == nullptr) continue;
    bool less = mine == nullptr;
    bool more = false;
    for (std::size_t j = 0; mine != nullptr && j < chunk_agents; ++j) {
      const Known& a = (*mine)[j];
      const Known& b = (*theirs)[j];
      less |= a.tick < b.tick || a.quiet < b.quiet;
      more |= a.tick > b.tick || a.quiet > b.quiet;
    }
    if (!less) continue;
    if (!more) {
      mine = theirs;
      continue;
    }
    Chunk& joined = own_chunk(i);
    for (std::size_t j = 0; j < chunk_agents; ++j) {
      joined[j].tick = std::max(joined[j].tick, (*theirs)[j].tick);
      joined[j].quiet = std::max(joined[j].quiet, (*theirs)[j].quiet);
    }
  }
  join_entries(other);
}

void Clock::join_entries(const Clock& other) {
  if (other.entries_ == entries_ || other.entries().empty()) return;
  if (entries().empty()) {
    entries_ = other.entries_;
    return;
  }
  for (const Entry& theirs : other.entries()) {
    const Completed* mine = completed(theirs.agent, theirs.pe);
    if (mine != nullptr && mine->covers(theirs.completed)) continue;
    completed_for(theirs.agent, theirs.pe).join(theirs.completed);
  }
}

void Clock::share(Pool& pool) {
  for (ChunkRef& chunk : chunks_) {
    if (chunk != nullptr && chunk.use_count() == 1) chunk = pool.intern(chunk);
  }
  const auto covered = [&](const Entry& entry) {
    return entry.completed.last_order != 0 && entry.completed.last_order <= quiet(entry.agent);
  };
  if (std::any_of(entries().begin(), entries().end(), covered))
    std::erase_if(own_entries(), covered);
}

std::size_t Clock::Pool::Hash::operator()(const ChunkRef& chunk) const {
  std::uint64_t hash = 0;
  for (const Known& known : *chunk) {
    hash = (hash ^ known.tick) * 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 32) ^ known.quiet) * 0xbf58476d1ce4e5b9ULL;
  }
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

Clock::ChunkRef Clock::Pool::intern(const ChunkRef& chunk) {
  if (chunks_.size() >= most_chunks) chunks_.clear();  // clocks keep those that they have
  return *chunks_.insert(chunk).first;
}

}  // namespace sym::check
