#include "sim/run.hpp"

#include <memory>

#include "backends/check/race_detector.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "sim/time_policy.hpp"

namespace sym::sim {

namespace {
std::unique_ptr<Network> make_network(const std::string& name, const std::vector<double>& links) {
  if (name == "ports") return make_ports_network(links);
  if (name != "simgrid") {
    throw UsageError("unknown network '" + name + "'; nearest is '" +
                     nearest_name(name, {"simgrid", "ports"}) + "' (simgrid and ports are there)");
  }
  if (!have_simgrid()) {
    throw Unavailable(
        "this build has no SimGrid; install libsimgrid-dev and build again, or use --network "
        "ports");
  }
  return make_simgrid_network(links);
}
}  // namespace

SimReport run_sim(const SimOptions& options,
                  const std::function<void(fiber::FiberWorld&)>& program) {
  const Platform platform(options.machine, options.pes, options.disturbance, options.placement);
  const std::unique_ptr<Network> network =
      make_network(options.network, platform.link_bytes_per_s());
  SimReport report;
  network->run([&] {
    TimePolicy policy(options.machine, platform, *network, options.disturbance);
    Trail trail;
    Trace trace;
    policy.watch(options.explain ? &trail : nullptr, options.trace.empty() ? nullptr : &trace);
    fiber::Engine* running = nullptr;
    check::RaceDetector detector(running);
    fiber::EngineOptions engine_options;
    engine_options.pes = options.pes;
    engine_options.payload_storage = options.data;
    engine_options.guard_stacks = false;
    fiber::Engine engine(engine_options, policy, options.check ? &detector : nullptr);
    running = &engine;
    fiber::run_worlds(engine, options.fibres, program);
    report.findings = engine.findings();
    report.flows = policy.flows();
    report.switches = engine.statistics().switches;
    report.nic_window = policy.nic_window();
    report.end_us = policy.now_us();
    if (!options.trace.empty()) trace.write(options.trace, platform, policy.now_us() * 1e-6);
    if (!options.explain) return;
    report.path = trail.path(policy.last_moment());
    report.links = policy.link_loads();
    report.explanation = explain(report.path, platform, report.links, policy.now_us() * 1e-6);
  });
  return report;
}

}  // namespace sym::sim
