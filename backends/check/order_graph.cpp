// What an OrderGraph keeps of a run.
#include "backends/check/order_graph.hpp"

#include <algorithm>
#include <utility>

#include "backends/check/race_notes.hpp"

namespace sym::check {

using fiber::Agent;
using fiber::Verb;

struct OrderGraph::NodeAccess : Access {
  Node node = 0;
};

// A block's lanes meet at syncs: what comes after one hangs from `start`; what has come since waits
// in `pending` for the next. `gathered` has all that has met so far, also where a sync is taken out
// of the graph, which the next sync then makes up for.
struct OrderGraph::AgentOrder : fiber::Note {
  Node start = -1, gathered = -1;
  std::vector<Node> pending;
  struct Issued {
    Node read = 0, write = 0;
    int to_pe = -1;
  };
  std::vector<Issued> transfers;
  std::map<int, Node> fence, fence_met;  // by PE: the last one, and what all lanes know of
  int ordinal = -1;                      // operations of queues
};

namespace {
struct ReleasedNode : fiber::Note {
  int node = -1;
  int ordinal = -1;
  Verb verb = Verb::host;
  int line = 0;
};
struct TransferNodes : fiber::Note {
  int read = 0, write = 0;
};
struct WordNodes : fiber::Note {
  struct One {
    int node = 0;
    int agent = 0;
    std::uint64_t amount = 0;
    std::uint64_t total = 0;
    bool sets = false;
  };
  std::uint64_t first = 0;  // value
  std::vector<One> signals;
};

bool is_block(const Agent& agent) { return agent.block >= 0 && agent.queue < 0; }

// Which signals a wait for `value` has counted.
std::vector<int> counted(const WordNodes& word, std::uint64_t value, int shift) {
  std::vector<int> nodes;
  const bool one = std::all_of(word.signals.begin(), word.signals.end(), [&](const auto& signal) {
    return signal.agent == word.signals.front().agent;
  });
  for (const WordNodes::One& signal : word.signals) {
    const bool reaches = has_come(signal.sets ? signal.amount : signal.total, value, shift);
    if (!signal.sets || reaches) nodes.push_back(signal.node);
    if (reaches && one) return nodes;
    // Of several producers each must be counted: as many as have come, and no more.
    if (reaches && signal.total != value) return {};
  }
  return nodes;
}
}  // namespace

OrderGraph::AgentOrder& OrderGraph::order_of(const Agent& agent) {
  return static_cast<AgentOrder&>(*agent.note);
}

OrderGraph::Node OrderGraph::node(const std::vector<Edge>& in) {
  in_.emplace_back();
  for (const Edge& edge : in) {
    if (edge.from >= 0) in_.back().push_back(edge);
  }
  return static_cast<Node>(in_.size()) - 1;
}

OrderGraph::Label OrderGraph::label(const Agent& agent, Part part) {
  const fiber::Step& step = agent.step;
  if (step.site.line == 0) return -1;
  const int ordinal = has_ordinal(step.verb) ? order_of(agent).ordinal : -1;
  const std::pair key{Op{step.site.file, step.site.line, step.verb, ordinal}, part};
  const auto [found, made] = label_of_.emplace(key, static_cast<Label>(labels_.size()));
  if (made) labels_.push_back(key);
  return found->second;
}

void OrderGraph::enqueues(int pe, Verb verb, Site site, int ordinal) {
  enqueued_[pe] = {verb, site, ordinal};
}

void OrderGraph::agent_made(Agent& agent) { agent.note = std::make_unique<AgentOrder>(); }

void OrderGraph::meet(AgentOrder& mine, Label label) {
  std::vector<Edge> in{{mine.gathered, -1}};
  for (const Node one : mine.pending) in.push_back({one, -1});
  mine.gathered = node(in);
  mine.start = node({{mine.start, -1}, {mine.gathered, label, mine.start}});
  mine.pending.clear();
  for (const auto& [pe, fence] : mine.fence) {
    const auto met = mine.fence_met.find(pe);
    const Node before = met == mine.fence_met.end() ? -1 : met->second;
    mine.fence_met[pe] = node({{before, -1}, {fence, label, before, mine.start}});
  }
}

// Hosts and queues have no lanes: what they do is in order.
void OrderGraph::goes_on(const Agent& agent) {
  if (!is_block(agent)) meet(order_of(agent), -1);
}

void OrderGraph::synced(Agent& agent) { meet(order_of(agent), label(agent, Part::meets)); }

void OrderGraph::access(Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) {
  AgentOrder& mine = order_of(agent);
  auto access = std::make_shared<NodeAccess>();
  access->agent = agent.id;
  access->piece = agent.piece;
  access->write = write;
  access->atomic = atomic;
  access->bytes = bytes;
  access->verb = agent.step.verb;
  access->site = agent.step.site;
  access->node = node({{mine.start, -1}});
  mine.pending.push_back(access->node);
  record(access, bytes);
  goes_on(agent);
}

void OrderGraph::control(Agent& agent, const fiber::Bytes& bytes, bool write) {
  const Verb verb = agent.step.verb;
  if (is_block(agent) && verb != Verb::enter && verb != Verb::leave)
    access(agent, bytes, write, false);
}

void OrderGraph::record(const std::shared_ptr<NodeAccess>& access, const fiber::Bytes& bytes) {
  shadow_.record(
      bytes, access, [](const Access&) { return false; },
      [&](const Access& earlier) {
        const auto& first = static_cast<const NodeAccess&>(earlier);
        const bool same = first.agent == access->agent;
        // Lane by lane, or of one transfer: no op is needed.
        if (same && first.order == 0 && lane_by_lane(first, *access)) return;
        if (same && first.order != 0 && first.order == access->order) return;
        const auto text = [](const Access& one) {
          return std::string(one.site.file) + ":" + std::to_string(one.site.line) + " " +
                 to_string(one.verb) + (one.write ? " w" : " r");
        };
        const std::size_t place =
            places_.emplace(text(first) + " " + text(*access), places_.size()).first->second;
        pairs_.push_back({first.node, access->node, place});
        firsts_.emplace(first.node, firsts_.size());
      });
}

void OrderGraph::issued(fiber::Transfer& transfer) {
  Agent& agent = *transfer.issuer;
  AgentOrder& mine = order_of(agent);
  const auto fence = mine.fence_met.find(transfer.target());
  const Node fenced = fence == mine.fence_met.end() ? -1 : fence->second;
  if (transfer.kind == fiber::Transfer::Kind::signal) {
    const Label releases = label(agent, Part::releases);
    const Node payload = transfer.payload == nullptr
                             ? -1
                             : static_cast<TransferNodes&>(*transfer.payload->note).write;
    const Node signal = node({{mine.start, releases}, {fenced, releases}, {payload, releases}});
    if (transfer.word->note == nullptr) {
      auto made = std::make_unique<WordNodes>();
      made->first = transfer.word->value();
      transfer.word->note = std::move(made);
    }
    auto& word = static_cast<WordNodes&>(*transfer.word->note);
    const std::uint64_t before = word.signals.empty() ? word.first : word.signals.back().total;
    word.signals.push_back({signal, agent.id, transfer.amount,
                            transfer.sets ? transfer.amount : before + transfer.amount,
                            transfer.sets});
    return;
  }
  const bool ordered = transfer.kind != fiber::Transfer::Kind::get && !transfer.packet;
  auto nodes = std::make_shared<TransferNodes>();
  nodes->read = node({{mine.start, -1}, {ordered ? fenced : -1, -1}});
  nodes->write = node({{nodes->read, -1}});
  mine.transfers.push_back({nodes->read, nodes->write, ordered ? transfer.target() : -1});
  transfer.note = nodes;
}

void OrderGraph::touch(const fiber::Transfer& transfer, const fiber::Bytes& bytes, bool write) {
  const auto& nodes = static_cast<const TransferNodes&>(*transfer.note);
  auto access = std::make_shared<NodeAccess>();
  access->agent = transfer.issuer->id;
  access->order = transfer.order;
  access->write = write;
  access->bytes = write ? transfer.dst : transfer.src;
  access->verb = transfer.step.verb;
  access->site = transfer.step.site;
  access->node = write ? nodes.write : nodes.read;
  record(access, bytes);
}

void OrderGraph::source_read(fiber::Transfer& transfer, const fiber::Bytes& bytes) {
  touch(transfer, bytes, false);
}

void OrderGraph::destination_written(fiber::Transfer& transfer, const fiber::Bytes& bytes) {
  if (!transfer.packet) touch(transfer, bytes, true);
}

std::shared_ptr<const fiber::Note> OrderGraph::release(Agent& agent) {
  AgentOrder& mine = order_of(agent);
  meet(mine, -1);
  auto note = std::make_shared<ReleasedNode>();
  note->node = mine.start;
  const auto next = agent.block == -1 ? enqueued_.find(agent.pe) : enqueued_.end();
  if (next != enqueued_.end()) {
    note->ordinal = next->second.ordinal;
    note->verb = next->second.verb;
    note->line = next->second.site.line;
    enqueued_.erase(next);
  }
  return note;
}

void OrderGraph::acquire(Agent& agent, const std::shared_ptr<const fiber::Note>& note) {
  if (note == nullptr) return;
  AgentOrder& mine = order_of(agent);
  const auto& released = static_cast<const ReleasedNode&>(*note);
  if (agent.queue >= 0 && released.line == agent.step.site.line &&
      released.verb == agent.step.verb && released.ordinal >= 0)
    mine.ordinal = released.ordinal;
  const bool after = agent.state == Agent::State::running && agent.step.verb == Verb::after;
  meet(mine, -1);
  const Label acquires = after ? label(agent, Part::acquires) : -1;
  mine.start = node({{mine.start, -1}, {released.node, acquires, mine.start}});
  mine.gathered = node({{mine.gathered, -1}, {mine.start, -1}});
}

void OrderGraph::waited(Agent& agent, fiber::Word& word, std::uint64_t value, int shift, bool) {
  if (word.note == nullptr || (word.counts && value == 0)) return;  // packets prove themselves
  AgentOrder& mine = order_of(agent);
  const Label acquires = label(agent, Part::acquires);
  std::vector<Edge> in{{mine.start, -1}};
  for (const Node signal : counted(static_cast<WordNodes&>(*word.note), value, shift))
    in.push_back({signal, acquires, mine.start});
  mine.pending.push_back(node(in));
  goes_on(agent);
}

// Each fence and quiet has all transfers before it, also those that an earlier one has: that one
// may be taken out of the graph.
void OrderGraph::fenced(Agent& agent, int pe) {
  AgentOrder& mine = order_of(agent);
  const Label fences = label(agent, Part::fences);
  const auto before = mine.fence.find(pe);
  const Node known = before == mine.fence.end() ? -1 : before->second;
  std::vector<Edge> in{{known, -1}};
  for (const AgentOrder::Issued& one : mine.transfers) {
    if (one.to_pe != pe) continue;
    for (const Node access : {one.read, one.write})
      in.push_back({access, fences, known, mine.start});
  }
  mine.fence[pe] = node(in);
}

void OrderGraph::completed(Agent& agent) {
  AgentOrder& mine = order_of(agent);
  const bool running = agent.state == Agent::State::running && is_block(agent);
  const Label completes = running ? label(agent, Part::completes) : -1;
  std::vector<Edge> in{{mine.start, -1}};
  for (const AgentOrder::Issued& one : mine.transfers)
    in.insert(in.end(), {{one.read, completes, mine.start}, {one.write, completes, mine.start}});
  mine.pending.push_back(node(in));
  goes_on(agent);
}

}  // namespace sym::check
