// Engine: every block of every PE as a fibre in one thread. Every verb is a decision point; every
// transfer is two events, the read of its source and the write of its destination. A Policy decides
// what happens next (an adversary in `check`, time in `sim`); an Observer looks on.
//
// Deterministic: given the same program, policy and seed, the same sequence of events.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "backends/fiber/agent.hpp"
#include "backends/fiber/fault.hpp"
#include "backends/fiber/fiber.hpp"
#include "backends/fiber/memory.hpp"
#include "backends/fiber/options.hpp"
#include "backends/fiber/plain_writes.hpp"
#include "backends/fiber/policy.hpp"
#include "backends/fiber/trial.hpp"
#include "backends/fiber/verb.hpp"
#include "backends/fiber/word.hpp"
#include "core/range.hpp"
#include "core/signals.hpp"

namespace sym::fiber {

// The file as the tree knows it: without the way there from the build folder, so that texts are the
// same on every machine. Points into `file`.
const char* in_tree(const char* file);
// " at FILE:LINE"; empty where there is none.
std::string at(Site site);

// What a stream of a PE runs at a time: a kernel's blocks, or one operation of a queue.
struct Work {
  int stream = 0;
  const char* name = "";
  int blocks = 1;
  double weight = 1;
  bool early = false;
  std::size_t scratch_bytes = 0;
  std::function<void(Agent&)> body;
  // Operations: the queue as the program knows it, and the step that the body begins behind.
  int queue = -1;
  Step step = {Verb::start, {}, 0, 0, -1, nullptr};
};

class Engine {
 public:
  Engine(EngineOptions options, Policy& policy, Observer* observer);
  ~Engine();

  // Runs `program(pe)` as a fibre for every PE, to the end or to the first thing that stops it:
  // an exception (rethrown here), or nothing that can happen (a deadlock finding).
  void run(const std::function<void(int pe)>& program);

  // --- called by fibres -----------------------------------------------------------------------
  Agent& current() { return *current_; }
  // The decision point before a verb.
  void step(const Step& step);
  // As step, but nothing else may happen in between: a verb of a piece of warps.
  void pass(const Step& step);
  void access(const Bytes& bytes, bool write, bool atomic = false);
  // What somebody may be polling for is another now. Of plain writes, access says so.
  void changed() { last_change_ = steps_; }
  void control(const Bytes& bytes, bool write);
  void synced();
  // Before a verb that ends with a sync does what it does.
  void will_sync();
  void put(const Bytes& src, const Bytes& dst, Transfer::Kind kind);
  void put_value(std::vector<std::byte> value, const Bytes& dst);
  // After put() within one put_signal: the signal follows that payload.
  void signal(const WordId& id, std::uint64_t amount, bool sets, bool follows_last_put);
  // A message whose flag travels in the data: a payload, and the word that says it is there. It
  // carries nothing else to whoever receives it, and no fence orders it. `range`: of what, in
  // elements of src; the receiver's must be the same.
  void packet(const Bytes& src, const Bytes& dst, const WordId& id, std::uint64_t value,
              Range range);
  struct Message {
    History::Touch sent;  // by whom, and the value of its word
    Range range;
    std::uint32_t element = 0;
  };
  // The message that has that value, if it is one of the last two that went to the word; or null.
  const Message* message(const WordId& id, std::uint64_t value) const;
  void fence(int pe);
  void quiet();
  void quiet_copies();  // payloads only: signals may still be on their way
  struct Want {
    WordId id;
    std::uint64_t value = 0;
    int shift = 0;
    bool consume = false;  // the word has one waiter, which has now taken what came
    Word* word = nullptr;  // found by wait()
  };
  // The message of the word has come and lies in these bytes: they are the receiver's.
  void received(const Bytes& bytes, const WordId& id);
  // A block claims rows of a channel, by the word that is this PE's own, and gives them back.
  // Whoever gives back what is not claimed, or keeps it to the end of the run, is told.
  void claim(const Bytes& word);
  void give_back(const Bytes& word);
  // Blocks until every wanted word is reached, then acquires what was counted.
  void wait(std::vector<Want>& wants);
  std::uint64_t test(const WordId& id);
  // The current agent has looked at `place`, without changing it, and found `value`.
  void looked(const void* place, std::uint64_t value);
  // Flags of Posts. A word of them counts; that each post is taken before the next is checked here.
  void post(const WordId& id);
  void take(const WordId& id);
  // What the agent has done so far is what `event` stands for, and whoever waits for it goes on.
  void record(Event& event);
  // Blocks until it is recorded, and acquires it. `reason` is for the report of a deadlock.
  void after(Event& event, const std::string& reason);
  Word& word(const WordId& id);
  // Whether somebody has signalled or waited for a word of the allocation, so far.
  bool holds_words(int space) const {
    return space >= 0 && static_cast<std::size_t>(space) < holds_words_.size() &&
           holds_words_[static_cast<std::size_t>(space)];
  }
  // Those of the bytes that somebody has signalled or waited for, ascending.
  std::vector<Word*> words_in(const Bytes& bytes) const;

  // Host side of a PE.
  void launch(Agent& host, Work work);
  void synchronize(Agent& host, int stream);  // -1: all streams
  // All PEs' hosts meet; `complete` also waits for every transfer of theirs.
  void host_barrier(Agent& host, const std::string& what, bool complete);
  bool idle(int pe) const;
  // Frees an allocation on all PEs. Throws UsageError as Memory::free.
  void free(Segment segment, std::size_t offset);
  // Before a host touches so many bytes of a window or local array.
  void host_access(Agent& host, std::size_t bytes);

  // --- called by policies ----------------------------------------------------------------------
  void resume(Agent& agent);
  bool eligible(const Transfer& transfer) const;
  void read_source(Transfer& transfer);
  void deliver(Transfer& transfer);
  void deliver_piece(Transfer& transfer, std::size_t first, std::size_t bytes);
  // Overwrites the destination, whose content is undefined until delivery.
  void poison(Transfer& transfer);

  // Of a verb that the current agent may not do so. Of a kernel's it is a finding at once, and the
  // run ends: the kernel may catch what is thrown. Always throws Failure.
  // `step`: whether the agent's step is the verb, or what it did before a call that is none.
  enum class Of { step, call };
  [[noreturn]] void refuse(const std::string& what, Of of = Of::step);
  // Memory::resolve, refused like that.
  Bytes resolve(Segment segment, std::size_t offset, std::size_t bytes, int pe);
  // Refuses two ranges of one verb that overlap, unless they are the same and may be.
  enum class Same { may_be, refused };
  void refuse_overlap(const Bytes& src, const Bytes& dst, Same same = Same::may_be);
  [[noreturn]] void refuse_overlapping(const Bytes& src, const Bytes& dst, Same same);

  void report(Finding finding);
  // Reports, and ends the run: nothing that follows would mean anything. It is kept, however many
  // there are.
  void stop(Finding finding);
  // Ends the run where it is: the policy has seen enough.
  void abandon() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  const std::vector<Finding>& findings() const { return findings_; }
  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }
  Memory& memory() { return memory_; }
  int pes() const { return options_.pes; }
  Mutation* mutation() const { return options_.mutation; }
  Policy& policy() { return *policy_; }
  Observer* observer() { return observer_; }
  const std::vector<std::unique_ptr<Agent>>& agents() const { return agents_; }
  int launches_begun(int pe) const { return launches_begun_[static_cast<std::size_t>(pe)]; }
  // Events so far, and those since something changed that another agent could see: while it grows,
  // agents do nothing but look.
  std::uint64_t steps() const { return steps_; }
  std::uint64_t fruitless_steps() const { return steps_ - last_change_; }
  // A budget has ended the run; not_reached() says who was where.
  bool incomplete() const { return incomplete_; }
  const std::string& not_reached() const { return not_reached_; }
  // Blocks of a PE that have been launched and wait for a place, in launch order, and how many
  // have one.
  std::vector<const Agent*> waiting_for_place(int pe) const;
  int resident(int pe) const { return places_[static_cast<std::size_t>(pe)].resident; }
  const EngineOptions& options() const { return options_; }
  // In which order an agent's warps() run their n pieces; empty: ascending.
  std::vector<std::size_t> piece_order(std::size_t n);
  std::string describe(const Agent& agent) const;
  Place place_of(const Agent& agent, const std::string& role) const;
  Place place_of(const History::Touch& touch, const std::string& role) const;
  // Names of a PE's launches that wait behind others of their streams, in order of streams.
  std::vector<std::string> queued_launches(int pe) const;

 private:
  friend class Deadlock;  // reads everything, once nothing moves
  struct Launch {
    Work work;
    std::shared_ptr<const Note> host;  // what the host had done when it launched
    int remaining = 0;
  };
  struct Stream {
    std::deque<std::unique_ptr<Launch>> queue;
    std::map<int, Agent*> blocks;
    Agent* worker = nullptr;   // runs operations
    Agent* history = nullptr;  // never runs: its note holds what the stream has done so far
  };
  Agent& make_agent(int pe, int stream, int block);
  Transfer& issue(Transfer transfer, int ordered_to);
  // Once the run has ended, nobody goes on: a kernel may catch what it is told.
  void stay_if_stopped();
  bool transfers_under_way() const { return spare_transfers_.size() < transfers_.size(); }
  void start_next_launch(int pe, int stream);
  Agent& agent_of(Stream& stream, const Work& work, int pe, int block);
  void block_ended(Agent& agent, int pe, int stream);
  void block_until_woken(Agent& agent);
  void block_while(Agent& agent, bool must_wait);
  void wake(Agent& agent);
  void finished(Transfer& transfer);
  void arrive(Transfer& transfer);
  void acquire(Agent& agent, const Want& want);
  void await_words(Agent& agent, std::vector<Want>& wants);
  bool are_set_back(Agent& agent, const std::vector<Want>& wants);
  void wake_reached(Word& word);
  // Around the effect of a verb that writes words as it writes any memory: when it begins, and at
  // the end of its event, who waits for what they hold now goes on.
  void begin_write(const Bytes& bytes, bool adds, const Transfer* transfer = nullptr);
  bool notes_writes(int space, bool of_host) const;
  void end_writes(const Transfer* transfer = nullptr);
  void rewritten(Word& word, Agent& agent, const Transfer* transfer);
  void check_host(int pe);
  // Whether a mutation leaves out an edge of the verb that runs.
  bool hides(Change edge) const;
  void run_body(Agent& agent, const std::function<void()>& body);
  bool needs_place(const Work& work) const;
  void ask_places(int pe, std::deque<Agent*> blocks);
  void give_places(int pe);
  void events();
  int stretches_of(const Agent& agent) const;
  bool over_time() const;
  void check_budget();
  void used_up(bool steps);
  bool stuck() const;
  void report_deadlock();
  void check_livelock(const Agent& agent);
  void report_livelock();
  // engine_trial.cpp: nothing can run, or all who can poll in vain. Tries whether it would go on if
  // nobody had to wait for a turn: blocks for a place, launches for those before them on their
  // streams. What is read of the run afterwards is not the run's any more.
  Trial try_out_of_turn();
  bool release_next(Trial& trial);
  void release_launch(int pe, int stream, Trial& trial);
  void keep(Finding finding, bool always);
  void report_not_kept();
  Finding error_finding(const Agent& agent, const std::string& what, Of of = Of::step) const;
  void report_exception(const Agent& agent, const std::string& what);
  void report_fault(const Agent& agent, int signal);
  // The program has called exit or quick_exit while a run of this thread goes on: says so on
  // stderr, with all that was found before, and ends the process with status 1. Does nothing
  // otherwise.
  static void exited();
  Finding exit_finding() const;
  void report_open_claims();
  void check_memory(int pe);  // what lies around its allocations
  void check_memory();        // ... of all PEs, up to the first finding

  EngineOptions options_;
  Policy* policy_;
  Observer* observer_;
  Memory memory_;
  StackPool stacks_;
  StackPool host_stacks_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<Agent*> hosts_;
  std::vector<std::map<int, Stream>> streams_;  // by PE, then stream
  std::vector<int> launches_begun_;
  std::vector<std::size_t> outstanding_;  // transfers of each PE's agents
  std::vector<std::vector<Agent*>> agents_of_;
  std::vector<std::unordered_map<std::uint64_t, std::unique_ptr<Word>>> words_;  // by PE
  std::vector<char> holds_words_;  // by space: Words (own_words.hpp), 0 for none
  std::vector<Word*> written_;     // by verbs of this event that are no signals
  bool set_back_ = false;          // a word may have lost what it had reached
  PlainWrites plain_writes_;
  std::vector<std::unordered_map<std::uint64_t, std::array<Message, 2>>> messages_;  // by PE, word
  // Transfers are made once and used again: a run of a large machine issues millions.
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> spare_transfers_;
  std::uint64_t next_transfer_ = 1;
  Transfer* last_put_ = nullptr;
  Agent* current_ = nullptr;
  std::optional<std::pair<int, int>> free_stream_;  // (PE, stream) whose next launch may begin
  struct HostBarrier {
    std::vector<std::string> what;  // by PE; empty: not arrived
    int arrived = 0;
    std::uint64_t epoch = 0;
    std::shared_ptr<const Note> note;  // of the last meeting: what all hosts had brought by then
    Agent* meeting = nullptr;          // never runs: its note holds what all hosts brought
  } barrier_;
  struct Places {
    int resident = 0;
    bool late = false;                        // nobody gets one before the host waits or has ended
    std::vector<std::deque<Agent*>> waiting;  // by launch, in launch order; none of them empty
  };
  std::vector<Places> places_;  // by PE
  std::uint64_t steps_ = 0;
  std::uint64_t last_change_ = 0;
  bool incomplete_ = false;
  std::string not_reached_;
  double began_s_ = 0;
  struct Polling;
  std::shared_ptr<Polling> polling_;
  std::unique_ptr<FaultGuard> guard_;
  std::map<std::tuple<int, int, std::size_t>, Finding> claims_;  // what to say if they stay
  std::vector<Finding> findings_;
  std::size_t not_kept_ = 0;  // findings beyond the most that are kept
  std::exception_ptr error_;
  bool stopped_ = false;
  bool trying_ = false;  // a trial goes on, and its findings are nobody's
  bool tried_ = false;   // ... or has been: memory is not the run's any more
  Statistics statistics_;
};

}  // namespace sym::fiber
