#include "backends/check/race_report.hpp"

#include <sstream>

#include "backends/check/race_why.hpp"

namespace sym::check {

namespace {

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

}  // namespace

fiber::Place place_of(const Access& access, const char* role) {
  return {role,         access.pe,     access.queue >= 0 ? -1 : access.block,
          access.queue, access.launch, access.launch_name,
          access.verb,  access.site};
}

fiber::Finding race_finding(const Access& earlier, const Access& later, const std::string& memory,
                            const WeakWait& weak, bool lapped, const Behind& behind) {
  const Why why = why_unordered(earlier, later, weak, lapped, behind);
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

fiber::Finding busy_finding(const Access& earlier, const Access& later) {
  const std::string why =
      "blocks of one index share the rows of a channel, and nothing orders the two launches: "
      "under another schedule one enters while the other has them";
  const std::string fix =
      "give launches that may run at the same time a channel each, or put them on one stream";
  const auto line = [](const Access& access) {
    return where(access).substr(std::string("write  ").size());
  };
  return {"busy",
          "CHANNEL BUSY launch " + std::to_string(later.launch) + " (" + later.launch_name +
              ") may enter a channel that launch " + std::to_string(earlier.launch) + " (" +
              earlier.launch_name + ") has not left\n  at     " + line(later) + "\n  held   " +
              line(earlier) + "\n  why    " + why + "\n  fix    " + fix,
          "",
          why,
          fix,
          {place_of(later, "at"), place_of(earlier, "holds")}};
}

fiber::Finding missing_sync_finding(const Access& earlier, const Access& later) {
  const bool every_lane = earlier.bytes.element == 0 || later.bytes.element == 0;
  const std::string why = "the block's lanes are unordered between them";
  const bool in_piece = earlier.piece != 0 && earlier.piece == later.piece;
  const std::string fix = in_piece
                              ? "a piece of warps() has no sync: end the warps() between the two, "
                                "or let both use the same range and type"
                              : "call sync() between the two";
  std::ostringstream text;
  text << "MISSING SYNC  " << to_string(earlier.verb) << " then " << to_string(later.verb)
       << " of one block touch the same memory "
       << (every_lane ? "and every lane reads it" : "as different ranges or element types")
       << "\n  " << where(earlier) << "\n  " << where(later) << "\n  why    " << why
       << "\n  fix    " << fix;
  return {"missing-sync",
          text.str(),
          "",
          why,
          fix,
          {place_of(earlier, earlier.write ? "write" : "read"),
           place_of(later, later.write ? "write" : "read")}};
}

}  // namespace sym::check
