#include "backends/check/mutants_of.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace sym::check {

using fiber::Change;
using fiber::Verb;

namespace {

struct Operator {
  const char* group;
  Change change;
  const char* words;
};

constexpr Operator other_slot{"slot", Change::other_slot, "on the next slot"};
constexpr Operator other_pe{"peer", Change::other_pe, "for the next PE"};
constexpr Operator fewer{"peer", Change::other_pe, "for another PE, or all members but the last"};

// What may be wrong with one call of a verb.
std::vector<Operator> operators_of(Verb verb) {
  switch (verb) {
    case Verb::fence:
      return {{"fence", Change::drop, "dropped"}, other_pe};
    case Verb::quiet:
      return {{"quiet", Change::drop, "dropped"}};
    case Verb::sync:
      return {{"sync", Change::drop, "dropped"}};
    case Verb::signal:
      return {{"signal", Change::drop, "dropped"}, other_slot, fewer};
    case Verb::wait_until:
      return {{"wait", Change::drop, "dropped"},
              {"epoch", Change::previous, "for the value before"},
              other_slot,
              fewer};
    case Verb::put_signal:
      return {{"signal", Change::drop, "without its signal"},
              {"fence", Change::split, "as a put and an unfenced signal"},
              {"fence", Change::signal_first, "with the signal first"},
              other_slot,
              other_pe};
    case Verb::put:
    case Verb::put_value:
      return {other_pe};
    case Verb::put_packets:
      return {{"signal", Change::drop, "dropped"}, other_slot};
    case Verb::reduce_packets:
    case Verb::receive_packets:
      return {{"wait", Change::drop, "dropped"},
              {"epoch", Change::previous, "of the message before"},
              other_slot};
    case Verb::enter:
    case Verb::leave:
      return {{"channel", Change::drop, "dropped"}};
    case Verb::post:
      return {{"signal", Change::drop, "dropped"}, other_slot, other_pe};
    case Verb::take:
      return {{"wait", Change::drop, "dropped"},
              {"wait", Change::late, "after the operation that it guards"},
              other_slot,
              other_pe};
    case Verb::after:
      return {{"wait", Change::drop, "dropped"}};
    default:
      return {};
  }
}

// Places with a quiet, a signal and a wait: what barrier() is made of.
std::vector<std::vector<Op>> barriers(const std::vector<Op>& ops) {
  std::vector<std::vector<Op>> all;
  for (const Op& quiet : ops) {
    if (quiet.verb != Verb::quiet) continue;
    std::vector<Op> parts;
    for (const Op& op : ops) {
      const bool part =
          op.verb == Verb::quiet || op.verb == Verb::signal || op.verb == Verb::wait_until;
      if (part && op.file == quiet.file && op.line == quiet.line) parts.push_back(op);
    }
    if (parts.size() == 3) all.push_back(parts);
  }
  return all;
}

NamedMutant of_all(const char* group, const char* words, Change change,
                   const std::vector<Op>& ops) {
  NamedMutant mutant{group, words, ops.front(), {}};
  for (const Op& op : ops) mutant.alterations.push_back({op, change});
  return mutant;
}

// Changes that only make sense for all users of a table at once. Barriers have a table of their
// own, and so have packets.
void add_shared(std::vector<NamedMutant>& all, const std::vector<Op>& ops) {
  std::vector<Op> in_barriers, steps, packets;
  for (const std::vector<Op>& barrier : barriers(ops)) {
    for (const Op& op : barrier) {
      if (op.verb != Verb::quiet) in_barriers.push_back(op);
    }
  }
  for (const Op& op : ops) {
    const bool signals =
        op.verb == Verb::signal || op.verb == Verb::wait_until || op.verb == Verb::put_signal;
    if (signals && std::find(in_barriers.begin(), in_barriers.end(), op) == in_barriers.end())
      steps.push_back(op);
    const bool taken = op.verb == Verb::reduce_packets || op.verb == Verb::receive_packets;
    if (op.verb == Verb::put_packets || taken) packets.push_back(op);
  }
  const char* const shared = "and its like: one slot for all blocks";
  for (const std::vector<Op>* table : {&in_barriers, &steps, &packets}) {
    if (!table->empty()) all.push_back(of_all("slot", shared, Change::first_slot, *table));
  }
  if (!packets.empty()) {
    all.push_back(of_all("rotation", "and its like: one buffer in place of two", Change::one_buffer,
                         packets));
  }
}

}  // namespace

std::vector<NamedMutant> mutants_of(const Survey& survey) {
  const std::vector<Op> ops = survey.ops();
  std::vector<NamedMutant> all;
  for (const Op& op : ops) {
    for (const Operator& one : operators_of(op.verb))
      all.push_back({one.group, one.words, op, {{op, one.change}}});
  }
  for (const Op& op : survey.acquiring_ops()) {
    if (op.verb == Verb::wait_until || op.verb == Verb::test)
      all.push_back({"wait", "acquires nothing", op, {{op, Change::no_acquire}}});
  }
  for (const Op& op : survey.synced_ops()) {
    if (op.verb != Verb::sync)
      all.push_back({"inner sync", "without the sync in it", op, {{op, Change::no_sync}}});
  }
  for (const std::vector<Op>& barrier : barriers(ops)) {
    all.push_back(of_all("barrier", "and the rest of the barrier: dropped", Change::drop, barrier));
    std::vector<Op> meeting;
    std::copy_if(barrier.begin(), barrier.end(), std::back_inserter(meeting),
                 [](const Op& op) { return op.verb != Verb::quiet; });
    all.push_back(of_all("barrier", "and the barrier's wait: dropped, its quiet stays",
                         Change::drop, meeting));
  }
  add_shared(all, ops);
  std::stable_sort(all.begin(), all.end(), [](const NamedMutant& a, const NamedMutant& b) {
    return std::tie(a.op.file, a.op.line, a.op.ordinal) <
           std::tie(b.op.file, b.op.line, b.op.ordinal);
  });
  return all;
}

}  // namespace sym::check
