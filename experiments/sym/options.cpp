#include "experiments/sym/options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/error.hpp"
#include "core/text.hpp"

namespace sym::command {

namespace {
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}
}  // namespace

const std::vector<std::string>& op_names() {
  static const std::vector<std::string> names{"sum", "prod", "max", "min", "avg"};
  return names;
}

std::vector<std::string> comma_separated(const std::string& text) { return split(text, ','); }

void require_name(const std::string& what, const std::string& name,
                  const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw UsageError("unknown " + what + " '" + name + "'; the nearest is '" +
                   nearest_name(name, names) + "'");
}

std::size_t parse_size(const std::string& text) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  int shift = 0;
  bool valid = error == std::errc() && rest != text.data();
  if (valid && rest != end) {
    const std::string unit(rest, end);
    const std::string known = "KMG";
    const char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])));
    const std::size_t index = known.find(letter);
    valid = unit.size() == 1 && index != std::string::npos;
    shift = 10 * (static_cast<int>(index) + 1);
  }
  if (!valid || value > (std::numeric_limits<std::size_t>::max() >> shift)) {
    throw UsageError("'" + text + "' is no size; write a number of bytes, as 4096, 4K, 64M or 1G");
  }
  return value << shift;
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> range = split(part, ':');
    if (range.size() == 1) {
      sizes.push_back(parse_size(part));
      continue;
    }
    std::size_t factor = 2;
    if (range.size() == 3 && range[2].size() > 1 && range[2][0] == 'x') {
      factor = parse_size(range[2].substr(1));
    } else if (range.size() != 2) {
      throw UsageError(
          "'" + part +
          "' is no range of sizes; write FIRST:LAST or FIRST:LAST:xFACTOR, as 1K:64M:x4");
    }
    const std::size_t first = parse_size(range[0]);
    const std::size_t last = parse_size(range[1]);
    if (factor < 2 || first == 0 || first > last) {
      throw UsageError("'" + part +
                       "': a range of sizes needs 0 < FIRST <= LAST and a factor of 2 or more");
    }
    for (std::size_t size = first;; size *= factor) {
      sizes.push_back(size);
      if (size > last / factor) break;
    }
  }
  return sizes;
}

std::vector<int> parse_counts(const std::string& text, const std::string& option) {
  std::vector<int> counts;
  for (const std::string& part : split(text, ',')) {
    int value = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || rest != part.data() + part.size() || value < 1) {
      throw UsageError(option + " '" + text +
                       "': write one or more numbers of at least 1, as 2,4,8");
    }
    counts.push_back(value);
  }
  return counts;
}

std::string format_size(std::size_t bytes) {
  const char* units = " KMG";
  int unit = 0;
  while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? std::to_string(bytes) : std::to_string(bytes) + units[unit];
}

int threads_for(std::size_t bytes) {
  constexpr std::size_t access = 16;
  if (bytes <= 128 * access) return 128;
  return bytes < 32 * 512 * access ? 256 : 512;
}

int blocks_for(std::size_t bytes, int threads, int most) {
  const std::size_t per_block = static_cast<std::size_t>(threads) * 16;
  const std::size_t wanted = (bytes + per_block - 1) / per_block;
  return static_cast<int>(std::clamp<std::size_t>(wanted, 1, static_cast<std::size_t>(most)));
}

}  // namespace sym::command
