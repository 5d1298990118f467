// Clock: what an agent knows to have happened, of every agent and of every transfer.
//
// Direct accesses follow the agent's program order, so one number for each agent says them all.
// Transfers complete in no order: an agent knows of a transfer because its issuer's `quiet` covered
// it (one number for each agent), because a fence ordered it before a signal to the same PE (a
// prefix of the issuer's transfers to that PE), or because a put_signal carried just that one.
//
// Two levels: the numbers lie in chunks of some agents each, and clocks that know the same of these
// agents share a chunk. Copies and joins of clocks cost the chunks, not the agents, and only those
// that differ. After a barrier everybody knows the same: share() finds that out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

namespace sym::check {

using AgentId = int;

// Transfers of one agent to one PE that are known to be complete: the first `prefix`, and singles.
struct Completed {
  std::uint64_t prefix = 0;
  std::vector<std::uint64_t> singles;  // > prefix, ascending
  std::uint64_t last_order = 0;        // none of them is later among all transfers of the agent

  bool covers(std::uint64_t pe_order) const;
  bool covers(const Completed& other) const;
  void add(std::uint64_t pe_order);
  void add_prefix(std::uint64_t upto);
  void join(const Completed& other);

 private:
  void compact();
};

class Clock {
 public:
  static constexpr std::size_t chunk_agents = 32;
  struct Known {
    std::uint64_t tick = 0;
    std::uint64_t quiet = 0;  // its transfers up to this one are complete
    friend bool operator==(const Known&, const Known&) = default;
  };
  using Chunk = std::array<Known, chunk_agents>;
  using ChunkRef = std::shared_ptr<const Chunk>;
  struct Entry {
    AgentId agent = 0;
    int pe = 0;
    Completed completed;
  };
  // Chunks that clocks have in common, by content.
  class Pool {
   public:
    ChunkRef intern(const ChunkRef& chunk);
    std::size_t bytes() const { return chunks_.size() * sizeof(Chunk); }

   private:
    struct Hash {
      std::size_t operator()(const ChunkRef& chunk) const;
    };
    struct Equal {
      bool operator()(const ChunkRef& a, const ChunkRef& b) const { return *a == *b; }
    };
    static constexpr std::size_t most_chunks = 1 << 14;
    std::unordered_set<ChunkRef, Hash, Equal> chunks_;
  };

  std::uint64_t tick(AgentId agent) const { return at(agent).tick; }
  std::uint64_t quiet(AgentId agent) const { return at(agent).quiet; }
  const Completed* completed(AgentId agent, int pe) const;
  // No agent from here on is known of.
  AgentId end() const { return static_cast<AgentId>(chunks_.size() * chunk_agents); }
  const std::vector<ChunkRef>& chunks() const { return chunks_; }
  // Ascending in (agent, pe).
  const std::vector<Entry>& entries() const { return entries_ == nullptr ? none() : *entries_; }

  // Numbers never go back.
  void set_tick(AgentId agent, std::uint64_t tick);
  void set_quiet(AgentId agent, std::uint64_t order);
  Completed& completed_for(AgentId agent, int pe);
  // The agent's own transfers to all PEs are complete: singles and prefixes are covered by quiet.
  void forget_transfers(AgentId agent);
  void join(const Clock& other);
  // Knows no more and no less afterwards, but shares with other clocks what they have in common.
  void share(Pool& pool);

 private:
  using Entries = std::vector<Entry>;
  static const Known& nothing();
  static const Entries& none();
  const Known& at(AgentId agent) const {
    const std::size_t chunk = static_cast<std::size_t>(agent) / chunk_agents;
    if (chunk >= chunks_.size() || chunks_[chunk] == nullptr) return nothing();
    return (*chunks_[chunk])[static_cast<std::size_t>(agent) % chunk_agents];
  }
  Chunk& own_chunk(std::size_t chunk);
  Known& own(AgentId agent);
  Entries& own_entries();
  void join_entries(const Clock& other);

  std::vector<ChunkRef> chunks_;  // null: nothing known
  std::shared_ptr<const Entries> entries_;
};

}  // namespace sym::check
