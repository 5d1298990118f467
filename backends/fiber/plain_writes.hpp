// PlainWrites: who has written control memory as hosts write it, before anybody signals or waits
// there. A word that is made later takes its last writer from here.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "backends/fiber/history.hpp"
#include "backends/fiber/memory.hpp"

namespace sym::fiber {

class PlainWrites {
 public:
  // Whether a write has been noted of the allocation, on any PE.
  bool in(int space) const {
    const auto first = writes_.lower_bound({space, 0});
    return first != writes_.end() && first->first.first == space;
  }
  void note(const Bytes& bytes, const History::Touch& touch);
  // The last that wrote any of the word. Its agent is -1: none is known.
  History::Touch last(const WordId& id) const;

 private:
  struct Write {
    std::size_t begin = 0, end = 0;
    History::Touch touch;
  };
  std::map<std::pair<int, int>, std::vector<Write>> writes_;  // by space and PE, oldest first
};

}  // namespace sym::fiber
