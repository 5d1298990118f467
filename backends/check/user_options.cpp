#include "backends/check/user_options.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <sstream>

#include "core/error.hpp"
#include "core/text.hpp"

namespace sym::check {

namespace {

template <class T>
T number(const std::string& name, const std::string& text, T least, T most) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last || value < least || value > most) {
    std::ostringstream sentence;
    sentence << name << " " << text << ": a number from " << least << " to " << most
             << " is wanted";
    throw UsageError(sentence.str());
  }
  return value;
}

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> all;
  std::istringstream text(list);
  for (std::string part; std::getline(text, part, ',');) all.push_back(part);
  return all;
}

// One argument: what it sets, and whether a repeated run must be given it too.
struct Argument {
  const char* name;
  const char* value;
  const char* help;
  bool of_run;
  std::function<void(UserOptions&, const std::string& value)> set;
};

constexpr std::uint64_t many = std::uint64_t{1} << 62;

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

const std::vector<Argument>& arguments_known() {
  using O = UserOptions;
  using S = std::string;
  static const std::vector<Argument> all{
      {"--pes", "N[,N...]", "worlds of so many PEs (2)", false, set_pes},
      {"--schedule", "NAME[,NAME...]", "how the order is chosen (worst)", false, set_schedules},
      {"--seed", "S", "of random and pct: the first (1)", false,
       [](O& o, const S& v) { o.check.seed = number("--seed", v, std::uint64_t{0}, many); }},
      {"--runs", "R", "of random and pct: so many seeds (1)", false,
       [](O& o, const S& v) { o.runs = number("--runs", v, std::uint64_t{1}, many); }},
      {"--depth", "D", "of pct: bugs that need D decisions (2)", true,
       [](O& o, const S& v) { o.check.pct_depth = number("--depth", v, 1, 1000); }},
      {"--bound", "N", "of exhaustive: preemptions at most (no bound)", true,
       [](O& o, const S& v) { o.check.bound = number("--bound", v, 0, 1000000); }},
      {"--resident", "R", "blocks of a PE that fit at a time (all)", true,
       [](O& o, const S& v) { o.check.resident_blocks = number("--resident", v, 1, 1000000); }},
      {"--budget", "STEPS", "ends a run as incomplete (no limit)", true,
       [](O& o, const S& v) {
         o.check.most_steps = number("--budget", v, std::uint64_t{1}, many);
       }},
      {"--time-limit", "SECONDS", "ends a run as incomplete (no limit)", true,
       [](O& o, const S& v) { o.check.most_seconds = number("--time-limit", v, 0.001, 1e9); }}};
  return all;
}

}  // namespace

std::string user_help() {
  std::string text = "Runs this program's kernel under the checker.\n\n";
  for (const Argument& one : arguments_known()) {
    std::string left = std::string("  ") + one.name + " " + one.value;
    left.resize(std::max<std::size_t>(left.size(), 30), ' ');
    text += left + one.help + "\n";
  }
  text += "\nSchedules:";
  for (const std::string& name : schedule_names()) text += " " + name;
  return text + "\nExit status: 0 clean; 1 a finding or an incomplete run; 2 bad arguments.\n";
}

UserOptions parse_user_options(const std::vector<std::string>& arguments) {
  UserOptions options;
  std::vector<std::string> names{"--help"};
  for (const Argument& one : arguments_known()) names.emplace_back(one.name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      continue;
    }
    const auto& known = arguments_known();
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (found == known.end()) {
      throw UsageError("unknown argument '" + name + "'; the nearest is '" +
                       nearest_name(name, names) + "'");
    }
    if (++i == arguments.size()) throw UsageError(name + " needs a value (--help says which)");
    found->set(options, arguments[i]);
    if (found->of_run) options.given.emplace_back(name, arguments[i]);
  }
  return options;
}

}  // namespace sym::check
