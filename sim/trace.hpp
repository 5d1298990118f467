// Trace: a simulated run as a timeline that Perfetto and chrome://tracing read (JSON events).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/fiber/engine.hpp"
#include "sim/platform.hpp"

namespace sym::sim {

// One row a block, queue and host of each PE with its verbs, and one row a link with its flows.
class Trace {
 public:
  // The agent stands before its next verb: the one before it has ended.
  void verb(const fiber::Agent& agent, double now_s);
  void flow_began(std::uint64_t id, int link, const std::string& name, double now_s);
  void flow_ended(std::uint64_t id, int link, double now_s);

  // Throws Failure if the file cannot be written.
  void write(const std::string& path, const Platform& platform, double end_s) const;

 private:
  struct Slice {
    const char* name;
    Site site;
    int pe, row;
    double begin_s, end_s;
  };
  struct FlowEnd {
    std::uint64_t id;
    int link;
    bool began;
    std::string name;
    double time_s;
  };
  struct Open {
    bool is = false;
    Slice slice;
  };
  bool full();

  static constexpr std::size_t most = 2'000'000;  // a larger file opens nowhere
  std::vector<Open> open_;                        // by agent
  std::vector<Slice> slices_;
  std::vector<FlowEnd> flows_;
  bool cut_ = false;
};

}  // namespace sym::sim
