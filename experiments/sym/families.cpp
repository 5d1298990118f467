#include "experiments/sym/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/debug.hpp"
#include "core/error.hpp"
#include "experiments/sym/dtypes.hpp"
#include "experiments/sym/flavour.hpp"
#include "experiments/sym/option_uses.hpp"
#include "experiments/sym/pieces.hpp"
#include "experiments/sym/registry.hpp"
#include "models/choose.hpp"
#include "models/multicast.hpp"

namespace sym::command {

namespace {

// "skip=1": skip and 1. A fault without a PE has -1.
struct Fault {
  std::string what;
  int pe = -1;
};

Fault parse_fault(const std::string& text, const std::vector<std::string>& faults, int pes,
                  const std::string& backend) {
  const std::size_t equals = text.find('=');
  Fault fault{text.substr(0, equals)};
  const std::string form = equals == std::string::npos ? fault.what : fault.what + "=PE";
  if (std::find(faults.begin(), faults.end(), form) == faults.end()) {
    throw UsageError(fmt::format("--inject '{}': {} can be injected here{}", text,
                                 fmt::join(faults, ", "),
                                 backend == "sim" ? ", and slow_gpu=, slow_nic=, slow_link= and "
                                                    "background= into the machine"
                                                  : ""));
  }
  if (equals == std::string::npos) return fault;
  const std::string number = text.substr(equals + 1);
  const auto [rest, error] =
      std::from_chars(number.data(), number.data() + number.size(), fault.pe);
  const bool whole = error == std::errc() && rest == number.data() + number.size();
  if (!whole) {
    throw UsageError(fmt::format(
        "--inject '{}': '{}' is no PE; one fault at a time can be injected into a program", text,
        number));
  }
  if (fault.pe < 0 || fault.pe >= pes) {
    throw UsageError(fmt::format("--inject '{}': PEs are 0 to {}", text, pes - 1));
  }
  return fault;
}

void inject(Point& point, const RunOptions& options, const std::vector<std::string>& faults) {
  if (options.inject.empty()) return;
  const Fault fault = parse_fault(options.inject, faults, point.pes, options.backend);
  if (fault.what == "skip") {
    point.skip_pe = fault.pe;
  } else if (fault.what == "count") {
    point.shrink_pe = fault.pe;
  } else {
    point.moe.inject = fault.what;
  }
}

// Whether a variant was compiled for the type, and for the operator: see compiles_slowly.
bool is_compiled(const Algorithm& algorithm, const std::string& variant,
                 const RunOptions& options) {
  const bool any_op = options.backend != "cuda" || !algorithm.has_op || options.op == "sum" ||
                      !algorithm.fewer_dtypes.contains(variant);
  return any_op && has_dtype(algorithm, variant, options.dtype);
}

// Why a variant that goes through multicast cannot: the backend or the machine has none. What
// checks or runs on hosts needs no machine. "": it can.
std::string why_no_multicast(const Planning& planning, const std::string& variant) {
  const models::Machine& machine = planning.machine;
  if (!models::is_multicast(variant)) return "";
  if (planning.options.backend == "cuda")
    return fmt::format("variant {} needs multicast, which this backend does not have", variant);
  if (planning.options.backend != "sim") return "";
  if (!models::has_multicast(machine)) {
    return fmt::format("variant {} needs NVLink multicast, which machine {} does not have: {}",
                       variant, machine.name, models::multicast_fault(machine));
  }
  if (variant == "nvls" && planning.pes > machine.gpus_per_node) {
    return fmt::format(
        "variant nvls is for PEs of one node, at most {} of machine {}; nvls_tree is for several",
        machine.gpus_per_node, machine.name);
  }
  return "";
}
void require_multicast(const Planning& planning, const std::string& variant) {
  const std::string why = why_no_multicast(planning, variant);
  if (why.empty()) return;
  if (planning.options.backend == "cuda") throw Unavailable(why);
  throw UsageError(why);
}

// What `auto` may choose from, and the most blocks of a launch: all of them wait for each other, so
// all must run at once.
models::Menu menu_of(const Planning& planning) {
  const RunOptions& options = planning.options;
  models::Menu menu;
  const bool own_gpus = options.gpus < 0 || options.gpus >= planning.pes;
  for (const std::string& variant : planning.algorithm.variants) {
    // PEs that share a GPU share its hardware queues, of which these need several each.
    const bool queues = variant == "copy_engine" || variant == "staged";
    if (queues && options.backend == "cuda" && !own_gpus) continue;
    // Hosts stand for GPUs, which cannot.
    if (models::is_multicast(variant) && options.backend != "sim") continue;
    if (!why_no_multicast(planning, variant).empty()) continue;
    if (is_compiled(planning.algorithm, variant, options)) menu.variants.push_back(variant);
  }
  if (options.backend == "cuda" && own_gpus && planning.algorithm.has_nccl)
    menu.variants.push_back(nccl_variant);
  const int sharers = own_gpus ? 1 : (planning.pes + options.gpus - 1) / std::max(1, options.gpus);
  menu.most_blocks =
      std::max(1, static_cast<int>(planning.machine.number_or("sms", 132)) / sharers);
  menu.packet_blocks = menu.most_blocks;
  menu.blocks = options.blocks;
  return menu;
}

models::Choice choose(const Planning& planning, const models::Job& job, const models::Menu& menu) {
  models::Choice choice = models::choose(planning.machine, job, menu);
  if (!choice.variant.empty()) return choice;
  choice.variant = planning.algorithm.variants.front();
  choice.why = "the first: no estimate is known";
  return choice;
}

// What --explain says of the choice.
std::vector<std::string> explained(const models::Choice& choice, const std::string& taken,
                                   const RunOptions& options) {
  std::vector<std::string> lines{fmt::format("auto: {}, {}", choice.variant, choice.why)};
  if (taken != choice.variant) lines[0] += fmt::format("; {} was asked for", taken);
  if (options.threads > 0 && !choice.candidates.empty())
    lines[0] += "; estimates are of threads of their own";
  for (const models::Estimate& one : choice.candidates) {
    lines.push_back(fmt::format("  {:<14} {:>9.2f} us, {:>3} blocks: {}", one.variant, one.us,
                                one.blocks, models::terms_text(one)));
  }
  return lines;
}

// Blocks by the machine's numbers, on backends that are about a machine.
bool has_timed_blocks(const Planning& planning, const std::string& variant) {
  const RunOptions& options = planning.options;
  return options.blocks == 0 && (options.backend == "cuda" || options.backend == "sim") &&
         planning.pes <= planning.machine.gpus_per_node &&
         models::has_estimate(planning.machine, planning.algorithm.name, variant);
}

// The largest part of a node that divides all PEs: a node where they fill theirs.
int per_node_of(const Planning& planning) {
  return planning.options.per_node > 0 ? planning.options.per_node
                                       : std::gcd(planning.pes, planning.machine.gpus_per_node);
}

void require_collective(const Planning& planning) {
  const RunOptions& options = planning.options;
  if (options.root >= planning.pes) {
    throw UsageError(fmt::format("--root {} is no rank of {} PEs", options.root, planning.pes));
  }
  if (options.per_node > 0 && planning.pes % options.per_node != 0) {
    throw UsageError(fmt::format("--per-node {}: {} PEs are no whole number of such nodes",
                                 options.per_node, planning.pes));
  }
  constexpr int most_checked = 1024, most = 1 << 20;
  if (options.backend == "check" && options.pieces > most_checked) {
    throw UsageError(fmt::format(
        "--pieces {}: check chooses among all pieces under way at each step, which takes their "
        "number squared; at most {}",
        options.pieces, most_checked));
  }
  if (options.pieces > most) {
    throw UsageError(
        fmt::format("--pieces {}: each piece has a flag; at most {}", options.pieces, most));
  }
}

std::vector<Point> collective_points(const Planning& planning) {
  const RunOptions& options = planning.options;
  const std::string& name = planning.algorithm.name;
  require_collective(planning);
  std::vector<Point> points;
  for (const std::size_t bytes : options.sizes) {
    const models::Job job{name, planning.pes, static_cast<double>(bytes), options.pieces,
                          static_cast<double>(options.head)};
    const models::Menu menu = menu_of(planning);
    const int per_node = per_node_of(planning);
    const bool levels = chooses_levels(planning.algorithm, options.variant);
    models::Choice choice = levels ? models::choose_in_levels(planning.machine, job, per_node, menu)
                                   : choose(planning, job, menu);
    if (!options.flavour.empty()) {
      choice.variant = variant_of_flavour(planning, bytes);
      choice.why = "NCCL's choice";
      choice.candidates.clear();
    }
    for (const std::string& variant : planning.variants(choice.variant)) {
      if (options.flavour.empty()) require_multicast(planning, variant);  // else NCCL has it
      if (!is_compiled(planning.algorithm, variant, options)) {
        throw UsageError(
            fmt::format("{} {}: for GPUs it was compiled for --op sum alone", name, variant));
      }
      Point point = planning.point(variant, bytes);
      if (has_timed_blocks(planning, variant))
        point.blocks = models::best_blocks(planning.machine, job, variant, menu).blocks;
      if (variant == "one_shot" && options.threads == 0) {
        point.threads =
            models::with_threads(planning.machine, models::messages_of(job), point.blocks).threads;
      }
      if (options.sim.explain) point.choice = explained(choice, variant, options);
      point.flavour = flavour_of(planning, bytes);
      point.op = planning.algorithm.has_op ? options.op : "sum";
      point.data = options.data;
      point.root = options.root;
      point.per_node = per_node;
      point.pieces = options.pieces > 0 ? options.pieces : pieces_of(planning.machine, point);
      point.head_bytes = head_of(planning.machine, point, options.head);
      if (variant == "staged") point.shrink = models::shrink_of(planning.machine, point.pes);
      shape_as_flavoured(planning, point);
      points.push_back(point);
    }
  }
  return points;
}

std::vector<std::string> collective_arguments(const Point& point) {
  std::vector<std::string> arguments{"--bytes", std::to_string(point.bytes), "--data", point.data};
  if (point.op != RunOptions{}.op) arguments.insert(arguments.end(), {"--op", point.op});
  const auto add_used = [&](const char* option, auto value) {
    if (is_used(option, point)) arguments.insert(arguments.end(), {option, std::to_string(value)});
  };
  add_used("--root", point.root);
  add_used("--per-node", point.per_node);
  add_used("--pieces", point.pieces);
  add_used("--head", point.head_bytes);
  return arguments;
}

}  // namespace

std::size_t dtype_bytes(const std::string& dtype) {
  return with_dtype(dtype, []<class T>() { return sizeof(T); });
}

Point Planning::point(const std::string& variant, std::size_t bytes) const {
  Point point;
  point.algorithm = algorithm.name;
  point.variant = variant;
  point.dtype = options.dtype;
  point.bytes = bytes;
  point.pes = pes;
  point.gpus_per_node = machine.gpus_per_node;
  point.threads = options.threads > 0 ? options.threads : threads_for(bytes);
  const int most = options.backend == "check" ? 4
                   : options.backend == "thread"
                       ? 2
                       : static_cast<int>(machine.number("default_blocks"));
  point.blocks = options.blocks > 0 ? options.blocks : blocks_for(bytes, point.threads, most);
  constexpr int most_fibres = 16384;  // each has a stack with a guard page, and maps are few
  if (options.backend == "check" && point.blocks > most_fibres / pes) {
    throw UsageError(fmt::format("--blocks {}: check runs at most {} blocks on all {} PEs together",
                                 point.blocks, most_fibres, pes));
  }
  point.iterations = options.iterations > 0 ? options.iterations : options.verify ? 3 : 0;
  point.timed = options.backend == "thread" || options.backend == "cuda" ? options.timed : 0;
  if (options.backend == "sim") {  // deterministic: one launch says it
    point.iterations = 1;
    point.time_verified = true;
  }
  point.graph = options.graph;
  point.seed = options.seed;
  inject(point, options, algorithm.family.faults);
  debug_info(fmt::format("{} of {} bytes: variant {}, {} blocks of {} threads", point.algorithm,
                         bytes, variant, point.blocks, point.threads));
  return point;
}

std::vector<std::string> Planning::variants(const std::string& chosen) const {
  if (options.variant == "all") {
    std::vector<std::string> all;
    for (const std::string& variant : algorithm.variants)
      if (is_compiled(algorithm, variant, options) && why_no_multicast(*this, variant).empty())
        all.push_back(variant);
    return all;
  }
  const bool chooses = options.variant == "auto" || chooses_levels(algorithm, options.variant);
  return {chooses ? chosen : options.variant};
}

Family collective_family() {
  Family family;
  family.takes = {"--sizes", "--bytes",    "-b",       "-e",     "-f",        "--op",     "--data",
                  "--root",  "--per-node", "--pieces", "--head", "--variant", "--flavour"};
  family.faults = {"skip=PE", "count=PE"};
  // Several parts of a share, another root, more than an inbox holds, and rails of three nodes.
  family.small = {{"--bytes", "1040"},
                  {"--bytes", "1040", "--root", "3"},
                  {"--bytes", "132K", "--blocks", "1"},
                  {"--bytes", "1040", "--pes", "6", "--per-node", "2", "--pieces", "3"}};
  family.points = collective_points;
  family.arguments = collective_arguments;
  return family;
}

std::vector<std::string> family_options() {
  std::vector<std::string> all;
  for (const Family& family : {collective_family(), all_to_all_v_family(), moe_family(),
                               gemm_family(), norm_family(), tile_family()}) {
    all.insert(all.end(), family.takes.begin(), family.takes.end());
  }
  return all;
}

}  // namespace sym::command
