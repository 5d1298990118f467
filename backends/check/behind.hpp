// What the issuer of a transfer has done behind it for its order: of the latest few calls, so that
// a report does not advise what the program does already. It decides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/check/shadow.hpp"

namespace sym::check {

struct Call {
  // flag: a fetch_add or put_value, which changes a word and releases nothing.
  enum class Kind { signal, flag, packets, fence, quiet } kind = Kind::signal;
  int pe = -1;               // whom it is for; -1: a quiet
  std::uint64_t issued = 0;  // the agent's transfers so far
  fiber::Verb verb = fiber::Verb::quiet;
  Site site;
  int space = -1;  // flag: where
  std::size_t begin = 0;
};

// Kept for each agent.
class Calls {
 public:
  void add(const fiber::Agent& agent, Call::Kind kind, int pe, const fiber::Bytes& flag = {});
  const std::vector<Call>& all() const { return calls_; }

 private:
  static constexpr std::size_t most = 16;
  std::vector<Call> calls_;  // the oldest first
};

// A place that an agent has looked at, as one looks at a flag.
struct Looked {
  int pe = -1;
  int space = -1;
  std::size_t begin = 0;
};

struct Behind {
  bool quiet = false;        // it calls quiet, and not only after the last of its signals
  bool told = false;         // it has signalled the other one's PE
  bool fence = false;        // it has called fence for the PE that the transfer goes to
  bool packets = false;      // it has sent messages of packets
  std::optional<Call> flag;  // of a word that the other one's agent has looked at
  std::string other;         // a block of its PE that has called quiet in its stead; empty: none
  int other_stream = 0;
};

// `other`: what the transfer races with; `looked`: of its agent. `issuer`: at what it is now.
Behind behind(const Access& transfer, const Access& other, const Calls& calls,
              const fiber::Agent& issuer, const Looked& looked);

}  // namespace sym::check
