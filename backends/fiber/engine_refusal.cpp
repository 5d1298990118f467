// What the engine says of a verb that may not do what it is asked for, and of what a program leaves
// open.
#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/fiber/engine.hpp"
#include "core/error.hpp"

namespace sym::fiber {

namespace {
// What is known of a refusal, by how it begins.
struct Refusal {
  std::string_view begins, why, fix;
};
constexpr Refusal refusals[] = {
    {"out of bounds:", "it names what is not there: nothing was allocated for it",
     "take ranges from the window's count, slots from the table's and PEs from the team"},
    {"use after free:", "free() gives back the memory on every PE, whoever still uses it",
     "free it when no launch touches it any more, or allocate again and use the new window"},
    {"overlap:", "within one verb nothing says what is read before it is written over",
     "name the same range twice where the verb allows it, or two that are apart"}};
}  // namespace

Finding Engine::error_finding(const Agent& agent, const std::string& what, Of of) const {
  Finding finding{"error", "ERROR " + what + (of == Of::step ? "\n  at     " : "\n  after  ") +
                               describe(agent)};
  for (const Refusal& one : refusals) {
    if (what.compare(0, one.begins.size(), one.begins) != 0) continue;
    finding.why = one.why;
    finding.fix = one.fix;
    finding.text += "\n  why    " + finding.why + "\n  fix    " + finding.fix;
  }
  return finding;
}

void Engine::refuse(const std::string& what, Of of) {
  if (current_->block >= 0) {
    stay_if_stopped();
    stop(error_finding(*current_, what, of));
  }
  throw Failure(what);
}

Bytes Engine::resolve(Segment segment, std::size_t offset, std::size_t bytes, int pe) {
  try {
    return memory_.resolve(segment, offset, bytes, pe);
  } catch (const Failure& failure) {
    refuse(failure.what());
  }
}

// The order within one verb is nobody's: what is read there after it has been written?
void Engine::refuse_overlap(const Bytes& src, const Bytes& dst, Same same) {
  if (src.pe != dst.pe || src.space != dst.space) return;
  if (src.size == 0 || src.end() <= dst.begin) return;
  if (dst.size == 0 || dst.end() <= src.begin) return;
  const bool are_same = src.begin == dst.begin && src.size == dst.size;
  if (!are_same || same == Same::refused) refuse_overlapping(src, dst, same);
}

void Engine::refuse_overlapping(const Bytes& src, const Bytes& dst, Same same) {
  std::size_t base = 0;
  if (dst.space == Bytes::local_space) base = std::min(src.begin, dst.begin);  // addresses
  if (dst.space == Bytes::scratch_space) base = dst.begin - dst.begin % Bytes::scratch_stride;
  const auto text = [base](const Bytes& bytes) {
    return "[" + std::to_string(bytes.begin - base) + ", " + std::to_string(bytes.end() - base) +
           ")";
  };
  refuse("overlap: a " + std::string(to_string(current_->step.verb)) + " of bytes " + text(src) +
         " to bytes " + text(dst) + " of " + memory_.name(dst.space) + " of PE " +
         std::to_string(dst.pe) +
         (same == Same::may_be
              ? "; source and destination of one verb must be the same range, or apart"
              : "; these two ranges must be apart"));
}

// --- what is left open ---------------------------------------------------------------------------

namespace {
// Of a block that enters a channel whose rows `holder` has. `who` and `now` are its own words.
Finding busy_finding(const std::string& who, const Place& now, const Place& holder) {
  const bool same = holder.launch == now.launch && holder.block == now.block;
  const std::string launch =
      "launch " + std::to_string(holder.launch) + " (" + holder.launch_name + ")";
  const std::string entered = same ? "this block" : launch;
  const std::string why =
      same ? "the rows of a channel are for one operation at a time, and a block that has entered "
             "leaves before it enters again; collectives enter and leave by themselves"
           : "blocks of one index share the rows of a channel, and nothing orders the two launches";
  const std::string fix =
      same
          ? "leave the channel before entering it again, or take a second channel for what is done "
            "inside"
          : "give launches that may run at the same time a channel each, or put them on one "
            "stream; "
            "and leave the channel on every path";
  Place first = holder;
  first.role = "holds";
  return {"busy",
          "CHANNEL BUSY " + entered + " has entered the channel and not left it\n  at     " + who +
              "\n  holds  " + launch + " block " + std::to_string(holder.block) + "  enter at " +
              holder.site.file + ":" + std::to_string(holder.site.line) + "\n  why    " + why +
              "\n  fix    " + fix,
          "",
          why,
          fix,
          {now, first}};
}
}  // namespace

// Ends the run if somebody has the rows.
void Engine::claim(const Bytes& word) {
  const auto held = claims_.find({word.pe, word.space, word.begin});
  if (held != claims_.end()) {
    current_->failed = true;
    stop(busy_finding(describe(*current_), place_of(*current_, "at"), held->second.places.front()));
    return;
  }
  const std::string why = "the channel has no rows for the next operation";
  const std::string fix = "leave the channel on every path of the kernel that has entered it";
  claims_[{word.pe, word.space, word.begin}] = {
      "unbalanced",
      "UNBALANCED a channel was entered and not left by the end of the run\n  at     " +
          describe(*current_) + "\n  why    " + why + "\n  fix    " + fix,
      "",
      why,
      fix,
      {place_of(*current_, "enter")}};
}

void Engine::give_back(const Bytes& word) {
  if (claims_.erase({word.pe, word.space, word.begin}) > 0 || options_.mutation != nullptr) return;
  const std::string why = "it may give away rows that another launch claims";
  const std::string fix = "enter the channel before, on every path of the kernel";
  report({"unbalanced",
          "UNBALANCED a channel is left that was not entered\n  at     " + describe(*current_) +
              "\n  why    " + why + "\n  fix    " + fix,
          "",
          why,
          fix,
          {place_of(*current_, "leave")}});
}

// Of a mutant the question is whether anything else needs the call that is left out.
void Engine::report_open_claims() {
  if (options_.mutation != nullptr) return;
  for (auto& [word, finding] : claims_) report(std::move(finding));
}

}  // namespace sym::fiber
