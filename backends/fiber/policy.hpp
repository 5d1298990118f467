// Policy and Observer: who decides what happens next in an Engine, and who looks on.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/fiber/memory.hpp"

namespace sym::fiber {

struct Agent;
struct Note;
struct Transfer;
class Word;
class Engine;

// What the engine asks its policy besides what happens next. Each answer is below `n`.
enum class Question {
  pieces,  // of warps: 0 ascending, 1 descending, else a seed to shuffle them with; n is 2^32 - 1
  place,   // free for a block: of which of n launches, the first launched first
  launch   // begins before its host goes on (0) or when the host waits or has ended (1)
};

// Decides when each event happens.
class Policy {
 public:
  virtual ~Policy() = default;
  // The agent stands before a verb: resume it when the verb may happen.
  virtual void ready(Engine& engine, Agent& agent) = 0;
  // What the agent was blocked on has come.
  virtual void woken(Engine& engine, Agent& agent) = 0;
  virtual void issued(Engine& engine, Transfer& transfer) = 0;
  // Makes one thing happen (resume, read_source, deliver). False: nothing can.
  virtual bool next(Engine& engine) = 0;
  virtual std::uint32_t answer(Engine&, Question, int /*pe*/, std::uint32_t /*n*/) { return 0; }
  virtual double now_us() const { return 0; }
  // True: a wait that need not wait ends in a decision point of its own (as `woken`), as one that
  // waited does. So each agent makes the same sequence of events, whatever the others do.
  virtual bool waits_are_events() const { return false; }
};

// Looks on. Called before the effect on memory, except where said.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void agent_made(Agent&) {}
  virtual void access(Agent&, const Bytes&, bool /*write*/, bool /*atomic*/) {}
  virtual void synced(Agent&) {}
  // The verb that runs has a sync at its beginning or end that a mutation leaves out. Called before
  // what the verb acquires, completes, orders or releases: until the next sync that is one lane's.
  virtual void parted(Agent&) {}
  virtual void issued(Transfer&) {}
  virtual void source_read(Transfer&, const Bytes&) {}
  virtual void destination_written(Transfer&, const Bytes&) {}
  // A message of packets whose flag is that word lies in the bytes, and the agent has seen it.
  virtual void received(Agent&, const Bytes&, const Word&) {}
  // What the agent has done and seen so far, for somebody who will acquire it.
  virtual std::shared_ptr<const Note> release(Agent&) { return nullptr; }
  virtual void acquire(Agent&, const std::shared_ptr<const Note>&) {}
  // A wait for a word to come to `value`, after the shift, is over, or a test has seen that value:
  // the observer decides what is acquired. `consume`: the word has one waiter, which counts on.
  virtual void waited(Agent&, Word&, std::uint64_t /*value*/, int /*shift*/, bool /*consume*/) {}
  virtual void fenced(Agent&, int /*pe*/) {}
  virtual void completed(Agent&) {}  // everything the agent issued has been delivered
  virtual void settled() {}  // all hosts meet and nothing is under way: what was is before the rest
  // A signal has been delivered: its word shows it.
  virtual void signalled(Transfer&) {}
  // A verb that is no signal has written the word, which held `before`: an agent's own, or a
  // transfer of it (else null). `added`: atomically, to what was there.
  virtual void word_written(Agent&, const Transfer*, Word&, std::uint64_t /*before*/,
                            bool /*added*/) {}
  // The agent goes on because the word, shifted, is at least `need` (0: it only looks). `counted`:
  // what arrives later changes nothing for it. Called when the wait ends, before it acquires.
  virtual void word_read(Agent&, Word&, std::uint64_t /*need*/, int /*shift*/, bool /*counted*/) {}
  // The agent reads or (also) writes state of the backend that is not checked: a table that no
  // peer reaches, places for blocks.
  virtual void control(Agent&, const Bytes&, bool /*write*/) {}
};

}  // namespace sym::fiber
