#include "backends/report/covered.hpp"

#include <cstdlib>
#include <map>

namespace sym::report {

std::vector<std::string> covered_lines(const Sites& sites, std::size_t most_lines) {
  constexpr std::size_t width = 100;
  std::map<std::string, std::set<int>> files;
  std::size_t left = 0;
  for (const auto& [site, verb] : sites) {
    const std::size_t colon = site.rfind(':');
    if (colon == std::string::npos) continue;
    left += files[site.substr(0, colon)].insert(std::atoi(site.c_str() + colon + 1)).second ? 1 : 0;
  }
  std::vector<std::string> lines;
  for (const auto& [file, numbers] : files) {
    bool named = false;  // on this line
    for (const int number : numbers) {
      std::string word =
          named ? "," : (lines.empty() || lines.back().empty() ? "" : " ") + file + ":";
      word += std::to_string(number);
      if (lines.empty() || lines.back().size() + word.size() > width) {
        if (lines.size() == most_lines) {
          lines.back() += " and " + std::to_string(left) + " more (--coverage prints all)";
          return lines;
        }
        lines.emplace_back();
        word = file + ":" + std::to_string(number);
      }
      lines.back() += word;
      named = true;
      --left;
    }
  }
  return lines;
}

}  // namespace sym::report
