// Which mutants a program has: each change that makes sense for each of its synchronisations.
#pragma once

#include <string>
#include <vector>

#include "backends/check/mutant.hpp"

namespace sym::check {

struct NamedMutant {
  // What kind of synchronisation is amiss: fence, quiet, sync, wait, epoch, slot, peer, barrier,
  // rotation, channel, or signal (dropped: a hang is what it should cause). A wait whose edge only
  // orders writes after others' accesses is a credit; which are is for a run to find out. The sync
  // that a verb contains is no program's to leave out: "inner sync" shows which verbs could do
  // without.
  std::string group;
  std::string change;  // in words, after the op's name: "dropped", "for the next PE"
  Op op;               // where; of several, the first
  std::vector<Alteration> alterations;
  std::string text() const { return op.text() + " " + change; }
};

// In the order of files and lines.
std::vector<NamedMutant> mutants_of(const Survey& survey);

}  // namespace sym::check
