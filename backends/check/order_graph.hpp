// OrderGraph: an observer that keeps what comes before what in a run, and which op says so. It
// answers what one synchronisation is for: which accesses that conflict have an order that goes
// through it, and which others order them as well.
//
// Of one run, as it went (fifo, for programs without races): a wait has what it counted then. What
// it says explains a proof, and is none.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/check/mutant.hpp"
#include "backends/check/shadow.hpp"

namespace sym::check {

// What an op does for the order of a program.
enum class Part { meets, acquires, releases, completes, fences };

class OrderGraph : public fiber::Observer {
 public:
  // What is known of an order without some ops.
  struct Answer {
    std::size_t pairs = 0;    // of accesses that conflict, in the run
    bool seen = false;        // the ops have ordered something, whatever it was
    std::size_t through = 0;  // of them: an order of theirs goes through the ops
    std::size_t news = 0;     // ... which told somebody what he did not know before
    std::size_t places = 0;   // ... pairs of ops whose accesses those are
    std::size_t lost = 0;     // of those: without the ops the graph shows no order
    // What orders those that are not lost, of each pair of places one: ops, the most frequent
    // first.
    // `each`: only such that without them and the changed ops some are lost, and without them alone
    // are not.
    std::vector<std::string> others;
    bool each = false;
  };
  // What the changed calls are for. Changes that drop or redirect a call take all that it orders.
  Answer without(const std::vector<Alteration>& changes) const;
  // Pairs that the graph shows no order for, with everything in place: of a program without races
  // none, or this graph lacks something.
  std::size_t unordered() const;
  // The operation that a PE enqueues next at a place is the how-manieth there.
  void enqueues(int pe, fiber::Verb verb, Site site, int ordinal);

  void agent_made(fiber::Agent& agent) override;
  void access(fiber::Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) override;
  void control(fiber::Agent& agent, const fiber::Bytes& bytes, bool write) override;
  void synced(fiber::Agent& agent) override;
  void issued(fiber::Transfer& transfer) override;
  void source_read(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  void destination_written(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  std::shared_ptr<const fiber::Note> release(fiber::Agent& agent) override;
  void acquire(fiber::Agent& agent, const std::shared_ptr<const fiber::Note>& note) override;
  void waited(fiber::Agent& agent, fiber::Word& word, std::uint64_t value, int shift,
              bool consume) override;
  void fenced(fiber::Agent& agent, int pe) override;
  void completed(fiber::Agent& agent) override;
  void settled() override { shadow_.clear(); }

 private:
  struct AgentOrder;
  struct NodeAccess;
  using Node = int;
  using Label = int;  // of an edge: what makes it; -1: the program's own order
  using Bits = std::vector<std::uint64_t>;  // for each node, a bit for each first access of a pair
  struct Edge {
    Node from = 0;
    Label label = -1;
    // What whoever is told by the edge knows before: all that these two do. -1: nothing.
    Node known = -1, also_known = -1;
  };
  struct Pair {
    Node first = 0, second = 0;
    std::size_t place = 0;
  };
  static AgentOrder& order_of(const fiber::Agent& agent);
  Node node(const std::vector<Edge>& in);
  Label label(const fiber::Agent& agent, Part part);
  void meet(AgentOrder& mine, Label label);
  void goes_on(const fiber::Agent& agent);
  void record(const std::shared_ptr<NodeAccess>& access, const fiber::Bytes& bytes);
  void touch(const fiber::Transfer& transfer, const fiber::Bytes& bytes, bool write);

  using Removed = std::vector<bool>;  // by label
  struct Found {
    std::map<Label, std::size_t> times;  // on ways of the pairs that are not lost
    std::vector<const Pair*> pairs;      // `through`
  };
  Removed removed_by(const std::vector<Alteration>& changes) const;
  static bool is_gone(const Edge& edge, const Removed& removed);
  std::size_t words() const;
  Bits reach(const Removed& removed) const;
  Bits reach_through(const Removed& removed, const Bits& all, bool news) const;
  bool has(const Bits& bits, Node node, Node first) const;
  std::vector<Label> path(const Pair& pair, const Removed& removed, const Bits& bits) const;
  void name_others(Answer& answer, const Removed& removed, const Found& found) const;
  bool stands_in(Label label, const Removed& removed, const Found& found) const;

  std::vector<std::vector<Edge>> in_;  // of each node; they come from nodes before it
  std::vector<std::pair<Op, Part>> labels_;
  std::map<std::pair<Op, Part>, Label> label_of_;
  std::vector<Pair> pairs_;
  std::map<std::string, std::size_t> places_;
  std::map<Node, std::size_t> firsts_;
  struct Enqueued {
    fiber::Verb verb;
    Site site;
    int ordinal;
  };
  std::map<int, Enqueued> enqueued_;  // by PE: not launched yet
  Shadow shadow_;
};

}  // namespace sym::check
