#include "models/simgrid_units.hpp"

#include <cstdlib>
#include <map>

namespace sym::models::detail {
namespace {

// "1.5GBps", "50us": a number with a unit that says its factor; without one, `base` units.
double with_unit(const XmlAt& at, const char* attribute,
                 const std::map<std::string, double>& units) {
  const std::string word = at.text(attribute);
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  const auto unit = units.find(end);
  if (unit == units.end() || end == word.c_str() || !(number >= 0)) {
    std::string names;
    for (const auto& [name, factor] : units) names += (names.empty() ? "" : ", ") + name;
    at.refuse(std::string("has ") + attribute + "=\"" + word +
              "\"; a number with one of the units " + names + " is accepted");
  }
  return number * unit->second;
}

}  // namespace

double bandwidth_gbps(const XmlAt& at, const char* attribute) {
  static const std::map<std::string, double> units = [] {
    std::map<std::string, double> all = {{"", 1e-9}};
    const std::pair<const char*, double> prefixes[] = {{"", 1e-9},
                                                       {"k", 1e-6},
                                                       {"M", 1e-3},
                                                       {"G", 1},
                                                       {"T", 1e3},
                                                       {"Ki", 1024e-9},
                                                       {"Mi", 1.048576e-3},
                                                       {"Gi", 1.073741824},
                                                       {"Ti", 1099.511627776}};
    for (const auto& [prefix, factor] : prefixes) {
      all[std::string(prefix) + "Bps"] = factor;
      all[std::string(prefix) + "bps"] = factor / 8;
    }
    return all;
  }();
  const double gbps = with_unit(at, attribute, units);
  if (!(gbps > 0))
    at.refuse(std::string("has ") + attribute + "=\"" + at.text(attribute) +
              "\"; a rate above 0 is accepted");
  return gbps;
}

double latency_us(const XmlAt& at, const char* attribute) {
  static const std::map<std::string, double> units = {{"", 1e6}, {"s", 1e6},   {"ms", 1e3},
                                                      {"us", 1}, {"ns", 1e-3}, {"ps", 1e-6}};
  return at.has(attribute) ? with_unit(at, attribute, units) : 0;
}

}  // namespace sym::models::detail
