// ncclTopoTuneModel and ncclTopoGetAlgoTime (NCCL's src/graph/tuning.cc), in the order of that
// source.
#include "models/nccl.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/text.hpp"
#include "models/multicast.hpp"
#include "models/nccl_channels.hpp"
#include "models/tuner_table.hpp"

namespace sym::models {
namespace {

using detail::JsonAt;
using detail::nccl_table;
using detail::NcclGraph;
using detail::NcclSystem;

double by_nodes(const NcclSystem& system, const JsonAt& array) {
  return array.elements()[system.by_nodes()].not_negative();
}

// What one NCCL call and one choice have in common.
struct Form {
  const NcclSystem& system;
  const NcclCall& call;
  const std::string& algorithm;
  const std::string& protocol;

  bool all_reduce() const { return call.collective == "all_reduce"; }
  bool multicast() const { return algorithm == "nvls" || algorithm == "nvls_tree"; }
  int steps() const { return (all_reduce() ? 2 : 1) * (system.pes - 1); }
  int net_steps() const { return (all_reduce() ? 2 : 1) * (system.nodes - 1); }
  double us(const char* where) const {
    return nccl_table()
        .member("latency")
        .member(algorithm)
        .member(where)
        .member(protocol)
        .not_negative();
  }
  double constant(const char* key) const {
    return by_nodes(system, system.constants().member(key));
  }
};

double ll_max_gbps(const NcclSystem& system) {
  if (system.nodes == 1) return system.constants().member("ll_max_gbps").positive();
  return by_nodes(system,
                  nccl_table().member("ll_max_gbps").member(system.amd() ? "amd" : "intel"));
}

double multicast_gbps(const Form& form, const NcclGraph& graph) {
  const NcclSystem& system = form.system;
  double intra = graph.intra_gbps * system.constants().member("nvls_efficiency").not_negative() *
                 (graph.channels - 1) / graph.channels;
  intra *= form.all_reduce() ? 2.0 : (system.per_node - 1.0) / system.per_node;
  if (form.algorithm == "nvls") return graph.channels * intra;
  const double inter = graph.inter_gbps * (system.nodes <= 2 ? 2 : 1);
  return graph.channels * std::min({intra, inter, form.constant("nvls_tree")});
}

// The bus bandwidth, after NCCL's refinements.
double busbw_gbps(const Form& form, const NcclGraph& graph) {
  const NcclSystem& system = form.system;
  if (form.multicast()) return multicast_gbps(form, graph);
  const double rate = graph.channels * (system.nodes <= 2 ? graph.intra_gbps : graph.inter_gbps);
  if (form.algorithm == "ring") {
    if (form.protocol == "LL") return std::min(ll_max_gbps(system), rate * 0.5);
    if (form.protocol == "LL128")
      return std::min(rate * 0.92, graph.channels * form.constant("ring_ll128"));
    return rate;
  }
  const double tree = std::min(rate * 0.92, graph.channels * form.constant("tree"));
  if (form.protocol == "LL") return std::min(tree / 3.8, ll_max_gbps(system));
  if (form.protocol == "LL128") {
    const double part = system.nodes == 1 ? 7.0 / 9 : 120.0 / 128;
    return std::min(tree * part, graph.channels * form.constant("tree_ll128"));
  }
  return tree;
}

// Bytes over time for a given bus bandwidth.
double algbw_gbps(const Form& form, double busbw) {
  if (form.algorithm == "tree") return busbw / 2;
  if (form.multicast() && !form.all_reduce()) return busbw;
  return busbw * form.system.pes / form.steps();
}

void set_latency(const Form& form, NcclChoice& choice) {
  const NcclSystem& system = form.system;
  const double net_us = form.us("net");
  choice.base_us = form.us("base");
  choice.hop_us = form.us("nvlink");
  choice.net_hop_us = system.per_node == 1 && form.algorithm == "ring" ? nccl_table()
                                                                             .member("latency")
                                                                             .member("tree")
                                                                             .member("net")
                                                                             .member(form.protocol)
                                                                             .positive()
                                                                       : net_us;
  const double levels = std::floor(std::log2(system.nodes));
  if (form.algorithm == "ring") {
    if (system.nodes > 1) {
      const double factor = nccl_table()
                                .member("net_overhead_us")
                                .member("protocol_factor")
                                .member(form.protocol)
                                .positive();
      choice.hop_us = std::max(choice.hop_us, system.overhead_us * factor);
    }
    choice.latency_us = choice.base_us + (form.steps() - form.net_steps()) * choice.hop_us +
                        form.net_steps() * choice.net_hop_us;
  } else if (form.algorithm == "tree") {
    choice.latency_us =
        choice.base_us + 2 * ((system.per_node - 1) * choice.hop_us + levels * choice.net_hop_us);
  } else {
    choice.latency_us = choice.base_us + choice.hop_us + 2 * levels * choice.net_hop_us;
  }
}

// What depends on the size beyond bytes over rate: the corrections of ncclTopoGetAlgoTime.
void correct_for_size(const Form& form, NcclChoice& choice) {
  if (form.algorithm == "tree") {
    const std::vector<JsonAt> factors =
        nccl_table().member("tree_correction").member(form.protocol).elements();
    const double size = form.call.bytes < 64 ? -1 : std::floor(std::log2(form.call.bytes / 64));
    if (size >= 0 && size < static_cast<double>(factors.size()))
      choice.algbw_gbps *= factors[static_cast<std::size_t>(size)].positive();
  }
  const JsonAt plateau = nccl_table().member("plateau");
  const double part = form.call.bytes / (2.0 * choice.channels * form.system.pes);
  if (form.algorithm == "ring" && form.protocol == "Simple" && form.system.nodes > 1 &&
      form.all_reduce() && part >= plateau.member("bytes").positive()) {
    const double factor = plateau.member("factor").positive();
    for (double* us : {&choice.base_us, &choice.hop_us, &choice.net_hop_us, &choice.latency_us})
      *us *= factor;
  }
}

// Bytes of one loop over all channels and heads take this long at the algorithm's rate, once for
// each stage of the pipeline but the last.
double fill_us(const Form& form, double algbw) {
  if (!form.multicast()) return 0;
  const JsonAt pipeline = nccl_table().member("pipeline").member(form.algorithm);
  const double parts = pipeline.member("channels").positive() * form.system.per_node;
  double chunk = pipeline.member("chunk").positive();
  if (form.system.nodes >= 4 && pipeline.has("chunk_from_4_nodes"))
    chunk = pipeline.member("chunk_from_4_nodes").positive();
  for (const JsonAt& rule : pipeline.member("shrink").elements()) {
    const double loops = rule.elements()[0].positive();
    if (form.call.bytes < loops * parts * chunk)
      chunk = std::min(chunk, rule.elements()[1].positive());
  }
  const double loop = std::min(parts * chunk, form.call.bytes);
  return (pipeline.member("stages").positive() - 1) * loop / (algbw * 1e3);
}

bool possible(const Form& form) {
  const NcclSystem& system = form.system;
  if (form.algorithm == "ring") return true;
  if (form.algorithm == "tree") return form.all_reduce();
  // More than two GPUs of a node (ncclNvlsInit), and no NVLS of two nodes without their switches.
  const bool multicast = system.multicast &&
                         system.constants().member("nvls_efficiency").not_negative() > 0 &&
                         system.per_node > 2 && form.protocol == "Simple";
  if (form.algorithm == "nvls") return multicast && system.nodes == 1;
  return multicast && system.nodes > 1 && form.all_reduce();
}

}  // namespace

std::vector<NcclChoice> nccl_choices(const Machine& machine, const NcclCall& call) {
  if (call.collective == "all_to_all")
    return {detail::nccl_sends(detail::nccl_system(machine, call.pes), call)};
  const std::vector<std::string> collectives = {"all_reduce", "all_gather", "reduce_scatter"};
  if (std::find(collectives.begin(), collectives.end(), call.collective) == collectives.end()) {
    throw std::invalid_argument("NCCL's choice is modelled for " + collectives[0] + ", " +
                                collectives[1] + ", " + collectives[2] +
                                " and all_to_all, not for '" + call.collective + "'");
  }
  const NcclSystem system = detail::nccl_system(machine, call.pes);
  std::vector<NcclChoice> choices;
  for (const std::string algorithm : {"tree", "ring", "nvls", "nvls_tree"}) {
    for (const std::string protocol : {"LL", "LL128", "Simple"}) {
      const Form form{system, call, algorithm, protocol};
      if (!possible(form)) continue;
      const NcclGraph graph = detail::nccl_graph(system, algorithm);
      NcclChoice choice;
      choice.algorithm = algorithm;
      choice.protocol = protocol;
      choice.channels = graph.channels;
      choice.busbw_gbps = busbw_gbps(form, graph);
      choice.algbw_gbps = algbw_gbps(form, choice.busbw_gbps);
      set_latency(form, choice);
      correct_for_size(form, choice);
      choice.us = choice.latency_us + call.bytes / (choice.algbw_gbps * 1e3);
      choice.fill_us = fill_us(form, choice.algbw_gbps);
      choice.requests_us = detail::ring_requests_us(system, call, choice);
      choices.push_back(choice);
    }
  }
  return choices;
}

NcclChoice nccl_choice(const Machine& machine, const NcclCall& call, const std::string& only) {
  std::vector<std::string> names;
  const NcclChoice* best = nullptr;
  const std::vector<NcclChoice> choices = nccl_choices(machine, call);
  for (const NcclChoice& choice : choices) {
    names.insert(names.end(), {choice.algorithm, choice.name()});
    if (!only.empty() && choice.algorithm != only && choice.name() != only) continue;
    if (best == nullptr || choice.us < best->us) best = &choice;
  }
  if (best == nullptr) {
    const bool no_switch = is_multicast(only.substr(0, only.find('/'))) && !has_multicast(machine);
    throw std::invalid_argument(
        "NCCL has no '" + only + "' for " + call.collective + " on " + std::to_string(call.pes) +
        " GPUs of " + machine.name +
        (no_switch ? ", which has no NVLink multicast: " + multicast_fault(machine) : "") +
        "; the nearest is '" + nearest_name(only, names) + "'");
  }
  return *best;
}

}  // namespace sym::models
