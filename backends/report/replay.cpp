#include <cstdio>

#include "backends/report/replay_file.hpp"

namespace sym::report {

std::string Replay::text() const {
  std::string all;
  for (const Finding& finding : findings) all += finding.text + "\n";
  return all;
}

int compare_replays(const Replay& replay, const Replay& again) {
  const bool same = again.text() == replay.text();
  std::printf("%s# %s\n", again.text().c_str(),
              same ? "the same finding, word for word" : "NOT the same finding as in the file");
  return same ? 1 : 2;
}

}  // namespace sym::report
