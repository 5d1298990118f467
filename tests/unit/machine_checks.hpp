// What the tests of models/ share.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "models/machine.hpp"

namespace sym::models {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The sentence with which `call` refuses its input; "" if it accepts it. Any other exception fails
// the test.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

inline void expect_equal(const Machine& a, const Machine& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.description, b.description);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.gpus_per_node, b.gpus_per_node);
  EXPECT_EQ(a.pair_class, b.pair_class);
  EXPECT_EQ(a.pair_lanes, b.pair_lanes);
  EXPECT_EQ(a.nic_of_gpu, b.nic_of_gpu);
  EXPECT_EQ(a.nics_per_node, b.nics_per_node);
  EXPECT_EQ(a.nic_class, b.nic_class);
  EXPECT_EQ(a.graph.vertices, b.graph.vertices);
  EXPECT_EQ(a.graph.links, b.graph.links);
  ASSERT_EQ(a.graph.types.size(), b.graph.types.size());
  for (std::size_t i = 0; i < a.graph.types.size(); ++i) {
    EXPECT_EQ(a.graph.types[i].name, b.graph.types[i].name);
    EXPECT_EQ(a.graph.types[i].kind, b.graph.types[i].kind);
    EXPECT_EQ(a.graph.types[i].gbps, b.graph.types[i].gbps);
    EXPECT_EQ(a.graph.types[i].gbps_back, b.graph.types[i].gbps_back);
    EXPECT_EQ(a.graph.types[i].latency_us, b.graph.types[i].latency_us);
  }
  EXPECT_EQ(a.fabric, b.fabric);
  EXPECT_EQ(a.shape, b.shape);
  ASSERT_EQ(a.numbers.size(), b.numbers.size());
  for (const auto& [key, quantity] : a.numbers) {
    ASSERT_EQ(b.numbers.count(key), 1U) << key;
    EXPECT_EQ(quantity.value, b.numbers.at(key).value) << key;
    EXPECT_EQ(quantity.source, b.numbers.at(key).source) << key;
    EXPECT_EQ(quantity.measured, b.numbers.at(key).measured) << key;
  }
}

}  // namespace sym::models
