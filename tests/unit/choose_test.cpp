// Which variant `auto` means, and with how many blocks: that it follows the machine's numbers.
#include "models/choose.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <tuple>

namespace sym::models {
namespace {

constexpr double kib = 1024, mib = kib * kib, gib = kib * mib;

Menu all_of(const std::string& algorithm) {
  if (algorithm == "all_reduce")
    return {{"one_shot", "one_shot_read", "two_shot", "ring", "staged"}, 132, 32};
  if (algorithm == "reduce_scatter") return {{"direct", "push", "ring", "staged"}, 132, 32};
  if (algorithm == "all_gather") return {{"direct", "ring", "copy_engine"}, 132, 32};
  if (algorithm == "all_to_all") return {{"direct", "copy_engine"}, 132, 32};
  return {{"one_shot", "direct", "two_shot"}, 132, 32};
}

Choice chosen(const Machine& machine, const std::string& algorithm, double bytes, int pes = 2) {
  return choose(machine, {algorithm, pes, bytes}, all_of(algorithm));
}

Machine with(Machine machine, const std::string& key, double value) {
  machine.numbers.at(key).value = value;
  return machine;
}

// The size from which on the algorithm is done by `variant`: where the choice turns to it.
double crossover(const Machine& machine, const std::string& algorithm, const std::string& variant) {
  double below = kib, above = 4 * gib;
  EXPECT_NE(chosen(machine, algorithm, below).variant, variant);
  EXPECT_EQ(chosen(machine, algorithm, above).variant, variant);
  while (above / below > 1.001) {
    const double middle = std::sqrt(below * above);
    (chosen(machine, algorithm, middle).variant == variant ? above : below) = middle;
  }
  return above;
}

// Its start is hidden behind blocks that put heads meanwhile; its flags are not.
TEST(Choose, TheCopyEngineTakesOverWhereItsRateOutweighsItsFlags) {
  const Machine machine = load_machine("h200x2");
  for (const auto& [algorithm, variant, cost] : {std::tuple{"all_gather", "copy_engine", "post_us"},
                                                 {"all_to_all", "copy_engine", "post_us"},
                                                 {"reduce_scatter", "staged", "post_us"},
                                                 {"all_reduce", "staged", "post_us"}}) {
    SCOPED_TRACE(algorithm);
    const double here = crossover(machine, algorithm, variant);
    const Machine late = with(machine, cost, 2 * machine.number(cost));
    EXPECT_GT(crossover(late, algorithm, variant), 1.1 * here);
    const Machine fast =
        with(machine, "copy_engine_gbps", 1.5 * machine.number("copy_engine_gbps"));
    EXPECT_LT(crossover(fast, algorithm, variant), 0.9 * here);
  }
}

TEST(Choose, AFasterPortKeepsBlocksAheadForLonger) {
  const Machine machine = load_machine("h200x2");
  const Machine faster = with(machine, "port_gbps", 1.05 * machine.number("port_gbps"));
  for (const char* algorithm : {"all_gather", "all_to_all"}) {
    EXPECT_GT(crossover(faster, algorithm, "copy_engine"),
              1.2 * crossover(machine, algorithm, "copy_engine"));
  }
}

TEST(Choose, DearerFlagsKeepPacketsAheadForLonger) {
  const Machine machine = load_machine("h200x2");
  const Machine dearer = with(machine, "flag_us", 2 * machine.number("flag_us"));
  for (const char* algorithm : {"all_reduce", "broadcast"}) {
    const auto last_one_shot = [&](const Machine& one) {
      double bytes = kib;
      EXPECT_EQ(chosen(one, algorithm, bytes).variant, "one_shot");
      while (chosen(one, algorithm, 1.01 * bytes).variant == "one_shot") bytes *= 1.01;
      return bytes;
    };
    EXPECT_GT(last_one_shot(dearer), 1.1 * last_one_shot(machine)) << algorithm;
  }
}
// A broadcast's packets leave the root alone, and a port is faster one way.
TEST(Choose, PacketsOfABroadcastGoOneWay) {
  const Machine machine = load_machine("h200x2");
  const Machine faster =
      with(machine, "port_oneway_gbps", 1.5 * machine.number("port_oneway_gbps"));
  const auto us = [](const Machine& one, const char* algorithm) {
    return estimate(one, {algorithm, 2, mib}, "one_shot", 16).us;
  };
  EXPECT_LT(us(faster, "broadcast"), us(machine, "broadcast"));
  EXPECT_EQ(us(faster, "all_reduce"), us(machine, "all_reduce"));
}

TEST(Choose, NcclIsTakenWhereItIsFasterAndOffered) {
  const Machine machine = load_machine("h200x2");
  const Machine faster = with(machine, "nccl_all_gather_gbps", 450);
  Menu menu = all_of("all_gather");
  const Job job{"all_gather", 2, 256 * mib};
  EXPECT_EQ(choose(faster, job, menu).variant, "copy_engine");
  menu.variants.emplace_back("nccl");
  EXPECT_EQ(choose(faster, job, menu).variant, "nccl");
  EXPECT_EQ(choose(machine, job, menu).variant, "copy_engine");
  EXPECT_NE(choose(faster, {"all_gather", 2, 64 * kib}, menu).variant, "nccl");
  Machine unknown = faster;
  unknown.numbers.erase("nccl_all_gather_us");
  EXPECT_EQ(choose(unknown, job, menu).variant, "copy_engine");
}

TEST(Choose, MoreBytesHaveMoreBlocksUnlessFlagsAreDear) {
  const Machine machine = load_machine("h200x2");
  const auto blocks = [&](const Machine& one, double bytes) {
    return best_blocks(one, {"all_gather", 2, bytes}, "direct", all_of("all_gather")).blocks;
  };
  EXPECT_LT(blocks(machine, kib), 4);
  EXPECT_LT(blocks(machine, 64 * kib), 32);
  EXPECT_GE(blocks(machine, 256 * mib), 16);
  for (double bytes = kib; bytes < gib; bytes *= 2)
    EXPECT_LE(blocks(machine, bytes), blocks(machine, 2 * bytes)) << bytes;
  const Machine dear = with(machine, "flag_turn_us", 50 * machine.number("flag_turn_us"));
  EXPECT_LT(blocks(dear, mib), blocks(machine, mib));
  Menu few = all_of("all_gather");
  few.most_blocks = 7;
  EXPECT_EQ(best_blocks(machine, {"all_gather", 2, 256 * mib}, "direct", few).blocks, 7);
}

// What is asked for is what is estimated.
TEST(Choose, BlocksPiecesAndHeadsThatAreAskedFor) {
  const Machine machine = load_machine("h200x2");
  Menu menu = all_of("reduce_scatter");
  menu.blocks = 3;
  for (const Estimate& one : choose(machine, {"reduce_scatter", 2, mib}, menu).candidates)
    EXPECT_EQ(one.blocks, 3) << one.variant;
  const auto us = [&](const std::string& algorithm, const std::string& variant, const Job& asked) {
    return estimate(machine, {algorithm, 2, 64 * mib, asked.pieces, asked.head_bytes}, variant, 16)
        .us;
  };
  for (const char* variant : {"push", "staged"}) {
    EXPECT_LT(us("reduce_scatter", variant, {}), us("reduce_scatter", variant, {"", 1, 0, 1000}))
        << variant;
  }
  // Of a head blocks put so much while the copy starts; all of a part is theirs alone.
  EXPECT_LT(us("all_gather", "copy_engine", {}), us("all_gather", "copy_engine", {"", 1, 0, 0, 0}));
  EXPECT_GT(us("all_gather", "copy_engine", {"", 1, 0, 0, 0}),
            us("all_gather", "copy_engine", {"", 1, 0, 0, 4096}));
}

// One PE has its own part to copy, which more blocks do faster.
TEST(Choose, OnePeTakesBlocksForItsOwnPart) {
  const Machine machine = load_machine("h200x2");
  for (const auto& [algorithm, variant] :
       {std::pair{"all_reduce", "one_shot_read"}, std::pair{"all_reduce", "two_shot"},
        std::pair{"all_reduce", "ring"}, std::pair{"reduce_scatter", "direct"},
        std::pair{"all_gather", "direct"}}) {
    const Estimate best =
        best_blocks(machine, {algorithm, 1, 64 * mib}, variant, all_of(algorithm));
    EXPECT_GE(best.blocks, 16) << variant;
    EXPECT_LT(best.us, estimate(machine, {algorithm, 1, 64 * mib}, variant, 1).us / 8) << variant;
  }
}

TEST(Choose, CandidatesAreSortedAndSumsOfTheirTerms) {
  const Machine machine = load_machine("dgx-h100");
  for (const char* algorithm :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"}) {
    for (const double bytes : {kib, mib, gib}) {
      const Choice choice = chosen(machine, algorithm, bytes, 8);
      ASSERT_EQ(choice.candidates.size(), all_of(algorithm).variants.size()) << algorithm;
      EXPECT_EQ(choice.candidates.front().variant, choice.variant);
      for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
        const Estimate& one = choice.candidates[i];
        double sum = 0;
        for (const Term& term : one.terms) sum += term.us;
        EXPECT_NEAR(sum, one.us, 1e-9 * one.us);
        EXPECT_GT(one.us, 0);
        const Estimate& before = choice.candidates[i > 0 ? i - 1 : 0];
        EXPECT_LE(before.us, one.us);
      }
      EXPECT_FALSE(choice.why.empty());
    }
  }
}

TEST(Choose, AcrossNodesARuleChooses) {
  Menu menu{
      {"direct", "ring", "hierarchical_ring", "hierarchical_hd", "hierarchical_tree"}, 132, 32};
  const Machine four = load_machine("dgx-h100*4");
  EXPECT_EQ(choose(four, {"all_reduce", 32, mib}, menu).variant, "hierarchical_hd");
  EXPECT_EQ(choose(four, {"all_reduce", 24, 64 * mib}, menu).variant, "hierarchical_ring");
  EXPECT_EQ(choose(four, {"all_reduce", 17, mib}, menu).variant, "ring");
  menu.variants = {"direct", "ring", "hierarchical"};
  EXPECT_EQ(choose(four, {"all_gather", 32, mib}, menu).variant, "hierarchical");
  menu.variants = {"direct", "two_hop"};
  EXPECT_EQ(choose(four, {"all_to_all", 32, mib}, menu).variant, "two_hop");
  EXPECT_EQ(choose(four, {"all_to_all", 17, mib}, menu).variant, "direct");
  EXPECT_EQ(choose(four, {"mine", 2, mib}, menu).variant, "");
}

// A share to each PE once the root's NIC would be busier than one more meeting takes.
TEST(Choose, BroadcastsOverNodes) {
  const Menu menu{{"direct", "two_shot"}, 132, 32};
  Machine two = load_machine("dgx-h100*2");
  const auto variant = [&](double bytes) {
    return choose(two, {"broadcast", 16, bytes}, menu).variant;
  };
  EXPECT_EQ(variant(kib), "direct");
  EXPECT_EQ(variant(mib), "two_shot");
  two.numbers.at("nic_latency_us").value = 1000;
  EXPECT_EQ(variant(mib), "direct");
}

// On the rails: few steps where latency counts, few bytes where they do, and both where the nodes
// are a power of two. A NIC of twice the rate moves the crossover to twice the bytes.
TEST(Choose, WaysOnTheRails) {
  const Menu menu{{"hierarchical_ring", "hierarchical_hd", "hierarchical_tree"}, 132, 32};
  const Machine machine = load_machine("dgx-h100*24");
  const auto variant = [&](const Machine& on, int nodes, double bytes) {
    return choose_in_levels(on, {"all_reduce", 8 * nodes, bytes}, 8, menu).variant;
  };
  EXPECT_EQ(variant(machine, 16, 1 * mib), "hierarchical_hd");
  EXPECT_EQ(variant(machine, 16, 1 * gib), "hierarchical_hd");
  EXPECT_EQ(variant(machine, 24, 1 * mib), "hierarchical_tree");
  EXPECT_EQ(variant(machine, 24, 1 * gib), "hierarchical_ring");
  const auto ring_from = [&](const Machine& on) {
    double bytes = kib;
    while (variant(on, 24, bytes) != "hierarchical_ring") bytes *= 1.01;
    return bytes;
  };
  const Machine twice = with(machine, "nic_gbps", 2 * machine.number("nic_gbps"));
  EXPECT_NEAR(ring_from(twice) / ring_from(machine), 2, 0.05);
  // One node, or no rails: the first on the menu.
  EXPECT_EQ(variant(machine, 1, mib), "hierarchical_ring");
  EXPECT_EQ(choose_in_levels(load_machine("h200x2"), {"all_reduce", 6, mib}, 2, menu).variant,
            "hierarchical_ring");
}

// The size from which on a lane has several groups of 16 bytes: flags on the wire against passes.
double several_a_lane_from(const Machine& machine) {
  for (double bytes = kib; bytes < gib; bytes *= 1.02) {
    const PacketGrid grid = packet_grid(machine, {bytes, 1}, 132);
    if (grid.blocks * grid.threads * 16.0 < bytes) return bytes;
  }
  return gib;
}

TEST(PacketGrid, FollowsTheMachinesNumbers) {
  const Machine machine = load_machine("h200x2");
  const double here = several_a_lane_from(machine);
  const double pass_us = machine.number("packet_pass_us"), gbps = machine.number("port_gbps");
  EXPECT_GT(several_a_lane_from(with(machine, "packet_pass_us", 2 * pass_us)), 1.5 * here);
  EXPECT_LT(several_a_lane_from(with(machine, "port_gbps", gbps / 2)), here / 1.5);
  const double block_us = machine.number("block_us");
  const Machine dear = with(machine, "block_us", 30 * block_us);
  EXPECT_LT(packet_grid(dear, {16 * kib, 1}, 132).blocks,
            packet_grid(machine, {16 * kib, 1}, 132).blocks);
  EXPECT_EQ(packet_grid(machine, {1 * kib, 1}, 132).blocks, 1);
  EXPECT_EQ(packet_grid(machine, {16 * mib, 1}, 7).blocks, 7);
}

TEST(Times, RefusesWhatItDoesNotKnow) {
  const Machine machine = load_machine("h200x2");
  EXPECT_FALSE(has_estimate(machine, "all_gather", "hierarchical"));
  EXPECT_THROW((void)estimate(machine, {"all_gather", 2, mib}, "hierarchical", 1),
               std::invalid_argument);
}

TEST(Times, PiecesFollowWhatAFlagCosts) {
  const Machine machine = load_machine("h200x2");
  const Job large{"reduce_scatter", 2, 256 * mib};
  for (const char* variant : {"push", "staged"}) {
    const int pieces = pieces_of_share(machine, large, variant, 32);
    EXPECT_GT(pieces, 1);
    EXPECT_EQ(pieces_of_share(machine, {"reduce_scatter", 2, kib}, variant, 32), 1);
    Machine dear = with(machine, "flag_us", 8 * machine.number("flag_us"));
    dear = with(dear, "piece_us", 8 * machine.number("piece_us"));
    dear = with(dear, "post_us", 8 * machine.number("post_us"));
    EXPECT_LT(pieces_of_share(dear, large, variant, 32), pieces);
  }
}

}  // namespace
}  // namespace sym::models
