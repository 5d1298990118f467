// The race detector's part in words. Signals, waits and tests are atomic among each other, and what
// they order is counted with the word. Whatever else touches the word is an access like any other.
// Few programs do that, so signals and waits are kept out of the shadow, and look into it only
// where something else has touched the same allocation.
#include <algorithm>
#include <limits>

#include "backends/check/race_detector.hpp"
#include "backends/check/race_notes.hpp"

namespace sym::check {

namespace {

fiber::Bytes bytes_of(const fiber::WordId& id) {
  constexpr std::size_t size = sizeof(std::uint64_t);
  fiber::Bytes bytes;
  bytes.pe = id.pe;
  bytes.space = id.space;
  bytes.begin = id.index * size;
  bytes.size = bytes.element = size;
  return bytes;
}

// A signal or a look, as an access to its word. `done` has the verb, the site and the launch.
template <class Done>
Access atomic_access(const fiber::Agent& agent, const fiber::WordId& id, const Done& done,
                     bool write) {
  Access access = describe(agent, bytes_of(id), write);
  access.atomic = access.of_word = true;
  access.tick = done.tick;
  access.verb = done.verb;
  access.site = done.site;
  access.launch = done.launch;
  access.launch_name = done.launch_name;
  return access;
}

Access access_of(const ReleaseNote& signal, const fiber::WordId& id) {
  Access access = atomic_access(*signal.by, id, signal, true);
  access.order = signal.order;
  access.to_pe = signal.to_pe;
  access.pe_order = signal.pe_order;
  return access;
}

}  // namespace

Counted& RaceDetector::counted_of(fiber::Word& word, std::uint64_t value) {
  if (word.note == nullptr) {
    auto made = std::make_unique<Counted>(value);
    counted_.push_back(made.get());
    word.note = std::move(made);
  }
  return static_cast<Counted&>(*word.note);
}

bool RaceDetector::is_data(int space) const {
  return space >= 0 && static_cast<std::size_t>(space) < data_.size() &&
         data_[static_cast<std::size_t>(space)] != 0;
}

// An access that is no signal and no wait, against those of the words that it touches.
void RaceDetector::touch_words(const Access& access, const Toucher& touch) {
  if (access.bytes.space < 0) return;
  const auto space = static_cast<std::size_t>(access.bytes.space);
  if (space >= data_.size()) data_.resize(space + 1, 0);
  data_[space] = 1;
  if (!engine_->holds_words(access.bytes.space)) return;
  for (const fiber::Word* word : engine_->words_in(access.bytes)) {
    if (word->note == nullptr) continue;
    const fiber::WordId& id = word->history.id;
    const auto& counted = static_cast<const Counted&>(*word->note);
    for (const Signal& signal : counted.not_before(touch, word->pending)) {
      const Access other = access_of(*signal, id);
      if (conflicting(other, access)) report_race(other, access, other.bytes);
    }
    for (const Look& look : counted.looks_not_before(touch)) {
      const Access other = atomic_access(*look.agent, id, look, false);
      if (conflicting(other, access)) report_race(other, access, other.bytes);
    }
  }
}

void RaceDetector::signalled(fiber::Transfer& transfer) {
  const fiber::WordId& id = transfer.word_id;
  if (transfer.note == nullptr || !is_data(id.space)) return;
  const auto& note = static_cast<const ReleaseNote&>(*transfer.note);
  const Access signal = access_of(note, id);
  shadow_.visit(signal.bytes, [&](const Access& earlier) {
    if (!conflicting(earlier, signal)) return;
    if (known(earlier, *note.clock)) return;
    if (earlier.agent == signal.agent) {
      const bool fenced = earlier.order != 0 && earlier.to_pe == signal.to_pe &&
                          (earlier.pe_order <= note.fenced || earlier.pe_order == note.payload);
      if (fenced || (earlier.order == 0 && earlier.tick <= signal.tick)) return;
    }
    report_race(earlier, signal, signal.bytes);
  });
}

void RaceDetector::word_read(fiber::Agent& agent, fiber::Word& word, std::uint64_t, int,
                             bool counted) {
  const fiber::WordId& id = word.history.id;
  const bool data = is_data(id.space);
  AgentNote& mine = note_of(agent);
  mine.move_on();
  const Look now{&agent,          mine.tick,    agent.step.verb,
                 agent.step.site, agent.launch, agent.launch_name};
  if (word.note != nullptr || !counted || data) {  // packets have no note, and prove themselves
    counted_of(word, word.value()).looked(now);
  }
  if (!data) return;
  Access look = atomic_access(agent, id, now, false);
  look.lane_epoch = mine.lane_epoch;
  shadow_.visit(look.bytes, [&](const Access& earlier) {
    if (!conflicting(earlier, look)) return;
    if (earlier.agent != id_of(agent) || earlier.order != 0) {
      if (!known(earlier, mine.clock)) report_race(earlier, look, look.bytes);
    } else if (earlier.lane_epoch >= mine.lane_epoch && !lane_by_lane(earlier, look)) {
      report_missing_sync(earlier, look);
    }
  });
}

void RaceDetector::word_written(fiber::Agent& agent, const fiber::Transfer* transfer,
                                fiber::Word& word, std::uint64_t before, bool added) {
  AgentNote& mine = note_of(agent);
  if (!added) {
    if (word.note == nullptr) return;
    static_cast<Counted&>(*word.note)
        .restart(word.value(),
                 transfer != nullptr ? toucher_of(*transfer, true) : toucher_of(agent));
    return;
  }
  // A number of its own, among transfers that no quiet will ever complete.
  constexpr std::uint64_t beyond = std::uint64_t{1} << 63;
  auto note = std::make_shared<ReleaseNote>();
  note->clock = mine.snapshot(pool_);
  note->agent = id_of(agent);
  note->tick = mine.tick;
  note->to_pe = word.history.id.pe;
  note->order = beyond + ++mine.adds;
  note->pe_order = beyond;
  note->amount = word.value() - before;
  note->releases = false;
  note->verb = agent.step.verb;
  note->site = agent.step.site;
  note->pe = agent.pe;
  note->launch = agent.launch;
  note->by = &agent;
  note->launch_name = agent.launch_name;
  look_again_ |= counted_of(word, before).added(note, mine.tick, foresight_);
}

Toucher RaceDetector::toucher_of(const fiber::Agent& agent) {
  return {id_of(agent), note_of(agent).clock, std::numeric_limits<std::uint64_t>::max()};
}

}  // namespace sym::check
