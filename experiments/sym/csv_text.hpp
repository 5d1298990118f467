// Cells of a CSV as text, written and read as RFC 4180 says.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace sym::command {

// In quotes, with those inside doubled.
std::string csv_quoted(const std::string& text);
// In quotes if it has a comma, a quote or the end of a line, else as it is.
std::string csv_cell(const std::string& text);

// The next record, whose quoted cells may go over several lines; `line` counts the lines read.
std::optional<std::string> next_csv_record(std::istream& in, int& line);
std::vector<std::string> csv_cells_of(const std::string& record);

}  // namespace sym::command
