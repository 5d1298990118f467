// Agent: who runs, a block, a queue or a host program. Transfer: what it has issued.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/fiber/fiber.hpp"
#include "backends/fiber/memory.hpp"
#include "backends/fiber/policy.hpp"
#include "backends/fiber/verb.hpp"
#include "backends/fiber/word.hpp"

namespace sym::fiber {

struct Agent {
  int id = 0;
  int pe = 0;
  int stream = 0;
  int block = -1;  // -1: the host program of the PE
  int blocks = 1;
  double weight = 1;   // blocks of the launch that this fibre stands for
  bool early = false;  // LaunchConfig::early
  int launch = 0;      // launches started on the PE so far, this one included
  int queue = -1;      // >= 0: runs the operations of this queue that are no launches
  const char* launch_name = "host";

  // queued: a block that waits for a place (EngineOptions::resident_blocks).
  enum class State { idle, queued, ready, running, blocked } state = State::idle;
  Step step;
  // Blocked: on `missing` words, or on its own transfers, or on a host condition.
  int missing = 0;
  std::size_t incoming = 0;  // signals on their way to those words
  std::vector<std::pair<WordId, Word*>> words;
  bool on_quiet = false;
  bool payload_only = false;  // ... but not on its signals
  std::function<bool()> host_ready;
  std::string host_reason;

  std::list<Transfer*> outstanding;  // in issue order
  std::size_t payloads = 0;          // ... that are no signals
  std::uint64_t issued = 0;          // transfers so far
  struct ToPe {
    std::uint64_t issued = 0;       // puts and signals to this PE so far
    std::uint64_t fenced = 0;       // ... of them before the last fence
    std::uint64_t fence_epoch = 0;  // fences so far
    std::vector<std::pair<std::uint64_t, std::size_t>> undelivered;  // (epoch, how many)
  };
  std::unordered_map<int, ToPe> to_pe;
  bool failed = false;
  bool placed = false;  // has one of its PE's places
  // What it has polled, and found there last; and how many looks in a row found just that again.
  std::unordered_map<const void*, std::uint64_t> looked;
  std::uint64_t looks_in_vain = 0;
  const Word* polls = nullptr;  // what its last test looked at

  // Blocks: their Scratch, made and filled with rubbish when the launch begins.
  std::size_t scratch_bytes = 0;
  std::vector<std::byte> scratch;
  // The piece of warps() that runs now, from 1; 0 outside.
  std::uint64_t piece = 0;
  // From after the first of the two Verb::warps steps of a call until the second has been passed:
  // the second one is the step that comes while this is true. Transfers between them pass no step
  // of their own.
  bool in_warps = false;
  // What weighted_sum reads from each PE, this one included, as (pe, bytes) with no PE twice. Whole
  // when its step comes; within warps it adds up until the second Verb::warps step. Cleared after.
  std::vector<std::pair<int, std::size_t>> fetches;

  std::unique_ptr<Note> note;
  std::unique_ptr<Fiber> fiber;
};

struct Transfer {
  enum class Kind { put, get, value, signal } kind = Kind::put;
  std::uint64_t id = 0;  // in issue order over the whole run
  Agent* issuer = nullptr;
  Step step;
  int launch = 0;
  Bytes src, dst;                 // payload kinds
  std::vector<std::byte> buffer;  // what was read, if the source was read before delivery
  bool source_read = false;
  std::size_t pieces_delivered = 0;  // bytes, of a payload delivered in pieces
  WordId word_id;                    // signals
  Word* word = nullptr;
  std::uint64_t amount = 0;  // added to the word, or its new value
  bool sets = false;
  bool packet = false;           // inbox bytes: their order is the protocol's, not the program's
  Transfer* payload = nullptr;   // put_signal: the put it must follow, until that is delivered
  Transfer* follower = nullptr;  // put_signal: the signal that waits for this put
  std::uint64_t order = 0;       // among the issuer's transfers, from 1
  std::uint64_t pe_order = 0;    // among the issuer's puts and signals to the PE, from 1
  std::uint64_t fence_epoch = 0;
  Agent::ToPe* to_pe = nullptr;  // the issuer's, where fences order the transfer
  int target() const { return kind == Kind::signal ? word_id.pe : dst.pe; }
  std::shared_ptr<Note> note;
  std::list<Transfer*>::iterator place;  // among the issuer's outstanding ones
};

}  // namespace sym::fiber
