#include "core/bootstrap.hpp"

#include "core/error.hpp"

namespace sym {

namespace {

// "PE 1 has 4096, PE 2 has 0" for every PE that differs from PE 0.
std::string differences(const std::vector<std::string>& values) {
  std::string text;
  int shown = 0;
  for (std::size_t pe = 1; pe < values.size(); ++pe) {
    if (values[pe] == values[0]) continue;
    if (++shown > 8) return text + ", and more";
    text += (text.empty() ? "PE " : ", PE ") + std::to_string(pe) + " has " + values[pe];
  }
  return text;
}

}  // namespace

void require_equal(Bootstrap& bootstrap, const std::string& what, const std::string& value) {
  const std::vector<std::string> values = bootstrap.all_gather(what + ' ' + value);
  const std::string differing = differences(values);
  if (differing.empty()) return;
  throw UsageError("the PEs disagree: PE 0 has " + values[0] + "; " + differing +
                   " (every PE must call this in the same order with equal arguments)");
}

}  // namespace sym
