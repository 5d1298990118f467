// Machines: files, names, JSON both ways, what is refused. Topology text: topology_text_test.cpp.
#include "models/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/text.hpp"
#include "tests/unit/machine_checks.hpp"

namespace sym::models {
namespace {

// A small valid machine with `find` replaced; the text must hold it, so that no case tests nothing.
std::string machine_text(const std::string& find = "", const std::string& replacement = "") {
  std::string text =
      R"({"name": "m", "nodes": 1, "gpus_per_node": 2, "fabric": "none", "numbers": {)";
  for (const char* key :
       {"copy_engine_gbps", "copy_engine_start_us", "default_blocks", "flag_us", "gemm_tflops_bf16",
        "hbm_gbps", "launch_us", "load_local_us", "load_remote_us", "port_gbps", "port_oneway_gbps",
        "release_us", "sm_local_gbps", "sm_read_gbps", "sm_write_gbps"}) {
    text += "\"" + std::string(key) + R"(": {"value": 8, "source": "test", "measured": false},)";
  }
  text += R"("sync_us": {"value": 0.5, "source": "test", "measured": true}}})";
  const std::size_t at = text.find(find);
  EXPECT_NE(at, std::string::npos) << find;
  return text.replace(at, find.size(), replacement);
}

std::string refused_json(const std::string& find, const std::string& replacement) {
  return refusal([&] { parse_machine_json(machine_text(find, replacement), "m.json"); });
}

TEST(MachineFiles, NamesAreTheFiles) {
  const std::vector<std::string> names = machine_names();
  for (const char* name : {"dgx-h100", "dgx-h200", "gb200-nvl72", "h200x2"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(MachineFiles, EachLoadsKeepsItsNameAndComesBackFromJson) {
  for (const std::string& name : machine_names()) {
    const Machine machine = load_machine(name);
    EXPECT_EQ(machine.name, name);
    expect_equal(parse_machine_json(to_json(machine), "again"), machine);
    for (const auto& [key, quantity] : machine.numbers) {
      EXPECT_EQ(number_keys().count(key), 1U) << key;
      EXPECT_EQ(quantity.measured, quantity.source.rfind("assumed: ", 0) != 0)
          << name << ' ' << key;
    }
  }
}

TEST(MachineFiles, Shapes) {
  EXPECT_EQ(load_machine("h200x2").pes(), 2);
  EXPECT_EQ(load_machine("dgx-h200").nic_of_gpu.at(5), 5);
  const Machine nvl72 = load_machine("gb200-nvl72");
  EXPECT_EQ(nvl72.nodes, 1);
  EXPECT_EQ(nvl72.gpus_per_node, 72);
  EXPECT_DOUBLE_EQ(nvl72.number("port_gbps"), 722);
}

TEST(MachineFiles, OnlyTheBaselineIsMeasured) {
  const Machine measured = load_machine("h200x2");
  EXPECT_TRUE(measured.numbers.at("port_gbps").measured);
  EXPECT_NE(measured.numbers.at("port_gbps").source.find("two-H200 baseline, 2026-11-29"),
            std::string::npos);
  for (const char* name : {"dgx-h100", "dgx-h200", "gb200-nvl72"}) {
    for (const auto& [key, quantity] : load_machine(name).numbers)
      EXPECT_FALSE(quantity.measured) << name << key;
  }
}

TEST(MachineFiles, StarMultipliesNodes) {
  const Machine machine = load_machine("dgx-h100*4");
  EXPECT_EQ(machine.nodes, 4);
  EXPECT_EQ(machine.pes(), 32);
  expect_equal(parse_machine_json(to_json(machine), "again"), machine);
  EXPECT_EQ(load_machine("h200x2*1").pes(), 2);
  EXPECT_PRED2(contains, refusal([] { load_machine("h200x2*2"); }), "has no NICs");
  for (const char* bad :
       {"dgx-h100*", "dgx-h100*0", "dgx-h100*-1", "dgx-h100*two", "dgx-h100*2.5"}) {
    EXPECT_PRED2(contains, refusal([&] { load_machine(bad); }), "a whole number from 1") << bad;
  }
  EXPECT_PRED2(contains, refusal([] { load_machine("dgx-h100*2000000000"); }), "at most");
}

TEST(MachineFiles, UnknownNameNamesTheNearest) {
  EXPECT_PRED2(contains, refusal([] { load_machine("dgxh100"); }), "nearest name is 'dgx-h100'");
  EXPECT_PRED2(contains, refusal([] { load_machine("/"); }), "is a directory");
}

TEST(MachineFiles, FilesAreReadByContentAndEnvironmentNamesTheFolder) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "sym-machines";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mine.json") << machine_text();
  std::ofstream(folder / "network.yml") << "topology: [ Ring ]\n";
  EXPECT_EQ(load_machine((folder / "mine.json").string()).name, "m");
  EXPECT_PRED2(contains, refusal([&] { load_machine((folder / "network.yml").string()); }),
               "lacks the key 'npus_count'");
  const char* before = std::getenv("SYM_MACHINES");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(setenv("SYM_MACHINES", folder.c_str(), 1), 0);
  EXPECT_EQ(machine_names(), std::vector<std::string>{"mine"});
  EXPECT_EQ(load_machine("mine").pes(), 2);
  EXPECT_PRED2(contains, refusal([] { parse_topology_text("GPU0\nGPU0 X\n", "t"); }),
               "SYM_MACHINES");
  ASSERT_EQ(before == nullptr ? unsetenv("SYM_MACHINES") : setenv("SYM_MACHINES", kept.c_str(), 1),
            0);
}

TEST(MachineJson, Reads) {
  const Machine machine = parse_machine_json(machine_text(), "m.json");
  EXPECT_EQ(machine.pes(), 2);
  EXPECT_DOUBLE_EQ(machine.number("sync_us"), 0.5);
  EXPECT_EQ(machine.nic_of_gpu, (std::vector<int>{-1, -1}));
  EXPECT_PRED2(contains, refusal([&] { (void)machine.number("nic_gbps"); }),
               "'m': has no number 'nic_gbps'");
}

TEST(MachineJson, UnknownKeyIsRefusedWithTheNearest) {
  EXPECT_EQ(
      refused_json("port_gbps", "port_gpbs"),
      "m.json: numbers has the unknown key 'port_gpbs'; the nearest accepted key is 'port_gbps'");
  EXPECT_PRED2(contains, refused_json("\"nodes\"", "\"node\""), "nearest accepted key is 'nodes'");
  EXPECT_PRED2(contains, refused_json("\"source\"", "\"sauce\""),
               "nearest accepted key is 'source'");
  EXPECT_PRED2(contains, refused_json("\"none\"", "\"rails\""),
               "nearest accepted word is \"rail\"");
}

TEST(MachineJson, ValuesOutOfRangeAreRefusedWithTheirPath) {
  EXPECT_EQ(refused_json("\"value\": 8", "\"value\": 0"),
            "m.json: numbers.copy_engine_gbps.value is 0; a number above 0 is accepted, from 1e-9 "
            "to 1e12");
  for (const char* bad : {"-1", "\"8\"", "null", "[8]", "0.0"}) {
    EXPECT_PRED2(contains, refused_json("\"value\": 8", std::string("\"value\": ") + bad),
                 "above 0")
        << bad;
  }
  EXPECT_PRED2(contains, refused_json("\"gpus_per_node\": 2", "\"gpus_per_node\": 0"),
               "gpus_per_node is 0");
  EXPECT_PRED2(contains, refused_json("\"nodes\": 1", "\"nodes\": -3"), "nodes is -3");
  EXPECT_PRED2(contains, refused_json("\"nodes\": 1", "\"nodes\": 1.5"), "a whole number");
  EXPECT_PRED2(contains, refused_json("\"nodes\": 1", "\"nodes\": 18446744073709551615"),
               "a whole number");
  EXPECT_PRED2(contains, refused_json("\"nodes\": 1", "\"nodes\": 2"), "fabric is \"none\"");
  EXPECT_PRED2(contains, refused_json("\"none\"", "\"rail\""), "no GPU has a NIC");
  EXPECT_PRED2(contains, refused_json("\"test\"", "\"\""), "a string that is not empty");
  EXPECT_PRED2(contains, refused_json("false", "0"), "true or false");
  const auto share = [](const std::string& value) {
    return refused_json("\"numbers\": {", R"("numbers": {"nvls_efficiency": {"value": )" + value +
                                              R"(, "source": "test", "measured": false}, )");
  };
  EXPECT_EQ(share("1"), "");
  EXPECT_EQ(
      share("1.2"),
      "m.json: numbers.nvls_efficiency.value is 1.2; a share above 0 and up to 1 is accepted");
  EXPECT_PRED2(contains,
               refused_json("default_blocks\": {\"value\": 8", "default_blocks\": {\"value\": 8.5"),
               "whole");
}

TEST(MachineJson, MissingAndDoubledKeysAreRefused) {
  EXPECT_PRED2(contains, refused_json("\"name\": \"m\", ", ""), "lacks the key 'name'");
  EXPECT_PRED2(contains, refused_json("\"measured\": false", ""), "is not JSON");
  EXPECT_PRED2(contains, refused_json(", \"measured\": false", ""), "lacks the key 'measured'");
  EXPECT_PRED2(
      contains,
      refused_json("\"flag_us\": {\"value\": 8, \"source\": \"test\", \"measured\": false},", ""),
      "numbers lacks the key 'flag_us'");
  EXPECT_PRED2(contains, refused_json("\"nodes\": 1", "\"nodes\": 1, \"nodes\": 1"),
               "'nodes' is given twice");
  EXPECT_PRED2(contains, refused_json("\"fabric\"", "\"nics_per_node\": 1, \"fabric\""),
               "lacks the key 'nic_of_gpu'");
  EXPECT_PRED2(
      contains,
      refused_json("\"fabric\"", "\"nics_per_node\": 1, \"nic_of_gpu\": [0, 0], \"fabric\""),
      "nic_gbps");
  EXPECT_PRED2(contains, refusal([] { parse_machine_json("{\n\"name\": }", "m.json"); }),
               "m.json:2: is not JSON");
  EXPECT_PRED2(contains, refusal([] { parse_machine_json("[]", "m.json"); }),
               "the top level is []");
  EXPECT_PRED2(contains, refusal([] { parse_machine_json("", "m.json"); }),
               "m.json:1: is not JSON");
}

TEST(MachineJson, PairsMustBeSquareSymmetricAndConsistent) {
  const auto with = [](const std::string& pairs) {
    return refused_json("\"fabric\"", pairs + ", \"fabric\"");
  };
  const std::string good = R"("pair_class": [["self", "nvlink"], ["nvlink", "self"]])";
  EXPECT_EQ(with(good), "");
  EXPECT_EQ(with(good + R"(, "pair_lanes": [[0, 4], [4, 0]])"), "");
  EXPECT_PRED2(contains, with(good + R"(, "pair_lanes": [[0, 4], [5, 0]])"),
               "pair_lanes[1][0] differs from [0][1]");
  EXPECT_PRED2(contains, with(good + R"(, "pair_lanes": [[0, 0], [0, 0]])"),
               "pair_lanes[0][1] is 0");
  EXPECT_PRED2(contains, with(R"("pair_class": [["self", "nvlink"]])"),
               "has 1 elements; one for each of the 2 GPUs");
  EXPECT_PRED2(contains, with(R"("pair_class": [["self", "self"], ["self", "self"]])"),
               "on the diagonal");
  EXPECT_PRED2(contains, with(R"("pair_class": [["self", "nvlnk"], ["nvlink", "self"]])"),
               "\"nvlink\"");
  EXPECT_PRED2(contains, with(R"("pair_class": [["self", "sys"], ["sys", "self"]])"),
               "lacks the key 'sys_gbps'");
  const std::string three = R"("pair_class": [["self", "pix", "sys"], ["pix", "self", "pix"],
                                              ["sys", "pix", "self"]])";
  EXPECT_PRED2(contains, refused_json("\"gpus_per_node\": 2", "\"gpus_per_node\": 3, " + three),
               "pair_class[0][2] is SYS, but what other cells say joins the two at PIX");
}

TEST(MachineText, ShowsEachNumberWithUnitMarkAndSource) {
  const std::string text = to_text(load_machine("dgx-h100*2"));
  EXPECT_PRED2(contains, text, "machine dgx-h100: 16 GPUs (2 x 8)");
  EXPECT_PRED2(contains, text, "GB/s    assumed  as h200x2");
  EXPECT_PRED2(contains, to_text(load_machine("h200x2")),
               "GB/s    measured  two-H200 baseline, 2026-11-29");
  for (const auto& [key, quantity] : load_machine("dgx-h100").numbers)
    EXPECT_PRED2(contains, text, key);
}

TEST(NearestName, IsByEditDistanceAndTheFirstOfEqualOnes) {
  EXPECT_EQ(nearest_name("al_reduce", {"broadcast", "all_gather", "all_reduce"}), "all_reduce");
  EXPECT_EQ(nearest_name("x", {"a", "b"}), "a");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

}  // namespace
}  // namespace sym::models
