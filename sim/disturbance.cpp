#include "sim/disturbance.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "core/text.hpp"

namespace sym::sim {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("'" + text +
                   "' is no disturbance; slow_gpu=PE:FACTOR, slow_nic=PE:FACTOR, "
                   "slow_link=PE-PE:FACTOR, with a FACTOR from 1 on, by which something is slower, "
                   "and background=PE-PE:GBPS are accepted");
}

template <class T>
bool parse(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

void add(Disturbance& all, const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::size_t colon = std::min(text.find(':', equals), text.size());
  const std::string name = text.substr(0, equals);
  if (colon == text.size()) refuse(text);
  const std::string where = text.substr(equals + 1, colon - equals - 1);
  const bool background = name == "background";
  double value = 0;
  if (!parse(text.substr(colon + 1), value) || !std::isfinite(value) ||
      !(background ? value > 0 : value >= 1))
    refuse(text);
  if (name == "slow_gpu" || name == "slow_nic") {
    int pe = 0;
    if (!parse(where, pe)) refuse(text);
    (name == "slow_gpu" ? all.slow_gpus : all.slow_nics)[pe] = value;
    return;
  }
  Disturbance::Pair pair{0, 0, value};
  const std::size_t dash = std::min(where.find('-'), where.size());
  if (dash == where.size() || !parse(where.substr(0, dash), pair.from) ||
      !parse(where.substr(dash + 1), pair.to) || pair.from == pair.to)
    refuse(text);
  if (name == "slow_link") {
    all.slow_links.push_back(pair);
  } else if (background) {
    all.background.push_back(pair);
  } else {
    refuse(text);
  }
}

}  // namespace

void add_disturbances(Disturbance& all, const std::string& text) {
  for (const std::string& part : parts_of(text)) add(all, part);
}

void require_pes(const Disturbance& all, int pes) {
  const auto require = [pes](int pe) {
    if (pe < 0 || pe >= pes)
      throw UsageError("--inject says something of PE " + std::to_string(pe) + "; PEs are 0 to " +
                       std::to_string(pes - 1));
  };
  for (const auto& [pe, factor] : all.slow_gpus) require(pe);
  for (const auto& [pe, factor] : all.slow_nics) require(pe);
  for (const auto* pairs : {&all.slow_links, &all.background}) {
    for (const Disturbance::Pair& pair : *pairs) {
      require(pair.from);
      require(pair.to);
    }
  }
}

double parse_jitter(const std::string& text) {
  const std::string form = "lognormal:";
  double sigma = 0;
  if (text.rfind(form, 0) != 0 || !parse(text.substr(form.size()), sigma) || !(sigma > 0) ||
      !(sigma <= 3))
    throw UsageError("--jitter '" + text +
                     "': lognormal:SIGMA with a SIGMA above 0 and up to 3 is accepted");
  return sigma;
}

std::vector<int> parse_placement(const std::string& text, int pes, const models::Machine& machine) {
  std::vector<int> gpus;
  if (text.empty() || text == "packed") return gpus;
  if (text == "round_robin") {
    for (int pe = 0; pe < pes; ++pe)
      gpus.push_back(pe % machine.nodes * machine.gpus_per_node + pe / machine.nodes);
  } else {
    for (const std::string& part : parts_of(text)) {
      int gpu = 0;
      if (!parse(part, gpu) || gpu < 0 || gpu >= machine.pes())
        throw UsageError("--placement '" + part + "': packed, round_robin, or for each PE a GPU " +
                         "from 0 to " + std::to_string(machine.pes() - 1) + " is accepted");
      gpus.push_back(gpu);
    }
  }
  const std::set<int> distinct(gpus.begin(), gpus.end());
  const auto count = static_cast<std::size_t>(pes);
  if (gpus.size() != count || distinct.size() != count || *distinct.rbegin() >= machine.pes())
    throw UsageError("--placement: " + std::to_string(distinct.size()) + " GPUs of " +
                     std::to_string(machine.pes()) + " for " + std::to_string(pes) +
                     " PEs; each PE needs one of its own");
  return gpus;
}

}  // namespace sym::sim
