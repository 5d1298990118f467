// A finding of any backend, as programs keep, print and write it.
#pragma once

#include <string>
#include <vector>

namespace sym::report {

// Who, and where in the source: file as the tree knows it, line 0 where there is none.
struct Place {
  std::string role, verb, file, launch_name;
  int line = 0;
  int pe = -1, block = -1, queue = -1, launch = 0;
  std::string memory = {};
};

// `text` is the report for people. The rest is the same for machines; see fiber::Finding.
struct Finding {
  std::string kind, text, verdict, why, fix;
  std::vector<Place> places;
  bool ended_run = false;  // fiber::Finding's

  // Kind, verdict and op sites: findings with the same key are one bug, whatever run, seed or PE
  // showed it. Without places the text's first line is all there is to go by.
  std::string key() const;
  // The same without the verdict, which may change where a run is made smaller. Of a race also
  // which of the two writes.
  std::string bug() const;
  // "core/collective/ring.hpp:41, core/collective/ring.hpp:60": each site once, in order.
  std::string sites() const;
  // "deadlock (cycle) at core/collective/ring.hpp:41"
  std::string title() const;
  // Whether its run ended there, so that nothing is known of what would have come after.
  bool ends_run() const;
};

// Each key once, the first of it.
std::vector<Finding> distinct(const std::vector<Finding>& findings);

}  // namespace sym::report
