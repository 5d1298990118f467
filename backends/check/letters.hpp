// Letters: the messages of packets, as far as a later message may build on them.
//
// Receipt acquires a message and nothing else. But who sends has read what it took before, so
// whoever has its message may write over the cells that it read then. That is how the two buffers
// of an inbox are used in turn: a message goes where the one before last was, and what the peer has
// sent since says that it was read. Of a row, for that is what a pair exchanges.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "backends/check/shadow.hpp"

namespace sym::check {

struct Letter {
  std::uint64_t epoch = 0;             // as its flag shows it
  AgentId agent = 0;                   // its sender, ...
  std::uint64_t tick = 0;              // ... what that had done itself ...
  std::shared_ptr<const Clock> clock;  // ... and what it knew

  // Whether its sender had read the message before it sent this one.
  bool sent_after(const Access& receipt) const {
    if (receipt.order != 0) return false;  // of another message, which may still be under way
    return receipt.tick <= (receipt.agent == agent ? tick : clock->tick(receipt.agent));
  }
};
using LetterRef = std::shared_ptr<const Letter>;

class Letters {
 public:
  // `flag`: the word of the message; its lane is the sender, its PE the receiver.
  void sent(const fiber::WordId& flag, LetterRef letter);
  void received(const fiber::WordId& flag, std::uint64_t epoch);
  // The last that the sender of such a message has received from its receiver; or null.
  LetterRef answer(const fiber::WordId& flag) const;
  void clear() { rows_.clear(); }
  std::size_t bytes() const;

 private:
  struct Row {
    std::array<LetterRef, 2> sent;  // no more than two have not been received
    LetterRef received;
  };
  using Key = std::pair<int, std::uint64_t>;  // PE, and word
  static Key key(const fiber::WordId& flag) { return {flag.pe, fiber::key_of(flag)}; }

  std::map<Key, Row> rows_;
};

}  // namespace sym::check
