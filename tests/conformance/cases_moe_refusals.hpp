// What dispatch and all_to_all_v must refuse, on every PE, before a row is written; and that the
// next call works where a World can recover.
#pragma once

#include <limits>

#include "core/moe/all_to_all_v.hpp"
#include "core/moe/dispatch.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

enum class Wrong { nothing, id, weight, capacity };

inline const char* sentence_of(Wrong wrong) {
  switch (wrong) {
    case Wrong::id:
      return "moe dispatch: PEs with an expert id outside of -1 to experts - 1";
    case Wrong::weight:
      return "moe dispatch: PEs with a weight that is NaN";
    case Wrong::capacity:
      return "moe dispatch: rows for one PE, aligned, are at most the capacity";
    default:
      return "";
  }
}

// Three tokens a PE, two choices each among 4 experts; the last PE's input has the fault.
template <class W>
class RefusalDesk {
 public:
  static constexpr std::size_t tokens = 3, hidden = 8, capacity = 64;

  explicit RefusalDesk(W& world)
      : world_(world),
        moe_(moe_channel(world, {tokens, 2, 4, 1, hidden, capacity, 2, 128})),
        rows_(world.template allocate<float>(capacity * hidden)),
        x_(world.template local<float>(tokens * hidden)),
        ids_(world.template allocate_control<std::int32_t>(tokens * 2)),
        weights_(world.template allocate_control<float>(tokens * 2)) {}

  void dispatch_with(Wrong wrong) {
    const bool here = world_.pe() + 1 == world_.n_pes();
    std::vector<std::int32_t> ids{0, 1, 1, 2, 2, 3};
    std::vector<float> weights(tokens * 2, 1.0F);
    if (here && wrong == Wrong::id) ids[3] = 4;
    if (here && wrong == Wrong::weight) weights[5] = std::numeric_limits<float>::quiet_NaN();
    write_all(world_, rows_, poison<float>(capacity * hidden));
    write_all(world_, x_, values<float>({1, world_.pe(), 1}, tokens * hidden));
    write_all(world_, ids_, ids);
    write_all(world_, weights_, weights);
    MoeChannel<W> moe = moe_;
    if (wrong == Wrong::capacity) moe.tables.capacity = 1;
    const Routing<Window<std::int32_t>, Window<float>> routing{ids_, weights_, tokens};
    dispatch(moe, x_, routing, rows_);
    world_.synchronize();
  }
  std::vector<float> rows() { return read_all(world_, rows_, capacity * hidden); }
  std::size_t received() {
    std::size_t sum = 0;
    const std::size_t local = moe_.tables.experts.of(world_.pe()).count;
    for (std::uint32_t count : read_all(world_, moe_.tables.counts, local)) sum += count;
    return sum;
  }

 private:
  W& world_;
  MoeChannel<W> moe_;
  Window<float> rows_;
  Local<float> x_;
  Window<std::int32_t> ids_;
  Window<float> weights_;
};

template <class W, Wrong wrong>
void moe_refuses(W& world) {
  RefusalDesk<W>(world).dispatch_with(wrong);
}

template <class W>
void moe_recovers(W& world, Errors& errors) {
  RefusalDesk<W> desk(world);
  for (const Wrong wrong : {Wrong::id, Wrong::weight, Wrong::capacity}) {
    std::string text = "nothing was refused";
    try {
      desk.dispatch_with(wrong);
    } catch (const Failure& failure) {
      text = failure.what();
    }
    if (text.find(sentence_of(wrong)) == std::string::npos)
      errors.add(who(world, std::string("no '") + sentence_of(wrong) + "' in: " + text));
    world.recover();
    expect_equal(errors, who(world, "rows after a refusal"), desk.rows(),
                 poison<float>(RefusalDesk<W>::capacity * RefusalDesk<W>::hidden));
    world.barrier();  // the next call may write the rows that were looked at
    desk.dispatch_with(Wrong::nothing);
    const Range own = Experts{4, world.n_pes()}.of(world.pe());
    std::size_t wanted = 0;  // each PE's choices are 0, 1, 1, 2, 2, 3
    for (std::size_t e = own.first; e < own.end(); ++e) {
      wanted += (e == 0 || e == 3 ? 1U : 2U) * static_cast<std::size_t>(world.n_pes());
    }
    if (desk.received() != wanted) errors.add(who(world, "rows received after recovery"));
    world.barrier();
  }
}

// Splits whose sum passes this PE's input, on the last PE; the others are told.
template <class W>
void all_to_all_v_refuses(W& world) {
  const std::size_t members = static_cast<std::size_t>(world.n_pes());
  AllToAllVChannel<W> channel = all_to_all_v_channel(world, {4, 16, 1, 128});
  const auto in = world.template local<float>(8 * 4);
  const auto out = world.template allocate<float>(16 * 4);
  const auto splits = world.template allocate_control<std::uint32_t>(members);
  const std::uint32_t each = world.pe() + 1 == world.n_pes() ? 7 : 1;
  write_all(world, splits, std::vector<std::uint32_t>(members, each));
  all_to_all_v(channel, in, splits, out);
  world.synchronize();
}

// Misuse that the host sees, before anything runs.
template <class W>
void moe_bad_requests(W& world, Errors& errors) {
  const auto refused = [&](const MoeRequest& request, const char* part) {
    try {
      (void)moe_channel(world, request);
      errors.add(who(world, std::string("accepted what should say: ") + part));
    } catch (const UsageError& error) {
      if (std::string(error.what()).find(part) == std::string::npos)
        errors.add(who(world, std::string("no '") + part + "' in: " + error.what()));
    }
  };
  refused({8, 5, 4, 1, 8}, "topk is 1 to the number of experts, 4, not 5");
  refused({8, 0, 4, 1, 8}, "topk");
  refused({8, 2, 0, 1, 8}, "experts and hidden are at least 1");
  refused({8, 2, 4, 1, 0}, "experts and hidden are at least 1");
  refused({8, 2, 4, 0, 8}, "the alignment is at least 1");
  refused({std::size_t{1} << 32, 2, 4, 1, 8}, "32 bits");
  try {
    (void)all_to_all_v_channel(world, {0, 4});
    errors.add(who(world, "accepted rows of no element"));
  } catch (const UsageError&) {
  }
}

template <class W>
std::vector<Case<W>> moe_host_cases() {
  return {{"moe_bad_requests", {2}, moe_bad_requests<W>}};
}
// ... and on worlds that recover: every PE is told, and the next exchange works.
template <class W>
void all_to_all_v_recovers(W& world, Errors& errors) {
  std::string text = "nothing was refused";
  try {
    all_to_all_v_refuses(world);
  } catch (const Failure& failure) {
    text = failure.what();
  }
  const bool here = world.pe() + 1 == world.n_pes();
  const char* sentence = here ? "all_to_all_v: the sum of the splits is at most the input's rows"
                              : "all_to_all_v: PEs whose splits do not fit their input";
  if (text.find(sentence) == std::string::npos)
    errors.add(who(world, std::string("no '") + sentence + "' in: " + text));
  world.recover();
  const std::size_t members = static_cast<std::size_t>(world.n_pes());
  AllToAllVChannel<W> channel = all_to_all_v_channel(world, {1, members, 1, 128});
  const auto in = world.template local<float>(members);
  const auto out = world.template allocate<float>(members);
  const auto splits = world.template allocate_control<std::uint32_t>(members);
  write_all(world, splits, std::vector<std::uint32_t>(members, 1));
  write_all(world, in, std::vector<float>(members, static_cast<float>(world.pe() + 1)));
  all_to_all_v(channel, in, splits, out);
  world.synchronize();
  std::vector<float> wanted;
  for (int pe = 0; pe < world.n_pes(); ++pe) wanted.push_back(static_cast<float>(pe + 1));
  expect_equal(errors, who(world, "after recovery"), read_all(world, out, members), wanted);
}

template <class W>
std::vector<Case<W>> moe_recovery_cases() {
  return {{"moe_recovers", {1, 2, 3}, moe_recovers<W>},
          {"all_to_all_v_recovers", {2, 4}, all_to_all_v_recovers<W>}};
}

}  // namespace sym::conformance
