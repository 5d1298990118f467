// Words and cells of the matrix.
#include "models/topology_words.hpp"

#include <cctype>
#include <charconv>
#include <map>
#include <string_view>

namespace sym::models::detail {
namespace {

constexpr int most_bonded = 36;

// Length of a colour sequence at `at`, or 0. The escape byte is often lost in a paste: "[4mGPU0".
std::size_t colour_length(const std::string& text, std::size_t at) {
  const bool escaped = text[at] == '\x1b';
  std::size_t end = at + (escaped ? 1 : 0);
  if (end >= text.size() || text[end] != '[') return 0;
  ++end;
  while (end < text.size() &&
         std::string_view("0123456789;?").find(text[end]) != std::string_view::npos)
    ++end;
  if (end >= text.size()) return escaped ? end - at : 0;
  const bool ends =
      escaped ? std::isalpha(static_cast<unsigned char>(text[end])) != 0 : text[end] == 'm';
  return ends ? end + 1 - at : 0;
}

}  // namespace

std::vector<WordLine> split_words(const std::string& text) {
  std::vector<WordLine> lines;
  WordLine words;
  std::string word;
  int line = 1;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back({word, line});
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t length = colour_length(text, i); length > 0) {
      i += length - 1;
    } else if (text.compare(i, 2, "\xc2\xa0") == 0) {
      end_word();
      i += 1;
    } else if (text.compare(i, 3, "\xef\xbb\xbf") == 0) {
      end_word();
      i += 2;
    } else if (static_cast<unsigned char>(text[i]) > ' ' && text[i] != '\x7f') {
      word += text[i];
    } else {
      end_word();
      if (text[i] != '\n') continue;
      if (!words.empty()) lines.push_back(std::move(words));
      words.clear();
      ++line;
    }
  }
  end_word();
  if (!words.empty()) lines.push_back(std::move(words));
  return lines;
}

std::optional<int> numbered(const std::string& word, const std::string& prefix) {
  if (word.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  int number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + prefix.size(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

std::optional<Cell> cell_of(const std::string& word) {
  static const std::map<std::string, LinkClass> classes = {
      {"X", LinkClass::self},  {"PIX", LinkClass::pix},   {"PXB", LinkClass::pxb},
      {"PHB", LinkClass::phb}, {"NODE", LinkClass::node}, {"SYS", LinkClass::sys},
      {"SOC", LinkClass::sys}};  // SOC: before 2018
  if (const auto found = classes.find(word); found != classes.end()) return Cell{found->second, 0};
  const std::optional<int> lanes = numbered(word, "NV");
  if (lanes && *lanes >= 1 && *lanes <= most_bonded) return Cell{LinkClass::nvlink, *lanes};
  return std::nullopt;
}

bool is_nic_name(const std::string& word) {
  return std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
         std::isdigit(static_cast<unsigned char>(word.back())) != 0 && !numbered(word, "GPU") &&
         !cell_of(word);
}

bool is_affinity(const std::string& word) {
  return std::isdigit(static_cast<unsigned char>(word.front())) != 0 || word == "N/A";
}

}  // namespace sym::models::detail
