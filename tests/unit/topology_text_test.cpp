// `nvidia-smi topo -m` text: real samples where the shared folder is there, and small ones of our
// own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/machine.hpp"
#include "tests/unit/machine_checks.hpp"

#ifndef SYM_SHARED_DIR
#define SYM_SHARED_DIR "../shared"
#endif

namespace sym::models {
namespace {

const std::string two_gpus =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV18\tPIX\t0-47,96-143\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \n"
    "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_7\n";

std::string refused_text(const std::string& text) {
  return refusal([&] { parse_topology_text(text, "t.txt"); });
}

std::string replaced(std::string text, const std::string& find, const std::string& replacement) {
  const std::size_t at = text.find(find);
  EXPECT_NE(at, std::string::npos) << find;
  return text.replace(at, find.size(), replacement);
}

void expect_two_gpus(const std::string& text) {
  const Machine machine = parse_topology_text(text, "t.txt");
  EXPECT_EQ(machine.gpus_per_node, 2);
  EXPECT_EQ(machine.pair_class,
            (std::vector{LinkClass::self, LinkClass::nvlink, LinkClass::nvlink, LinkClass::self}));
  EXPECT_EQ(machine.pair_lanes, (std::vector{0, 18, 18, 0}));
  EXPECT_EQ(machine.nics_per_node, 1);
  EXPECT_EQ(machine.nic_of_gpu, (std::vector{0, 0}));
}

struct Sample {
  const char* file;
  int gpus;
  LinkClass first_pair;  // GPU0 to GPU1
  LinkClass last_pair;   // GPU0 to the last GPU
  int lanes;             // of both
  int nics;
  std::vector<int> nic_of_gpu;
};

const std::vector<Sample>& samples() {
  using enum LinkClass;
  static const std::vector<Sample> all = {
      {"nvsmi-4xgb200-6nic-fixture.txt", 4, nvlink, nvlink, 18, 6, {0, 1, 2, 3}},
      {"nvsmi-8xa100-4nic-onesocket.txt", 8, nvlink, nvlink, 12, 4, {0, 1, 2, 3, 0, 1, 2, 3}},
      {"nvsmi-8xh100-9nic-2numa.txt", 8, nvlink, nvlink, 18, 9, {8, 7, 6, 5, 4, 3, 2, 1}},
      {"nvsmi-8xh100-mlx5cols-fixture.txt", 8, nvlink, nvlink, 18, 10, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"nvsmi-8xh20-8nic-full.txt", 8, nvlink, nvlink, 18, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"nvsmi-8xpcie-allsys-2nic.txt", 8, sys, sys, 0, 2, {0, 1, 0, 1, 0, 1, 0, 1}},
      {"nvsmi-8xpcie-node-sys.txt", 8, node, sys, 0, 0, {-1, -1, -1, -1, -1, -1, -1, -1}},
      {"nvsmi-8xpcie-pix-phb.txt", 8, pix, sys, 0, 0, {-1, -1, -1, -1, -1, -1, -1, -1}},
      {"nvsmi-dgxa100-12hca-8numa.txt", 8, nvlink, nvlink, 12, 12, {0, 1, 2, 3, 6, 7, 8, 9}},
  };
  return all;
}

TEST(TopologySamples, EachIsReadAsStated) {
  const std::filesystem::path folder = std::filesystem::path(SYM_SHARED_DIR) / "topo";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no samples at " << folder;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.path().filename().string().rfind("nvsmi-", 0) == 0 ? 1 : 0;
  }
  EXPECT_EQ(files, static_cast<int>(samples().size()))
      << "a sample without an expectation, or the reverse";
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.file);
    const Machine machine = load_machine((folder / sample.file).string());
    EXPECT_EQ(machine.gpus_per_node, sample.gpus);
    EXPECT_EQ(machine.pair_class.at(1), sample.first_pair);
    EXPECT_EQ(machine.pair_class.at(static_cast<std::size_t>(sample.gpus) - 1), sample.last_pair);
    EXPECT_EQ(machine.pair_lanes.at(1), sample.lanes);
    EXPECT_EQ(machine.pair_lanes.at(static_cast<std::size_t>(sample.gpus) - 1), sample.lanes);
    EXPECT_EQ(machine.nics_per_node, sample.nics);
    EXPECT_EQ(machine.nic_of_gpu, sample.nic_of_gpu);
    EXPECT_EQ(machine.fabric, sample.nics > 0 ? "rail" : "none");
    expect_equal(parse_machine_json(to_json(machine), "again"), machine);
    for (const auto& [key, quantity] : machine.numbers) {
      EXPECT_FALSE(quantity.measured) << key;
      EXPECT_EQ(quantity.source.rfind("assumed: ", 0), 0U) << key;
      EXPECT_GT(quantity.value, 0) << key;
    }
  }
}

// A cut text is refused with its line or, where only repetition is lost, read as the whole one.
TEST(TopologySamples, CutTextIsRefusedOrReadAsTheWhole) {
  const std::filesystem::path folder = std::filesystem::path(SYM_SHARED_DIR) / "topo";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no samples at " << folder;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.file);
    std::ifstream in(folder / sample.file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (std::size_t size = 0; size + 4 < text.size(); size += 7) {
      const std::string why = refusal([&] {
        const Machine machine = parse_topology_text(text.substr(0, size), "t.txt");
        EXPECT_EQ(machine.gpus_per_node, sample.gpus) << size;
        EXPECT_EQ(machine.pair_lanes.at(1), sample.lanes) << size;
        EXPECT_EQ(machine.nic_of_gpu, sample.nic_of_gpu) << size;
      });
      EXPECT_TRUE(why.empty() || contains(why, "accepted")) << size << ' ' << why;
      EXPECT_PRED2(contains, refused_text(text.substr(size + 4)), "accepted")
          << size;  // the header is cut
    }
  }
}

TEST(TopologyText, NumbersAreAssumedFromTheLanes) {
  const Machine base = load_machine("dgx-h100");
  const Machine full = parse_topology_text(two_gpus, "t.txt");
  EXPECT_DOUBLE_EQ(full.number("port_gbps"), base.number("port_gbps"));
  const std::string pair12 = "GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12 X\n";
  const Machine a100 = parse_topology_text(pair12, "t.txt");
  EXPECT_NEAR(a100.number("port_gbps"), base.number("port_gbps") * 12 / 18 * 20.0 / 20.6, 1e-9);
  const Machine direct = parse_topology_text(
      "GPU0 GPU1 GPU2\nGPU0 X NV4 NV4\nGPU1 NV4 X NV4\nGPU2 NV4 NV4 X\n", "t.txt");
  EXPECT_NEAR(direct.number("port_gbps"), base.number("port_gbps") * 8 / 18 * 20.0 / 20.6, 1e-9);
  const Machine pcie = parse_topology_text("GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n", "t.txt");
  EXPECT_DOUBLE_EQ(pcie.number("port_gbps"), 24);
  EXPECT_DOUBLE_EQ(pcie.number("phb_gbps"), 24);
  EXPECT_LE(pcie.number("sm_write_gbps"), 24);
  EXPECT_EQ(pcie.numbers.count("nic_gbps") + pcie.numbers.count("sys_gbps"), 0U);
}

TEST(TopologyText, NicLegendNamesTheNics) {
  expect_two_gpus(two_gpus);
  EXPECT_PRED2(contains, parse_topology_text(two_gpus, "dir/mine.txt").description, "mlx5_7");
  EXPECT_EQ(parse_topology_text(two_gpus, "dir/mine.txt").name, "mine");
}

TEST(TopologyText, PasteDamageIsHarmless) {
  const std::string rows = two_gpus.substr(two_gpus.find("GPU0\t X"));
  const std::string affinity = "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID";
  std::string spaces = two_gpus;
  for (char& c : spaces) c = c == '\t' ? ' ' : c;
  expect_two_gpus(spaces);
  expect_two_gpus("\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\x1b[0m\n" + rows);
  expect_two_gpus("\t[4mGPU0\tGPU1\tNIC0\tCPU Affinity[0m\n" + rows);  // the escape byte was lost
  expect_two_gpus("GPU0\nGPU1\nNIC0\nCPU Affinity\n" + rows);
  expect_two_gpus("\tGPU0\tGPU1\n\tNIC0\tCPU\nAffinity\tNUMA Affinity\n" + rows);
  expect_two_gpus("\tGPU0\tGPU1\tNIC0\n" + rows);
  expect_two_gpus("$ nvidia-smi topo -m\n```\n" + two_gpus + "```\n");
  expect_two_gpus(replaced(two_gpus, "NIC0\tPIX\tSYS\t X \n", ""));  // no NIC rows
  expect_two_gpus(replaced(two_gpus, "NV18\tPIX", "NV18\nPIX"));     // a wrapped row
  expect_two_gpus(replaced(two_gpus, "0-47,96-143\t0", "0-47,96-143\n0"));
  expect_two_gpus(replaced(two_gpus, affinity + "\n", "\r\n"));
  expect_two_gpus(replaced(two_gpus, "GPU1\tNIC0", "GPU1\xc2\xa0\xc2\xa0NIC0"));
  expect_two_gpus("\xef\xbb\xbf" + two_gpus);
}

TEST(TopologyText, DirectNicColumnsAndSixteenGpus) {
  expect_two_gpus("GPU0 GPU1 mlx5_bond_0\nGPU0 X NV18 PIX\nGPU1 NV18 X SYS\n");
  std::string header;
  std::string rows;
  for (int i = 0; i < 16; ++i) {
    header += "\tGPU" + std::to_string(i);
    rows += "GPU" + std::to_string(i);
    for (int j = 0; j < 16; ++j) rows += i == j ? "\t X " : "\tNV6";
    rows += "\t0-23\n";
  }
  const Machine machine = parse_topology_text(header + "\tCPU Affinity\n" + rows, "dgx2.txt");
  EXPECT_EQ(machine.gpus_per_node, 16);
  EXPECT_EQ(machine.fabric, "none");
}

// NICs of real texts do not always fit, and are as if they did: that is said.
TEST(TopologyText, NicsThatFitNoTreeAreSaid) {
  const std::string text = "GPU0 GPU1 NIC0 NIC1\nGPU0 X NV18 NODE PIX\nGPU1 NV18 X NODE SYS\n";
  const Machine machine = parse_topology_text(text, "t.txt");
  EXPECT_PRED2(contains, machine.description,
               "row GPU1, column NIC1 is SYS, but what other cells say joins the two at NODE");
  const Machine fits = parse_topology_text(replaced(text, "SYS", "NODE"), "t.txt");
  EXPECT_EQ(fits.description.find("fit"), std::string::npos);
  expect_equal(parse_machine_json(to_json(machine), "again"), machine);
}

TEST(TopologyText, WhatDoesNotFitIsRefusedWithItsLine) {
  EXPECT_EQ(refused_text("GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18\n"),
            "t.txt:3: row GPU1 has 1 cells but the header in line 1 names 2 columns; a square "
            "matrix is accepted");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU1\nGPU0 X 0-47\nGPU1 NV18 X\n"),
               "t.txt:2: row GPU0 has 1 cells");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU1\nGPU0 X NV18 PIX\nGPU1 NV18 X\n"),
               "t.txt:2: row GPU0 has more");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU1\nGPU0 X NV18\n"), "GPU1, which has no row");
  EXPECT_PRED2(contains, refused_text("GPU0\nGPU0 X\nGPU1 NV18 X\n"),
               "t.txt:3: row GPU1 has no column");
  EXPECT_PRED2(contains, refused_text("\nGPU0 GPU1\nGPU0 X NV18\nGPU1 NV12 X\n"),
               "t.txt:4: row GPU1, column GPU0 is 'NV12' but row GPU0, column GPU1 is 'NV18'");
  EXPECT_PRED2(contains, refused_text(replaced(two_gpus, "NIC0\tPIX", "NIC0\tPXB")),
               "t.txt:4: row NIC0");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU1\nGPU0 X NVX\nGPU1 NVX X\n"),
               "t.txt:2: cell 'NVX' in row GPU0");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU1\nGPU0 X NV0\nGPU1 NV0 X\n"), "cell 'NV0'");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU1\nGPU0 NV18 X\nGPU1 X NV18\n"), "out of place");
  EXPECT_PRED2(contains, refused_text("GPU0 NIC0\nGPU0 X NV4\n"), "joins no two GPUs");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU2\nGPU0 X SYS\n"), "'GPU2' where GPU1");
  EXPECT_PRED2(contains, refused_text("GPU0 NIC0 NIC1\nGPU0 X SYS SYS\nNIC0 SYS X PIX\n"),
               "1 of them have a row");
  EXPECT_PRED2(contains, refused_text("GPU0 GPU1\nGPU0 X SYS\nGPU0 X SYS\n"),
               "t.txt:3: row GPU0 is given twice");
  const std::string three = "GPU0 GPU1 GPU2\nGPU0 X PIX SYS\nGPU1 PIX X PIX\nGPU2 SYS PIX X\n";
  EXPECT_PRED2(contains, refused_text(three),
               "t.txt:2: row GPU0, column GPU2 is SYS, but what other cells say joins the two at "
               "PIX; classes that fit");
  EXPECT_EQ(refused_text(replaced(replaced(three, "PIX SYS", "PIX PIX"), "SYS PIX", "PIX PIX")),
            "");
  EXPECT_PRED2(contains, refused_text("No devices were found\n"), "begins with the header GPU0");
  EXPECT_PRED2(contains, refused_text(""), "t.txt:1: ");
}

}  // namespace
}  // namespace sym::models
