#include "sim/trail.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

namespace sym::sim {
namespace {

std::string text_of(const char* format, double a, double b = 0) {
  char text[80];
  std::snprintf(text, sizeof text, format, a, b);
  return text;
}

std::string reason(const Trail::Moment& moment, const Platform& platform) {
  switch (moment.why) {
    case Why::launch:
      return "launch";
    case Why::latency:
      return "latency";
    case Why::sync:
      return "sync";
    case Why::local:
      return "HBM and SMs";
    case Why::block:
      return "SM copies";
    case Why::link:
      return platform.link_kind(moment.link);
    case Why::posting:
      return "posting";
    case Why::gemm:
      return "product";
    case Why::nothing:
      break;
  }
  return "nothing";
}

std::string place(const Trail::Moment& moment) {
  std::string file = moment.site.file;
  file = file.substr(file.rfind('/') + 1);
  const std::string verb = to_string(moment.verb);
  return moment.site.line == 0 ? verb : file + ":" + std::to_string(moment.site.line) + " " + verb;
}

// Seconds by name, in the order in which the names came.
class Sums {
 public:
  void add(const std::string& name, double seconds) {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.first == name; });
    if (found == all_.end()) {
      all_.emplace_back(name, seconds);
    } else {
      found->second += seconds;
    }
  }
  std::string text(double end_s) const {
    auto sorted = all_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [name, seconds] : sorted)
      text += (text.empty() ? "" : ", ") + name + text_of(" %.1f %%", 100 * seconds / end_s);
    return text;
  }

 private:
  std::vector<std::pair<std::string, double>> all_;
};

void add_phases(std::vector<std::string>& lines, const std::vector<Trail::Stretch>& path,
                const Platform& platform, double end_s) {
  struct Phase {
    std::string name;
    double seconds = 0;
    Sums reasons;
  };
  std::vector<Phase> phases;
  Sums all;
  for (const Trail::Stretch& stretch : path) {
    const std::string name = place(stretch.end);
    auto found = std::find_if(phases.begin(), phases.end(),
                              [&](const Phase& phase) { return phase.name == name; });
    if (found == phases.end()) found = phases.insert(phases.end(), Phase{name, 0, {}});
    found->seconds += stretch.seconds;
    found->reasons.add(reason(stretch.end, platform), stretch.seconds);
    all.add(reason(stretch.end, platform), stretch.seconds);
  }
  lines.push_back("bound by  " + all.text(end_s));
  for (const Phase& phase : phases)
    lines.push_back(
        "  " + text_of("%10.2f us %5.1f %%  ", phase.seconds * 1e6, 100 * phase.seconds / end_s) +
        phase.name + ": " + phase.reasons.text(phase.seconds));
}

void add_path(std::vector<std::string>& lines, const std::vector<Trail::Stretch>& path,
              const Platform& platform) {
  constexpr std::size_t first = 10, last = 4;
  lines.push_back("critical path of " + std::to_string(path.size()) + " steps");
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i == first && path.size() > first + last + 1) {
      lines.push_back("  ... " + std::to_string(path.size() - first - last) + " more");
      i = path.size() - last;
    }
    const Trail::Moment& end = path[i].end;
    lines.push_back("  " + text_of("%10.2f us ", end.time_s * 1e6) +
                    text_of("%+9.2f  PE ", path[i].seconds * 1e6) + std::to_string(end.pe) + " " +
                    place(end) + ": " + reason(end, platform) +
                    (end.why == Why::link ? " " + platform.link_name(end.link) : ""));
  }
}

void add_links(std::vector<std::string>& lines, std::vector<LinkLoad> links, double end_s) {
  constexpr std::size_t most = 10;
  const auto busy = [end_s](const LinkLoad& link) {
    return 100 * link.bytes / link.bytes_per_s / end_s;
  };
  std::erase_if(links, [](const LinkLoad& link) { return link.bytes <= 0; });
  std::stable_sort(links.begin(), links.end(), [&](const LinkLoad& a, const LinkLoad& b) {
    return a.bytes / a.bytes_per_s > b.bytes / b.bytes_per_s;
  });
  lines.push_back("busiest of " + std::to_string(links.size()) + " links that carried bytes");
  for (std::size_t i = 0; i < std::min(most, links.size()); ++i)
    lines.push_back("  " + text_of("%16.0f B %5.1f %%  ", links[i].bytes, busy(links[i])) +
                    links[i].name);
}

}  // namespace

std::vector<Trail::Stretch> Trail::path(Index last) const {
  std::vector<Stretch> path;
  for (Index at = last; at != none;) {
    const Moment& moment = moments_[static_cast<std::size_t>(at)];
    const double begin_s =
        moment.before == none ? 0 : moments_[static_cast<std::size_t>(moment.before)].time_s;
    const double seconds = moment.time_s - begin_s;
    if (seconds > 0) path.push_back({moment, seconds});
    at = moment.before;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<std::string> explain(const std::vector<Trail::Stretch>& path, const Platform& platform,
                                 std::vector<LinkLoad> links, double end_s) {
  std::vector<std::string> lines;
  if (path.empty() || !(end_s > 0)) return {"nothing took any time"};
  add_phases(lines, path, platform, end_s);
  add_path(lines, path, platform);
  add_links(lines, std::move(links), end_s);
  return lines;
}

}  // namespace sym::sim
