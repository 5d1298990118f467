// Transfers that nothing completes, and lanes that nothing orders.
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range all{0, Desk::n};

// The signal may overtake the put: a fence is missing.
struct PutSignal {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, all, 1);
      if (fixed) block.fence(1);
      block.signal(desk.counter, 0, 1);
    } else {
      block.wait_until(desk.counter, 0, std::uint64_t{1});
      block.transform(desk.b, all, detail::Identity{}, desk.a);
    }
  }
};

// The source is rewritten while the put may still read it.
struct SourceReuse {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, all, 1);
      if (fixed) block.quiet();
      block.transform(desk.b, all, detail::Identity{}, desk.a);
    }
    barrier(block, desk.group);
  }
};

// The destination of a get is read before quiet.
struct GetThenRead {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.get(desk.a, desk.b, all, 1 - block.pe());
    if (fixed) block.quiet();
    block.transform(desk.out, all, detail::Identity{}, desk.a);
    barrier(block, desk.group);
  }
};

// A neighbour's element is read that another lane has written: the ranges overlap and differ.
struct Neighbour {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.a, all, detail::Identity{}, desk.b);
    if (fixed) block.sync();
    block.transform(desk.b.at(1), Range{0, Desk::n - 1}, detail::Identity{}, desk.a.at(1));
  }
};

// The same range, but dealt to lanes as another element type: on GPUs other lanes read it.
struct OtherType {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Window<bf16> narrow{desk.b.segment, desk.b.offset_bytes, Desk::n};
    const Range half{0, Desk::n / 2};
    block.transform(narrow, half, detail::Identity{}, narrow);
    if (fixed) block.sync();
    block.transform(desk.a, half, detail::Identity{}, narrow);
  }
};

// A put of what the block's lanes have just written, another range of it, without a sync.
struct PutOfFresh {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.b, all, detail::Identity{}, desk.b);
    if (fixed) block.sync();
    block.put(desk.a, desk.b, Range{0, 10}, 1 - block.pe());
    barrier(block, desk.group);
  }
};

// Two puts to one place: a fence must say which is last.
struct PutPut {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, all, 1);
      if (fixed) block.fence(1);
      block.put(desk.a, desk.b, all, 1);
    }
    barrier(block, desk.group);
  }
};

// A fence orders deliveries: the source of the second put may be read before the first is there.
struct FenceThenSource {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range half{0, Desk::n / 2};
    block.put(desk.a, desk.b, half, block.pe());
    fixed ? block.quiet() : block.fence(block.pe());
    block.put(desk.a.at(Desk::n / 2), desk.a, half, block.pe());
    barrier(block, desk.group);
  }
};

// As before, with a signal behind the first.
struct FenceAfterPutSignal {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range half{0, Desk::n / 2};
    block.put_signal(desk.a, desk.b, half, desk.counter, 0, block.pe());
    fixed ? block.quiet() : block.fence(block.pe());
    block.put_signal(desk.a.at(Desk::n / 2), desk.a, half, desk.counter, 1, block.pe());
    barrier(block, desk.group);
  }
};

// No fence orders a get behind a put to the same PE.
struct FenceThenGet {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, all, 1);
      fixed ? block.quiet() : block.fence(1);
      block.get(desk.out, desk.a, all, 1);
    }
    barrier(block, desk.group);
  }
};

// No fence orders a put behind a get.
struct GetThenPut {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.get(desk.out, desk.a, all, 1);
      fixed ? block.quiet() : block.fence(1);
      block.put(desk.a, desk.b, all, 1);
    }
    barrier(block, desk.group);
  }
};

// NVIDIA/nvshmem#84: one counter for two chunks; the first signal to come may be the second
// chunk's.
struct OneCounter {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range first{0, Desk::n / 2};
    const Range second{Desk::n / 2, Desk::n / 2};
    if (block.pe() == 0) {
      block.put_signal(desk.a, desk.b, first, desk.counter, 0, 1);
      block.put_signal(desk.a, desk.b, second, desk.counter, fixed ? 1 : 0, 1);
    } else {
      block.wait_until(desk.counter, 0, std::uint64_t{1});
      block.transform(desk.b, first, detail::Identity{}, desk.a);
      block.wait_until(desk.counter, fixed ? 1 : 0, std::uint64_t{fixed ? 1U : 2U});
      block.transform(desk.b, second, detail::Identity{}, desk.a);
    }
  }
};

template <class Kernel>
void one_launch(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  write_all(world, desk.b, conformance::values<float>({1, world.pe(), 1}, Desk::n));
  world.barrier();
  world.launch(launch_of("planted"), Kernel{desk, fixed});
}

}  // namespace

std::vector<Program> ordering_programs() {
  return {
      {"put_then_signal", "race", 2, one_launch<PutSignal>, {"put", "transform"}, "call fence(1)"},
      {"source_reuse_before_quiet",
       "race",
       2,
       one_launch<SourceReuse>,
       {"put", "transform"},
       "quiet() completes it"},
      {"get_read_before_quiet",
       "race",
       2,
       one_launch<GetThenRead>,
       {"get", "transform"},
       "quiet() completes it"},
      {"missing_sync", "missing-sync", 1, one_launch<Neighbour>, {"MISSING SYNC", "call sync()"}},
      {"missing_sync_between_types",
       "missing-sync",
       1,
       one_launch<OtherType>,
       {"MISSING SYNC", "element types"}},
      {"missing_sync_before_put",
       "missing-sync",
       2,
       one_launch<PutOfFresh>,
       {"MISSING SYNC", "put"}},
      {"two_puts_one_place", "race", 2, one_launch<PutPut>, {"put vs put"}},
      {"fence_before_a_source",
       "race",
       2,
       one_launch<FenceThenSource>,
       {"put vs put"},
       "a fence does not keep a later source from being read before"},
      {"fence_after_put_signal",
       "race",
       2,
       one_launch<FenceAfterPutSignal>,
       {"put_signal vs put_signal"},
       "call quiet() between the two"},
      {"fence_before_a_get",
       "race",
       2,
       one_launch<FenceThenGet>,
       {"put", "get"},
       "call quiet() between the two"},
      {"fence_after_a_get",
       "race",
       2,
       one_launch<GetThenPut>,
       {"get", "put"},
       "call quiet() between the two"},
      {"one_counter_two_chunks",
       "race",
       2,
       one_launch<OneCounter>,
       {"put_signal", "transform"},
       ""}};
}

}  // namespace sym::caught
