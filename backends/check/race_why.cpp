#include "backends/check/race_why.hpp"

#include <algorithm>

#include "backends/fiber/queue_numbers.hpp"

namespace sym::check {

namespace {

std::string pe_text(int pe) { return "PE " + std::to_string(pe); }
std::string at(const Site& site) {
  return site.line == 0 ? "" : " at " + std::string(site.file) + ":" + std::to_string(site.line);
}
std::string verb_of(const Access& access) { return to_string(access.verb); }
std::string verb_of(const Call& call) { return to_string(call.verb); }

bool is_host(const Access& access) { return access.block < 0 && access.queue < 0; }
bool in_flight(const Access& access) { return access.order != 0 && access.queue < 0; }

std::string fence_of(const Access& transfer) {
  return "fence(" + std::to_string(transfer.to_pe) + ")";
}

// A wait that the later one's agent has made, and that might have ordered the two.
bool explained_by(const WeakWait& weak, const Access& earlier, Why& why) {
  const std::string wait = std::string(to_string(weak.verb)) + at(weak.site);
  const bool counted = std::any_of(
      weak.unknown.begin(), weak.unknown.end(),
      [&](const Signal& one) { return one->agent == earlier.agent || one->pe == earlier.pe; });
  if (counted) {
    why.why = "the " + wait + " counts " + std::to_string(weak.value) +
              ", which other signals can make up as well (" + std::to_string(weak.unknown.size()) +
              " may have come, in any order), so it acquires no particular one of them";
    why.fix = "wait for all of them, use a slot for each, or call fence(" +
              std::to_string(weak.unknown.front()->to_pe) + ") before each signal of one producer";
    return true;
  }
  if (!weak.nothing_new) return false;
  why.why = "the " + wait + " for " + std::to_string(weak.value) +
            " counted only signals that had been waited for before, so it acquires nothing new";
  why.fix = "counters only add: wait for what this launch or step adds to what came before";
  return true;
}

// Of one block: one or both are transfers that may still be under way, whichever came first in this
// run.
Why own_transfer(const Access& earlier, const Access& later) {
  const bool in_order = later.order == 0 || earlier.order < later.order;
  const Access& first = in_order ? earlier : later;
  const Access& second = in_order ? later : earlier;
  Why why{"the block's own " + verb_of(first) + " may still be under way; quiet() completes it",
          "call quiet() between the two"};
  // fence orders what is delivered to one PE, and no gets.
  if (!in_flight(second) || first.to_pe < 0 || second.to_pe != first.to_pe) return why;
  if (!second.write) {
    why.why += ", and a fence does not keep a later source from being read before";
    return why;
  }
  return {why.why + ", " + fence_of(first) + " orders it",
          "call " + fence_of(first) + " between the two"};
}

// Two transfers of two issuers to the same place, none of which has been told of the other.
Why two_issuers(const Access& earlier, const Access& later) {
  const bool blocks = earlier.pe == later.pe;
  return {"two issuers write the same memory, and the " + verb_of(earlier) +
              " of the one may arrive before or after the " + verb_of(later) + " of the other",
          std::string("let each issuer write a place of its own, or let the second wait for a "
                      "signal that the first sends ") +
              (blocks ? "to its block " : "to " + pe_text(later.pe) + " ") +
              "after quiet(): a fence orders what one issuer does"};
}

// The transfer writes where one of the round before has been waited for, and may not have been
// used.
Why next_round(const Access& transfer, const Access& user) {
  const bool blocks = transfer.pe == user.pe && !is_host(user);
  const auto name = [blocks](const Access& access) {
    return (blocks ? "block " + std::to_string(access.block) + " of " : "") + pe_text(access.pe);
  };
  const std::string verb = verb_of(transfer);
  return {"this " + verb + " is of a later round than " + name(user) +
              " has waited for, and no signal tells its issuer that the round before has been "
              "used: it may overwrite what is being read or has not been read",
          "a credit is missing: let " + name(user) + " signal back to " + name(transfer) +
              " when it has used the memory, and let that wait for it before the next " + verb +
              "; or let each round have a place of its own"};
}

// A transfer of another PE, and a host program that touches the memory after.
Why before_host(const Access& transfer, const Access& host, const Behind& behind) {
  const std::string quiet = behind.quiet ? "" : "call quiet() before the launch ends, and ";
  return {
      pe_text(host.pe) + " has acquired nothing that covers this " + verb_of(transfer) + ": " +
          (behind.quiet ? "its issuer has called quiet(), but nothing brings that to the host "
                          "of " +
                              pe_text(host.pe)
                        : "its issuer has not called quiet() before something that the host of " +
                              pe_text(host.pe) + " has waited for"),
      quiet + "let " + pe_text(transfer.pe) +
          " synchronize() before the hosts meet in World::barrier(); or end the kernel with a "
          "barrier, or let one of " +
          pe_text(host.pe) +
          " wait for a signal behind the quiet(), and synchronize() before the host touches it"};
}

// The transfer is of a later launch than what it meets, so it is likelier that it came too early.
Why later_launch(const Access& transfer, const Access& other) {
  const auto launch = [](const Access& access) {
    return "launch " + std::to_string(access.launch) + " (" + access.launch_name + ")";
  };
  const std::string verb = verb_of(transfer);
  return {pe_text(transfer.pe) + "'s " + launch(transfer) + " does not wait for " + launch(other) +
              " of " + pe_text(other.pe) + ", and " + pe_text(other.pe) +
              " has acquired nothing that covers this " + verb,
          "if the " + verb +
              " must come after, as the numbers of the launches say: put a barrier at the end of "
              "the earlier launch, or before the " +
              verb + "; if before: let " + pe_text(other.pe) + " wait for " +
              (transfer.verb == fiber::Verb::put_signal && transfer.to_pe == other.pe
                   ? "the signal of this put_signal first"
                   : "a signal that the issuer sends after quiet()")};
}

// What the issuer has called orders nothing for the other one.
Why called_in_vain(const Access& transfer, const Access& other, const std::string& acquired,
                   const Behind& behind) {
  const std::string pe = pe_text(other.pe);
  const bool fences = transfer.to_pe == other.pe;
  if (behind.flag) {
    const std::string call = verb_of(*behind.flag) + at(behind.flag->site);
    return {acquired + "the " + call + " changes what " + pe +
                " looks at, but releases nothing: this verb makes no edge",
            "use signal in place of the " + verb_of(*behind.flag) + ", after " +
                (fences ? fence_of(transfer) + " or " : "") + "quiet()" +
                (fences ? ", or a put_signal" : "") + "; and wait_until for it"};
  }
  if (behind.quiet) {
    const std::string packets =
        behind.packets ? "; and a message of packets brings nothing but itself" : "";
    return {acquired + "its issuer has called quiet(), but no signal, barrier or launch order " +
                "brings this to " + pe + packets,
            "let the issuer signal after quiet(), to " + pe + " or to whoever signals " + pe +
                ", and let each wait for that; or put a barrier between the two"};
  }
  if (behind.fence && fences) {
    return {acquired + "its issuer has called " + fence_of(transfer) +
                ", which puts it before the issuer's own signals to " + pe +
                " alone, and none of these has been waited for: not before a signal to another "
                "PE, a queue's post or the end of a launch",
            "call quiet() in place of " + fence_of(transfer) + "; or let " + pe +
                " wait for a signal that the issuer sends to it after the fence"};
  }
  const auto stream = [&](int number) {
    return behind.other_stream == transfer.stream ? "" : " on stream " + std::to_string(number);
  };
  return {acquired + "the quiet() of " + behind.other + stream(behind.other_stream) +
              " completes no transfer of block " + std::to_string(transfer.block) +
              stream(transfer.stream),
          "let block " + std::to_string(transfer.block) +
              " call quiet() itself: before its signal, before its launch ends, or in a later "
              "launch on the same stream"};
}

Why transfer_under_way(const Access& earlier, const Access& later, const Behind& behind) {
  if (in_flight(later) && earlier.write && later.write) return two_issuers(earlier, later);
  if (earlier.pe == later.pe && behind.quiet) {
    const bool streams = later.queue >= 0 || earlier.stream != later.stream;
    return {"its block has called quiet(), but nothing orders that before the " + verb_of(later),
            is_host(later) ? "call synchronize() before the host touches it"
            : streams      ? "record() a mark behind the launch, and let the other queue call "
                             "after() with it"
                           : "let its block signal the other one after the quiet(), or end the "
                             "launch between the two"};
  }
  if (earlier.pe == later.pe) {
    return {
        "the transfer may still be under way: its block has not called quiet() since, and the "
        "end of a launch completes nothing",
        is_host(later) ? "call quiet() before the launch ends, and synchronize() before the host "
                         "touches it"
                       : "call quiet() before the launch ends, or before whatever orders the two "
                         "blocks"};
  }
  const bool unfenced = behind.told && !behind.quiet;
  if (is_host(later) && !unfenced) return before_host(earlier, later, behind);
  const bool launches = !is_host(later) && later.queue < 0;
  if (launches && later.launch < earlier.launch) return later_launch(earlier, later);
  const std::string after = later.write && !in_flight(later)
                                ? "; if the " + verb_of(earlier) + " must come after this " +
                                      verb_of(later) + ": a barrier is missing before it"
                                : "";
  const std::string acquired =
      pe_text(later.pe) + " has acquired nothing that covers this " + verb_of(earlier) + ": ";
  const bool carries = earlier.to_pe == later.pe && earlier.verb == fiber::Verb::put_signal;
  const bool fenced = behind.fence && earlier.to_pe == later.pe;
  if (!carries && (behind.flag || behind.quiet || fenced || !behind.other.empty())) {
    Why why = called_in_vain(earlier, later, acquired, behind);
    why.fix += after;
    return why;
  }
  if (carries) {
    return {acquired +
                "it has waited neither for its signal nor for one behind a fence or quiet of "
                "its issuer",
            "let " + pe_text(later.pe) +
                " wait for the signal of this put_signal first, or for one that its issuer sends "
                "after " +
                fence_of(earlier) + " or quiet()" + after};
  }
  if (earlier.to_pe == later.pe) {
    return {acquired +
                "no fence or quiet of its issuer lies between it and a signal that was waited for",
            "let its issuer call " + fence_of(earlier) +
                " or quiet() before the signal, or carry it in a put_signal, and wait for that "
                "signal" +
                after};
  }
  return {acquired + "no quiet of its issuer lies between it and a signal that was waited for",
          "let its issuer call quiet() before a signal to " + pe_text(later.pe) +
              ", and wait for that signal" + after};
}

// The later one is a transfer that some order lets happen after the access of somebody else.
// Whether it should have come before or after, the two cannot say.
Why overtaken(const Access& earlier, const Access& transfer) {
  const std::string verb = verb_of(transfer);
  if (earlier.pe == transfer.pe) {
    return {"the " + verb +
                " may happen at any time until its block calls quiet(), and the end of a launch "
                "completes nothing",
            is_host(earlier)
                ? "call quiet() before the launch ends, and synchronize() before the host touches "
                  "it; or let the host touch it before it enqueues the launch"
                : "call quiet() before the launch ends, or before a signal to whoever touches it; "
                  "or let each block touch only its own parts"};
  }
  const bool fences = transfer.to_pe == earlier.pe;
  const std::string before =
      is_host(earlier) ? before_host(transfer, earlier, {}).fix
      : fences && transfer.verb == fiber::Verb::put_signal
          ? "let " + pe_text(earlier.pe) + " wait for the signal of this put_signal first"
          : "let its issuer call " + (fences ? fence_of(transfer) + " or " : "") +
                "quiet() before the signal that " + pe_text(earlier.pe) + " waits for";
  return {"no signal from " + pe_text(earlier.pe) + " after its access has been acquired by " +
              pe_text(transfer.pe) + " before this one, and no signal to it covers the " + verb,
          "if the " + verb +
              " must come after: a barrier or a signal is missing before it; if before: " + before};
}

// One of the two is a PE's host program; the other a block or a queue, or of another PE's.
Why beside_host(const Access& earlier, const Access& later) {
  if (earlier.pe == later.pe) {
    return {"the host does not wait for what it has enqueued, and nothing says that it has ended",
            is_host(later)
                ? "call synchronize() before the host touches it"
                : "let the host touch it before it enqueues this, on the same stream, or "
                  "call synchronize() between the two"};
  }
  const std::string none = "no signal from " + pe_text(earlier.pe) +
                           " after its access has been acquired by " + pe_text(later.pe) +
                           " before this one";
  if (is_host(later)) {
    return {none, "end the kernel with a barrier, or let " + pe_text(earlier.pe) +
                      " synchronize() before the hosts meet in World::barrier(); and synchronize() "
                      "before the host touches it"};
  }
  return {none,
          "begin the kernel with a barrier, or let the hosts meet in World::barrier() after this "
          "and before " +
              pe_text(later.pe) + " launches"};
}

Why between_queues(const Access& earlier, const Access& later) {
  const auto name = [](const Access& access) {
    const int queue = access.queue >= 0 ? access.queue : access.stream;
    // Streams of a capture run under numbers of their own.
    const bool captured = queue >= fiber::most_queues;
    return (captured ? "a captured queue" : "queue " + std::to_string(queue)) + " of " +
           pe_text(access.pe);
  };
  const std::string why = "nothing orders " + name(earlier) + " before " + name(later);
  if (earlier.pe != later.pe) {
    return {why, "post a flag to " + pe_text(later.pe) +
                     " after the first, and take it before the "
                     "second"};
  }
  return {why, "record() a mark behind the first, and let the second queue call after() with it"};
}

// One of the two signals a word, or waits for it; the other takes it for data.
Why word_as_data(const Access& earlier, const Access& later) {
  const Access& data = earlier.of_word ? later : earlier;
  const Access& counts = earlier.of_word ? earlier : later;
  return {"the " + verb_of(data) +
              " touches a word of a signal table as data, and nothing orders it and the " +
              verb_of(counts),
          "write or read such a word when all of its signals have been waited for, with a barrier "
          "before the next ones; between them only signal, wait_until, test and fetch_add may"};
}

// A message of packets, and something that is neither its sender nor its receiver.
Why message_as_data() {
  return {"a message of packets proves itself to its receiver, and orders nothing for anybody else",
          "let only put_packets and what receives its messages touch an inbox, each inbox with its "
          "own flags"};
}

// Two messages of one sender to one receiver, in the same cells.
Why message_overwrites(const Access& earlier, const Access& later) {
  const Access& receipt = earlier.order == 0 ? earlier : later;
  const Access& sent = earlier.order == 0 ? later : earlier;
  return {pe_text(sent.pe) + " sends the next message into cells whose message " +
              pe_text(receipt.bytes.pe) + " may not have read: no message that " +
              pe_text(sent.pe) + " has received was sent after that receipt",
          "use the inbox as its channel has it, whose two buffers take turns (not "
          "in_one_buffer()), or put a barrier between the receipt and the next message"};
}

}  // namespace

Why why_unordered(const Access& earlier, const Access& later, const WeakWait& weak, bool lapped,
                  const Behind& behind) {
  if (earlier.of_word != later.of_word) return word_as_data(earlier, later);
  if (earlier.message != nullptr && earlier.message == later.message)
    return message_overwrites(earlier, later);
  if (earlier.message != nullptr || later.message != nullptr) return message_as_data();
  if (pieces_apart(earlier, later)) {
    return {"two pieces of one warps() touch the same memory and are unordered",
            "let each piece write only what no other touches"};
  }
  if (earlier.agent == later.agent) {
    if (earlier.order != 0) return own_transfer(earlier, later);
    return {"the block's own " + verb_of(later) +
                " was still under way; quiet() completes it before its source or destination is "
                "touched",
            "call quiet() before the " + verb_of(earlier)};
  }
  Why why;
  if (explained_by(weak, earlier, why)) return why;
  if (lapped && earlier.last_round.agent >= 0) return next_round(earlier, later);
  if (lapped) return next_round(later, earlier);
  if (in_flight(earlier)) return transfer_under_way(earlier, later, behind);
  if (in_flight(later)) return overtaken(earlier, later);
  if (is_host(earlier) || is_host(later)) return beside_host(earlier, later);
  const bool queues = earlier.queue >= 0 || later.queue >= 0;
  if (queues || (earlier.pe == later.pe && earlier.stream != later.stream))
    return between_queues(earlier, later);
  if (earlier.pe == later.pe) {
    return {"different blocks of one PE: a barrier among blocks of equal index orders neither",
            "let each block touch only its own parts, signal between them, or end the launch"};
  }
  return {"no signal from " + pe_text(earlier.pe) + " after its access has been acquired by " +
              pe_text(later.pe) + " before this one",
          "a barrier or a signal is missing between them"};
}

}  // namespace sym::check
