#if defined(SYM_HAVE_FIBER)

#include "experiments/sym/mutate_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "experiments/sym/mutate_run.hpp"

namespace sym::command {

namespace {

std::string named(const std::vector<std::string>& ops) {
  constexpr std::size_t most = 5;
  std::vector<std::string> names;
  std::transform(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(std::min(most, ops.size())),
                 std::back_inserter(names), short_site);
  return fmt::format("{}{}", fmt::join(names, "; "),
                     ops.size() > most ? fmt::format("; and {} more", ops.size() - most) : "");
}

// Of a change that takes no order away that somebody did not have before.
std::string vacuous_text(const std::string& group, const Orders& orders) {
  std::string text = "vacuous: ";
  if (group == "quiet") text += "nothing that is not complete already is under way here: ";
  if (group == "channel")
    text += "it orders nothing, it refuses overlapping use, and no two launches overlap here: ";
  text += fmt::format("of {} pairs of accesses that conflict, none has its order from it",
                      orders.pairs);
  if (!orders.others.empty())
    text += fmt::format("; what it covers is ordered by {}", named(orders.others));
  return text;
}

}  // namespace

Reason reason_of(const std::string& group, const Orders& orders,
                 const std::function<std::string()>& by_trial) {
  // To enter a channel orders nothing anywhere. Of others the graph must have seen something.
  const bool seen = orders.seen || group == "channel";
  const bool known = seen && orders.unknown == 0 && orders.lost == 0;
  const std::string what =
      fmt::format("{} of {} pairs of accesses that conflict ({} pairs of places)", orders.through,
                  orders.pairs, orders.places);
  if (known && orders.news > 0 && orders.each)
    return {
        true, false,
        fmt::format("implied by {}: it orders {}; without it and any one of these, some have no "
                    "order",
                    named(orders.others), what)};
  if (const std::string others = by_trial(); !others.empty())
    return {true, false,
            fmt::format("implied by {}: without both there is a race that is not there without the "
                        "other alone",
                        others)};
  if (known && orders.news > 0)
    return {true, false,
            fmt::format("implied by others together, each pair by some of them: {}: it orders {}",
                        named(orders.others), what)};
  if (known) return {true, true, vacuous_text(group, orders)};
  if (group == "slot")
    return {true, true,
            fmt::format("vacuous: the blocks exchange rows alike on all PEs, and the changed call "
                        "still orders {}",
                        what)};
  return {false, false,
          fmt::format("it orders {}, {} of which nothing else is known to order", what,
                      orders.lost + orders.unknown)};
}

}  // namespace sym::command

#endif
