#include "experiments/sym/csv_text.hpp"

#include <algorithm>

namespace sym::command {

std::string csv_quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

std::string csv_cell(const std::string& text) {
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : csv_quoted(text);
}

std::optional<std::string> next_csv_record(std::istream& in, int& line) {
  std::string record, more;
  if (!std::getline(in, record)) return std::nullopt;
  ++line;
  // An odd number of quotes: the last one is still open. A comment has none that count.
  while (!record.starts_with('#') && std::count(record.begin(), record.end(), '"') % 2 != 0 &&
         std::getline(in, more)) {
    ++line;
    record += "\n" + more;
  }
  return record;
}

std::vector<std::string> csv_cells_of(const std::string& record) {
  std::vector<std::string> cells(1);
  bool inside = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (record[i] == '"' && inside && i + 1 < record.size() && record[i + 1] == '"') {
      cells.back() += record[i++];
    } else if (record[i] == '"') {
      inside = !inside;
    } else if (record[i] == ',' && !inside) {
      cells.emplace_back();
    } else {
      cells.back() += record[i];
    }
  }
  return cells;
}

}  // namespace sym::command
