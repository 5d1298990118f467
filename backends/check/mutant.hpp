// Mutants: a program with one synchronisation dropped or weakened, to measure the checker and to
// find synchronisation that nothing needs. backends/fiber/mutant_block.hpp makes the changes; here
// is where they go.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "backends/fiber/engine.hpp"
#include "backends/fiber/mutation.hpp"

namespace sym::check {

// A verb at a place in the source: one mutant changes it wherever it runs, on all PEs, blocks and
// launches. Operations of queues and hosts are enqueued by programs that derive them from plans, at
// one place for all: `ordinal` tells them apart, the how-manieth that a PE enqueues there in each
// iteration of the program. -1: whichever.
struct Op {
  std::string file;
  int line = 0;
  fiber::Verb verb = fiber::Verb::host;
  int ordinal = -1;
  // The rule takes what it makes of 0 for a pointer.
  friend auto operator<=>(const Op&, const Op&) = default;  // NOLINT(modernize-use-nullptr)
  std::string text() const;                                 // "core/collective/ring.hpp:36 fence"
};

// What a mutation run must know about a program before it can change it: which ops ran, and how
// often. Taken from a run that changes nothing.
class Survey : public fiber::Mutation {
 public:
  // The program is expected to do everything `iterations` times.
  Survey(int pes, int iterations)
      : iterations_(iterations), counts_(static_cast<std::size_t>(pes)) {}

  fiber::Change at(fiber::Verb verb, Site site, int pe, int block) override;
  bool hides(fiber::Verb verb, Site site, fiber::Change edge) override;

  // Ascending; those with ordinals once for each.
  std::vector<Op> ops() const;
  // ... and those that only imply a sync: sum, scan, warps and the like are among them.
  std::vector<Op> synced_ops() const;
  std::vector<Op> acquiring_ops() const;
  // How often a PE does what stands at a place in one iteration; 0: not the same in each.
  std::uint64_t period(fiber::Verb verb, Site site, int pe) const;

 private:
  using Key = std::tuple<std::string, int, fiber::Verb>;
  static Key key(fiber::Verb verb, Site site) {
    return {fiber::in_tree(site.file), site.line, verb};
  }
  int iterations_;
  std::vector<std::map<Key, std::uint64_t>> counts_;  // by PE
  std::set<Key> synced_, acquired_;
};

// Whether ops of this verb are told apart by ordinals.
bool has_ordinal(fiber::Verb verb);

// One change of one op. A mutant may consist of several (a barrier is three).
struct Alteration {
  Op op;
  fiber::Change change = fiber::Change::none;
  // The rule takes what it makes of 0 for a pointer.
  friend auto operator<=>(const Alteration&,
                          const Alteration&) = default;  // NOLINT(modernize-use-nullptr)
};

class Mutant : public fiber::Mutation {
 public:
  // `survey` may be null if no alteration names an ordinal.
  Mutant(const Survey* survey, std::vector<Alteration> alterations)
      : survey_(survey), alterations_(std::move(alterations)) {}

  void begin() override { calls_.clear(); }
  fiber::Change at(fiber::Verb verb, Site site, int pe, int block) override;
  bool hides(fiber::Verb verb, Site site, fiber::Change edge) override;
  bool parts_lanes() const override;
  // How often a call was altered, or an edge left out, beside those of host programs: 0 says that
  // the mutant is the program itself.
  std::uint64_t changed() const { return changed_; }

 private:
  int ordinal_of(fiber::Verb verb, Site site, int pe);

  const Survey* survey_;
  std::vector<Alteration> alterations_;
  std::map<std::tuple<std::string, int, fiber::Verb, int>, std::uint64_t> calls_;
  std::uint64_t changed_ = 0;
};

}  // namespace sym::check
