#include "backends/check/user_options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <sstream>

#include "core/error.hpp"
#include "core/text.hpp"

namespace sym::check {

namespace {

using Names = std::vector<std::string>;

template <class T>
[[noreturn]] void refuse_number(const std::string& name, const std::string& text, T least, T most) {
  std::ostringstream sentence;
  sentence << name << " " << (text.empty() ? "(empty)" : text) << ": a number from " << least
           << " to " << most << " is wanted";
  throw UsageError(sentence.str());
}

template <class T>
T number(const std::string& name, const std::string& text, T least, T most) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  // Not less, not more: nan is neither.
  if (error != std::errc{} || end != last || !(value >= least) || !(value <= most))
    refuse_number(name, text, least, most);
  return value;
}

constexpr std::uint64_t many = std::uint64_t{1} << 62;

// "10M": K, M and G are powers of 1024.
std::uint64_t steps(const std::string& name, const std::string& text) {
  const std::string units = "KMG";
  const std::size_t unit =
      text.empty()
          ? std::string::npos
          : units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
  if (unit == std::string::npos) return number(name, text, std::uint64_t{0}, many);
  const auto shift = static_cast<unsigned>(10 * (unit + 1));
  return number(name, text.substr(0, text.size() - 1), std::uint64_t{0}, many >> shift) << shift;
}

Names parts(const std::string& list) {
  Names all{""};
  for (const char c : list) {
    if (c == ',') {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

// One argument: what it sets, the schedules that it is for (none: all), and whether it changes each
// run, so that a repeated one must be given it too. One without a value is a flag.
struct Argument {
  const char* name;
  const char* value;
  const char* help;
  bool of_run;
  Names schedules;
  std::function<void(UserOptions&, const std::string& value)> set;
};

void set_pes(UserOptions& options, const std::string& value) {
  options.pes.clear();
  for (const std::string& one : parts(value)) {
    options.pes.push_back(number("--pes", one, 1, most_pes));
  }
}
void set_schedules(UserOptions& options, const std::string& value) {
  options.schedules = parts(value);
  const auto& names = schedule_names();
  for (const std::string& one : options.schedules) {
    if (std::find(names.begin(), names.end(), one) != names.end()) continue;
    throw UsageError("unknown schedule '" + one + "'; the nearest is '" + nearest_name(one, names) +
                     "'");
  }
}
void set_budget(UserOptions& options, const std::string& value) {
  const std::uint64_t most = steps("--budget", value);
  options.check.most_steps = most > 0 ? most : CheckOptions{}.most_steps;
}
void set_knobs(UserOptions& options, const std::string& value) {
  options.check.knobs = knobs_of(parts(value));
}

using O = UserOptions;
using S = std::string;

std::vector<Argument> arguments_of_runs() {
  return {
      {"--pes", "N[,N...]", "worlds of so many PEs (2)", false, {}, set_pes},
      {"--schedule", "NAME[,NAME...]", "how the order is chosen (worst)", false, {}, set_schedules},
      {"--seed",
       "S",
       "of random and pct: the first (1)",
       false,
       {"random", "pct"},
       [](O& o, const S& v) { o.check.seed = number("--seed", v, std::uint64_t{0}, many); }},
      {"--runs",
       "R",
       "of random and pct: so many seeds (1)",
       false,
       {"random", "pct"},
       [](O& o, const S& v) { o.runs = number("--runs", v, std::uint64_t{1}, many); }},
      {"--depth",
       "D",
       "of pct: bugs that need D decisions (2)",
       true,
       {"pct"},
       [](O& o, const S& v) { o.check.pct_depth = number("--depth", v, 1, most_depth); }},
      {"--bound",
       "N",
       "of exhaustive: preemptions at most (no bound)",
       true,
       {"exhaustive"},
       [](O& o, const S& v) { o.check.bound = number("--bound", v, 0, 1000000); }},
      {"--knobs",
       "NAME[,NAME...]",
       "parts of a schedule that are on, or none",
       true,
       {"worst", "random", "pct"},
       set_knobs},
      {"--resident",
       "R",
       "blocks of a PE that fit at a time (all)",
       true,
       {},
       [](O& o, const S& v) { o.check.resident_blocks = number("--resident", v, 1, 1000000); }},
      {"--budget",
       "STEPS",
       "ends a run as incomplete (100M, also for 0; K, M, G)",
       true,
       {},
       set_budget},
      {"--time-limit",
       "SECONDS",
       "ends a run as incomplete (0: no limit)",
       true,
       {},
       [](O& o, const S& v) { o.check.most_seconds = number("--time-limit", v, 0.0, 1e9); }}};
}

const std::vector<Argument>& arguments_known() {
  static const std::vector<Argument> all = [] {
    std::vector<Argument> known = arguments_of_runs();
    known.push_back(
        {"--findings", "FILE", "write the findings as JSON lines", false, {}, [](O& o, const S& v) {
           o.files.findings = v;
         }});
    known.push_back(
        {"--sarif", "FILE", "write the findings as SARIF 2.1.0", false, {}, [](O& o, const S& v) {
           o.files.sarif = v;
         }});
    known.push_back({"--suppress",
                     "FILE",
                     "findings that are accepted: KIND FILE:LINE REASON",
                     false,
                     {},
                     [](O& o, const S& v) { o.files.suppress = v; }});
    known.push_back({"--coverage",
                     "",
                     "print each op site that the runs covered",
                     false,
                     {},
                     [](O& o, const S&) { o.coverage = true; }});
    return known;
  }();
  return all;
}

const Argument& argument_of(const std::string& name) {
  const auto& known = arguments_known();
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
  if (found != known.end()) return *found;
  Names names{"--help", "replay"};
  for (const Argument& one : known) names.emplace_back(one.name);
  throw UsageError("unknown argument '" + name + "'; the nearest is '" + nearest_name(name, names) +
                   "'");
}

bool is_for(const Names& schedules, const std::string& schedule) {
  return schedules.empty() ||
         std::find(schedules.begin(), schedules.end(), schedule) != schedules.end();
}

// One that no schedule of this call uses would do nothing, so it is refused.
void require_use(const UserOptions& options, const std::vector<const Argument*>& said) {
  for (const Argument* one : said) {
    if (std::any_of(options.schedules.begin(), options.schedules.end(),
                    [&](const std::string& name) { return is_for(one->schedules, name); })) {
      continue;
    }
    std::string names;
    for (const std::string& name : one->schedules) names += (names.empty() ? "" : " or ") + name;
    throw UsageError(std::string(one->name) + " goes with --schedule " + names +
                     ", which is not among those of this call");
  }
}

}  // namespace

bool is_seeded(const std::string& schedule) { return schedule == "random" || schedule == "pct"; }

std::vector<std::string> UserOptions::arguments_of(const CheckOptions& run) const {
  std::vector<std::string> words{"--pes", std::to_string(run.pes), "--schedule", run.schedule};
  if (is_seeded(run.schedule)) words.insert(words.end(), {"--seed", std::to_string(run.seed)});
  for (const Given& one : given) {
    if (is_for(one.schedules, run.schedule)) words.insert(words.end(), {one.name, one.value});
  }
  return words;
}

std::string user_help() {
  std::string text = "Runs this program's kernel under the checker.\n\n";
  for (const Argument& one : arguments_known()) {
    std::string left = std::string("  ") + one.name + " " + one.value;
    left.resize(std::max<std::size_t>(left.size() + 1, 30), ' ');
    text += left + one.help + "\n";
  }
  text +=
      "  replay FILE                 take the decisions of a finding's file again\n"
      "  replay FILE --shrink [--out G]\n"
      "                              make its run smaller, and show what happens side by side\n"
      "\nSchedules:";
  for (const std::string& name : schedule_names()) text += " " + name;
  return text +
         "\nExit status: 0 clean; 1 a finding or an incomplete run; 2 bad arguments. Of replay: 1\n"
         "the same finding; 2 another, or a file of another build.\n";
}

UserOptions parse_user_options(const std::vector<std::string>& arguments) {
  UserOptions options;
  std::vector<const Argument*> said;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      options.help = true;
      continue;
    }
    const Argument& argument = argument_of(name);
    std::string value;
    if (equals != std::string::npos) {
      value = arguments[i].substr(equals + 1);
    } else if (*argument.value != 0) {
      if (++i == arguments.size()) throw UsageError(name + " needs a value (--help says which)");
      value = arguments[i];
    }
    if (*argument.value == 0 && equals != std::string::npos)
      throw UsageError(name + " takes no value");
    if (*argument.value != 0 && value.empty()) throw UsageError(name + ": its value is empty");
    argument.set(options, value);
    said.push_back(&argument);
    if (!argument.of_run) continue;
    std::erase_if(options.given, [&](const auto& one) { return one.name == name; });
    options.given.push_back({name, value, argument.schedules});
  }
  require_use(options, said);
  return options;
}

}  // namespace sym::check
