// Which devices without a class are GPUs, in NCCL's topology XML.
#pragma once

#include <set>
#include <string>

#include "models/xml_reader.hpp"

namespace sym::models::detail {

// Some files name devices by bus id alone, as NCCL reads their classes from the machine. Instances
// of clouds number their GPUs one after another: so the longest runs of consecutive device numbers
// below one parent are taken for the GPUs, the others for NICs. Nothing is settled if all runs are
// of length 1.
class NcclClassless {
 public:
  explicit NcclClassless(const XmlAt& system);

  bool used() const { return any_; }
  bool settled() const { return longest_ > 1; }
  bool is_gpu(const std::string& busid) const { return gpus_.contains(busid); }
  std::string how() const {
    return "assumed: runs of " + std::to_string(longest_) +
           " consecutive device numbers are GPUs, others NICs";
  }

 private:
  using Run = std::vector<std::string>;  // bus ids
  void collect(const XmlAt& parent, std::vector<Run>& runs);

  bool any_ = false;
  std::size_t longest_ = 0;
  std::set<std::string> gpus_;
};

}  // namespace sym::models::detail
