// Calibration: its JSON form, its text for people, and what a run has beyond it.
#include "models/calibration.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "models/calibration_json.hpp"
#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

using detail::JsonAt;
using detail::OrderedJson;

Span read_span(const JsonAt& at, std::int64_t least) {
  const std::vector<JsonAt> ends = at.elements();
  if (ends.size() != 2) at.refuse("has not two numbers; [least, most] is accepted");
  constexpr std::int64_t most = std::int64_t{1} << 53;  // that JSON carries in every program
  const std::int64_t low = ends[0].whole(least, most);
  return {static_cast<std::size_t>(low), static_cast<std::size_t>(ends[1].whole(low, most))};
}

FitQuality read_quality(const JsonAt& at) {
  at.only_keys({"median_error_percent", "worst_error_percent", "samples", "bytes", "blocks"});
  FitQuality quality;
  quality.median_error_percent = at.member("median_error_percent").not_negative();
  const JsonAt worst = at.member("worst_error_percent");
  quality.worst_error_percent = worst.not_negative();
  if (quality.worst_error_percent < quality.median_error_percent)
    worst.refuse("is below the median; at least as much is accepted");
  quality.samples =
      static_cast<int>(at.member("samples").whole(1, std::numeric_limits<int>::max()));
  quality.bytes = read_span(at.member("bytes"), 0);
  quality.blocks = read_span(at.member("blocks"), 1);
  return quality;
}

// All sizes, and all numbers of blocks, that any number was measured with.
Span all_bytes(const Calibration& calibration) {
  Span all{std::numeric_limits<std::size_t>::max(), 0};
  for (const auto& [key, fit] : calibration.fits) {
    if (fit.bytes.high == 0) continue;  // moves nothing
    all = {std::min(all.low, std::max<std::size_t>(1, fit.bytes.low)),
           std::max(all.high, fit.bytes.high)};
  }
  return all;
}
std::size_t most_blocks(const Calibration& calibration) {
  std::size_t most = 0;
  for (const auto& [key, fit] : calibration.fits) most = std::max(most, fit.blocks.high);
  return most;
}

}  // namespace

void detail::read_calibration(const JsonAt& at, Machine& machine) {
  at.only_keys({"date", "backend", "device", "base", "pes", "fits"});
  Calibration calibration;
  calibration.date = at.member("date").text();
  calibration.backend = read_choice(at.member("backend"), {"cuda", "sim"});
  calibration.device = at.member("device").text();
  calibration.base = at.member("base").text();
  calibration.pes = read_whole(at.member("pes"), 1, std::numeric_limits<int>::max());
  const JsonAt fits = at.member("fits");
  std::vector<std::string> stated;
  for (const auto& [key, quantity] : machine.numbers) stated.push_back(key);
  fits.only_keys(stated);
  for (const std::string& key : fits.keys()) calibration.fits[key] = read_quality(fits.member(key));
  machine.calibration = calibration;
}

detail::OrderedJson detail::calibration_json(const Calibration& calibration) {
  OrderedJson root = {{"date", calibration.date},     {"backend", calibration.backend},
                      {"device", calibration.device}, {"base", calibration.base},
                      {"pes", calibration.pes},       {"fits", OrderedJson::object()}};
  for (const auto& [key, fit] : calibration.fits) {
    root["fits"][key] = {{"median_error_percent", fit.median_error_percent},
                         {"worst_error_percent", fit.worst_error_percent},
                         {"samples", fit.samples},
                         {"bytes", {fit.bytes.low, fit.bytes.high}},
                         {"blocks", {fit.blocks.low, fit.blocks.high}}};
  }
  return root;
}

std::vector<std::string> outside(const Calibration& calibration, int pes, std::size_t bytes,
                                 int blocks) {
  std::vector<std::string> parts;
  const auto say = [&](const char* what, std::size_t value, const char* how, std::size_t limit) {
    parts.push_back(std::string(what) + " " + std::to_string(value) + " (" + how + " " +
                    std::to_string(limit) + ")");
  };
  const Span sizes = all_bytes(calibration);
  if (bytes > sizes.high) say("bytes", bytes, "at most", sizes.high);
  if (bytes > 0 && bytes < sizes.low) say("bytes", bytes, "at least", sizes.low);
  const auto count = static_cast<std::size_t>(blocks);
  if (count > most_blocks(calibration)) say("blocks", count, "at most", most_blocks(calibration));
  if (pes > calibration.pes)
    say("PEs", static_cast<std::size_t>(pes), "at most", static_cast<std::size_t>(calibration.pes));
  return parts;
}

}  // namespace sym::models
