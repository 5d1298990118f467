// Wires: how long traffic among the GPUs of one node keeps its busiest link busy. Ports are not
// among the links: they are the business of whoever asks.
#pragma once

#include <functional>
#include <vector>

#include "models/machine.hpp"

namespace sym::models {

class Wires {
 public:
  // Of PEs 0 .. pes - 1 of a node. No links where every pair has all lanes of its ports.
  Wires(const Machine& machine, int pes);

  // Each PE sends so many bytes to the peer that `to` says (itself: nothing).
  using To = std::function<int(int pe)>;
  double us(double bytes, const To& to) const;
  // ... to the PE `hop` ranks on.
  double shift_us(double bytes, int hop) const;
  // ... to all others, `at_once` of them at a time: 1, 2, ... ranks on.
  double all_us(double bytes, int at_once) const;

 private:
  using Loads = std::vector<double>;
  void add(Loads& loads, double bytes, const To& to) const;
  double busiest_us(const Loads& loads) const;
  To shift(int hop) const;
  const std::vector<int>& way(int from, int to) const {
    return ways_[static_cast<std::size_t>(from * pes_ + to)];
  }

  int pes_;
  std::vector<double> gbps_;            // by hop of the node's graph; empty: no links
  std::vector<std::vector<int>> ways_;  // hops, by (from, to)
};

}  // namespace sym::models
