// Clock: what an agent knows to have happened, of every agent and of every transfer.
//
// Direct accesses follow the agent's program order, so one number for each agent says them all.
// Transfers complete in no order: an agent knows of a transfer because its issuer's `quiet` covered
// it (one number for each agent), because a fence ordered it before a signal to the same PE (a
// prefix of the issuer's transfers to that PE), or because a put_signal carried just that one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sym::check {

using AgentId = int;

// Transfers of one agent to one PE that are known to be complete: the first `prefix`, and singles.
struct Completed {
  std::uint64_t prefix = 0;
  std::vector<std::uint64_t> singles;  // > prefix, ascending

  bool covers(std::uint64_t pe_order) const;
  void add(std::uint64_t pe_order);
  void add_prefix(std::uint64_t upto);
  void join(const Completed& other);

 private:
  void compact();
};

class Clock {
 public:
  std::uint64_t tick(AgentId agent) const { return at(ticks_, agent); }
  std::uint64_t quiet(AgentId agent) const { return at(quiets_, agent); }
  const Completed* completed(AgentId agent, int pe) const;

  void set_tick(AgentId agent, std::uint64_t tick) { raise(ticks_, agent, tick); }
  void set_quiet(AgentId agent, std::uint64_t order) { raise(quiets_, agent, order); }
  Completed& completed_for(AgentId agent, int pe) { return completed_[{agent, pe}]; }
  // The agent's own transfers to all PEs are complete: singles and prefixes are covered by quiet.
  void forget_transfers(AgentId agent);
  void join(const Clock& other);

 private:
  static std::uint64_t at(const std::vector<std::uint64_t>& values, AgentId agent) {
    const auto i = static_cast<std::size_t>(agent);
    return i < values.size() ? values[i] : 0;
  }
  static void raise(std::vector<std::uint64_t>& values, AgentId agent, std::uint64_t value);

  std::vector<std::uint64_t> ticks_;
  std::vector<std::uint64_t> quiets_;
  std::map<std::pair<AgentId, int>, Completed> completed_;
};

}  // namespace sym::check
