// The words of `nvidia-smi topo -m` text, with colours and other paste damage removed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::models::detail {

struct Word {
  std::string text;
  int line = 0;  // from 1
};

// The words of one line.
using WordLine = std::vector<Word>;

// One cell of the matrix.
struct Cell {
  LinkClass link_class = LinkClass::self;
  int lanes = 0;  // NVLink lanes, 0 for another class
  bool operator==(const Cell&) const = default;
};
inline constexpr const char* accepted_cells =
    "X, NV1 to NV36, PIX, PXB, PHB, NODE and SYS are accepted";

// Splits at white space, other control bytes and UTF-8's no-break space and byte-order mark; colour
// sequences vanish. Lines without words are left out.
std::vector<WordLine> split_words(const std::string& text);

// N of "<prefix>N", or nothing.
std::optional<int> numbered(const std::string& word, const std::string& prefix);
std::optional<Cell> cell_of(const std::string& word);
// NIC0, mlx5_3, mlx5_bond_0, bnxt_re1, ...: a name with a number at its end.
bool is_nic_name(const std::string& word);
// CPU and NUMA affinity cells: "0-47,96-143", "1", "N/A".
bool is_affinity(const std::string& word);

// The checked matrix: square, symmetric, X on the diagonal and only there, a row for each GPU.
struct TopologyMatrix {
  int gpus = 0;
  std::vector<std::string> names;        // columns: GPUs, then NICs
  std::vector<std::vector<Cell>> cells;  // for each GPU, one for each column
  std::vector<int> lines;                // for each GPU, where its row begins
  std::vector<std::string> nic_names;    // as in the header, or as the NIC legend says

  int nics() const { return static_cast<int>(names.size()) - gpus; }
};

// Throws std::invalid_argument with origin and line.
TopologyMatrix read_topology_matrix(const std::string& text, const std::string& origin);

}  // namespace sym::models::detail
