// What `sym calibrate` measures, and how its samples are written.
#include <algorithm>
#include <array>
#include <cstdio>

#include "models/calibrate.hpp"

namespace sym::models {
namespace {

constexpr std::size_t least_bytes = std::size_t{1} << 10, most_bytes = std::size_t{1} << 28;
// One block alone is slow, and its rate is clear long before that.
constexpr std::size_t most_of_a_block = std::size_t{1} << 26;

class Tests {
 public:
  Tests(const Machine& base, int sms) : base_(base), sms_(std::max(1, sms)) {}

  std::vector<Sample> all;

  void local() {
    for (const int blocks : {1, 2, 8, 32, sms_}) add({Probe::launch, 0, blocks, 1, 0});
    rounds(Probe::sync, {64, 256, 1024});
    rounds(Probe::load, {16, 64, 256});
    moves(Probe::local_copy, true);
  }
  void link() {
    rounds(Probe::slots, {4, 16, 64}, least_bytes);
    rounds(Probe::packets, {1, 4, 16, 64}, 16);
    rounds(Probe::meet, {1, 2, 4, 16});
    for (const int blocks : {8, 32, sms_}) add({Probe::meet, 0, blocks, 16, 0});
    rounds(Probe::meet_early, {1});
    for (const Probe probe : {Probe::meet_local, Probe::meet_put, Probe::meet_reduce})
      rounds(probe, {1}, least_bytes);
    exchanges();
    moves(Probe::put_one, true);
    moves(Probe::put_both, false);
    moves(Probe::get_one, true);
    moves(Probe::reduce_one, true);
    moves(Probe::reduce_both, false);
    for (std::size_t bytes = least_bytes << 6; bytes <= most_bytes; bytes *= 4) {
      add({Probe::copy_one, bytes, 1, 1, 0});
      add({Probe::copy_both, bytes, 1, 1, 0});
    }
    for (const std::size_t bytes : {least_bytes << 6, least_bytes << 8, least_bytes << 10})
      for (const Probe probe : {Probe::launch_copy, Probe::copy_flag}) add({probe, bytes, 1, 1, 0});
  }

 private:
  void add(Sample sample) {
    sample.blocks = std::min(sample.blocks, sms_);
    const auto same = [&](const Sample& other) {
      return other.probe == sample.probe && other.bytes == sample.bytes &&
             other.blocks == sample.blocks && other.rounds == sample.rounds;
    };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(sample);
  }
  void rounds(Probe probe, std::initializer_list<int> counts, std::size_t bytes = 0) {
    for (const int count : counts) add({probe, bytes, 1, count, 0});
  }
  // Each size in one block, where that is wanted, and in enough blocks for the port.
  void moves(Probe probe, bool one_block) {
    const auto of_size = [&](std::size_t bytes) {
      if (one_block && bytes <= most_of_a_block) add({probe, bytes, 1, 1, 0});
      for (const int blocks : {32, sms_}) add({probe, bytes, blocks, 1, 0});
    };
    for (std::size_t bytes = least_bytes; bytes <= most_bytes; bytes *= 4) of_size(bytes);
    of_size(most_bytes / 2);  // so that the memory, for which small ones do not count, has three
  }
  // Messages of whole passes.
  void exchanges() {
    const auto pass = static_cast<std::size_t>(base_.number_or("packet_pass_bytes", 0));
    if (pass < 16 || pass % 16 != 0) return;
    for (std::size_t passes = 1; passes <= 4; ++passes)
      add({Probe::exchange, passes * pass, 1, 1, 0});
  }

  const Machine& base_;
  int sms_;
};

}  // namespace

const std::string& probe_name(Probe probe) {
  static const std::array<std::string, 21> names = {
      "launch",    "sync",        "load",       "slots",       "packets",     "exchange",
      "meet",      "meet_early",  "meet_local", "meet_put",    "meet_reduce", "put_one",
      "put_both",  "get_one",     "reduce_one", "reduce_both", "local_copy",  "copy_one",
      "copy_both", "launch_copy", "copy_flag"};
  return names.at(static_cast<std::size_t>(probe));
}

std::vector<Sample> calibration_tests(const Machine& base, int pes, int sms) {
  Tests tests(base, sms);
  tests.local();
  if (pes > 1) tests.link();
  return tests.all;
}

std::string samples_csv(const std::vector<Sample>& samples) {
  std::string text = "probe,bytes,blocks,rounds,us\n";
  for (const Sample& one : samples) {
    std::array<char, 64> us{};
    std::snprintf(us.data(), us.size(), "%.9g", one.us);
    text += probe_name(one.probe) + ',' + std::to_string(one.bytes) + ',' +
            std::to_string(one.blocks) + ',' + std::to_string(one.rounds) + ',' + us.data() + '\n';
  }
  return text;
}

}  // namespace sym::models
