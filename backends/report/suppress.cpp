#include "backends/report/suppress.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/report/kinds.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace sym::report {

namespace {

// Whether `text` is what `pattern` says, * and ? standing for any characters and any one.
bool glob(const std::string& pattern, const std::string& text) {
  std::size_t p = 0, t = 0, star = std::string::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {  // let the last star take one more
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void require_kind(const std::string& where, const std::string& kind) {
  if (kind == "*" || kinds().contains(kind)) return;
  std::vector<std::string> names;
  for (const auto& [name, meaning] : kinds()) names.push_back(name);
  throw UsageError(where + "unknown kind '" + kind + "'; the nearest is '" +
                   nearest_name(kind, names) + "' (or *)");
}

}  // namespace

bool Suppressions::Entry::matches(const Finding& finding) const {
  if (kind != "*" && kind != finding.kind) return false;
  return std::any_of(finding.places.begin(), finding.places.end(), [this](const Place& place) {
    if (line != 0 && line != place.line) return false;
    return glob(file, place.file) || glob(file, place.file.substr(place.file.rfind('/') + 1));
  });
}

Suppressions::Suppressions(const std::string& path) : path_(path) {
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path)) {  // which would open, and give nothing
    throw UsageError("cannot read " + path);
  }
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) add(text, number);
}

void Suppressions::add(const std::string& text, std::size_t number) {
  std::istringstream words(text);
  Entry entry;
  entry.number = number;
  if (!(words >> entry.kind) || entry.kind[0] == '#') return;
  const std::string where = path_ + ":" + std::to_string(number) + ": ";
  require_kind(where, entry.kind);
  if (!(words >> entry.file)) {
    throw UsageError(where + "no place; write KIND FILE:LINE REASON, as: race ring.hpp:41 " +
                     "the reader throws the value away");
  }
  std::getline(words >> std::ws, entry.reason);
  if (entry.reason.empty()) {
    throw UsageError(where + "no reason; say after the place why the finding is accepted");
  }
  const std::size_t colon = entry.file.rfind(':');
  if (colon != std::string::npos) {
    const char* end = entry.file.data() + entry.file.size();
    const auto [rest, error] = std::from_chars(entry.file.data() + colon + 1, end, entry.line);
    if (error != std::errc() || rest != end || entry.line < 1) {
      throw UsageError(where + "'" + entry.file + "': a line number of at least 1 must follow ':'");
    }
    entry.file.resize(colon);
  }
  entries_.push_back(entry);
}

bool Suppressions::accepts(const Finding& finding) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.matches(finding); });
}

Suppressions::Accepted Suppressions::take(const Finding& finding) {
  Accepted accepted;
  for (Entry& entry : entries_) {
    if (!entry.matches(finding)) continue;
    ++entry.matched;
    if (accepted.reason.empty())
      accepted = {entry.reason, path_ + ":" + std::to_string(entry.number)};
  }
  return accepted;
}

std::vector<std::string> Suppressions::summary() const {
  std::vector<std::string> all;
  for (const Entry& entry : entries_) {
    all.push_back(
        "suppression of " + path_ + ":" + std::to_string(entry.number) + " (" + entry.kind + " " +
        entry.file + (entry.line != 0 ? ":" + std::to_string(entry.line) : "") + ") matched " +
        (entry.matched == 0
             ? "nothing"
             : std::to_string(entry.matched) + (entry.matched == 1 ? " finding" : " findings")));
  }
  return all;
}

}  // namespace sym::report
