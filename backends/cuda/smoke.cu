// Does this backend work on this machine? Collectives against exact data, every verb once,
// conversions bit for bit, the failures that must be reported, and a table of times.
//   smoke [--pes N] [--gpus G] [--no-times]
// With G >= N, N processes, one a GPU; else N threads that share GPU 0. Prints OK, or says what is
// wrong (exit status 1).
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cuda/launch.cuh"
#include "backends/cuda/nccl_baseline.hpp"
#include "backends/cuda/probe.hpp"
#include "backends/cuda/runner.hpp"
#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/broadcast.hpp"
#include "core/collective/reduce_scatter.hpp"

namespace {

using std::size_t;
using sym::bf16;
using sym::Block;
using sym::f16;
using sym::Group;
using sym::Local;
using sym::Range;
using sym::Signals;
using sym::Window;
using sym::cuda::CudaWorld;

enum class Algo { one_shot, two_shot, ring, all_gather, reduce_scatter, broadcast };
constexpr const char* algo_names[] = {"one_shot",   "two_shot",       "ring",
                                      "all_gather", "reduce_scatter", "broadcast"};

template <class T, Algo algo>
struct Collective {
  Group group;
  Window<T> in;
  Window<T> out;
  size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if constexpr (algo == Algo::one_shot)
      sym::all_reduce_one_shot(block, group, in, out, n, sym::Sum{});
    if constexpr (algo == Algo::two_shot)
      sym::all_reduce_two_shot(block, group, in, out, n, sym::Sum{});
    if constexpr (algo == Algo::ring) sym::all_reduce_ring(block, group, in, out, n, sym::Sum{});
    if constexpr (algo == Algo::all_gather) sym::all_gather_direct(block, group, in, out, n);
    if constexpr (algo == Algo::reduce_scatter)
      sym::reduce_scatter_direct(block, group, in, out, n, sym::Sum{});
    if constexpr (algo == Algo::broadcast) sym::broadcast_two_shot(block, group, in, out, n, 0);
    block.leave(group.channel);
  }
};

struct Barrier {
  Group group;
  bool leaves = true;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    sym::barrier(block, group);
    if (leaves) block.leave(group.channel);
  }
};

template <class D, class S>
struct Convert {
  Local<D> to;
  Local<S> from;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(to, from.all(), sym::detail::Identity{}, from);
  }
};

// get, put_value, fetch_add, sum, max, plain counters, fence, put_signal to a neighbour.
struct Verbs {
  Group group;
  Signals counter;
  Window<float> data;             // n of this PE's number + 1 each
  Window<float> inbox;            // n + 1
  Window<std::uint64_t> tickets;  // on PE 0
  Local<float> answers;           // sum, max, ticket, count seen
  size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const int next = (block.pe() + 1) % block.n_pes();
    block.enter(group.channel);
    sym::barrier(block, group);
    block.get(inbox, data, Range{0, n}, next);
    block.sync();
    const float sum = block.sum(inbox, Range{0, n}, sym::detail::Identity{});
    const float max = block.max(data, Range{0, n}, sym::detail::Identity{});
    block.put_value(inbox, n, static_cast<float>(block.pe()) + 0.5F, next);
    block.fence(next);
    block.put_signal(data, data, Range{0, 0}, counter, 0, next);
    const std::uint64_t seen = block.wait_until(counter, 0, std::uint64_t{1});
    const std::uint64_t ticket = block.fetch_add(tickets, 0, std::uint64_t{1}, 0);
    block.put_value(answers_window(), 0, sum, block.pe());
    block.sync();
    block.put_value(answers_window(), 1, max, block.pe());
    block.put_value(answers_window(), 2, static_cast<float>(ticket), block.pe());
    block.put_value(answers_window(), 3, static_cast<float>(seen + block.test(counter, 0)),
                    block.pe());
    block.quiet();
    block.transform(answers, Range{0, 4}, sym::detail::Identity{}, answers_window());
    sym::barrier(block, group);
    block.leave(group.channel);
  }
  SYM_FN Window<float> answers_window() const { return inbox.at(n + 1); }
};

std::atomic<int> failures = 0;
void expect(bool good, const CudaWorld& world, const std::string& what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "PE %d: WRONG: %s\n", world.pe(), what.c_str());
}

template <class T>
T exact(int value) {
  return sym::narrow<T>(static_cast<sym::Accumulator<T>>(value));
}
int input_at(int pe, size_t i) { return (pe + 1) * (static_cast<int>(i % 7) + 1); }

template <class T, Algo algo>
void check(CudaWorld& world, const Group& group, Window<T> in, Window<T> out, size_t n, int blocks,
           int threads) {
  const int pes = world.n_pes();
  const bool wide_in = algo == Algo::reduce_scatter;
  const bool wide_out = algo == Algo::all_gather;
  const size_t in_count = wide_in ? n * static_cast<size_t>(pes) : n;
  const size_t out_count = wide_out ? n * static_cast<size_t>(pes) : n;
  std::vector<T> host(in_count);
  for (size_t i = 0; i < in_count; ++i) host[i] = exact<T>(input_at(world.pe(), i));
  world.write(in, host.data(), in_count);
  std::vector<T> poison(out_count, exact<T>(-99));
  world.write(out, poison.data(), out_count);
  world.barrier();
  Group tagged = group;
  tagged.channel = group.channel.tagged(sym::operation_tag(
      static_cast<std::uint64_t>(algo), n, sizeof(T), static_cast<std::uint64_t>(blocks)));
  const Collective<T, algo> kernel{tagged, in, out, n};
  const sym::LaunchConfig config{algo_names[static_cast<int>(algo)], blocks, threads, 0, true};
  for (int repeat = 0; repeat < 3; ++repeat) world.launch(config, kernel);
  world.synchronize();
  std::vector<T> got(out_count);
  world.read(got.data(), out, out_count);
  size_t wrong = 0;
  for (size_t i = 0; i < out_count; ++i) {
    int expected = 0;
    const size_t at = wide_in ? static_cast<size_t>(world.pe()) * n + i : (wide_out ? i % n : i);
    for (int pe = 0; pe < pes; ++pe) expected += input_at(pe, at);
    if (wide_out) expected = input_at(static_cast<int>(i / n), at);
    if (algo == Algo::broadcast) expected = input_at(0, at);
    const T want = exact<T>(expected);
    if (std::memcmp(&want, &got[i], sizeof(T)) != 0) ++wrong;
  }
  expect(wrong == 0, world,
         std::string(config.name) + " n=" + std::to_string(n) +
             " blocks=" + std::to_string(blocks) + " threads=" + std::to_string(threads) + ": " +
             std::to_string(wrong) + " wrong");
  world.barrier();
}

template <class T>
void check_all(CudaWorld& world, const Group& group, Window<T> in, Window<T> out, size_t n,
               int blocks, int threads) {
  check<T, Algo::one_shot>(world, group, in, out, n, blocks, threads);
  check<T, Algo::two_shot>(world, group, in, out, n, blocks, threads);
  check<T, Algo::ring>(world, group, in, out, n, blocks, threads);
  check<T, Algo::all_gather>(world, group, in, out, n, blocks, threads);
  check<T, Algo::reduce_scatter>(world, group, in, out, n, blocks, threads);
  check<T, Algo::broadcast>(world, group, in, out, n, blocks, threads);
}

void check_collectives(CudaWorld& world, const Group& group) {
  const size_t most = size_t{1} << 20;
  const size_t room = most * static_cast<size_t>(world.n_pes()) + 64;
  const Window<bf16> in = world.allocate<bf16>(room);
  const Window<bf16> out = world.allocate<bf16>(room);
  for (const size_t n :
       {size_t{1}, size_t{7}, size_t{8}, size_t{1000}, size_t{4099}, size_t{65536}, most - 3}) {
    check_all<bf16>(world, group, in, out, n, 1, 32);
    check_all<bf16>(world, group, in, out, n, 8, 512);
    check_all<bf16>(world, group, in, out, n, 16, 512);
  }
  check_all<bf16>(world, group, in.at(1), out.at(3), 4099, 4, 256);  // nothing is aligned
  check_all<float>(world, group, in.as<float>(), out.as<float>(), 5001, 4, 256);
  check_all<std::int64_t>(world, group, in.as<std::int64_t>(), out.as<std::int64_t>(), 5001, 4,
                          256);
  world.free(in);
  world.free(out);
}

template <class D, class S>
void check_conversion(CudaWorld& world, const std::vector<S>& values, const char* name) {
  const Local<S> from = world.local<S>(values.size());
  const Local<D> to = world.local<D>(values.size());
  world.write(from, values.data(), values.size());
  world.launch(sym::LaunchConfig{name}, Convert<D, S>{to, from});
  world.synchronize();
  std::vector<D> got(values.size());
  world.read(got.data(), to, got.size());
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const D want = sym::narrow<D>(static_cast<sym::Accumulator<D>>(sym::widen(values[i])));
    if (std::memcmp(&want, &got[i], sizeof(D)) != 0 && ++wrong == 1) {
      std::uint32_t bits = 0, wanted = 0, had = 0;
      std::memcpy(&bits, &values[i], sizeof(S));
      std::memcpy(&wanted, &want, sizeof(D));
      std::memcpy(&had, &got[i], sizeof(D));
      std::fprintf(stderr, "%s: %08x gives %08x, should be %08x\n", name, bits, had, wanted);
    }
  }
  expect(wrong == 0, world, std::string(name) + ": " + std::to_string(wrong) + " wrong");
}

void check_conversions(CudaWorld& world) {
  std::vector<float> floats;
  std::uint32_t state = 1;
  for (int i = 0; i < (1 << 22); ++i) {
    state = state * 1664525U + 1013904223U;
    floats.push_back(
        std::bit_cast<float>(i < (1 << 21) ? static_cast<std::uint32_t>(i) << 11 : state));
  }
  std::vector<bf16> bf16s;
  std::vector<f16> f16s;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    bf16s.push_back(bf16{static_cast<std::uint16_t>(bits)});
    f16s.push_back(f16{static_cast<std::uint16_t>(bits)});
  }
  check_conversion<bf16, float>(world, floats, "f32 to bf16");
  check_conversion<f16, float>(world, floats, "f32 to f16");
  check_conversion<float, bf16>(world, bf16s, "bf16 to f32");
  check_conversion<float, f16>(world, f16s, "f16 to f32");
}

void check_verbs(CudaWorld& world, const Group& group) {
  constexpr size_t n = 10001;
  const Window<float> data = world.allocate<float>(n);
  const Window<float> inbox = world.allocate<float>(n + 8);
  const Window<std::uint64_t> tickets = world.allocate_control<std::uint64_t>(1);
  const Window<std::uint64_t> words = world.allocate_control<std::uint64_t>(1);
  const Local<float> answers = world.local<float>(4);
  std::vector<float> host(n, static_cast<float>(world.pe() + 1));
  world.write(data, host.data(), n);
  Signals counter;
  counter.words = counter.sent = counter.seen = words;
  counter.slots = 1;
  counter.lanes = 1;
  world.barrier();
  world.launch(sym::LaunchConfig{"verbs", 1, 256},
               Verbs{group, counter, data, inbox, tickets, answers, n});
  world.synchronize();
  float got[4] = {};
  world.read(got, answers, 4);
  const int next = (world.pe() + 1) % world.n_pes();
  const int previous = (world.pe() + world.n_pes() - 1) % world.n_pes();
  expect(got[0] == static_cast<float>(n) * static_cast<float>(next + 1), world,
         "sum " + std::to_string(got[0]));
  expect(got[1] == static_cast<float>(world.pe() + 1), world, "max " + std::to_string(got[1]));
  expect(got[2] >= 0 && got[2] < static_cast<float>(world.n_pes()), world,
         "ticket " + std::to_string(got[2]));
  expect(got[3] == 2, world, "counter " + std::to_string(got[3]));
  float put = 0;
  world.read(&put, inbox.at(n), 1);
  expect(put == static_cast<float>(previous) + 0.5F, world, "put_value " + std::to_string(put));
  std::uint64_t taken = 0;
  world.read(&taken, tickets, 1);
  expect(world.pe() != 0 || taken == static_cast<std::uint64_t>(world.n_pes()), world,
         "tickets " + std::to_string(taken));
  world.barrier();
}

// Launches what must fail on this PE, and wants `text` in the verdict.
template <class Kernel>
void expect_failure(CudaWorld& world, const char* name, int blocks, const Kernel& kernel,
                    const std::string& text) {
  try {
    world.launch(sym::LaunchConfig{name, blocks, 128}, kernel);
    world.synchronize();
    expect(false, world, std::string(name) + " did not fail");
  } catch (const sym::Failure& failure) {
    if (world.pe() == 0) std::printf("as it should: %s\n", failure.what());
    expect(std::string(failure.what()).find(text) != std::string::npos, world,
           std::string(name) + ": " + failure.what());
  }
}

void check_failures(CudaWorld& world, const Group& group) {
  world.set_wait_limit_ms(300);
  if (world.pe() == 0 && world.n_pes() > 1) {
    expect_failure(world, "alone", 2, Barrier{group}, "expired");
    expect_failure(world, "after a failure", 2, Barrier{group}, "recover()");
  }
  world.recover();
  Group other = group;
  other.channel = group.channel.tagged(static_cast<std::uint16_t>(100 + world.pe()));
  if (world.n_pes() > 1) expect_failure(world, "mismatch", 1, Barrier{other}, "another operation");
  world.recover();
  world.launch(sym::LaunchConfig{"keeps the channel", 1, 128}, Barrier{group, false});
  expect_failure(world, "busy", 1, Barrier{group}, "channel busy");
  world.recover();
  expect_failure(world, "too many blocks", group.channel.blocks + 1, Barrier{group},
                 "out of bounds");
  world.recover();
  world.set_wait_limit_ms(10000);
}

template <Algo algo>
double time_us(CudaWorld& world, const Group& group, Window<bf16> in, Window<bf16> out, size_t n,
               int blocks) {
  const bool large = n > (size_t{8} << 20);
  const int calls = large ? 5 : 20;
  world.begin_capture();
  for (int i = 0; i < calls; ++i) {
    world.launch(
        sym::LaunchConfig{algo_names[static_cast<int>(algo)], blocks, n < 4096 ? 256 : 512},
        Collective<bf16, algo>{group, in, out, n});
  }
  return world.time_graph_us(world.end_capture(), large ? 2 : 10) / calls;
}

void show_times(CudaWorld& world, const Group& group, size_t most_bytes, bool nccl) {
  const size_t most = most_bytes / sizeof(bf16);
  const Window<bf16> in = world.allocate<bf16>(most);
  const Window<bf16> out = world.allocate<bf16>(most);
  std::unique_ptr<sym::cuda::NcclBaseline> baseline;
  if (nccl) baseline = std::make_unique<sym::cuda::NcclBaseline>(world, most_bytes);
  const bool first = world.pe() == 0;
  const int widest = group.channel.blocks;
  if (first)
    std::printf("all_reduce bf16, us\n%10s %9s %9s %9s %9s  nccl\n", "bytes", "one_shot",
                "two_shot", "ring", "blocks");
  for (size_t bytes = 1024; bytes <= most_bytes; bytes *= 4) {
    const size_t n = bytes / sizeof(bf16);
    const int wanted = static_cast<int>(bytes / 16384);
    const int blocks = wanted < 1 ? 1 : wanted > widest ? widest : wanted;
    const double one = time_us<Algo::one_shot>(world, group, in, out, n, blocks);
    const double two = time_us<Algo::two_shot>(world, group, in, out, n, blocks);
    const double ring = time_us<Algo::ring>(world, group, in, out, n, blocks);
    if (first) std::printf("%10zu %9.2f %9.2f %9.2f %9d ", bytes, one, two, ring, blocks);
    if (baseline != nullptr) {
      for (const auto& each : baseline->time("all_reduce", bytes, "bf16", "sum").times) {
        if (first) std::printf(" %s %.2f", each.variant.c_str(), each.us);
      }
    }
    if (first) std::printf("\n");
    if (first) std::fflush(stdout);
  }
  if (baseline != nullptr) {
    for (const auto& each : baseline->time("all_gather", size_t{1} << 20, "bf16", "sum").times) {
      if (first)
        std::printf("NCCL all_gather of 1 MiB: %s %.2f us\n", each.variant.c_str(), each.us);
    }
  }
  world.barrier();
}

void program(CudaWorld& world, bool times, bool processes) {
  const bool first = world.pe() == 0;
  const sym::Channel channel =
      world.channel({.blocks = times && processes ? 32 : 16, .packet_bytes = 65536});
  const Group group{channel, world.team()};
  const auto stage = [&](const char* name) {
    world.barrier();
    if (first) std::printf("%s (%.0f us on the device's clock)\n", name, world.mark_us());
    if (first) std::fflush(stdout);
  };
  stage("collectives");
  check_collectives(world, group);
  stage("conversions");
  check_conversions(world);
  stage("verbs");
  check_verbs(world, group);
  if (world.n_pes() > 1) {  // another order of the same PEs, read from memory
    std::vector<int> reversed;
    for (int pe = world.n_pes() - 1; pe >= 0; --pe) reversed.push_back(pe);
    const Window<float> in = world.allocate<float>(2048);
    const Window<float> out = world.allocate<float>(2048);
    check<float, Algo::two_shot>(world, Group{channel, world.team(reversed)}, in, out, 2048, 2,
                                 128);
  }
  stage("failures");
  check_failures(world, group);
  stage("collectives after failures");
  const Window<bf16> in = world.allocate<bf16>(1 << 16);
  const Window<bf16> out = world.allocate<bf16>(1 << 16);
  check<bf16, Algo::two_shot>(world, group, in, out, 5000, 4, 256);
  check<bf16, Algo::ring>(world, group, in, out, 5000, 4, 256);
  if (times) show_times(world, group, size_t{1} << (processes ? 28 : 24), processes);
  if (failures != 0) throw sym::Failure(std::to_string(failures.load()) + " checks failed");
  world.barrier();
  if (first)
    std::printf("OK: %d PEs %s\n", world.n_pes(),
                processes ? "in processes, a GPU each" : "sharing one GPU");
}

}  // namespace

int main(int argc, char** argv) {
  int pes = 2;
  int gpus = 1;
  bool times = true;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--pes" && i + 1 < argc)
      pes = std::atoi(argv[++i]);
    else if (option == "--gpus" && i + 1 < argc)
      gpus = std::atoi(argv[++i]);
    else if (option == "--no-times")
      times = false;
    else
      return std::fprintf(stderr, "usage: smoke [--pes N] [--gpus G] [--no-times]\n"), 2;
  }
  try {
    sym::cuda::prepare_environment(pes, gpus);
    const std::string why = sym::cuda::why_unavailable(pes, gpus);
    if (!why.empty()) throw sym::Unavailable(why);
    return sym::cuda::run_cuda(
        pes, gpus, [&](CudaWorld& world) { program(world, times, pes > 1 && gpus >= pes); });
  } catch (const sym::Unavailable& error) {
    return std::fprintf(stderr, "smoke: %s\n", error.what()), 3;
  } catch (const sym::UsageError& error) {
    return std::fprintf(stderr, "smoke: %s\n", error.what()), 2;
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "smoke: %s\n", error.what()), 1;
  }
}
