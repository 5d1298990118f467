// Bootstrap: how PEs that are processes or threads of one job exchange a few bytes on the host.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sym {

// All members are collective. A peer that does not come within the deadline is named in a Failure.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int pe() const = 0;
  virtual int n_pes() const = 0;
  // Each PE gives a string (sizes may differ); every PE gets all of them, by PE.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
  void barrier() { (void)all_gather(std::string()); }
};

// Throws UsageError naming the PEs that differ unless every PE gives the same `value` for `what`.
void require_equal(Bootstrap& bootstrap, const std::string& what, const std::string& value);

}  // namespace sym
