// Source and destination of one verb that overlap in part; the fixed twins work in place or apart.
#include "core/collective/barrier.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range few{0, 8};

struct Same {
  template <class A>
  A operator()(A a) const {
    return a;
  }
};
struct Narrow {
  float operator()(double a) const { return static_cast<float>(a); }
};
struct Shifted {
  float total;
  float operator()(float a) const { return a - total; }
};
struct Zero {
  std::uint32_t operator()() const { return 0; }
};
// Itself, from `first` on.
struct Own {
  int pe;
  std::size_t first;
  Term operator()(int) const { return Term{pe, first, 1.0F}; }
};

// `x` as it is, or three elements on.
struct Bench {
  Desk desk;
  Channel packets;
  Window<std::uint32_t> numbers;
  Window<std::int32_t> keys;
  bool fixed;
  template <class M>
  M moved(M x) const {
    return fixed ? x : x.at(3);
  }
};

template <class Act>
struct Works {
  Bench bench;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    Act{}(block, bench);
    block.quiet();
    barrier(block, bench.desk.group);
  }
};

template <class Act>
void overlaps(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const Bench bench{desk, world.channel({1, 256}), world.allocate_control<std::uint32_t>(64),
                    world.allocate_control<std::int32_t>(64), fixed};
  LaunchConfig config = launch_of("planted", 1);
  config.scratch_bytes = 512;
  world.launch(config, Works<Act>{bench});
}

// clang-format off
struct Transforms { template <Block B> void operator()(B& block, const Bench& x) const {
  block.transform(x.moved(x.desk.a), few, Same{}, x.desk.a);
} };
struct TransformsLocal { template <Block B> void operator()(B& block, const Bench& x) const {
  block.transform(x.moved(x.desk.out), few, Same{}, x.desk.out);
} };
struct TransformsScratch { template <Block B> void operator()(B& block, const Bench& x) const {
  const Scratch<float> part{16, 32};
  block.transform(part, part.all(), Same{}, x.desk.a);
  block.sync();
  block.transform(x.moved(part), few, Same{}, part);
} };
// The same beginning, and elements of another size: lanes are cut by those of the destination.
struct TransformsTypes { template <Block B> void operator()(B& block, const Bench& x) const {
  const Window<double> wide = x.desk.a.template as<double>();
  block.transform(x.fixed ? x.desk.b : x.desk.a, few, Narrow{}, wide);
} };
struct BySum { template <Block B> void operator()(B& block, const Bench& x) const {
  block.transform_by_sum(x.moved(x.desk.a), few, Same{}, [](float sum) { return Shifted{sum}; },
                         x.desk.a);
} };
struct BySumKept { template <Block B> void operator()(B& block, const Bench& x) const {
  block.transform_by_sum(WithSource<Window<float>, Window<float>>{x.desk.b, x.moved(x.desk.a)}, few,
                         Same{}, [](float sum) { return Shifted{sum}; }, x.desk.a);
} };
struct Reduces { template <Block B> void operator()(B& block, const Bench& x) const {
  block.reduce(x.moved(x.desk.a), x.desk.a, few, x.desk.group.team.only(block.pe()), Sum{});
} };
struct ReducesMore { template <Block B> void operator()(B& block, const Bench& x) const {
  block.reduce(x.moved(x.desk.out), x.desk.a, few, x.desk.group.team, Sum{},
               [](float total, float more) { return total + more; }, x.desk.out);
} };
struct ReducesTiles { template <Block B> void operator()(B& block, const Bench& x) const {
  const auto tile = [&](Window<float> at) { return Matrix<float>{at, 3, 4, 8}; };
  block.reduce(tile(x.moved(x.desk.a)), tile(x.desk.a), x.desk.group.team.only(block.pe()), Sum{});
  block.reduce(tile(x.desk.a.at(4)), tile(x.desk.a), x.desk.group.team.only(block.pe()), Sum{});
} };
struct ReducesSlots { template <Block B> void operator()(B& block, const Bench& x) const {
  block.reduce_slots(x.moved(x.desk.a), x.desk.b, per_member(x.desk.a, 0), few, x.desk.group.team,
                     Sum{});
} };
struct ReducesPackets { template <Block B> void operator()(B& block, const Bench& x) const {
  block.put_packets(x.packets.inbox, 0, x.desk.b, few, x.desk.group.team);
  block.reduce_packets(x.moved(x.desk.a), x.desk.a, few, x.packets.inbox, 0, x.desk.group.team,
                       Sum{});
} };
struct Receives { template <Block B> void operator()(B& block, const Bench& x) const {
  block.put_packets(x.packets.inbox, 0, x.desk.b, few, x.desk.group.team);
  const Window<float> own = x.desk.a.at(few.count * static_cast<std::size_t>(block.pe()));
  block.receive_packets(per_member(x.desk.a, few.count), x.moved(own), few, x.packets.inbox, 0,
                        x.desk.group.team);
} };
// Two messages to one place.
struct ReceivesOver { template <Block B> void operator()(B& block, const Bench& x) const {
  block.put_packets(x.packets.inbox, 0, x.desk.b, few, x.desk.group.team);
  block.receive_packets(per_member(x.desk.a, few.count - (x.fixed ? 0 : 1)), x.desk.b, few,
                        x.packets.inbox, 0, x.desk.group.team);
} };
struct Scans { template <Block B> void operator()(B& block, const Bench& x) const {
  (void)block.scan(x.moved(x.numbers), x.numbers, few, Same{});
} };
struct Weighs { template <Block B> void operator()(B& block, const Bench& x) const {
  block.weighted_sum(x.desk.a, x.desk.a, few, 1, Own{block.pe(), x.fixed ? 0U : 5U});
} };
struct WeighsInPieces { template <Block B> void operator()(B& block, const Bench& x) const {
  block.warps(1, [&](auto& piece, std::size_t) {
    piece.weighted_sum(x.desk.a, x.desk.a, few, 1, Own{block.pe(), x.fixed ? 0U : 5U});
  });
} };
struct Tallies { template <Block B> void operator()(B& block, const Bench& x) const {
  const Scratch<std::uint32_t> counts{0, 16};
  block.transform(counts, counts.all(), Zero{});
  block.tally(counts, x.keys, few, Scratch<std::uint32_t>{x.fixed ? 64U : 8U, 8});
} };
// clang-format on

Program of(const char* name, void (*run)(FiberWorld&, bool), std::vector<std::string> says,
           int pes = 2) {
  says.emplace_back("ERROR overlap: ");
  return {name, "error", pes, run, says};
}

}  // namespace

std::vector<Program> overlap_programs() {
  return {of("transform_overlaps", overlaps<Transforms>,
             {"a transform of bytes [0, 32) to bytes [12, 44) of payload allocation #0"}),
          of("transform_of_local_overlaps", overlaps<TransformsLocal>,
             {"a transform of bytes [0, 32) to bytes [12, 44) of local memory"}),
          of("transform_of_scratch_overlaps", overlaps<TransformsScratch>,
             {"a transform of bytes [16, 48) to bytes [28, 60) of scratch"}),
          of("transform_between_types_overlaps", overlaps<TransformsTypes>,
             {"a transform of bytes [0, 64) to bytes [0, 32)"}),
          of("transform_by_sum_overlaps", overlaps<BySum>, {"a transform_by_sum of bytes [0, 32)"}),
          of("transform_by_sum_keeps_overlaps", overlaps<BySumKept>,
             {"a transform_by_sum of bytes [0, 32) to bytes [12, 44) of payload allocation #0"}),
          of("reduce_overlaps", overlaps<Reduces>, {"a reduce of bytes [0, 32) to bytes [12, 44)"}),
          of("reduce_with_more_overlaps", overlaps<ReducesMore>,
             {"a reduce of bytes [0, 32) to bytes [12, 44) of local memory"}),
          of("reduce_of_tiles_overlaps", overlaps<ReducesTiles>,
             {"a reduce of bytes [0, 80) to bytes [12, 92)"}),
          of("reduce_slots_overlaps", overlaps<ReducesSlots>, {"a reduce_slots of bytes [0, 32)"}),
          of("reduce_packets_overlaps", overlaps<ReducesPackets>,
             {"a reduce_packets of bytes [0, 32)"}),
          of("receive_packets_overlaps", overlaps<Receives>, {"a receive_packets of bytes ["}),
          of("received_packets_overlap", overlaps<ReceivesOver>,
             {"a receive_packets of bytes [0, 32) to bytes [28, 60)", "must be apart"}),
          of("scan_overlaps", overlaps<Scans>, {"a scan of bytes [0, 32) to bytes [12, 44)"}),
          of("weighted_sum_overlaps", overlaps<Weighs>, {"a weighted_sum of bytes [20, 52)"}),
          of("weighted_sum_of_pieces_overlaps", overlaps<WeighsInPieces>,
             {"a weighted_sum of bytes [20, 52) to bytes [0, 32)"}),
          of("tally_overlaps", overlaps<Tallies>,
             {"a tally of bytes [0, 64) to bytes [8, 40) of scratch", "must be apart"})};
}

}  // namespace sym::caught
