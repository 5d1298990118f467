// What goes into a run of the engine, and what comes out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/fiber/mutation.hpp"
#include "backends/fiber/verb.hpp"

namespace sym::fiber {

class Tracer;

// An access or a wait that a finding is about: who, and where in the source.
struct Place {
  std::string role;  // "write", "read", "wait", "signal", "free", ...
  int pe = -1;
  int block = -1;  // -1: the host, or an operation of a queue
  int queue = -1;
  int launch = 0;
  std::string launch_name;
  Verb verb = Verb::host;
  Site site;
  std::string memory = {};  // of a wait in a deadlock: "channel #0 steps slot 0 lane 1"
};

// Something wrong that the run found. `text` is the whole report for people; its first line names
// it. The rest is the same for machines: an empty field is one that the finding does not have.
struct Finding {
  std::string kind;  // race, missing-sync, deadlock, mismatch, out-of-bounds, ...
  std::string text;
  std::string verdict =
      {};                // what kind of it: lost, misdirected, cycle, ... (deadlocks, livelocks)
  std::string why = {};  // why it is wrong
  std::string fix = {};  // what would mend it
  std::vector<Place> places = {};
  bool ended_run = false;  // nothing of the run came after it
};

// Of a run, or of all executions of one, so many are kept; and besides them what ended it, and
// what says how many more there were.
inline constexpr std::size_t most_findings = 50;
Finding not_kept(std::size_t more);

struct Statistics {
  std::uint64_t switches = 0;
  std::uint64_t transfers = 0;
  std::uint64_t escaped_bytes = 0;  // reached by raw pointer, not by verbs
  std::map<std::pair<std::string, std::string>, std::uint64_t> sites;  // (file:line, verb) -> times
};

struct EngineOptions {
  int pes = 1;
  bool payload_storage = true;
  bool guard_stacks = true;
  std::size_t stack_bytes = 64 * 1024;
  std::size_t host_stack_bytes = 512 * 1024;
  bool count_sites = false;
  // Budgets, of the whole run. One that is used up ends it: Engine::incomplete. 0: no limit.
  std::uint64_t most_steps = 0;
  double most_seconds = 0;
  // Blocks of a PE that are there at once; the others wait for a place. 0: all.
  int resident_blocks = 0;
  // Which of a PE's launches gets places first is asked of the policy, and not the order of launch.
  bool launch_order = false;
  // In which order the pieces of warps() run is asked of the policy.
  bool piece_order = false;
  // Channels begin a few epochs before their 64-, 48- and 32-bit counters wrap.
  bool wrap = false;
  // Faults of kernels (stack overflow, raw pointers, abort) and kernels that compute for
  // `verb_seconds` of CPU time, or sleep ten times as long, without a verb are findings; so are
  // hosts that do so for `host_stretches` times as long. Off: they are the process's.
  bool catch_faults = false;
  double verb_seconds = 10;
  static constexpr int host_stretches = 6;
  // Kernels that poll for what nothing can change any more are a finding.
  bool find_livelocks = false;
  Tracer* tracer = nullptr;      // outlives the run
  bool stop_at_first = false;    // a finding ends the run
  Mutation* mutation = nullptr;  // of the programs that it runs; must outlive it
};

}  // namespace sym::fiber
