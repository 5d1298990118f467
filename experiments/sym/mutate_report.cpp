// What sym mutate prints and writes.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "experiments/sym/csv_text.hpp"
#include "experiments/sym/mutate.hpp"

namespace sym::command {

namespace {

struct Tally {
  std::size_t mutants = 0, killed = 0, hang = 0, equivalent = 0, vacuous = 0, survived = 0;
  std::set<std::string> kinds;

  void add(const MutantResult& one) {
    ++mutants;
    ++(one.verdict == "killed"       ? killed
       : one.verdict == "hang"       ? hang
       : one.verdict == "equivalent" ? equivalent
       : one.verdict == "vacuous"    ? vacuous
                                     : survived);
    if (one.verdict == "killed") kinds.insert(one.kind);
  }
  // Killed of those that are not equivalent and no hangs, which are apart; `more` of the others
  // counted as survivors.
  double percent(std::size_t more) const {
    const std::size_t all = killed + survived + more;
    return all == 0 ? 100 : 100.0 * static_cast<double>(killed) / static_cast<double>(all);
  }
  std::string score(std::size_t more) const {
    return killed + survived + more == 0 ? "-" : fmt::format("{:.1f}%", percent(more));
  }
};

void print_tallies(const std::map<std::string, Tally>& groups) {
  // Strict: with the vacuous ones as survivors.
  fmt::print("# {:<11}{:>7}{:>8}{:>6}{:>12}{:>9}{:>10}{:>9}{:>9}  killed by\n", "group", "mutants",
             "killed", "hang", "equivalent", "vacuous", "survived", "score", "strict");
  for (const auto& [name, tally] : groups) {
    fmt::print("  {:<11}{:>7}{:>8}{:>6}{:>12}{:>9}{:>10}{:>9}{:>9}  {}\n", name, tally.mutants,
               tally.killed, tally.hang, tally.equivalent, tally.vacuous, tally.survived,
               tally.score(0), tally.score(tally.vacuous), fmt::join(tally.kinds, ", "));
  }
}

std::map<std::string, Tally> tallies_of(const std::vector<VariantResult>& results) {
  std::map<std::string, Tally> groups;
  for (const VariantResult& result : results) {
    for (const MutantResult& one : result.mutants) groups[one.group].add(one);
  }
  return groups;
}

std::string name_of(const std::string& algorithm, const VariantResult& result) {
  return algorithm + (result.variant.empty() ? "" : " " + result.variant);
}

// Names for mutants that outlive lines that come or go above them: the how-manieth place with that
// verb in its file.
class Names {
 public:
  std::string of(const std::string& variant, const std::string& site, const std::string& change) {
    const std::size_t colon = site.find(':');
    const std::size_t space = site.find(' ', colon == std::string::npos ? 0 : colon);
    if (colon == std::string::npos || space == std::string::npos)
      return variant + "  " + site + " " + change;
    const std::string verb = site.substr(space + 1, site.find(" #") - space - 1);
    const std::string place = variant + "  " + site.substr(0, colon) + " " + verb;
    std::vector<std::string>& lines = lines_[place];
    const std::string line = site.substr(colon, space - colon);
    auto at = std::find(lines.begin(), lines.end(), line);
    if (at == lines.end()) at = lines.insert(lines.end(), line);
    return fmt::format("{} ({}){} {}", place, at - lines.begin() + 1,
                       site.substr(space + 1 + verb.size()), change);
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

constexpr const char* header = "algorithm,variant,group,site,change,verdict,kind,shape,found,note";

}  // namespace

void print_mutants(const std::string& algorithm, const VariantResult& result) {
  const auto groups = tallies_of({result});
  fmt::print(
      "# sym mutate {}: {} mutants, {} runs, without {} of {} barriers and waits of the host\n",
      name_of(algorithm, result), result.mutants.size(), result.runs, result.host_calls_dropped,
      result.host_calls);
  print_tallies(groups);
  for (const char* const verdict : {"equivalent", "vacuous", "survived"}) {
    for (const MutantResult& one : result.mutants) {
      if (one.verdict != verdict) continue;
      fmt::print("#   {:<10}  {:<8}  {} {}\n", one.verdict, one.group, one.site, one.change);
      if (!one.note.empty()) fmt::print("#               {}\n", one.note);
    }
  }
  std::fflush(stdout);
}

void print_score(const std::string& algorithm, const std::vector<VariantResult>& results) {
  if (results.size() > 1) {
    fmt::print("# sym mutate {}: all variants\n", algorithm);
    print_tallies(tallies_of(results));
  }
}

std::vector<std::string> groups_below(double least, const std::vector<VariantResult>& results) {
  std::vector<std::string> lines;
  for (const auto& [name, tally] : tallies_of(results)) {
    if (tally.percent(0) >= least) continue;
    lines.push_back(fmt::format("{}: {} of {} that are not equivalent are killed", name,
                                tally.killed, tally.killed + tally.survived));
  }
  return lines;
}

void write_mutants_csv(const std::string& file, const std::string& algorithm,
                       const std::vector<VariantResult>& results) {
  std::ofstream out(file);
  out << header << "\n";
  for (const VariantResult& result : results) {
    for (const MutantResult& one : result.mutants) {
      out << fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_cell(algorithm),
                         csv_cell(one.variant), one.group, csv_quoted(one.site),
                         csv_quoted(one.change), one.verdict, csv_quoted(one.kind),
                         csv_quoted(one.shape), csv_quoted(one.found), csv_quoted(one.note));
    }
  }
  if (!out.flush()) throw UsageError("cannot write " + file);
}

void write_mutants_json(const std::string& file, const std::string& algorithm,
                        const std::vector<VariantResult>& results) {
  nlohmann::ordered_json json;
  json["algorithm"] = algorithm;
  for (const VariantResult& result : results) {
    nlohmann::ordered_json variant;
    variant["variant"] = result.variant;
    variant["runs"] = result.runs;
    variant["host_calls"] = result.host_calls;
    variant["host_calls_dropped"] = result.host_calls_dropped;
    for (const MutantResult& one : result.mutants) {
      nlohmann::ordered_json row;
      row["group"] = one.group;
      row["site"] = one.site;
      row["change"] = one.change;
      row["verdict"] = one.verdict;
      row["kind"] = one.kind;
      row["shape"] = one.shape;
      row["found"] = one.found;
      row["note"] = one.note;
      variant["mutants"].push_back(row);
    }
    json["variants"].push_back(variant);
  }
  std::ofstream out(file);
  out << json.dump(1) << "\n";
  if (!out.flush()) throw UsageError("cannot write " + file);
}

void require_mutants_csv(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw UsageError("cannot read " + file);
  std::string line;
  if (!std::getline(in, line) || line != header)
    throw UsageError(file + " is no CSV of sym mutate: its first line is not '" + header + "'");
}

std::vector<std::string> lost_kills(const std::string& file, const std::string& algorithm,
                                    const std::vector<VariantResult>& results) {
  std::ifstream in(file);
  int lines = 0;
  next_csv_record(in, lines);  // the header
  const auto dead = [](const std::string& verdict) {
    return verdict == "killed" || verdict == "hang";
  };
  std::set<std::string> killed, known;
  Names then, now;
  while (const auto record = next_csv_record(in, lines)) {
    const auto cells = csv_cells_of(*record);
    if (cells.size() < 6) throw UsageError(file + ": a line has too few cells: " + *record);
    if (cells[0] != algorithm) continue;
    const std::string name = then.of(cells[1], cells[3], cells[4]);
    known.insert(name);
    if (dead(cells[5])) killed.insert(name);
  }
  std::vector<std::string> lost;
  bool any = false;
  for (const VariantResult& result : results) {
    for (const MutantResult& one : result.mutants) {
      const std::string name = now.of(one.variant, one.site, one.change);
      any = any || known.contains(name);
      if (!dead(one.verdict) && killed.contains(name)) lost.push_back(name + ": " + one.site);
    }
  }
  if (!any) throw UsageError("--expect " + file + " and this run have no mutant in common");
  return lost;
}

}  // namespace sym::command
