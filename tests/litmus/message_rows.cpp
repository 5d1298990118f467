// Data, and a signal that says it is there.
#include "tests/litmus/litmus.hpp"

namespace sym::litmus {

namespace {

const std::set<std::string> either{"0", "1"};

enum class Order { none, fence, quiet };
void order(Block& block, Order how, int pe) {
  if (how == Order::fence) block.fence(pe);
  if (how == Order::quiet) block.quiet();
}

// MP: a put, then a signal to the same PE.
Kernel message(Order how) {
  return [how](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.put_value(desk.x, 0, 1, 1);
      order(block, how, 1);
      block.signal(desk.f, 0, 1);
    } else {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      seen.r[0] = load(block, desk.x);
    }
  };
}

// MP+bar: the block's lanes write their own memory, and the signal releases what they did.
void block_message(Block& block, const Desk& desk, Seen& seen) {
  if (block.pe() == 0) {
    block.transform(desk.x, one, [] { return 1; });
    block.signal(desk.f, 0, 1);
    block.wait_until(desk.f, 0, std::uint64_t{1});
  } else {
    block.wait_until(desk.f, 0, std::uint64_t{1});
    block.reduce(desk.y, desk.x, one, desk.team.only(0), Sum{});
    block.sync();
    seen.r[0] = load(block, desk.y);
    block.signal(desk.f, 0, 0);
  }
}

// PS: a signal covers its own payload, and no earlier put unless a fence lies between.
Kernel own_payload() {
  return [](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      store(block, desk.y, 1);
      block.put_signal(desk.x, desk.y, one, desk.f, 0, 1);
    } else {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      seen.r[0] = load(block, desk.x);
    }
  };
}
Kernel other_payload(bool fenced) {
  return [fenced](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.put_value(desk.x, 0, 1, 1);
      if (fenced) block.fence(1);
      block.put_signal(desk.x.at(1), desk.y, one, desk.f, 0, 1);
    } else {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      seen.r[0] = load(block, desk.x);
    }
  };
}

// ISA2: the news of a put to PE 2 goes by PE 1. Only quiet makes it good for PE 2.
Kernel relayed(Order how) {
  return [how](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.put_value(desk.x, 0, 1, 2);
      order(block, how, 2);
      block.signal(desk.f, 0, 1);
    } else if (block.pe() == 1) {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      block.signal(desk.f, 0, 2);
    } else {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      seen.r[0] = load(block, desk.x);
    }
  };
}

// WRC: PE 1 has seen the put itself, and passes it on.
void seen_and_relayed(Block& block, const Desk& desk, Seen& seen) {
  if (block.pe() == 0) {
    block.put_value(desk.x, 0, 1, 1);
    block.fence(1);
    block.signal(desk.f, 0, 1);
  } else if (block.pe() == 1) {
    block.wait_until(desk.f, 0, std::uint64_t{1});
    seen.r[0] = load(block, desk.x);
    block.signal(desk.f, 0, 2);
  } else {
    block.wait_until(desk.f, 0, std::uint64_t{1});
    block.get(desk.y, desk.x, one, 1);
    block.quiet();
    seen.r[1] = load(block, desk.y);
  }
}

// FENCE-3, QUIET-3: PE 2 is told, and fetches from PE 1 what PE 0 has put there.
Kernel third(Order how) {
  return [how](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.put_value(desk.x, 0, 1, 1);
      order(block, how, 1);
      block.signal(desk.f, 0, 2);
    } else if (block.pe() == 2) {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      block.get(desk.y, desk.x, one, 1);
      block.quiet();
      seen.r[0] = load(block, desk.y);
    }
  };
}

// CNT: one counter for two payloads; a wait for one of them does not say which.
Kernel counted(std::uint64_t wanted) {
  return [wanted](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      store(block, desk.y, 1);
      block.put_signal(desk.x, desk.y, one, desk.f, 0, 1);
      block.put_signal(desk.x.at(1), desk.y, one, desk.f, 0, 1);
    } else {
      block.wait_until(desk.f, 0, wanted);
      seen.r[0] = load(block, desk.x);
    }
  };
}

}  // namespace

std::vector<Row> message_rows() {
  return {
      {"MP", 2, program_of(message(Order::fence)), 1, {"1"}, {}},
      {"MP_quiet", 2, program_of(message(Order::quiet)), 1, {"1"}, {}},
      {"MP_unfenced", 2, program_of(message(Order::none)), 1, either, {"race"}},
      {"MP_bar", 2, program_of(block_message), 1, {"1"}, {}},
      {"PS_own", 2, program_of(own_payload()), 1, {"1"}, {}},
      {"PS_other", 2, program_of(other_payload(false)), 1, either, {"race"}},
      {"PS_fence", 2, program_of(other_payload(true)), 1, {"1"}, {}},
      {"WRC", 3, program_of(seen_and_relayed), 2, {"1 1"}, {}},
      {"ISA2_quiet", 3, program_of(relayed(Order::quiet)), 1, {"1"}, {}},
      {"ISA2_fence", 3, program_of(relayed(Order::fence)), 1, either, {"race"}},
      {"FENCE_3", 3, program_of(third(Order::fence)), 1, either, {"race"}},
      {"QUIET_3", 3, program_of(third(Order::quiet)), 1, {"1"}, {}},
      {"CNT_one", 2, program_of(counted(1)), 1, either, {"race"}},
      {"CNT_all", 2, program_of(counted(2)), 1, {"1"}, {}},
  };
}

}  // namespace sym::litmus
