// GridFabric: rings, full meshes and switches along the dimensions of a grid of nodes.
#pragma once

#include "sim/fabric.hpp"

namespace sym::sim {

// Dimension-order ways. NIC i of every node is on copy i of the grid.
class GridFabric final : public Fabric {
 public:
  GridFabric(const models::Machine& machine, const AddLink& add);

  FabricWay way(NicAt from, NicAt to) const override;
  bool keeps_to_rails() const override { return true; }

 private:
  // Links of one dimension, by (copy, node, direction): ring 0 up, 1 down; full: the coordinate of
  // the other end; switch: 0 to it, 1 from it.
  struct Dimension {
    std::string form;
    int size;
    int stride;  // nodes between neighbours
    int fan;
    double latency_s;
    std::vector<int> links;
  };

  int link(const Dimension& dimension, NicAt at, int direction) const;
  void cross(FabricWay& way, const Dimension& dimension, NicAt& at, int target) const;

  int nodes_;
  std::vector<Dimension> dimensions_;
};

}  // namespace sym::sim
