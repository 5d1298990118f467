// Mutation: what a run changes on purpose in the program that it runs, to see whether somebody
// notices. A null Mutation changes nothing.
#pragma once

#include "backends/fiber/verb.hpp"

namespace sym::fiber {

// What becomes of one call of a verb. Which changes suit which verb: check::changes_of.
enum class Change {
  none,
  drop,          // the call is not there, nor the sync in it (put_signal: the signal is not there)
  previous,      // waits for what the call before it has waited for; counts as the call would
  late,          // take: after the queue's next copy, product or launch
  other_slot,    // the next row of the table, round the end
  first_slot,    // row 0 of the table, whichever block it is
  other_pe,      // the next PE, round the end; with several members: not the last of them
  split,         // put_signal: a put, and then a signal that no fence orders behind it
  signal_first,  // put_signal: the signal, and then the put
  one_buffer,    // packets: every message to the same buffer
  // The call happens, and what it orders is not told to the observer.
  no_acquire,
  no_sync,
};

class Mutation {
 public:
  virtual ~Mutation() = default;
  // A run begins: nothing has been asked yet.
  virtual void begin() {}
  // Asked once before each call of a verb that can be changed, by block `block` of `pe`; -1: by its
  // host, for itself or for a queue.
  virtual Change at(Verb verb, Site site, int pe, int block) = 0;
  // Asked before each edge that a call makes: no_sync (in blocks), no_acquire. True leaves it out.
  virtual bool hides(Verb verb, Site site, Change edge) = 0;
  // Whether some verb runs without the sync in it, so that its lanes have to be told apart.
  virtual bool parts_lanes() const { return false; }
};

}  // namespace sym::fiber
