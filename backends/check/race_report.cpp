#include "backends/check/race_report.hpp"

#include <algorithm>
#include <sstream>

namespace sym::check {

namespace {

struct Why {
  std::string why, fix;
};

std::string pe_text(int pe) { return "PE " + std::to_string(pe); }
std::string at(const Site& site) {
  return site.line == 0 ? "" : " at " + std::string(site.file) + ":" + std::to_string(site.line);
}

std::string where(const Access& access) {
  std::ostringstream text;
  text << (access.write ? "write" : "read ") << "  PE " << access.pe;
  if (access.queue >= 0) {
    text << " queue " << access.queue;
  } else if (access.block >= 0) {
    text << " block " << access.block << "  launch " << access.launch << " (" << access.launch_name
         << ")";
  } else {
    text << " host";
  }
  text << "  " << to_string(access.verb) << (access.order != 0 ? ", in flight" : "");
  if (access.site.line != 0) text << "  " << access.site.file << ":" << access.site.line;
  return text.str();
}

bool is_host(const Access& access) { return access.block < 0 && access.queue < 0; }

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

Why between_queues(const Access& earlier, const Access& later) {
  const auto name = [](const Access& access) {
    return "queue " + std::to_string(access.queue >= 0 ? access.queue : access.stream) + " of " +
           pe_text(access.pe);
  };
  if (earlier.pe != later.pe) {
    return {
        "nothing orders " + name(earlier) + " before " + name(later),
        "post a flag to " + pe_text(later.pe) + " after the first, and take it before the second"};
  }
  return {"nothing orders " + name(earlier) + " before " + name(later),
          "record() a mark behind the first, and let the second queue call after() with it"};
}

// Of one block, or queue, both or the earlier one in flight.
Why own_transfer(const Access& earlier, const Access& later) {
  const bool in_order = later.order == 0 || earlier.order < later.order;
  const Access& first = in_order ? earlier : later;
  const Access& second = in_order ? later : earlier;
  Why why{"the block's own " + std::string(to_string(first.verb)) +
              " may still be under way; quiet() completes it",
          "call quiet() between the two"};
  if (second.order == 0 || first.to_pe < 0 || second.to_pe != first.to_pe) return why;
  const std::string fence = "fence(" + std::to_string(first.to_pe) + ")";
  if (second.write)
    return {why.why + ", " + fence + " orders it", "call " + fence + " between the two"};
  why.why += ", and a fence does not keep a later source from being read before";
  return why;
}

Why transfer_under_way(const Access& earlier, const Access& later) {
  const std::string fence =
      earlier.to_pe >= 0 ? "fence(" + std::to_string(earlier.to_pe) + ")" : std::string();
  if (earlier.pe == later.pe && earlier.block != later.block) {
    return {
        "the transfer may still be under way: its block has not called quiet() since, and the "
        "end of a launch completes nothing",
        "call quiet() before the launch ends, or before whatever orders the two blocks"};
  }
  if (earlier.agent == later.agent) return own_transfer(earlier, later);
  return {pe_text(later.pe) + " has acquired nothing that covers this " + to_string(earlier.verb) +
              ": no fence or quiet of its issuer lies between it and a signal that was waited for",
          "let its issuer call " + (fence.empty() ? "" : fence + " or ") +
              "quiet() before the signal, or carry it in a put_signal, and wait for that signal"};
}

Why why_unordered(const Access& earlier, const Access& later, const WeakWait& weak) {
  if (pieces_apart(earlier, later)) {
    return {"two pieces of one warps() touch the same memory and are unordered",
            "let each piece write only what no other touches"};
  }
  if (later.order != 0 && earlier.order == 0 && earlier.agent == later.agent) {
    return {"the block's own " + std::string(to_string(later.verb)) +
                " was still under way; quiet() completes it before its source or destination is "
                "touched",
            "call quiet() before the " + std::string(to_string(earlier.verb))};
  }
  Why why;
  if (earlier.agent != later.agent && explained_by(weak, earlier, why)) return why;
  const bool streams = earlier.stream != later.stream || earlier.pe != later.pe;
  if ((earlier.queue >= 0 || later.queue >= 0) && streams && !is_host(earlier) && !is_host(later)) {
    return between_queues(earlier, later);
  }
  if (earlier.order != 0) return transfer_under_way(earlier, later);
  if (earlier.pe == later.pe && earlier.block >= 0 && later.block >= 0 &&
      earlier.stream != later.stream) {
    return between_queues(earlier, later);
  }
  if (earlier.pe == later.pe && earlier.block != later.block) {
    return {"different blocks of one PE: a barrier among blocks of equal index orders neither",
            "let each block touch only its own parts, signal between them, or end the launch"};
  }
  return {"no signal from " + pe_text(earlier.pe) + " after its access has been acquired by " +
              pe_text(later.pe) + " before this one",
          "a barrier or a signal is missing between them"};
}

}  // namespace

fiber::Place place_of(const Access& access, const char* role) {
  return {role,         access.pe,     access.queue >= 0 ? -1 : access.block,
          access.queue, access.launch, access.launch_name,
          access.verb,  access.site};
}

fiber::Finding race_finding(const Access& earlier, const Access& later, const std::string& memory,
                            const WeakWait& weak) {
  const Why why = why_unordered(earlier, later, weak);
  std::ostringstream text;
  text << "RACE  " << to_string(earlier.verb) << " vs " << to_string(later.verb) << "  " << memory
       << "\n  " << where(earlier) << "\n  " << where(later) << "\n  why    " << why.why
       << "\n  fix    " << why.fix;
  return {"race",
          text.str(),
          "",
          why.why,
          why.fix,
          {place_of(earlier, earlier.write ? "write" : "read"),
           place_of(later, later.write ? "write" : "read")}};
}

fiber::Finding missing_sync_finding(const Access& earlier, const Access& later) {
  const bool every_lane = earlier.bytes.element == 0 || later.bytes.element == 0;
  const std::string why = "the block's lanes are unordered between them";
  const std::string fix = "call sync() between the two";
  std::ostringstream text;
  text << "MISSING SYNC  " << to_string(earlier.verb) << " then " << to_string(later.verb)
       << " of one block touch the same memory "
       << (every_lane ? "and every lane reads it" : "as different ranges or element types")
       << "\n  " << where(earlier) << "\n  " << where(later) << "\n  why    " << why
       << "; call sync()\n  fix    " << fix;
  return {"missing-sync",
          text.str(),
          "",
          why,
          fix,
          {place_of(earlier, earlier.write ? "write" : "read"),
           place_of(later, later.write ? "write" : "read")}};
}

}  // namespace sym::check
