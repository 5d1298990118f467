#include "backends/check/race_detector.hpp"

#include <sstream>

namespace sym::check {

namespace {

// Kept with an agent. `shared` is a copy that released notes point at: it is made anew only after
// an acquire, because the agent's own tick travels beside it.
struct AgentNote : fiber::Note {
  Clock clock;  // of others, and of own transfers
  std::uint64_t tick = 1;
  std::uint64_t lane_epoch = 1;
  std::shared_ptr<const Clock> shared;

  const std::shared_ptr<const Clock>& snapshot() {
    if (shared == nullptr) shared = std::make_shared<const Clock>(clock);
    return shared;
  }
};

// What a signal, a launch or a barrier carries to whoever acquires it.
struct ReleaseNote : fiber::Note {
  std::shared_ptr<const Clock> clock;
  AgentId agent = 0;
  std::uint64_t tick = 0;
  int to_pe = -1;             // signals: the PE that fences count for
  std::uint64_t fenced = 0;   // ... and how many transfers to it they cover
  std::uint64_t payload = 0;  // put_signal: the pe_order of its own put
};

// Kept with a payload transfer: what happens before it.
struct TransferNote : fiber::Note {
  std::shared_ptr<const Clock> clock;
  std::uint64_t tick = 0;
  std::uint64_t lane_epoch = 0;
  std::uint64_t fenced = 0;
  AccessRef read, write;
};

AgentNote& note_of(fiber::Agent& agent) { return static_cast<AgentNote&>(*agent.note); }

// Whether `x` is complete for somebody whose clock is `clock`, beside what it did itself.
bool known(const Access& x, const Clock& clock) {
  if (x.order == 0) return x.tick <= clock.tick(x.agent);
  if (x.order <= clock.quiet(x.agent)) return true;
  if (x.to_pe < 0) return false;
  const Completed* completed = clock.completed(x.agent, x.to_pe);
  return completed != nullptr && completed->covers(x.pe_order);
}

// Whether one block's lanes do both in program order, each its own part, though no sync lies
// between.
bool lane_by_lane(const Access& a, const Access& b) {
  return a.bytes.begin == b.bytes.begin && a.bytes.size == b.bytes.size &&
         a.bytes.element == b.bytes.element && a.piece == b.piece;
}

std::string where(const Access& access) {
  std::ostringstream text;
  text << (access.write ? "write" : "read ") << "  PE " << access.pe;
  if (access.block >= 0) {
    text << " block " << access.block << "  launch " << access.launch << " (" << access.launch_name
         << ")";
  } else {
    text << " host";
  }
  text << "  " << to_string(access.verb) << (access.order != 0 ? ", in flight" : "");
  if (access.site.line != 0) text << "  " << access.site.file << ":" << access.site.line;
  return text.str();
}

Access describe(const fiber::Agent& agent, const fiber::Bytes& bytes, bool write) {
  Access access;
  access.agent = agent.id;
  access.piece = agent.piece;
  access.write = write;
  access.bytes = bytes;
  access.verb = agent.step.verb;
  access.site = agent.step.site;
  access.pe = agent.pe;
  access.block = agent.block;
  access.launch = agent.launch;
  access.launch_name = agent.launch_name;
  return access;
}

}  // namespace

void RaceDetector::agent_made(fiber::Agent& agent) { agent.note = std::make_unique<AgentNote>(); }

void RaceDetector::synced(fiber::Agent& agent) { ++note_of(agent).lane_epoch; }

void RaceDetector::access(fiber::Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) {
  ++accesses_;
  AgentNote& mine = note_of(agent);
  auto access = std::make_shared<Access>(describe(agent, bytes, write));
  access->tick = mine.tick;
  access->lane_epoch = mine.lane_epoch;
  access->atomic = atomic;
  const auto ordered = [&](const Access& earlier) {
    if (earlier.agent == agent.id && earlier.order == 0) {
      return earlier.lane_epoch < mine.lane_epoch || lane_by_lane(earlier, *access);
    }
    return known(earlier, mine.clock);
  };
  shadow_.record(bytes, access, ordered, [&](const Access& earlier) {
    if (ordered(earlier)) return;
    if (earlier.agent == agent.id && earlier.order == 0 && !pieces_apart(earlier, *access)) {
      report_missing_sync(earlier, *access);
    } else {
      report_race(earlier, *access, bytes);
    }
  });
}

void RaceDetector::issued(fiber::Transfer& transfer) {
  fiber::Agent& agent = *transfer.issuer;
  AgentNote& mine = note_of(agent);
  const auto to_pe = agent.to_pe.find(transfer.target());
  const std::uint64_t fenced = to_pe == agent.to_pe.end() ? 0 : to_pe->second.fenced;
  if (transfer.kind == fiber::Transfer::Kind::signal) {
    auto note = std::make_shared<ReleaseNote>();
    note->clock = mine.snapshot();
    note->agent = agent.id;
    note->tick = mine.tick++;
    note->to_pe = transfer.target();
    note->fenced = fenced;
    note->payload = transfer.payload != nullptr ? transfer.payload->pe_order : 0;
    transfer.note = note;
    return;
  }
  auto note = std::make_shared<TransferNote>();
  note->clock = mine.snapshot();
  note->tick = mine.tick++;  // what the agent accesses from here on is not before the transfer
  note->lane_epoch = mine.lane_epoch;
  const bool ordered = transfer.kind != fiber::Transfer::Kind::get && !transfer.packet;
  note->fenced = ordered ? fenced : 0;
  auto access = describe(agent, transfer.src, false);
  access.tick = note->tick;
  access.lane_epoch = mine.lane_epoch;
  access.order = transfer.order;
  if (ordered) {
    access.to_pe = transfer.target();
    access.pe_order = transfer.pe_order;
  }
  note->read = std::make_shared<const Access>(access);
  access.write = true;
  access.bytes = transfer.dst;
  note->write = std::make_shared<const Access>(access);
  transfer.note = note;
}

void RaceDetector::transfer_access(fiber::Transfer& transfer, const fiber::Bytes& bytes,
                                   bool write) {
  ++accesses_;
  const auto& note = static_cast<const TransferNote&>(*transfer.note);
  const AccessRef& access = write ? note.write : note.read;
  const int issuer = transfer.issuer->id;
  const auto ordered = [&](const Access& earlier) {
    if (earlier.agent != issuer) return known(earlier, *note.clock);
    if (earlier.order == 0) {  // program order, lane by lane
      return earlier.tick <= note.tick &&
             (earlier.lane_epoch < note.lane_epoch || lane_by_lane(earlier, *access));
    }
    if (earlier.order == transfer.order) return true;  // another piece of this transfer
    return known(earlier, *note.clock) || (earlier.to_pe == access->to_pe && earlier.to_pe >= 0 &&
                                           earlier.pe_order <= note.fenced);
  };
  shadow_.record(bytes, access, ordered, [&](const Access& earlier) {
    if (ordered(earlier)) return;
    const bool own_lanes = earlier.agent == issuer && earlier.order == 0 &&
                           earlier.tick <= note.tick && earlier.lane_epoch == note.lane_epoch &&
                           !pieces_apart(earlier, *access);
    if (own_lanes) {
      report_missing_sync(earlier, *access);
    } else {
      report_race(earlier, *access, bytes);
    }
  });
}

void RaceDetector::source_read(fiber::Transfer& transfer, const fiber::Bytes& bytes) {
  transfer_access(transfer, bytes, false);
}

void RaceDetector::destination_written(fiber::Transfer& transfer, const fiber::Bytes& bytes) {
  if (transfer.packet) return;  // the engine has checked that the buffer is free
  transfer_access(transfer, bytes, true);
}

std::shared_ptr<const fiber::Note> RaceDetector::release(fiber::Agent& agent) {
  AgentNote& mine = note_of(agent);
  auto note = std::make_shared<ReleaseNote>();
  note->clock = mine.snapshot();
  note->agent = agent.id;
  note->tick = mine.tick++;
  return note;
}

void RaceDetector::acquire(fiber::Agent& agent, const std::shared_ptr<const fiber::Note>& note) {
  if (note == nullptr) return;
  const auto& released = static_cast<const ReleaseNote&>(*note);
  AgentNote& mine = note_of(agent);
  mine.clock.join(*released.clock);
  mine.clock.set_tick(released.agent, released.tick);
  if (released.to_pe >= 0 && (released.fenced > 0 || released.payload > 0)) {
    Completed& completed = mine.clock.completed_for(released.agent, released.to_pe);
    completed.add_prefix(released.fenced);
    if (released.payload > 0) completed.add(released.payload);
  }
  mine.shared = nullptr;
}

void RaceDetector::fenced(fiber::Agent&, int) {}  // the engine counts what a fence covers

void RaceDetector::completed(fiber::Agent& agent) {
  AgentNote& mine = note_of(agent);
  if (mine.clock.quiet(agent.id) == agent.issued) return;
  mine.clock.set_quiet(agent.id, agent.issued);
  mine.clock.forget_transfers(agent.id);
  mine.shared = nullptr;
}

void RaceDetector::freed(const fiber::Bytes& bytes) { shadow_.forget(bytes.pe, bytes.space); }

std::string RaceDetector::why_unordered(const Access& earlier, const Access& later) const {
  std::ostringstream text;
  if (pieces_apart(earlier, later)) {
    text
        << "two pieces of one warps() touch the same memory and are unordered: let each write only "
           "what no other touches";
  } else if (later.order != 0 && earlier.order == 0 && earlier.agent == later.agent) {
    text
        << "the block's own " << to_string(later.verb)
        << " was still under way; quiet() completes it before its source or destination is touched";
  } else if (earlier.order != 0 && earlier.pe == later.pe && earlier.block != later.block) {
    text << "the transfer may still be under way: its block has not called quiet() since, and the "
            "end of a "
            "launch completes nothing";
  } else if (earlier.order != 0 && earlier.agent == later.agent) {
    text << "the block's own " << to_string(earlier.verb)
         << " may still be under way; quiet() completes it"
         << (later.order != 0 && earlier.to_pe >= 0
                 ? ", fence(" + std::to_string(earlier.to_pe) + ") orders it"
                 : "");
  } else if (earlier.order != 0) {
    text << "PE " << later.pe << " has acquired nothing that covers this "
         << to_string(earlier.verb) << ": let its issuer call "
         << (earlier.to_pe >= 0 ? "fence(" + std::to_string(earlier.to_pe) + ") or "
                                : std::string())
         << "quiet() before the signal, or carry it in a put_signal, and wait for that signal";
  } else if (earlier.pe == later.pe && earlier.block != later.block) {
    text << "different blocks of one PE: a barrier among blocks of equal index orders neither; let "
            "each "
            "block touch only its own parts, or signal between them";
  } else {
    text << "no signal from PE " << earlier.pe << " after its access has been acquired by PE "
         << later.pe << " before this one: a barrier or a signal is missing between them";
  }
  return text.str();
}

void RaceDetector::report_race(const Access& earlier, const Access& later,
                               const fiber::Bytes& bytes) {
  std::ostringstream key;
  key << "race " << earlier.site.file << earlier.site.line << later.site.file << later.site.line;
  if (!reported_.insert(key.str()).second) return;
  std::ostringstream text;
  text << "RACE  " << to_string(earlier.verb) << " vs " << to_string(later.verb) << "  "
       << engine_->memory().name(bytes.space) << " of PE " << bytes.pe;
  if (bytes.space != fiber::Bytes::local_space) {
    const std::size_t begin = bytes.space == fiber::Bytes::scratch_space
                                  ? bytes.begin % fiber::Bytes::scratch_stride
                                  : bytes.begin;
    text << " bytes [" << begin << ", " << begin + bytes.size << ")";
  }
  text << "\n  " << where(earlier) << "\n  " << where(later) << "\n  why    "
       << why_unordered(earlier, later);
  engine_->report({"race", text.str()});
}

void RaceDetector::report_missing_sync(const Access& earlier, const Access& later) {
  std::ostringstream key;
  key << "sync " << earlier.site.file << earlier.site.line << later.site.file << later.site.line;
  if (!reported_.insert(key.str()).second) return;
  std::ostringstream text;
  const bool every_lane = earlier.bytes.element == 0 || later.bytes.element == 0;
  text << "MISSING SYNC  " << to_string(earlier.verb) << " then " << to_string(later.verb)
       << " of one block touch the same memory "
       << (every_lane ? "and every lane reads it" : "as different ranges or element types")
       << "\n  " << where(earlier) << "\n  " << where(later)
       << "\n  why    the block's lanes are unordered between them; call sync()";
  engine_->report({"missing-sync", text.str()});
}

}  // namespace sym::check
