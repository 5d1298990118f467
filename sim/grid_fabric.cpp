#include "sim/grid_fabric.hpp"

#include <limits>

namespace sym::sim {
namespace {

int fan_of(const std::string& form, int size) { return form == "full" ? size : 2; }

}  // namespace

GridFabric::GridFabric(const models::Machine& machine, const AddLink& add) : nodes_(machine.nodes) {
  int stride = 1;
  for (const auto& shape : machine.shape.dimensions) {
    Dimension dimension{shape.form,
                        shape.size,
                        stride,
                        fan_of(shape.form, shape.size),
                        shape.latency_us.value * 1e-6,
                        {}};
    const std::string name = shape.form + " " + std::to_string(dimensions_.size()) + " of NIC ";
    for (int nic = 0; dimension.size > 1 && nic < machine.nics_per_node; ++nic) {
      for (int node = 0; node < nodes_; ++node) {
        for (int direction = 0; direction < dimension.fan; ++direction) {
          dimension.links.push_back(add(
              shape.gbps.value * 1e9, name + std::to_string(nic) + " node " + std::to_string(node) +
                                          " " + std::to_string(direction)));
        }
      }
    }
    stride *= shape.size;
    dimensions_.push_back(std::move(dimension));
  }
}

int GridFabric::link(const Dimension& dimension, NicAt at, int direction) const {
  const std::size_t node = static_cast<std::size_t>(at.nic) * static_cast<std::size_t>(nodes_) +
                           static_cast<std::size_t>(at.node);
  return dimension
      .links[node * static_cast<std::size_t>(dimension.fan) + static_cast<std::size_t>(direction)];
}

// Along one dimension to the coordinate `target`.
void GridFabric::cross(FabricWay& way, const Dimension& dimension, NicAt& at, int target) const {
  const int from = at.node / dimension.stride % dimension.size;
  const int base = at.node - from * dimension.stride;
  const auto go = [&](int direction, int coordinate) {
    way.links.push_back(link(dimension, at, direction));
    way.latency_s += dimension.latency_s;
    at.node = base + coordinate * dimension.stride;
  };
  if (dimension.form == "full") {
    go(target, target);
  } else if (dimension.form == "switch") {
    go(0, target);
    way.links.push_back(link(dimension, at, 1));
    way.latency_s += dimension.latency_s;
  } else {
    const int ahead = (target - from + dimension.size) % dimension.size;
    const int step = 2 * ahead <= dimension.size ? 1 : dimension.size - 1;
    for (int coordinate = from; coordinate != target;) {
      coordinate = (coordinate + step) % dimension.size;
      go(step == 1 ? 0 : 1, coordinate);
    }
  }
}

FabricWay GridFabric::way(NicAt from, NicAt to) const {
  FabricWay way{{}, 0, std::numeric_limits<double>::infinity()};
  for (const Dimension& dimension : dimensions_) {
    const int target = to.node / dimension.stride % dimension.size;
    if (from.node / dimension.stride % dimension.size != target)
      cross(way, dimension, from, target);
  }
  return way;
}

}  // namespace sym::sim
