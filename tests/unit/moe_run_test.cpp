// MoE on random inputs, by its properties rather than by a model of its layout: tokens conserved,
// each choice delivered exactly once, offsets monotone and aligned, identity experts give x times
// the sum of weights, a token without choices gives zero.
#include <gtest/gtest.h>

#include <set>

#include "backends/check/run.hpp"
#include "tests/conformance/cases_moe.hpp"

namespace sym {
namespace {

using conformance::Errors;
using conformance::mixed;
using fiber::FiberWorld;

struct Draw {
  std::uint64_t state;
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(mixed(state++) % n); }
};

struct RandomCase {
  int pes, blocks;
  std::uint32_t experts, topk, alignment;
  std::size_t hidden, most_tokens;
  std::uint64_t seed;
};

RandomCase case_of(std::uint64_t seed) {
  Draw draw{seed * 1000};
  RandomCase c{};
  c.pes = 1 + static_cast<int>(draw.below(8));
  c.blocks = 1 + static_cast<int>(draw.below(4));
  c.experts = static_cast<std::uint32_t>(1 + draw.below(20));
  c.topk = static_cast<std::uint32_t>(1 + draw.below(std::min<std::size_t>(c.experts, 5)));
  c.alignment = static_cast<std::uint32_t>(1 + draw.below(9));
  c.hidden = 2 + draw.below(40);
  c.most_tokens = draw.below(12);
  c.seed = seed;
  return c;
}

// What one PE routes: distinct experts for each token, some -1; element 0 of a token's row names
// the PE, element 1 the token (floats hold both exactly).
struct Input {
  std::size_t tokens;
  std::vector<std::int32_t> ids;
  std::vector<float> weights, x;
};
Input input_of(const RandomCase& c, int pe) {
  Draw draw{c.seed * 1000 + 100 + static_cast<std::uint64_t>(pe) * 50};
  Input in{c.most_tokens == 0 ? 0 : draw.below(c.most_tokens + 1), {}, {}, {}};
  for (std::size_t t = 0; t < in.tokens; ++t) {
    std::set<std::int32_t> chosen;
    for (std::uint32_t j = 0; j < c.topk; ++j) {
      const auto id = static_cast<std::int32_t>(draw.below(c.experts));
      const bool none = draw.below(4) == 0 || !chosen.insert(id).second;
      in.ids.push_back(none ? -1 : id);
      in.weights.push_back(0.5F * static_cast<float>(draw.below(9)));
    }
    for (std::size_t h = 0; h < c.hidden; ++h) {
      in.x.push_back(h == 0   ? static_cast<float>(pe)
                     : h == 1 ? static_cast<float>(t)
                              : static_cast<float>(draw.below(256)));
    }
  }
  return in;
}

class Checked {
 public:
  Checked(FiberWorld& world, const RandomCase& c, Errors& errors)
      : world_(world), c_(c), errors_(errors), in_(input_of(c, world.pe())) {}

  void run() {
    auto moe = moe_channel(
        world_, {c_.most_tokens, c_.topk, c_.experts, c_.alignment, c_.hidden, 0, c_.blocks, 128});
    const std::size_t room = std::max<std::size_t>(1, in_.tokens);
    const auto rows =
        world_.allocate<float>(std::max<std::size_t>(1, moe.request.capacity) * c_.hidden);
    const auto x = world_.local<float>(room * c_.hidden);
    const auto out = world_.local<float>(room * c_.hidden);
    const auto weights = world_.local<float>(room * c_.topk);
    const auto ids = world_.local<std::int32_t>(room * c_.topk);
    conformance::write_all(world_, x, in_.x);
    conformance::write_all(world_, ids, in_.ids);
    conformance::write_all(world_, weights, in_.weights);
    const Routing routing{ids, weights, in_.tokens};
    dispatch(moe, x, routing, rows);
    world_.synchronize();
    const std::size_t local = moe.tables.experts.of(world_.pe()).count;
    check_rows(moe.tables, conformance::read_all(world_, moe.tables.counts, local),
               conformance::read_all(world_, moe.tables.offsets, local + 1), rows);
    combine(moe, rows, routing, out);
    world_.synchronize();
    check_tokens(conformance::read_all(world_, out, in_.tokens * c_.hidden));
  }

 private:
  void check_rows(const MoeTables& t, const std::vector<std::uint32_t>& counts,
                  const std::vector<std::uint32_t>& offsets, Window<float> rows) {
    const Range own = t.experts.of(world_.pe());
    std::set<std::pair<std::size_t, std::pair<int, std::size_t>>> wanted;  // expert, PE, token
    for (int pe = 0; pe < c_.pes; ++pe) {
      const Input in = input_of(c_, pe);
      for (std::size_t i = 0; i < in.ids.size(); ++i) {
        const auto expert = static_cast<std::size_t>(in.ids[i]);
        if (in.ids[i] >= 0 && expert >= own.first && expert < own.end())
          wanted.insert({expert, {pe, i / c_.topk}});
      }
    }
    const auto all = conformance::read_all(world_, rows, offsets.back() * c_.hidden);
    for (std::size_t e = 0; e < counts.size(); ++e) {
      if (offsets[e] % c_.alignment != 0 || offsets[e] + counts[e] > offsets[e + 1])
        errors_.add("offsets are not monotone and aligned");
      for (std::size_t r = 0; r < counts[e]; ++r) {
        const float* row = all.data() + (offsets[e] + r) * c_.hidden;
        if (wanted.erase(
                {own.first + e, {static_cast<int>(row[0]), static_cast<std::size_t>(row[1])}}) != 1)
          errors_.add("a row that nobody sent here, or twice");
      }
    }
    if (!wanted.empty()) errors_.add(std::to_string(wanted.size()) + " choices were not delivered");
  }

  void check_tokens(const std::vector<float>& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t token = i / c_.hidden;
      float sum = 0;
      for (std::size_t j = token * c_.topk; j < (token + 1) * c_.topk; ++j)
        sum += in_.ids[j] >= 0 ? in_.weights[j] : 0;
      if (out[i] != in_.x[i] * sum)
        errors_.add("token " + std::to_string(token) + " is not x times its weights");
    }
  }

  FiberWorld& world_;
  const RandomCase c_;
  Errors& errors_;
  Input in_;
};

TEST(MoeRun, PropertiesHoldOnRandomInputs) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomCase c = case_of(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    check::CheckOptions options;
    options.pes = c.pes;
    options.schedule = seed % 3 == 0 ? "random" : "worst";
    options.seed = seed;
    Errors errors;
    const check::CheckReport report =
        check::run_check(options, [&](FiberWorld& world) { Checked(world, c, errors).run(); });
    ASSERT_EQ(report.text(), "");
    ASSERT_EQ(errors.text(), "");
  }
}

// PEs that ask for different layouts are named, not waited for.
TEST(MoeRun, DifferentAlignmentsAreAMismatch) {
  check::CheckOptions options;
  options.pes = 2;
  const check::CheckReport report = check::run_check(options, [](FiberWorld& world) {
    const std::uint32_t alignment = world.pe() == 0 ? 4 : 8;
    auto moe = moe_channel(world, {1, 1, 2, alignment, 4, 64, 1, 128});
    const auto rows = world.allocate<float>(64 * 4);
    const auto x = world.local<float>(4);
    const Routing routing{world.local<std::int32_t>(1), world.local<float>(1), 1};
    dispatch(moe, x, routing, rows);
    world.synchronize();
  });
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].kind, "mismatch") << report.text();
}

}  // namespace
}  // namespace sym
