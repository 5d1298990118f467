#include "backends/check/adversary.hpp"

#include <deque>

#include "core/error.hpp"
#include "core/text.hpp"

namespace sym::check {

using fiber::Agent;
using fiber::Engine;
using fiber::Policy;
using fiber::Transfer;

namespace {

class Fifo : public Policy {
 public:
  void ready(Engine&, Agent& agent) override { queue_.push_back(&agent); }
  void woken(Engine&, Agent& agent) override { queue_.push_back(&agent); }
  void issued(Engine& engine, Transfer& transfer) override { engine.deliver(transfer); }
  bool next(Engine& engine) override {
    if (queue_.empty()) return false;
    Agent* agent = queue_.front();
    queue_.pop_front();
    engine.resume(*agent);
    return true;
  }

 private:
  std::deque<Agent*> queue_;
};

}  // namespace

namespace {
struct NamedKnob {
  const char* name;
  bool Knobs::*knob;
};
constexpr NamedKnob all_knobs[] = {{"late_source", &Knobs::late_source},
                                   {"late_delivery", &Knobs::late_delivery},
                                   {"split", &Knobs::split},
                                   {"skew", &Knobs::skew},
                                   {"poison", &Knobs::poison},
                                   {"shuffle", &Knobs::shuffle},
                                   {"launch_order", &Knobs::launch_order},
                                   {"wrap", &Knobs::wrap}};
}  // namespace

Knobs knobs_of(const std::vector<std::string>& names) {
  Knobs knobs;
  if (names.empty()) return knobs;
  for (const NamedKnob& one : all_knobs) knobs.*one.knob = false;
  for (const std::string& name : names) {
    if (name == "none") {
      if (names.size() == 1) return knobs;
      throw UsageError("knob 'none' stands alone: with others, name only those");
    }
    std::vector<std::string> known{"none"};
    bool found = false;
    for (const NamedKnob& one : all_knobs) {
      known.emplace_back(one.name);
      if (name == one.name) knobs.*one.knob = found = true;
    }
    if (!found) {
      throw UsageError("unknown knob '" + name + "'; the nearest is '" + nearest_name(name, known) +
                       "'");
    }
  }
  return knobs;
}

bool lets_others_on(Agent& agent) {
  constexpr std::uint64_t most_in_vain = 8;
  if (agent.looks_in_vain < most_in_vain) return false;
  agent.looks_in_vain = 0;
  return true;
}

std::unique_ptr<Policy> make_fifo() { return std::make_unique<Fifo>(); }

}  // namespace sym::check
