#include "backends/check/race_detector.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/check/race_notes.hpp"

namespace sym::check {

namespace {

// The two accesses of a payload transfer.
struct AccessPair {
  Access read, write;
};

// `write` is a transfer's, and `earlier` an access of the same bytes before it, the last writer
// first: see Access::last_round.
void look_back(Access& write, const Access& earlier, bool ordered) {
  const bool same_op = earlier.write && earlier.order != 0 && earlier.pe == write.pe &&
                       earlier.block == write.block && earlier.site.line == write.site.line &&
                       std::string_view(earlier.site.file) == write.site.file;
  if (same_op) {
    write.last_round = {earlier.agent, earlier.order, earlier.pe_order};
  } else if (ordered && earlier.agent != write.agent) {
    write.last_round = {};
  }
}

// Kept with a payload transfer: what happens before it.
struct TransferNote : fiber::Note {
  std::shared_ptr<const Clock> clock;
  std::uint64_t tick = 0;
  std::uint64_t lane_epoch = 0;
  std::uint64_t fenced = 0;
  // Of a block whose lanes are parted: what each lane knows of its own part.
  std::shared_ptr<const Clock> lane_clock;
  std::uint64_t lane_fenced = 0;
  LetterRef answer;  // of packets: the receiver's last message
  std::shared_ptr<AccessPair> pair;
};

// Whether a fence puts the delivery of `later` behind that of `earlier`, of the same issuer. That
// says nothing of the source of `later`, which may be read before.
bool delivered_before(const Access& earlier, const Access& later, std::uint64_t fenced) {
  return earlier.to_pe == later.to_pe && earlier.to_pe >= 0 && earlier.pe_order <= fenced;
}

}  // namespace

bool known(const Access& x, const Clock& clock) {
  if (x.order == 0) return x.tick <= clock.tick(x.agent);
  if (x.order <= clock.quiet(x.agent)) return true;
  if (x.to_pe < 0) return false;
  const Completed* completed = clock.completed(x.agent, x.to_pe);
  return completed != nullptr && completed->covers(x.pe_order);
}

bool lane_by_lane(const Access& a, const Access& b) {
  return a.bytes.begin == b.bytes.begin && a.bytes.size == b.bytes.size &&
         a.bytes.element == b.bytes.element && a.piece == b.piece;
}

Access describe(const fiber::Agent& agent, const fiber::Bytes& bytes, bool write) {
  Access access;
  access.agent = id_of(agent);
  access.piece = agent.piece;
  access.write = write;
  access.bytes = bytes;
  access.verb = agent.step.verb;
  access.site = agent.step.site;
  access.pe = agent.pe;
  access.block = agent.block;
  access.queue = agent.queue;
  access.stream = agent.stream;
  access.launch = agent.launch;
  access.launch_name = agent.launch_name;
  return access;
}

// Blocks of one index are neighbours: algorithms are mostly between these, and clocks that know of
// them then have few chunks.
AgentId RaceDetector::number(const fiber::Agent& agent) {
  const auto pes = static_cast<std::size_t>(engine_->pes());
  const std::tuple of_pe(agent.pe, agent.stream, agent.block);
  const std::tuple of_all(agent.pe < 0, agent.stream, agent.block, made_[of_pe]++);
  const std::size_t group = groups_.try_emplace(of_all, groups_.size()).first->second;
  return static_cast<AgentId>(group * pes + static_cast<std::size_t>(std::max(agent.pe, 0)));
}

void RaceDetector::agent_made(fiber::Agent& agent) {
  auto note_made = std::make_unique<AgentNote>();
  note_made->id = number(agent);
  agent.note = std::move(note_made);
  const fiber::Mutation* mutation = engine_->mutation();
  parts_lanes_ = mutation != nullptr && mutation->parts_lanes();
}

void RaceDetector::synced(fiber::Agent& agent) {
  AgentNote& mine = note_of(agent);
  ++mine.lane_epoch;
  if (parts_lanes_) mine.meet(agent);
}

void RaceDetector::parted(fiber::Agent& agent) { note_of(agent).parted = parts_lanes_; }

void RaceDetector::access(fiber::Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) {
  auto access = std::make_shared<Access>(describe(agent, bytes, write));
  access->atomic = atomic;
  AgentNote& mine = note_of(agent);
  if (atomic) mine.calls.add(agent, Call::Kind::flag, bytes.pe, bytes);
  if (atomic || access->verb == fiber::Verb::read)
    mine.looked = {bytes.pe, bytes.space, bytes.begin};
  record(agent, access);
}

// From its receipt on, a message is memory of its receiver. The word's taker has just taken it. One
// of no elements touches nothing, and answers all the same.
void RaceDetector::received(fiber::Agent& agent, const fiber::Bytes& bytes,
                            const fiber::Word& word) {
  const std::uint64_t epoch = epoch_of(word.history.taker.value << tag_bits);
  letters_.received(word.history.id, epoch);
  if (bytes.size == 0) return;
  auto access = std::make_shared<Access>(describe(agent, bytes, true));
  access->message = &word;
  access->message_epoch = epoch;
  record(agent, access);
}

void RaceDetector::record(fiber::Agent& agent, const std::shared_ptr<Access>& access) {
  ++accesses_;
  AgentNote& mine = note_of(agent);
  mine.move_on();
  const fiber::Bytes& bytes = access->bytes;
  access->tick = mine.tick;
  access->lane_epoch = mine.lane_epoch;
  if (!access->write && bytes.space == fiber::Bytes::scratch_space) check_written(agent, *access);
  touch_words(*access, toucher_of(agent));
  const auto ordered = [&](const Access& earlier) {
    if (earlier.agent == id_of(agent) && earlier.order == 0) {
      return earlier.lane_epoch < mine.lane_epoch || lane_by_lane(earlier, *access);
    }
    if (!mine.parted) return known(earlier, mine.clock);
    const bool own_part = earlier.agent == id_of(agent) && lane_by_lane(earlier, *access);
    return known(earlier, own_part ? mine.clock : *mine.at_sync.clock);
  };
  shadow_.record(bytes, access, ordered, [&](const Access& earlier) {
    if (ordered(earlier)) return;
    if (earlier.agent == id_of(agent) && earlier.order == 0 && !pieces_apart(earlier, *access)) {
      report_missing_sync(earlier, *access);
    } else {
      report_race(earlier, *access, bytes);
    }
  });
}

void RaceDetector::control(fiber::Agent& agent, const fiber::Bytes& bytes, bool write) {
  if (agent.block >= 0 && agent.queue < 0) RaceDetector::access(agent, bytes, write, false);
}

void RaceDetector::issued(fiber::Transfer& transfer) {
  fiber::Agent& agent = *transfer.issuer;
  AgentNote& mine = note_of(agent);
  const auto to_pe = agent.to_pe.find(transfer.target());
  std::uint64_t fenced = to_pe == agent.to_pe.end() ? 0 : to_pe->second.fenced;
  const auto fence = mine.fenced.find(transfer.target());
  // Nobody need hear of a fence when a quiet has completed all that it orders.
  if (fence == mine.fenced.end() || fence->second <= mine.clock.quiet(id_of(agent))) fenced = 0;
  if (transfer.kind == fiber::Transfer::Kind::signal) {
    issued_signal(transfer, fenced);
    return;
  }
  if (transfer.kind == fiber::Transfer::Kind::value)
    mine.calls.add(agent, Call::Kind::flag, transfer.dst.pe, transfer.dst);
  auto note = std::make_shared<TransferNote>();
  note->clock = mine.snapshot(pool_);
  note->tick = mine.release();  // what the agent accesses from here on is not before the transfer
  note->lane_epoch = mine.lane_epoch;
  const bool ordered = transfer.kind != fiber::Transfer::Kind::get && !transfer.packet;
  note->fenced = ordered ? fenced : 0;
  if (mine.parted) {
    note->lane_clock = std::exchange(note->clock, mine.at_sync.clock);
    note->lane_fenced = note->fenced;
    note->fenced = std::min(fenced, mine.at_sync.fenced_to(transfer.target()));
  }
  auto pair = std::make_shared<AccessPair>();
  Access& access = pair->read;
  access = describe(agent, transfer.src, false);
  access.tick = note->tick;
  access.lane_epoch = mine.lane_epoch;
  access.order = transfer.order;
  if (ordered) {
    access.to_pe = transfer.target();
    access.pe_order = transfer.pe_order;
  }
  pair->write = access;
  pair->write.write = true;
  pair->write.bytes = transfer.dst;
  note->pair = std::move(pair);
  transfer.note = note;
  if (transfer.packet) issued_packet(transfer);
}

void RaceDetector::issued_packet(fiber::Transfer& transfer) {
  auto& note = static_cast<TransferNote&>(*transfer.note);
  const fiber::Transfer& flag = *transfer.follower;
  Access& write = note.pair->write;
  write.message = flag.word;
  const fiber::Agent& sender = *transfer.issuer;
  note_of(sender).calls.add(sender, Call::Kind::packets, transfer.dst.pe);
  write.message_epoch = epoch_of(flag.amount);
  note.answer = letters_.answer(flag.word_id);
  const auto& clock = note.lane_clock != nullptr ? note.lane_clock : note.clock;
  letters_.sent(flag.word_id, std::make_shared<const Letter>(
                                  Letter{write.message_epoch, write.agent, note.tick, clock}));
}

void RaceDetector::issued_signal(fiber::Transfer& transfer, std::uint64_t fenced) {
  const fiber::Agent& agent = *transfer.issuer;
  AgentNote& mine = note_of(agent);
  mine.calls.add(agent, Call::Kind::signal, transfer.target());
  auto note = std::make_shared<ReleaseNote>();
  note->clock = mine.snapshot(pool_);
  note->agent = id_of(agent);
  note->tick = mine.release();
  if (mine.parted) {
    note->clock = mine.at_sync.clock;
    note->tick = mine.at_sync.tick;
    fenced = std::min(fenced, mine.at_sync.fenced_to(transfer.target()));
  }
  note->to_pe = transfer.target();
  note->fenced = fenced;
  note->payload = transfer.payload != nullptr ? transfer.payload->pe_order : 0;
  note->pe_order = transfer.pe_order;
  note->order = transfer.order;
  note->amount = transfer.amount;
  note->sets = transfer.sets;
  note->site = transfer.step.site;
  note->pe = agent.pe;
  note->launch = agent.launch;
  note->verb = transfer.step.verb;
  note->by = &agent;
  note->launch_name = agent.launch_name;
  transfer.note = note;
  Counted& counted = counted_of(*transfer.word, transfer.word->value());
  if (transfer.step.verb == fiber::Verb::post) check_post(agent, transfer, counted);
  look_again_ |= counted.issued(note, foresight_);
}

Toucher RaceDetector::toucher_of(const fiber::Transfer& transfer, bool write) {
  const auto& note = static_cast<const TransferNote&>(*transfer.note);
  return {id_of(*transfer.issuer), *note.clock, note.tick, note.pair->write.to_pe,
          write ? note.fenced : 0};  // a fence says nothing of sources
}

void RaceDetector::transfer_access(fiber::Transfer& transfer, const fiber::Bytes& bytes,
                                   bool write) {
  ++accesses_;
  const auto& note = static_cast<const TransferNote&>(*transfer.note);
  const AccessRef access(note.pair, write ? &note.pair->write : &note.pair->read);
  const int issuer = id_of(*transfer.issuer);
  const auto ordered = [&](const Access& earlier) {
    const bool answered = write && note.answer != nullptr && earlier.message == access->message;
    if (answered && note.answer->sent_after(earlier)) return true;
    if (earlier.agent != issuer) return known(earlier, *note.clock);
    if (earlier.order == 0) {  // program order, lane by lane
      return earlier.tick <= note.tick &&
             (earlier.lane_epoch < note.lane_epoch || lane_by_lane(earlier, *access));
    }
    if (earlier.order == transfer.order) return true;  // another piece of this transfer
    const bool own_part = note.lane_clock != nullptr && lane_by_lane(earlier, *access);
    const std::uint64_t fenced = own_part ? note.lane_fenced : note.fenced;
    return known(earlier, own_part ? *note.lane_clock : *note.clock) ||
           (write && delivered_before(earlier, *access, fenced));
  };
  shadow_.record(bytes, access, ordered, [&](const Access& earlier) {
    const bool is_ordered = ordered(earlier);
    const bool other_piece = earlier.agent == issuer && earlier.order == transfer.order;
    if (write && !other_piece) look_back(note.pair->write, earlier, is_ordered);
    if (is_ordered) return;
    const bool own_lanes = earlier.agent == issuer && earlier.order == 0 &&
                           earlier.tick <= note.tick && earlier.lane_epoch == note.lane_epoch &&
                           !pieces_apart(earlier, *access);
    if (own_lanes) {
      report_missing_sync(earlier, *access);
    } else {
      report_race(earlier, *access, bytes);
    }
  });
  touch_words(*access, toucher_of(transfer, write));
}

void RaceDetector::source_read(fiber::Transfer& transfer, const fiber::Bytes& bytes) {
  transfer_access(transfer, bytes, false);
}

void RaceDetector::destination_written(fiber::Transfer& transfer, const fiber::Bytes& bytes) {
  transfer_access(transfer, bytes, true);
}

std::shared_ptr<const fiber::Note> RaceDetector::release(fiber::Agent& agent) {
  AgentNote& mine = note_of(agent);
  mine.parted = false;  // a block that ends waits for all of its lanes
  auto note = std::make_shared<ReleaseNote>();
  note->clock = mine.snapshot(pool_);
  note->agent = id_of(agent);
  note->tick = mine.release();
  return note;
}

void RaceDetector::acquire(fiber::Agent& agent, const std::shared_ptr<const fiber::Note>& note) {
  if (note == nullptr) return;
  AgentNote& mine = note_of(agent);
  mine.move_on();
  take(mine.clock, static_cast<const ReleaseNote&>(*note));
  mine.shared = nullptr;
}

void RaceDetector::waited(fiber::Agent& agent, fiber::Word& word, std::uint64_t value, int shift,
                          bool consume) {
  AgentNote& mine = note_of(agent);
  mine.move_on();
  const fiber::WordId& id = word.history.id;
  mine.looked = {id.pe, id.space, id.index * sizeof(std::uint64_t)};
  const Counted::Wait wait{id_of(agent), ++mine.waits, mine.tick, value, shift, consume};
  if (word.note == nullptr || (word.counts && value == 0)) return;  // packets prove themselves
  Counted::Taken taken = static_cast<Counted&>(*word.note).waited(mine.clock, wait, foresight_);
  mine.shared = nullptr;
  if (!taken.unknown.empty() || taken.nothing_new) {
    mine.weak = {agent.step.verb, agent.step.site, value, std::move(taken.unknown),
                 taken.nothing_new};
  } else {
    mine.weak = {};
  }
}

void RaceDetector::fenced(fiber::Agent& agent, int pe) {
  AgentNote& mine = note_of(agent);
  mine.fenced[pe] = agent.issued;
  mine.calls.add(agent, Call::Kind::fence, pe);
}

void RaceDetector::completed(fiber::Agent& agent) {
  AgentNote& mine = note_of(agent);
  mine.calls.add(agent, Call::Kind::quiet, -1);
  if (mine.clock.quiet(id_of(agent)) == agent.issued) return;
  mine.move_on();
  mine.clock.set_quiet(id_of(agent), agent.issued);
  mine.clock.forget_transfers(id_of(agent));
  mine.shared = nullptr;
}

// Whatever was is ordered before whatever comes, so nothing of it can race any more.
void RaceDetector::settled() {
  most_bytes_ = std::max(most_bytes_, bytes());
  shadow_.clear();
  letters_.clear();
  std::fill(data_.begin(), data_.end(), 0);
  for (Counted* counted : counted_) counted->settle();
}

}  // namespace sym::check
