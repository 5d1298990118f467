// MaxMin: the max-min fair rates of a changing set of flows over links. No time, no bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace sym::sim {

// An allocation is the max-min fair one exactly if no link is overloaded and every flow is
// *blocked*: it runs at its own cap, or it crosses a saturated link on which no flow is faster. So
// a change is solved locally: water-fill only the flows that it unblocks, hold the others where
// they are, look for flows that are blocked no longer, take them in and fill again. When nobody is
// left the allocation is the fair one, and flows whose rate did not change were never touched.
class MaxMin {
 public:
  using Index = std::uint32_t;  // of a flow; handed out by add(), free again after remove()
  struct Change {
    Index flow;
    double rate_before;  // B/s; 0 for a flow that is new
    double rate;
  };

  explicit MaxMin(const std::vector<double>& link_bytes_per_s);

  // Requires distinct, valid links, at least one, and a positive cap (infinity: none).
  Index add(const std::vector<int>& links, double cap_bytes_per_s);
  void remove(Index flow);

  // Takes in all additions and removals since the last call, as one, and returns the flows whose
  // rate is another now. The span lives until the next call of any member.
  std::span<const Change> solve();

 private:
  struct FlowState {
    std::vector<std::int32_t> links;
    std::vector<std::uint32_t> places;  // places[k]: where links[k] lists this flow
    double cap = std::numeric_limits<double>::infinity();
    double rate = 0;
    double new_rate = 0;  // == rate outside solve()
    std::int32_t blocker = blocked_by_cap;
    bool filling = false;  // belongs to the set that solve() fills
    bool frozen = false;   // has its rate in this round of filling
  };
  struct Crossing {
    Index flow;
    std::uint32_t leg;  // flows[flow].links[leg] is this link
  };
  struct LinkState {
    double bytes_per_s = 0;
    std::vector<Crossing> crossings;
    double load = 0;  // sum of the rates on it, and the largest of them: true outside solve()
    double fastest = 0;
    double left = 0;  // during filling: what is not given away yet, and to how many flows
    std::uint32_t unfrozen = 0;
    bool dirty = false;    // a flow came or went since the last solve
    bool touched = false;  // rates on it may change in this solve
  };
  static constexpr std::int32_t blocked_by_cap = -1;

  LinkState& at(std::int32_t link) { return links_[static_cast<std::size_t>(link)]; }
  const LinkState& at(std::int32_t link) const { return links_[static_cast<std::size_t>(link)]; }
  void mark_dirty(std::int32_t link);
  void touch(std::int32_t link);
  void take_in(Index flow);
  void take_in_component();
  bool take_in_unblocked();
  void prepare_filling();
  void fill();
  void freeze(Index flow, double rate, std::int32_t blocker);
  void sum_touched_links();
  bool blocks(std::int32_t link, double rate) const;
  bool is_blocked(FlowState& flow) const;
  void commit();

  std::vector<LinkState> links_;
  std::vector<FlowState> flows_;
  std::vector<Index> free_;
  std::vector<std::int32_t> dirty_;
  std::vector<Index> new_flows_;
  std::vector<std::int32_t> touched_;  // links and flows that take part in this solve
  std::vector<Index> filling_;
  std::vector<std::pair<double, std::int32_t>> shares_;  // a heap, smallest first
  std::vector<std::pair<double, Index>> caps_;           // sorted
  std::vector<Change> changes_;
};

}  // namespace sym::sim
