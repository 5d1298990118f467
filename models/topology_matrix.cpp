// Reading the matrix of `nvidia-smi topo -m`. The text reaches us by paste: coloured, re-wrapped,
// with tabs turned into spaces and with rows or columns missing. What the matrix itself does not
// settle is refused with its line, never guessed.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "models/topology_words.hpp"

namespace sym::models::detail {
namespace {

constexpr std::size_t most_columns = 2048;

class MatrixReader {
 public:
  MatrixReader(const std::string& text, const std::string& origin)
      : origin_(origin), lines_(split_words(text)) {}

  TopologyMatrix read();

 private:
  struct Row {
    int line = 0;
    std::vector<Word> words;
    std::vector<Cell> cells;  // one for each column, once checked
  };

  [[noreturn]] void refuse(int line, const std::string& what) const {
    throw std::invalid_argument(origin_ + ":" + std::to_string(line) + ": " + what);
  }
  bool is_header(const WordLine& line) const;
  bool is_label(const std::string& word) const {
    return std::find(names_.begin(), names_.end(), word) != names_.end();
  }
  bool is_complete(const Row& row) const { return row.words.size() >= names_.size(); }
  bool have_gpu_rows() const;

  void read_header();
  bool add_header_word(const Word& word);
  void read_rows();
  bool add_line(const WordLine& line);
  void check_row(const std::string& label, Row& row) const;
  void check_completeness() const;
  void check_symmetry() const;
  std::string nic_name(const std::string& column) const;

  std::string origin_;
  std::vector<WordLine> lines_;
  std::size_t next_ = 0;  // line to read
  int header_line_ = 0;
  int gpus_ = 0;
  std::vector<std::string> names_;  // columns: GPUs, then NICs
  std::map<std::string, Row> rows_;
  Row* current_ = nullptr;
};

bool MatrixReader::is_header(const WordLine& line) const {
  return line[0].text == "GPU0" && (line.size() == 1 || !cell_of(line[1].text));
}

// False where the affinity columns begin, which name no column of the matrix.
bool MatrixReader::add_header_word(const Word& word) {
  if (word.text == "CPU" || word.text == "NUMA" || word.text == "GPU") return false;
  if (const std::optional<int> gpu = numbered(word.text, "GPU")) {
    if (*gpu != gpus_ || names_.size() != static_cast<std::size_t>(gpus_)) {
      refuse(word.line, "the header has '" + word.text + "' where GPU" + std::to_string(gpus_) +
                            " or a NIC is accepted");
    }
    ++gpus_;
  } else if (!is_nic_name(word.text) || is_label(word.text)) {
    refuse(word.line, "the header has '" + word.text +
                          "'; GPUn, NICn, a NIC's name such as mlx5_0 (each once) or "
                          "CPU Affinity is accepted");
  }
  if (names_.size() == most_columns)
    refuse(word.line, "the header goes on after 2048 columns; up to 2048 are accepted");
  names_.push_back(word.text);
  return true;
}

// A header may be wrapped: it goes on until a line begins with a name that it already holds.
void MatrixReader::read_header() {
  while (next_ < lines_.size() && !is_header(lines_[next_]))
    ++next_;  // a prompt, a code fence, a title
  if (next_ == lines_.size()) {
    refuse(1, "no line begins with the header GPU0; the text of `nvidia-smi topo -m` is accepted");
  }
  header_line_ = lines_[next_][0].line;
  bool in_matrix = true;
  for (; next_ < lines_.size() && !is_label(lines_[next_][0].text); ++next_) {
    for (const Word& word : lines_[next_]) in_matrix = in_matrix && add_header_word(word);
  }
}

bool MatrixReader::have_gpu_rows() const {
  return std::all_of(names_.begin(), names_.begin() + gpus_,
                     [&](const std::string& n) { return rows_.contains(n); });
}

// False where the matrix has ended.
bool MatrixReader::add_line(const WordLine& line) {
  const std::string& first = line[0].text;
  const bool row_like =
      line.size() > 1 && cell_of(line[1].text) && (numbered(first, "GPU") || is_nic_name(first));
  if (!is_label(first) && row_like) {
    refuse(line[0].line,
           "row " + first + " has no column of that name; a square matrix is accepted");
  }
  if (is_label(first)) {
    if (rows_.contains(first))
      refuse(line[0].line, "row " + first + " is given twice; once is accepted");
    current_ = &rows_[first];
    current_->line = line[0].line;
    current_->words.assign(line.begin() + 1, line.end());
    return true;
  }
  if (!is_complete(*current_) && cell_of(first)) {  // the rest of a wrapped row
    current_->words.insert(current_->words.end(), line.begin(), line.end());
    return true;
  }
  if (is_affinity(first) && is_complete(*current_))
    return true;  // wrapped inside the affinity columns
  if (!have_gpu_rows())
    refuse(line[0].line, "'" + first + "' begins a line where a row of a GPU is accepted");
  return false;
}

void MatrixReader::read_rows() {
  while (next_ < lines_.size() && add_line(lines_[next_])) ++next_;
  for (auto& [label, row] : rows_) check_row(label, row);
}

void MatrixReader::check_row(const std::string& label, Row& row) const {
  const std::string counts = "but the header in line " + std::to_string(header_line_) + " names " +
                             std::to_string(names_.size()) +
                             " columns; a square matrix is accepted";
  for (std::size_t column = 0; column < names_.size(); ++column) {
    if (column >= row.words.size() || is_affinity(row.words[column].text)) {
      refuse(row.line, "row " + label + " has " + std::to_string(column) + " cells " + counts);
    }
    const Word& word = row.words[column];
    const std::optional<Cell> cell = cell_of(word.text);
    const std::string where =
        "cell '" + word.text + "' in row " + label + ", column " + names_[column] + " ";
    if (!cell) refuse(word.line, where + "is unknown; " + accepted_cells);
    if ((cell->link_class == LinkClass::self) != (names_[column] == label)) {
      refuse(word.line, where + "is out of place; X is accepted on the diagonal and only there");
    }
    const bool both_gpus = numbered(label, "GPU") && numbered(names_[column], "GPU");
    if (cell->lanes > 0 && !both_gpus)
      refuse(word.line, where + "joins no two GPUs; NV# is accepted between GPUs");
    row.cells.push_back(*cell);
  }
  if (row.words.size() > names_.size() && cell_of(row.words[names_.size()].text)) {
    refuse(row.line, "row " + label + " has more cells, " + counts);
  }
}

// NIC rows repeat what the GPU rows say, so they may be left out, but not some of them: that is a
// cut text.
void MatrixReader::check_completeness() const {
  int nic_rows = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool given = rows_.contains(names_[i]);
    if (static_cast<int>(i) >= gpus_) {
      nic_rows += given ? 1 : 0;
    } else if (!given) {
      refuse(header_line_, "the header names " + names_[i] +
                               ", which has no row; a row for each GPU is accepted");
    }
  }
  const int nics = static_cast<int>(names_.size()) - gpus_;
  if (nic_rows != 0 && nic_rows != nics) {
    refuse(header_line_, "the header names " + std::to_string(nics) + " NICs and " +
                             std::to_string(nic_rows) +
                             " of them have a row; rows for all or for none are accepted");
  }
}

void MatrixReader::check_symmetry() const {
  for (std::size_t a = 0; a < names_.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto row_a = rows_.find(names_[a]);
      const auto row_b = rows_.find(names_[b]);
      if (row_a == rows_.end() || row_b == rows_.end()) continue;
      if (row_a->second.cells[b] == row_b->second.cells[a]) continue;
      refuse(row_a->second.words[b].line,
             "row " + names_[a] + ", column " + names_[b] + " is '" + row_a->second.words[b].text +
                 "' but row " + names_[b] + ", column " + names_[a] + " is '" +
                 row_b->second.words[a].text + "'; a symmetric matrix is accepted");
    }
  }
}

// As in the header, or, where there is a legend ("NIC0: mlx5_1"), as it says.
std::string MatrixReader::nic_name(const std::string& column) const {
  for (std::size_t line = next_; line < lines_.size(); ++line) {
    if (lines_[line].size() > 1 && lines_[line][0].text == column + ":")
      return lines_[line][1].text;
  }
  return column;
}

TopologyMatrix MatrixReader::read() {
  read_header();
  read_rows();
  check_completeness();
  check_symmetry();
  TopologyMatrix matrix{gpus_, names_, {}, {}, {}};
  for (std::size_t column = 0; column < names_.size(); ++column) {
    if (column < static_cast<std::size_t>(gpus_)) {
      matrix.cells.push_back(rows_.at(names_[column]).cells);
      matrix.lines.push_back(rows_.at(names_[column]).line);
    } else {
      matrix.nic_names.push_back(nic_name(names_[column]));
    }
  }
  return matrix;
}

}  // namespace

TopologyMatrix read_topology_matrix(const std::string& text, const std::string& origin) {
  return MatrixReader(text, origin).read();
}

}  // namespace sym::models::detail
