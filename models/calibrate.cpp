// What a machine's numbers must be for the simulator's verbs to take the times that were measured:
// sim/time_policy.hpp says what each verb takes.
#include "models/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>

#include "models/line_fit.hpp"
#include "models/packets.hpp"

namespace sym::models {
namespace {

constexpr int enough_blocks = 16;  // from here on it is the port, or the memory, that limits
// Of a rate the sizes below are latency; of the memory they are its cache.
constexpr std::size_t least_of_a_block = std::size_t{1} << 14;
constexpr std::size_t least_of_a_port = std::size_t{1} << 18;
constexpr std::size_t least_of_memory = std::size_t{1} << 26;
constexpr double least_us = 1e-5;  // what is less is rounding

using Samples = std::vector<Sample>;
using X = std::function<double(const Sample&)>;

double by_rounds(const Sample& sample) { return sample.rounds; }
double by_bytes(const Sample& sample) { return static_cast<double>(sample.bytes); }
double by_other_blocks(const Sample& sample) { return sample.blocks - 1; }

class Fitter {
 public:
  Fitter(const Samples& samples, const Machine& base) : samples_(samples), base_(base) {}

  std::map<std::string, Fitted> run() {
    launches();
    loads();
    rates();
    flags();
    copies();
    exchanges();
    return std::move(fitted_);
  }

 private:
  using Choice = std::function<bool(const Sample&)>;
  static bool any(const Sample&) { return true; }

  Samples of(Probe probe, const Choice& choice = any) const {
    Samples chosen;
    for (const Sample& sample : samples_) {
      if (sample.probe == probe && choice(sample)) chosen.push_back(sample);
    }
    return chosen;
  }
  double number(const std::string& key) const {
    const auto found = fitted_.find(key);
    return found != fitted_.end() ? found->second.value : base_.number_or(key, 0);
  }

  static FitQuality quality_of(const Samples& samples, double median_error, double worst_error) {
    FitQuality quality{median_error, worst_error, static_cast<int>(samples.size()), {}, {}};
    const auto span = [&](auto of) {
      const auto [low, high] =
          std::minmax_element(samples.begin(), samples.end(),
                              [&](const Sample& a, const Sample& b) { return of(a) < of(b); });
      return Span{static_cast<std::size_t>(of(*low)), static_cast<std::size_t>(of(*high))};
    };
    quality.bytes = span([](const Sample& s) { return s.bytes; });
    quality.blocks = span([](const Sample& s) { return s.blocks; });
    return quality;
  }
  void add(const std::string& key, double value, const FitQuality& quality) {
    if (!std::isfinite(value) || value < least_us) return;
    fitted_[key] = {value, quality};
  }
  static Line line_of(const Samples& samples, const X& x) {
    std::vector<Timed> points;
    for (const Sample& sample : samples) points.push_back({x(sample), sample.us});
    return fit_line(points);
  }
  static bool has_line(const Samples& samples, const X& x) {
    std::set<double> different;
    for (const Sample& sample : samples) different.insert(x(sample));
    return different.size() > 1;
  }
  // take(line, quality), if the samples make a line.
  template <class F>
  static void with_line(const Samples& samples, const X& x, F take) {
    if (!has_line(samples, x)) return;
    const Line line = line_of(samples, x);
    take(line, quality_of(samples, line.median_error_percent, line.worst_error_percent));
  }
  // What each further block adds, `times` over: seen only if it is well above the line's own error,
  // which a slope of nothing but noise may reach.
  void add_of_a_block(const std::string& key, const Line& line, int times,
                      const FitQuality& quality) {
    const double most_us = line.slope * static_cast<double>(quality.blocks.high - 1);
    if (most_us > 3 * line.at_zero * quality.worst_error_percent / 100)
      add(key, line.slope / times, quality);
  }
  // The median of values that ought to be the same.
  void add_median(const std::string& key, const std::vector<double>& values,
                  const Samples& samples) {
    if (values.empty()) return;
    const double value = median(values);
    if (value < least_us) return;
    std::vector<double> errors;
    for (const double one : values) errors.push_back(100 * std::abs(one / value - 1));
    add(key, value,
        quality_of(samples, median(errors), *std::max_element(errors.begin(), errors.end())));
  }

  void launches() {
    const Samples all = of(Probe::launch);
    with_line(all, by_other_blocks, [&](const Line& line, const FitQuality& quality) {
      add("launch_us", line.at_zero, quality);
      add_of_a_block("block_us", line, 1, quality);
    });
  }

  void loads() {
    with_line(of(Probe::sync), by_rounds, [&](const Line& line, const FitQuality& quality) {
      add("sync_us", line.slope, quality);
    });
    with_line(of(Probe::load), by_rounds, [&](const Line& line, const FitQuality& quality) {
      add("load_local_us", line.slope, quality);
    });
  }

  // A message of packets: its source is loaded, and with it the count of messages; it goes, a poll
  // sees it, the lanes meet. A meeting: the epoch, the release, the flag, the poll, the lanes. What
  // meetings take besides is cold code, and a channel entered and left; leaving syncs.
  void flags() {
    const double seen_us = number("load_local_us") + number("sync_us");
    with_line(of(Probe::packets), by_rounds, [&](const Line& line, const FitQuality& quality) {
      add("flag_us", line.slope - number("load_local_us") - seen_us, quality);
    });
    const auto alone = [](const Sample& s) { return s.blocks == 1; };
    with_line(of(Probe::meet, alone), by_rounds, [&](const Line& line, const FitQuality& quality) {
      const double there_us = number("load_local_us") + number("flag_us") + seen_us;
      add("release_us", line.slope - there_us, quality);
      add("ramp_us", line.at_zero - number("launch_us") - number("sync_us"), quality);
      between_meetings(line.at_zero + 2 * line.slope);
    });
    const auto as_many = [](const Sample& s) { return s.rounds == 16; };
    with_line(of(Probe::meet, as_many), by_other_blocks, [&](Line line, const FitQuality& quality) {
      if (fitted_.contains("block_us")) line.slope -= number("block_us");
      add_of_a_block("flag_turn_us", line, 16, quality);
    });
    std::vector<double> sooner;
    for (const Sample& one : of(Probe::meet, alone)) {
      for (const Sample& early : of(Probe::meet_early))
        if (early.rounds == one.rounds) sooner.push_back(one.us - early.us);
    }
    add_median("early_us", sooner, of(Probe::meet_early));
  }

  // What a verb adds to two meetings. The release behind a put is the put's own, and who waits for
  // it syncs.
  void between_meetings(double two_us) {
    const auto bytes_us = [&](const Sample& one, int passes, const char* rate) {
      return passes * by_bytes(one) / (number(rate) * 1e3);
    };
    const auto added = [&](Probe probe, const std::string& key, double known_us, int passes,
                           const char* rate) {
      const Samples all = of(probe);
      std::vector<double> values;
      for (const Sample& one : all)
        values.push_back(one.us - two_us - known_us - bytes_us(one, passes, rate));
      add_median(key, values, all);
    };
    added(Probe::meet_local, "verb_us", number("load_local_us"), 2, "sm_local_gbps");
    const double verb_us = number("verb_us");
    added(Probe::meet_put, "put_release_us",
          number("load_local_us") + verb_us + number("sync_us") - number("release_us"), 1,
          "sm_write_gbps");
    added(Probe::meet_reduce, "load_remote_us", verb_us, 1, "sm_reduce_gbps");
    const Samples sums = of(Probe::slots);
    with_line(sums, by_rounds, [&](const Line& line, const FitQuality& quality) {
      const double known_us = number("load_local_us") + verb_us;
      add("slots_us", line.slope - known_us - bytes_us(sums[0], 3, "sm_local_gbps"), quality);
    });
  }

  // GB/s of `passes` times the bytes, from the line of each number of blocks: the best of them.
  void rate(const std::string& key, Probe probe, std::size_t least, bool one_block, int passes) {
    std::set<int> counts;
    for (const Sample& sample : of(probe)) counts.insert(sample.blocks);
    for (const int blocks : counts) {
      if (one_block ? blocks != 1 : blocks < enough_blocks) continue;
      const auto wanted = [&](const Sample& s) { return s.blocks == blocks && s.bytes >= least; };
      with_line(of(probe, wanted), by_bytes, [&](const Line& line, const FitQuality& quality) {
        const double gbps = passes / line.slope * 1e-3;
        const auto known = fitted_.find(key);
        if (known == fitted_.end() || known->second.value < gbps) add(key, gbps, quality);
      });
    }
  }
  void rates() {
    rate("sm_write_gbps", Probe::put_one, least_of_a_block, true, 1);
    rate("sm_read_gbps", Probe::get_one, least_of_a_block, true, 1);
    rate("sm_reduce_gbps", Probe::reduce_one, least_of_a_block, true, 1);
    rate("sm_local_gbps", Probe::local_copy, least_of_a_block, true, 2);
    rate("hbm_gbps", Probe::local_copy, least_of_memory, false, 2);
    rate("port_oneway_gbps", Probe::put_one, least_of_a_port, false, 1);
    rate("port_gbps", Probe::put_both, least_of_a_port, false, 1);
    rate("port_read_gbps", Probe::reduce_both, least_of_a_port, false, 1);
  }

  void copies() {
    double copy_us = 0, us_a_byte = 0, both_us_a_byte = 0;
    with_line(of(Probe::copy_one), by_bytes, [&](const Line& line, const FitQuality& quality) {
      add("copy_engine_oneway_gbps", 1e-3 / line.slope, quality);
      add("copy_engine_start_us", line.at_zero, quality);
      copy_us = line.at_zero;
      us_a_byte = line.slope;
    });
    with_line(of(Probe::copy_both), by_bytes, [&](const Line& line, const FitQuality& quality) {
      add("copy_engine_gbps", 1e-3 / line.slope, quality);
      both_us_a_byte = line.slope;
    });
    std::vector<double> turns;
    const Samples all = of(Probe::launch_copy);
    if (us_a_byte <= 0) return;
    for (const Sample& one : all)
      turns.push_back(one.us - number("launch_us") - copy_us - us_a_byte * by_bytes(one));
    add_median("copy_engine_turn_us", turns, all);
    // A launch, a copy that waits for it, and the flag behind it, as the other PE's queue takes it.
    const Samples flags = of(Probe::copy_flag);
    const double known_us = number("launch_us") + copy_us + number("copy_engine_turn_us") +
                            number("flag_us") + number("load_local_us");
    std::vector<double> posts;
    for (const Sample& one : flags)
      posts.push_back(one.us - known_us - both_us_a_byte * by_bytes(one));
    add_median("post_us", posts, flags);
  }

  // What each further pass of packets takes beside its bytes: those on the wire, and those that are
  // read (with their flags, and this PE's) and written.
  void exchanges() {
    const double pass_bytes = base_.number_or("packet_pass_bytes", 0);
    with_line(of(Probe::exchange), by_bytes, [&](const Line& line, const FitQuality& quality) {
      const double us_a_byte = 1e-3 * (packet_wire / number("sm_write_gbps") +
                                       (packet_wire + 2) / number("sm_local_gbps"));
      add("packet_pass_us", (line.slope - us_a_byte) * pass_bytes, quality);
    });
  }

  const Samples& samples_;
  const Machine& base_;
  std::map<std::string, Fitted> fitted_;
};

// Five digits: what a measurement can say, and a file that people can read.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", value);
  return std::strtod(text, nullptr);
}

std::string kept(const Quantity& quantity, const std::string& base) {
  const std::string mark = "assumed: ";
  const bool marked = quantity.source.rfind(mark, 0) == 0;
  return (marked ? mark : std::string()) + "as " + base +
         ", not calibrated: " + (marked ? quantity.source.substr(mark.size()) : quantity.source);
}

}  // namespace

std::map<std::string, Fitted> fit_numbers(const std::vector<Sample>& samples, const Machine& base) {
  return Fitter(samples, base).run();
}

Machine calibrated(const Machine& base, const std::map<std::string, Fitted>& numbers,
                   const Calibration& about, const std::string& name) {
  Machine machine = base;
  machine.name = name;
  machine.description = about.base + ", calibrated on " + about.device + ", " + about.date;
  machine.calibration = about;
  machine.calibration->fits.clear();
  for (auto& [key, quantity] : machine.numbers) quantity.source = kept(quantity, about.base);
  // A simulation measures nothing.
  const bool measured = about.backend != "sim";
  const std::string source = std::string(measured ? "" : "assumed: ") + "sym calibrate, " +
                             about.date + ", " + about.device;
  for (const auto& [key, fitted] : numbers) {
    machine.numbers[key] = {rounded(fitted.value), source, measured};
    FitQuality& quality = machine.calibration->fits[key] = fitted.quality;
    quality.median_error_percent = rounded(quality.median_error_percent);
    quality.worst_error_percent = rounded(quality.worst_error_percent);
  }
  return machine;
}

}  // namespace sym::models
