// What the race detector makes findings of, and what it holds.
#include <algorithm>
#include <utility>

#include "backends/check/race_detector.hpp"
#include "backends/check/race_notes.hpp"

namespace sym::check {

// A flag holds one post: the one before must have been taken, and this queue must know.
void RaceDetector::check_post(const fiber::Agent& agent, const fiber::Transfer& transfer,
                              const Counted& counted) {
  const Item* last = counted.last();
  if (last == nullptr) return;
  const bool taken = last->taker >= 0 && (last->taker == id_of(agent) ||
                                          note_of(agent).clock.tick(last->taker) >= last->taken);
  if (taken || !is_new("post", last->signal->site, transfer.step.site)) return;
  const std::string why =
      last->taker < 0 ? "the post before it may still be there, and two posts leave one flag"
                      : "the post before it has been taken, but nothing says so to this queue";
  const std::string fix = "let the taker post a flag back, and take that before posting again";
  fiber::Finding finding;
  finding.kind = "post";
  finding.text = "POST the flag of slot " + std::to_string(transfer.word_id.slot) + " at PE " +
                 std::to_string(transfer.word_id.pe) + " has not been taken\n  at     " +
                 engine_->describe(agent) + "\n  why    " + why + "\n  fix    " + fix;
  finding.why = why;
  finding.fix = fix;
  finding.places = {{"post", agent.pe, -1, agent.queue, agent.launch, agent.launch_name,
                     transfer.step.verb, transfer.step.site},
                    {"post", last->signal->pe, -1, agent.queue, last->signal->launch, "",
                     transfer.step.verb, last->signal->site}};
  engine_->report(std::move(finding));
}

void RaceDetector::check_written(const fiber::Agent& agent, const Access& access) {
  if (shadow_.written(access.bytes, agent.launch)) return;
  if (!is_new("uninitialised", access.site, access.site)) return;
  const std::string why = "scratch holds nothing defined when a launch begins";
  const std::string fix = "write every element before it is read";
  fiber::Finding finding;
  finding.kind = "uninitialised-read";
  const std::size_t begin = access.bytes.begin % fiber::Bytes::scratch_stride;
  finding.text = "UNINITIALISED READ  " + std::string(to_string(access.verb)) +
                 " of scratch bytes [" + std::to_string(begin) + ", " +
                 std::to_string(begin + access.bytes.size) +
                 "), of which this block has written none or a part in this launch\n  at     " +
                 engine_->describe(agent) + "\n  why    " + why + "\n  fix    " + fix;
  finding.why = why;
  finding.fix = fix;
  finding.places = {place_of(access, "read")};
  engine_->report(std::move(finding));
}

bool RaceDetector::is_new(const char* kind, const Site& earlier, const Site& later) {
  const auto text = [](const Site& site) { return " " + (site.file + std::to_string(site.line)); };
  std::string one = text(earlier);
  std::string other = text(later);
  if (other < one) std::swap(one, other);  // either may come first
  return reported_.insert(kind + one + other).second;
}

void RaceDetector::report_race(const Access& earlier, const Access& later,
                               const fiber::Bytes& bytes) {
  if (!is_new("race", earlier.site, later.site)) return;
  if (later.verb == fiber::Verb::enter) {
    engine_->report(busy_finding(earlier, later));
    return;
  }
  const AgentNote& by = note_of(agent_of(later));
  const bool under_way = earlier.order != 0 && earlier.queue < 0;
  engine_->report(race_finding(earlier, later, memory_of(bytes), by.weak, lapped(earlier, later),
                               under_way ? behind_of(earlier, later) : Behind{}));
}

std::string RaceDetector::memory_of(const fiber::Bytes& bytes) const {
  std::string name = engine_->memory().name(bytes.space);
  std::size_t begin = bytes.begin;
  if (bytes.space == fiber::Bytes::scratch_space) begin %= fiber::Bytes::scratch_stride;
  if (bytes.space == fiber::Bytes::local_space) {
    const auto place = engine_->memory().local_place(bytes.pe, bytes.begin);
    // The program's own memory has no number; nor has any in a run without data.
    if (place.first < 0) return name + " of PE " + std::to_string(bytes.pe);
    name = "local array #" + std::to_string(place.first);
    begin = place.second;
  }
  return name + " of PE " + std::to_string(bytes.pe) + " bytes [" + std::to_string(begin) + ", " +
         std::to_string(begin + bytes.size) + ")";
}

Behind RaceDetector::behind_of(const Access& transfer, const Access& other) const {
  const fiber::Agent& issuer = agent_of(transfer);
  Behind found =
      behind(transfer, other, note_of(issuer).calls, issuer, note_of(agent_of(other)).looked);
  for (const auto& agent : engine_->agents()) {
    const bool block = agent->pe == issuer.pe && agent.get() != &issuer && agent->block >= 0 &&
                       agent->queue < 0 && agent->note != nullptr;
    if (!block || !found.other.empty()) continue;
    const AgentNote& note = note_of(*agent);
    // One that has heard of the transfer, if not that it is complete.
    const bool calls = std::any_of(note.calls.all().begin(), note.calls.all().end(),
                                   [](const Call& call) { return call.kind == Call::Kind::quiet; });
    if (!calls || note.clock.tick(transfer.agent) < transfer.tick) continue;
    found.other = "block " + std::to_string(agent->block) + " of PE " + std::to_string(agent->pe);
    found.other_stream = agent->stream;
  }
  return found;
}

const fiber::Agent& RaceDetector::agent_of(const Access& access) const {
  const auto& agents = engine_->agents();
  return **std::find_if(agents.begin(), agents.end(),
                        [&](const auto& agent) { return id_of(*agent) == access.agent; });
}

// Whether one of the two is a transfer of a later round than the other one's block has waited for.
bool RaceDetector::lapped(const Access& earlier, const Access& later) const {
  if (earlier.block < 0 || later.block < 0) return false;  // hosts and queues count no rounds
  if (earlier.write && later.write && earlier.order != 0 && later.order != 0) return false;
  const bool first = earlier.last_round.agent >= 0;
  if (!first && later.last_round.agent < 0) return false;
  Access round = first ? earlier : later;
  round.agent = round.last_round.agent;
  round.order = round.last_round.order;
  round.pe_order = round.last_round.pe_order;
  return known(round, note_of(agent_of(first ? later : earlier)).clock);
}

void RaceDetector::report_missing_sync(const Access& earlier, const Access& later) {
  if (is_new("sync", earlier.site, later.site))
    engine_->report(missing_sync_finding(earlier, later));
}

std::size_t RaceDetector::bytes() const {
  constexpr std::size_t cell = sizeof(Access) + 160;  // with its part of a tree
  std::size_t all = shadow_.ranges() * cell + pool_.bytes() + letters_.bytes();
  for (const Counted* counted : counted_) all += counted->bytes();
  for (const auto& agent : engine_->agents()) {
    if (agent->note == nullptr) continue;  // nobody looks on
    const Clock& clock = note_of(*agent).clock;
    all += sizeof(AgentNote) + clock.chunks().size() * sizeof(Clock::ChunkRef) +
           clock.entries().size() * sizeof(Clock::Entry);
  }
  return all;
}

}  // namespace sym::check
