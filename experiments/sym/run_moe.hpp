// run_moe: one point of the MoE exchange in any world: dispatch, stand-ins for experts, combine;
// every row verified, each half timed.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/moe/combine.hpp"
#include "core/moe/dispatch.hpp"
#include "experiments/sym/moe_expected.hpp"
#include "experiments/sym/program.hpp"
#include "experiments/sym/timing.hpp"

namespace sym::command {

// In place of experts: multiplies each of their rows.
template <class T>
struct MoeStandIns {
  MoeTables t;
  Window<T> rows;

  struct Scale {
    float factor;
    SYM_HD constexpr Accumulator<T> operator()(Accumulator<T> a) const {
      return a * static_cast<Accumulator<T>>(factor);
    }
  };
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range own = t.experts.of(t.group.team.rank());
    for (std::size_t e = static_cast<std::size_t>(block.index()); e < own.count;
         e += static_cast<std::size_t>(block.count())) {
      const std::size_t first = block.read(t.offsets, e) * t.hidden;
      const std::size_t count = block.read(t.counts, e) * t.hidden;
      block.transform(rows, Range{first, count}, Scale{expert_factor(own.first + e)}, rows);
    }
  }
};

template <World W, class T>
class MoeRun {
 public:
  MoeRun(W& world, const Point& point) : world_(world), point_(point), router_(point_) {}

  PointResult run() {
    MoeChannel<W> moe = moe_channel(world_, request());
    capacity_ = moe.request.capacity;
    const std::size_t choices = std::max<std::size_t>(1, tokens() * topk());
    x_ = world_.template allocate<T>(std::max<std::size_t>(1, tokens()) * hidden());
    out_ = world_.template allocate<T>(std::max<std::size_t>(1, tokens()) * hidden());
    rows_ = world_.template allocate<T>(std::max<std::size_t>(1, capacity_) * hidden());
    ids_ = world_.template allocate_control<std::int32_t>(choices);
    weights_ = world_.template allocate_control<float>(choices);
    measure_volume(moe.tables.experts);
    report_refusal(world_, point_, result_, [&] { verify_and_time(moe); });
    world_.free(x_);
    world_.free(out_);
    world_.free(rows_);
    world_.free(ids_);
    world_.free(weights_);
    return result_;
  }

 private:
  using Choice = Routing<Window<std::int32_t>, Window<float>>;

  std::size_t tokens() const { return point_.moe.tokens; }
  std::size_t hidden() const { return point_.moe.hidden; }
  std::size_t topk() const { return static_cast<std::size_t>(point_.moe.topk); }

  MoeRequest request() const {
    MoeRequest request;
    request.max_tokens = tokens();
    request.topk = static_cast<std::uint32_t>(point_.moe.topk);
    request.experts = static_cast<std::uint32_t>(point_.moe.experts);
    request.alignment = static_cast<std::uint32_t>(point_.moe.alignment);
    request.hidden = hidden();
    request.capacity = point_.moe.capacity;
    request.blocks = point_.blocks;
    request.threads = point_.threads;
    const bool needs_token = point_.moe.inject == "bad_id" || point_.moe.inject == "nan_weight";
    if (needs_token && tokens() == 0)
      throw UsageError("--inject " + point_.moe.inject + " needs a token; --tokens is 0");
    if (point_.moe.inject == "overflow") {  // one row less than the first iteration needs
      const std::size_t most = MoeExpected(point_, router_, 0, 0).most_rows();
      if (most < 2) throw UsageError("--inject overflow needs a PE that gets two rows or more");
      request.capacity = most - 1;
    }
    return request;
  }

  // What the timed exchange, which is the first iteration's, sends.
  void measure_volume(const Experts& experts) {
    result_.bytes = tokens() * topk() * hidden() * sizeof(T);
    result_.count = tokens() * hidden();
    Exchanged exchanged(point_, world_.pe());
    const double row_bytes = static_cast<double>(hidden() * sizeof(T));
    const Choices choices = router_.choices(0, world_.pe());
    std::vector<std::size_t> last_token(static_cast<std::size_t>(point_.pes), tokens());
    for (std::size_t i = 0; i < choices.ids.size(); ++i) {
      if (choices.ids[i] < 0) continue;
      const int owner = experts.owner(static_cast<std::uint32_t>(choices.ids[i]));
      exchanged.sent(owner, row_bytes);
      std::size_t& last = last_token[static_cast<std::size_t>(owner)];
      if (owner != world_.pe() && last == i / topk()) ++result_.measures.duplicates;
      last = i / topk();
    }
    const MoeExpected expected(point_, router_, 0, world_.pe());
    for (std::size_t e = 0; e < expected.own().count; ++e) {
      for (const Arrival& arrival : expected.arrivals(e))
        exchanged.received(arrival.from, row_bytes);
    }
    exchanged.report(result_.measures);
  }

  void verify_and_time(MoeChannel<W>& moe) {
    const auto scatter = [&](std::size_t n) { dispatch(moe, x_, routing(n), rows_); };
    const auto gather = [&](std::size_t n) { combine(moe, rows_, routing(n), out_); };
    GraphId first, second;  // for all but the first iteration: choices are data
    for (int iteration = 0; iteration < point_.iterations; ++iteration) {
      const bool replayed = point_.graph && iteration > 0;
      const std::size_t n = replayed ? tokens() : tokens_of(point_, iteration, world_.pe());
      prepare(iteration);
      const auto dispatched = [&] { replayed ? world_.replay(first) : scatter(n); };
      const auto combined = [&] { replayed ? world_.replay(second) : gather(n); };
      world_.barrier();  // inputs of every PE are written before any kernel of the iteration
      if (!(point_.skip_pe == world_.pe() && iteration == 0))
        measured(result_.measures.dispatch_us, dispatched);
      const MoeExpected expected(point_, router_, iteration, world_.pe());
      verify_rows(moe.tables, expected, iteration);
      scale_rows(moe.tables);
      world_.barrier();
      measured(result_.measures.combine_us, combined);
      verify_tokens(iteration, n);
      world_.barrier();  // and read before any is written again
      if (!point_.graph || iteration > 0 || point_.iterations == 1) continue;
      first = captured([&] { scatter(tokens()); });
      second = captured([&] { gather(tokens()); });
    }
    result_.time_us = result_.measures.dispatch_us + result_.measures.combine_us;
    if (point_.timed > 0) time_halves(scatter, gather);
  }

  template <class F>
  GraphId captured(F enqueue) {
    world_.begin_capture();
    enqueue();
    return world_.end_capture();
  }

  // Runs to the end; notes the time where the verified launch is the one that counts.
  template <class F>
  void measured(double& us, F enqueue) {
    const double begin_us = point_.time_verified ? world_.mark_us() : 0;
    enqueue();
    if (point_.time_verified) us = world_.mark_us() - begin_us;
    world_.synchronize();
  }

  template <class Scatter, class Gather>
  void time_halves(Scatter scatter, Gather gather) {
    prepare(0);
    world_.barrier();
    result_.measures.dispatch_us = time_us(world_, point_, [&] { scatter(tokens()); });
    result_.measures.combine_us = time_us(world_, point_, [&] { gather(tokens()); });
    result_.time_us = result_.measures.dispatch_us + result_.measures.combine_us;
  }

  Choice routing(std::size_t n) const { return Choice{ids_, weights_, n}; }

  void prepare(int iteration) {
    Choices choices = router_.choices(iteration, world_.pe());
    if (world_.pe() == point_.pes - 1 && !choices.ids.empty()) {
      if (point_.moe.inject == "bad_id") choices.ids[0] = point_.moe.experts;
      if (point_.moe.inject == "nan_weight")
        choices.weights[0] = std::numeric_limits<float>::quiet_NaN();
    }
    world_.write(ids_, choices.ids.data(), choices.ids.size());
    world_.write(weights_, choices.weights.data(), choices.weights.size());
    if (!world_.moves_data()) return;
    const std::vector<T> pattern = row_pattern<T>(point_, iteration, world_.pe());
    RowWindow<W, T>(world_, x_, hidden()).write(0, tokens(), [&](std::size_t t, T* place) {
      fill(place, hidden(), pattern, row_shift(t));
    });
    RowWindow<W, T>(world_, out_, hidden()).spoil(0, tokens());
    spoiled_ = 0;
    if (iteration >= point_.iterations) return;
    const std::size_t used = MoeExpected(point_, router_, iteration, world_.pe()).offsets().back();
    spoiled_ = std::min(capacity_, used + rows_behind);
    RowWindow<W, T>(world_, rows_, hidden()).spoil(0, spoiled_);
  }

  void scale_rows(const MoeTables& tables) {
    LaunchConfig config;
    config.name = "stand-ins for experts";
    config.blocks = point_.blocks;
    config.threads = point_.threads;
    world_.launch(config, MoeStandIns<T>{tables, rows_});
    world_.synchronize();
  }

  // Each expert's rows in their order, zeros up to the next one's, and nothing behind the last.
  void verify_rows(const MoeTables& tables, const MoeExpected& expected, int iteration) {
    Mismatches mismatches(result_, world_.pe());
    const std::size_t experts = expected.own().count;
    std::vector<std::uint32_t> got(experts + 1);
    world_.read(got.data(), tables.counts, experts);
    mismatches.compare("counts", got.data(), expected.counts().data(), experts);
    world_.read(got.data(), tables.offsets, experts + 1);
    mismatches.compare("offsets", got.data(), expected.offsets().data(), experts + 1);
    if (!world_.moves_data()) return;
    std::vector<std::vector<T>> patterns;
    for (int pe = 0; pe < point_.pes; ++pe)
      patterns.push_back(row_pattern<T>(point_, iteration, pe));
    std::size_t expert = 0;
    std::vector<T> wanted(hidden());
    const auto verify_row = [&](std::size_t r, const T* place) {
      while (expert < experts && r >= expected.offsets()[expert + 1]) ++expert;
      const std::string name = "row " + std::to_string(r);
      if (expert == experts) return mismatches.untouched_row(name, place, hidden());
      const std::vector<Arrival>& arrivals = expected.arrivals(expert);
      const std::size_t index = r - expected.offsets()[expert];
      std::fill(wanted.begin(), wanted.end(), T{});
      if (index < arrivals.size()) {
        const Arrival& arrival = arrivals[index];
        fill(wanted.data(), hidden(), patterns[static_cast<std::size_t>(arrival.from)],
             row_shift(arrival.token));
      }
      mismatches.compare(name, place, wanted.data(), hidden());
    };
    RowWindow<W, T>(world_, rows_, hidden()).read(0, spoiled_, verify_row);
  }

  // x times the sum of weight times factor over the choices; zero for a token without any.
  void verify_tokens(int iteration, std::size_t n) {
    if (!world_.moves_data()) return;
    Mismatches mismatches(result_, world_.pe());
    const Choices choices = router_.choices(iteration, world_.pe());
    ScaledRows<T> scaled(row_pattern<T>(point_, iteration, world_.pe()));
    std::vector<T> wanted(hidden());
    Hash hash;
    RowWindow<W, T>(world_, out_, hidden()).read(0, tokens(), [&](std::size_t t, const T* place) {
      const std::string name = "token " + std::to_string(t);
      if (t >= n) return mismatches.untouched_row(name, place, hidden());
      float factor = 0;
      for (std::size_t i = t * topk(); i < (t + 1) * topk(); ++i) {
        if (choices.ids[i] < 0) continue;
        factor += choices.weights[i] * expert_factor(static_cast<std::size_t>(choices.ids[i]));
      }
      fill(wanted.data(), hidden(), scaled(factor), row_shift(t));
      mismatches.compare(name, place, wanted.data(), hidden());
      hash.add(place, hidden() * sizeof(T));
    });
    result_.hash = hash.value();
  }

  static constexpr std::size_t rows_behind = 16;  // that must stay untouched
  W& world_;
  const Point point_;
  const Router router_;
  Window<T> x_, out_, rows_;
  Window<std::int32_t> ids_;
  Window<float> weights_;
  std::size_t capacity_ = 0, spoiled_ = 0;
  PointResult result_;
};

template <World W, class T>
PointResult run_moe(W& world, const Point& point) {
  return MoeRun<W, T>(world, point).run();
}

}  // namespace sym::command
