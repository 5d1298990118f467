#include "backends/check/found.hpp"

namespace sym::check {

report::Finding found_of(const fiber::Finding& finding) {
  report::Finding one;
  one.kind = finding.kind;
  one.text = finding.text;
  one.verdict = finding.verdict;
  one.why = finding.why;
  one.fix = finding.fix;
  one.ended_run = finding.ended_run;
  for (const fiber::Place& place : finding.places) {
    const bool host = place.verb == fiber::Verb::host && place.site.line == 0;
    one.places.push_back({place.role, host ? "" : to_string(place.verb), place.site.file,
                          place.launch_name, place.site.line, place.pe, place.block, place.queue,
                          place.launch, place.memory});
  }
  return one;
}

std::vector<report::Finding> found_of(const std::vector<fiber::Finding>& findings) {
  std::vector<report::Finding> all;
  for (const fiber::Finding& finding : findings) all.push_back(found_of(finding));
  return all;
}

}  // namespace sym::check
