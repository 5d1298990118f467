#include "backends/check/mutant.hpp"

#include <algorithm>

namespace sym::check {

using fiber::Change;
using fiber::Verb;

std::string Op::text() const {
  return file + (line > 0 ? ":" + std::to_string(line) : "") + " " + to_string(verb) +
         (ordinal >= 0 ? " #" + std::to_string(ordinal) : "");
}

bool has_ordinal(Verb verb) {
  return verb == Verb::post || verb == Verb::take || verb == Verb::after || verb == Verb::host;
}

// --- survey --------------------------------------------------------------------------------------

Change Survey::at(Verb verb, Site site, int pe, int) {
  ++counts_[static_cast<std::size_t>(pe)][key(verb, site)];
  return Change::none;
}

bool Survey::hides(Verb verb, Site site, Change edge) {
  (edge == Change::no_sync ? synced_ : acquired_).insert(key(verb, site));
  return false;
}

std::uint64_t Survey::period(Verb verb, Site site, int pe) const {
  const auto& counts = counts_[static_cast<std::size_t>(pe)];
  const auto found = counts.find(key(verb, site));
  if (found == counts.end()) return 0;
  const auto iterations = static_cast<std::uint64_t>(iterations_);
  return found->second % iterations == 0 ? found->second / iterations : 0;
}

std::vector<Op> Survey::ops() const {
  std::map<Key, std::uint64_t> most;  // in one iteration
  for (std::size_t pe = 0; pe < counts_.size(); ++pe) {
    for (const auto& [key, count] : counts_[pe]) {
      const auto& [file, line, verb] = key;
      const std::uint64_t own = period(verb, Site{file.c_str(), line}, static_cast<int>(pe));
      most[key] = std::max(most[key], own == 0 ? count : own);
    }
  }
  std::vector<Op> all;
  for (const auto& [key, times] : most) {
    const auto& [file, line, verb] = key;
    if (!has_ordinal(verb)) {
      all.push_back({file, line, verb});
      continue;
    }
    for (std::uint64_t i = 0; i < times; ++i)
      all.push_back({file, line, verb, static_cast<int>(i)});
  }
  return all;
}

namespace {
std::vector<Op> as_ops(const std::set<std::tuple<std::string, int, Verb>>& keys) {
  std::vector<Op> all;
  for (const auto& [file, line, verb] : keys) all.push_back({file, line, verb});
  return all;
}
}  // namespace

std::vector<Op> Survey::synced_ops() const { return as_ops(synced_); }
std::vector<Op> Survey::acquiring_ops() const { return as_ops(acquired_); }

// --- mutant --------------------------------------------------------------------------------------

namespace {
bool is_at(const Op& op, Verb verb, Site site) {
  return op.line == site.line && op.verb == verb && op.file == fiber::in_tree(site.file);
}
}  // namespace

int Mutant::ordinal_of(Verb verb, Site site, int pe) {
  const std::uint64_t call = calls_[{site.file, site.line, verb, pe}]++;
  const std::uint64_t period = survey_ == nullptr ? 0 : survey_->period(verb, site, pe);
  return static_cast<int>(period == 0 ? call : call % period);
}

Change Mutant::at(Verb verb, Site site, int pe, int block) {
  const int ordinal = has_ordinal(verb) ? ordinal_of(verb, site, pe) : -1;
  for (const Alteration& one : alterations_) {
    if (!is_at(one.op, verb, site) || (one.op.ordinal >= 0 && one.op.ordinal != ordinal)) continue;
    if (one.change == Change::no_sync || one.change == Change::no_acquire) continue;
    // What every trial leaves out of the host program, and row 0 for block 0, make no mutant.
    const bool same = verb == Verb::host || (one.change == Change::first_slot && block == 0);
    if (!same) ++changed_;
    return one.change;
  }
  return Change::none;
}

bool Mutant::hides(Verb verb, Site site, Change edge) {
  const bool hidden = std::any_of(
      alterations_.begin(), alterations_.end(),
      [&](const Alteration& one) { return one.change == edge && is_at(one.op, verb, site); });
  if (hidden) ++changed_;
  return hidden;
}

bool Mutant::parts_lanes() const {
  return std::any_of(alterations_.begin(), alterations_.end(),
                     [](const Alteration& one) { return one.change == Change::no_sync; });
}

}  // namespace sym::check
