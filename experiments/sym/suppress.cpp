#include "experiments/sym/suppress.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/error.hpp"

namespace sym::command {

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

}  // namespace

bool Suppressions::Entry::matches(const Place& place) const {
  if (line != 0 && line != place.line) return false;
  return glob(file, place.file) || glob(file, place.file.substr(place.file.rfind('/') + 1));
}

Suppressions::Suppressions(const std::string& path) : path_(path) {
  std::ifstream in(path);
  if (!in) throw UsageError("cannot read " + path);
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) add(text, number);
}

void Suppressions::add(const std::string& text, std::size_t number) {
  std::istringstream words(text);
  Entry entry;
  entry.number = number;
  if (!(words >> entry.kind) || entry.kind[0] == '#') return;
  const std::string where = path_ + ":" + std::to_string(number) + ": ";
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

const std::string* Suppressions::reason(const Finding& finding) {
  const std::string* reason = nullptr;
  for (Entry& entry : entries_) {
    if (entry.kind != "*" && entry.kind != finding.kind) continue;
    const bool hit = std::any_of(finding.places.begin(), finding.places.end(),
                                 [&](const Place& place) { return entry.matches(place); });
    if (!hit) continue;
    entry.used = true;
    if (reason == nullptr) reason = &entry.reason;
  }
  return reason;
}

std::vector<std::string> Suppressions::unused() const {
  std::vector<std::string> all;
  for (const Entry& entry : entries_) {
    if (entry.used) continue;
    all.push_back("suppression of " + path_ + ":" + std::to_string(entry.number) + " (" +
                  entry.kind + " " + entry.file +
                  (entry.line != 0 ? ":" + std::to_string(entry.line) : "") + ") matched nothing");
  }
  return all;
}

}  // namespace sym::command
