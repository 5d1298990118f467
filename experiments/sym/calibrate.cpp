#include "experiments/sym/calibrate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <set>

#include "backends/report/findings.hpp"
#include "core/error.hpp"
#include "experiments/sym/options.hpp"
#include "experiments/sym/run_options.hpp"

namespace sym::command {

namespace {

struct CalibrateOptions {
  std::string out, samples, simulate;
  std::string backend = "cuda", machine = "h200x2";
  bool local = false;
};

void add_options(CLI::App& app, CalibrateOptions& options) {
  app.add_option("--out", options.out, "the machine file to write")->required();
  app.add_option("--backend", options.backend, "cuda or sim");
  app.add_option("--machine", options.machine, "what gives the numbers that are not measured");
  app.add_option("--simulate", options.simulate, "sim: what is measured (default: --machine)");
  app.add_option("--samples", options.samples, "CSV of the times that were measured");
  app.add_flag("--local", options.local, "what one GPU has; the link's numbers stay");
}

void require_sound(const CalibrateOptions& options) {
  require_name("backend", options.backend, {"cuda", "sim"});
  if (options.backend != "sim" && !options.simulate.empty())
    throw UsageError("--simulate goes with --backend sim");
  if (options.samples == options.out) throw UsageError("--samples and --out name one file");
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

// A file that is there is left as it is until there is something to write.
void require_writable(const std::string& path) {
  const bool there = std::filesystem::exists(path);
  report::require_writable(path);
  if (!there) std::filesystem::remove(path);
}

// What nobody has to measure. Returns the keys.
std::set<std::string> state_facts(models::Machine& machine, const Calibrated& all) {
  std::set<std::string> stated;
  const auto state = [&](const char* key, double value) {
    if (value <= 0) return;
    machine.numbers[key] = {value, fmt::format("{}, as its driver says", all.device), true};
    stated.insert(key);
  };
  state("sms", all.sms);
  state("compute_capability", all.compute_capability);
  return stated;
}

// Prints each fitted number beside the base's, and which are the base's.
void print_numbers(const models::Machine& machine, const models::Machine& base,
                   const std::set<std::string>& stated) {
  fmt::print("{:<26}{:>10}{:>10}  {}\n", "number", "value", base.name,
             "error of the fit: median, worst");
  std::vector<std::string> rest;
  for (const auto& [key, quantity] : machine.numbers) {
    const auto fit = machine.calibration->fits.find(key);
    if (fit == machine.calibration->fits.end()) {
      if (!stated.contains(key)) rest.push_back(key);
      continue;
    }
    const auto before = base.numbers.find(key);
    fmt::print("{:<26}{:>10.5g}{:>10}  {:.2g} %, {:.2g} %\n", key, quantity.value,
               before == base.numbers.end() ? "-" : fmt::format("{:.5g}", before->second.value),
               fit->second.median_error_percent, fit->second.worst_error_percent);
  }
  fmt::print("as of {}: {}\n", base.name, fmt::join(rest, ", "));
}

void write(const CalibrateOptions& options, const models::Machine& base, const Calibrated& all) {
  const models::Calibration about{today(),   options.backend,       all.device,
                                  base.name, options.local ? 1 : 2, {}};
  const std::string name = std::filesystem::path(options.out).stem().string();
  models::Machine machine =
      models::calibrated(base, models::fit_numbers(all.samples, base), about, name);
  const std::set<std::string> stated = state_facts(machine, all);
  report::write_file(options.out, models::to_json(machine));
  if (!options.samples.empty())
    report::write_file(options.samples, models::samples_csv(all.samples));
  fmt::print("# sym calibrate on {}: {}, {} samples\n", options.backend, all.device,
             all.samples.size());
  print_numbers(machine, base, stated);
  fmt::print("written to {}\n", options.out);
}

}  // namespace

int calibrate_command(const std::vector<std::string>& arguments) {
  CalibrateOptions options;
  CLI::App app("Measures the constants of two GPUs by point-to-point tests.", "sym calibrate");
  add_options(app, options);
  try {
    parse(app, arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  }
  require_sound(options);
  const models::Machine base = models::load_machine(options.machine);
  const models::Machine simulated =
      options.simulate.empty() ? base : models::load_machine(options.simulate);
  require_writable(options.out);
  if (!options.samples.empty()) require_writable(options.samples);
  const int pes = options.local ? 1 : 2;
  if (options.backend == "sim") {
    write(options, base, calibrate_on_sim(simulated, base, pes));
    return 0;
  }
  return calibrate_on_cuda(base, pes, [&](const Calibrated& all) { write(options, base, all); });
}

}  // namespace sym::command
