#include "models/what_if.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "core/text.hpp"
#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

using Keys = std::vector<std::string>;

struct Group {
  const char* name;
  Keys keys;      // multiplied
  Keys inverses;  // divided
  std::vector<LinkKind> links;
};

const Keys& port_keys() {
  static const Keys keys = {"port_gbps", "port_oneway_gbps", "port_read_gbps", "copy_engine_gbps",
                            "copy_engine_oneway_gbps"};
  return keys;
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"nvlink", port_keys(), {}, {LinkKind::nvlink, LinkKind::xgmi}},
      {"pcie",
       {"pcie_gbps", "pix_gbps", "pxb_gbps", "phb_gbps", "node_gbps"},
       {},
       {LinkKind::pcie}},
      {"socket", {"sys_gbps"}, {}, {LinkKind::socket}},
      {"nic", {"nic_gbps"}, {}, {}},
      {"fabric",
       {"local_gbps", "global_gbps"},
       {"leaf_oversubscription", "pod_oversubscription"},
       {}},
      {"hbm", {"hbm_gbps"}, {}, {}},
      {"sm", {"sm_local_gbps", "sm_read_gbps", "sm_write_gbps"}, {}, {}},
      {"gemm", {"gemm_tflops_bf16"}, {}, {}},
      {"latency", {"flag_us", "load_remote_us", "nic_latency_us", "fabric_hop_us"}, {}, {}},
  };
  return all;
}

bool has_nvlink(const Machine& machine) {
  const Graph graph = node_graph(machine);
  return std::any_of(graph.links.begin(), graph.links.end(), [&](const Graph::Link& link) {
    const LinkKind kind = graph.type(link).kind;
    return kind == LinkKind::nvlink || kind == LinkKind::xgmi;
  });
}

class Changer {
 public:
  Changer(Machine& machine, const std::string& change) : machine_(machine), change_(change) {
    const std::size_t equals = change.find('=');
    name_ = change.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : change.substr(equals + 1);
    factor_ = !value.empty() && (value.back() == 'x' || value.back() == 'X');
    if (factor_) value.pop_back();
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), value_);
    if (value.empty() || error != std::errc() || end != value.data() + value.size() ||
        !(value_ >= 1e-9) || !(value_ <= 1e12)) {
      refuse(
          "is no change; NAME=2x (a factor above 0) and NAME=50 (a number in its unit) are "
          "accepted");
    }
  }

  void apply() {
    for (const Group& group : groups()) {
      if (name_ == group.name) return apply_group(group);
    }
    const auto found = machine_.numbers.find(name_);
    if (found != machine_.numbers.end()) return set_one(found->second);
    Keys known;
    for (const Group& group : groups()) known.emplace_back(group.name);
    const bool exists = number_keys().contains(name_);
    for (const auto& [key, quantity] : machine_.numbers) known.push_back(key);
    refuse(exists ? "names a number that machine '" + machine_.name + "' does not have"
                  : "names no number; the nearest name is '" + nearest_name(name_, known) + "'");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument("what if '" + change_ + "': " + what);
  }

  void set(Quantity& quantity, bool inverse = false) {
    const double factor = inverse ? 1 / value_ : value_;
    quantity.value = factor_ ? quantity.value * factor : value_;
    quantity.source = "assumed: what if " + change_ + "; was " + quantity.source;
    quantity.measured = false;
    ++changed_;
  }

  void set_one(Quantity& quantity) {
    set(quantity);
    const std::string fault = detail::value_fault(name_, quantity.value);
    if (!fault.empty()) refuse(name_ + " " + fault);
  }

  void set(const Keys& keys, bool inverse) {
    for (const std::string& key : keys) {
      const auto found = machine_.numbers.find(key);
      if (found != machine_.numbers.end()) set(found->second, inverse);
    }
  }

  void apply_group(const Group& group) {
    if (!factor_ && group.keys.size() + group.links.size() > 1)
      refuse("sets several numbers at once; a factor such as 2x is accepted");
    const std::string name = group.name;
    const bool ports_are_pcie = !has_nvlink(machine_);
    if (name == "nvlink" && ports_are_pcie && machine_.gpus_per_node > 1)
      refuse("names links that machine '" + machine_.name + "' does not have; pcie is accepted");
    set(group.keys, false);
    set(group.inverses, true);
    if (name == "pcie" && ports_are_pcie) set(port_keys(), false);
    for (LinkType& type : machine_.graph.types) {
      const bool is_one =
          std::find(group.links.begin(), group.links.end(), type.kind) != group.links.end();
      if (is_one) set(type.gbps);
      if (is_one && type.gbps_back) set(*type.gbps_back);
      if (name == "latency" && type.latency_us.value > 0) set(type.latency_us);
    }
    if (name == "nic" || name == "latency") apply_to_fabric(name == "nic");
    if (changed_ == 0) refuse("names what machine '" + machine_.name + "' does not have");
  }

  void apply_to_fabric(bool rates) {
    const bool has_links = !machine_.shape.dimensions.empty() || !machine_.shape.links.empty();
    if (!factor_ && has_links)
      refuse("sets several numbers at once; a factor such as 2x is accepted");
    for (FabricShape::Dimension& dimension : machine_.shape.dimensions)
      set(rates ? dimension.gbps : dimension.latency_us);
    for (FabricShape::Link& link : machine_.shape.links) set(rates ? link.gbps : link.latency_us);
  }

  Machine& machine_;
  std::string change_;
  std::string name_;
  double value_ = 0;
  bool factor_ = false;
  int changed_ = 0;
};

// Calls `each` with the parts of `text` between commas.
void split(const std::string& text, const std::function<void(const std::string&)>& each) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    each(text.substr(at, comma - at));
    at = comma + 1;
  }
}

int count_of(const std::string& word, const std::string& whole) {
  int count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size() || count < 1) {
    throw std::invalid_argument("machines '" + whole + "': '" + word +
                                "' is no number of nodes; NAME*LOW:HIGH or NAME*LOW:HIGH:xFACTOR "
                                "with whole numbers from 1 is accepted");
  }
  return count;
}

}  // namespace

Machine what_if(const Machine& machine, const std::string& changes) {
  Machine changed = machine;
  if (changes.empty()) return changed;
  split(changes, [&](const std::string& change) {
    Changer(changed, change).apply();
    changed.name += "+" + change;
  });
  return changed;
}

std::vector<std::string> machine_list(const std::string& text) {
  std::vector<std::string> names;
  split(text, [&](const std::string& one) {
    const std::size_t star = one.rfind('*');
    const std::size_t colon = star == std::string::npos ? star : one.find(':', star);
    if (colon == std::string::npos) {
      names.push_back(one);
      return;
    }
    const std::size_t second = std::min(one.find(':', colon + 1), one.size());
    const int low = count_of(one.substr(star + 1, colon - star - 1), one);
    const int high = count_of(one.substr(colon + 1, second - colon - 1), one);
    std::string step = second < one.size() ? one.substr(second + 1) : "x2";
    const bool times = step.size() > 1 && step[0] == 'x';
    const int factor = times ? count_of(step.substr(1), one) : 1;
    if (factor < 2 || high < low) {
      throw std::invalid_argument("machines '" + one + "': " +
                                  (high < low ? "the last number of nodes is below the first"
                                              : "'" + step + "' is no factor") +
                                  "; NAME*LOW:HIGH:xFACTOR with a factor from 2 is accepted");
    }
    const std::string name = one.substr(0, star + 1);
    for (long long count = low; count < high; count *= factor)
      names.push_back(name + std::to_string(count));
    names.push_back(name + std::to_string(high));
  });
  return names;
}

}  // namespace sym::models
