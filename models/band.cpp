#include "models/band.hpp"

#include <functional>
#include <string>

#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

enum class Kind { rate, time, other };

Kind kind_of(const std::string& key) {
  for (const detail::NumberKey& one : detail::number_table()) {
    if (key != one.key) continue;
    const std::string unit = one.unit;
    if (one.whole) return Kind::other;
    if (unit.find("/s") != std::string::npos || unit.find("FLOP") != std::string::npos)
      return Kind::rate;
    if (unit == "us") return Kind::time;
  }
  return Kind::other;
}

void for_each_assumed(Machine& machine, const std::function<void(Quantity&, Kind)>& f) {
  const auto give = [&f](Quantity& quantity, Kind kind) {
    if (!quantity.measured && quantity.value > 0 && kind != Kind::other) f(quantity, kind);
  };
  for (auto& [key, quantity] : machine.numbers) give(quantity, kind_of(key));
  for (LinkType& type : machine.graph.types) {
    give(type.gbps, Kind::rate);
    if (type.gbps_back) give(*type.gbps_back, Kind::rate);
    give(type.latency_us, Kind::time);
  }
  for (FabricShape::Dimension& dimension : machine.shape.dimensions) {
    give(dimension.gbps, Kind::rate);
    give(dimension.latency_us, Kind::time);
  }
  for (FabricShape::Link& link : machine.shape.links) {
    give(link.gbps, Kind::rate);
    give(link.latency_us, Kind::time);
  }
}

}  // namespace

Machine assumed_moved(const Machine& machine, double percent, bool better) {
  Machine moved = machine;
  const double factor = 1 + percent / 100;
  for_each_assumed(moved, [&](Quantity& quantity, Kind kind) {
    quantity.value *= (kind == Kind::rate) == better ? factor : 1 / factor;
  });
  return moved;
}

int assumed_numbers(const Machine& machine) {
  Machine copy = machine;
  int count = 0;
  for_each_assumed(copy, [&count](Quantity&, Kind) { ++count; });
  return count;
}

}  // namespace sym::models
