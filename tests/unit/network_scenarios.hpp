// Scenarios for the flow solvers, an independent oracle, and runs in forked children (SimGrid runs
// once in a process).
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/network.hpp"

namespace sym::sim {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double bw = 100e9;  // B/s of a port

struct End {
  FlowId id;
  double time_s;
  bool operator==(const End&) const = default;
};
using Ends = std::map<FlowId, double>;

// Flows that start at given times, and streams: lists of flows of which at most `window` are in
// flight.
struct Scenario {
  std::vector<double> links;
  std::vector<std::pair<double, Flow>> timed;
  std::vector<std::vector<Flow>> streams;
  std::size_t window = 1;
};

inline std::vector<End> play(Network& net, const Scenario& scenario) {
  std::vector<End> ends;
  std::map<FlowId, std::size_t> stream_of;
  std::vector<std::size_t> next(scenario.streams.size(), 0);
  const auto start_next = [&](std::size_t stream) {
    if (next[stream] == scenario.streams[stream].size()) return;
    const Flow& flow = scenario.streams[stream][next[stream]++];
    stream_of[flow.id] = stream;
    net.start(flow);
  };
  for (std::size_t slot = 0; slot < scenario.window; ++slot)
    for (std::size_t stream = 0; stream < next.size(); ++stream) start_next(stream);
  auto timed = scenario.timed;
  std::stable_sort(timed.begin(), timed.end(), [](auto& a, auto& b) { return a.first < b.first; });
  std::size_t due = 0;
  while (due < timed.size() || net.in_flight() > 0) {
    for (; due < timed.size() && timed[due].first <= net.now(); ++due) net.start(timed[due].second);
    const std::vector<FlowId> ended = net.advance(due < timed.size() ? timed[due].first : infinity);
    EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
    for (const FlowId id : ended) {
      ends.push_back({id, net.now()});
      if (const auto found = stream_of.find(id); found != stream_of.end())
        start_next(found->second);
    }
  }
  return ends;
}

inline std::unique_ptr<Network> make(const std::string& kind, std::vector<double> links) {
  return kind == "simgrid" ? make_simgrid_network(std::move(links))
                           : make_ports_network(std::move(links));
}

// Runs `body` in a child, which writes what it wants to say; returns that. Throws if the child
// died.
inline std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    close(ends[0]);
    std::string said;
    int status = 0;
    try {
      said = body();
    } catch (const std::exception& error) {
      said = error.what();
      status = 3;
    }
    if (testing::Test::HasFailure()) status = 4;
    for (std::size_t done = 0; done < said.size();) {
      const ssize_t wrote = write(ends[1], said.data() + done, said.size() - done);
      if (wrote <= 0) _exit(5);
      done += static_cast<std::size_t>(wrote);
    }
    _exit(status);
  }
  close(ends[1]);
  std::string heard;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    heard.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0)
    throw std::runtime_error("child: wait status " + std::to_string(status) + " " + heard);
  return heard;
}

inline std::vector<End> run_ends(const std::string& kind, const Scenario& scenario) {
  const std::string bytes = in_child([&] {
    std::vector<End> ends;
    const auto net = make(kind, scenario.links);
    net->run([&] { ends = play(*net, scenario); });
    return std::string(reinterpret_cast<const char*>(ends.data()), ends.size() * sizeof(End));
  });
  std::vector<End> ends(bytes.size() / sizeof(End));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(ends.data()));
  return ends;
}

inline Ends run(const std::string& kind, const Scenario& scenario) {
  Ends ends;
  for (const End& end : run_ends(kind, scenario))
    EXPECT_TRUE(ends.emplace(end.id, end.time_s).second);
  return ends;
}

inline void expect_same(const Ends& got, const Ends& expected, double relative) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [id, time] : expected) {
    ASSERT_TRUE(got.contains(id)) << "flow " << id;
    EXPECT_NEAR(got.at(id), time, relative * time) << "flow " << id;
  }
}

// The oracle: textbook water-filling of all flows at every event, no state kept, no shortcut.
class Oracle final : public Network {
 public:
  explicit Oracle(std::vector<double> links) : links_(std::move(links)) {}
  void run(const std::function<void()>& body) override { body(); }
  void start(const Flow& flow) override { flows_.push_back(flow); }
  double now() const override { return now_; }
  std::size_t in_flight() const override { return flows_.size(); }
  std::string name() const override { return "oracle"; }

  std::vector<FlowId> advance(double until) override {
    const std::vector<double> rates = fair_rates();
    double step = until - now_;
    for (std::size_t i = 0; i < flows_.size(); ++i)
      step = std::min(step, flows_[i].bytes / rates[i]);
    std::vector<FlowId> ended;
    std::vector<Flow> left;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const double time = flows_[i].bytes / rates[i];
      flows_[i].bytes -= rates[i] * step;
      if (time <= step * (1 + 1e-9))
        ended.push_back(flows_[i].id);
      else
        left.push_back(flows_[i]);
    }
    flows_ = left;
    now_ = ended.empty() ? until : now_ + step;
    std::sort(ended.begin(), ended.end());
    return ended;
  }

 private:
  std::vector<double> fair_rates() const {
    std::vector<double> rates(flows_.size(), 0), left = links_;
    std::set<std::size_t> rising;
    for (std::size_t i = 0; i < flows_.size(); ++i) rising.insert(i);
    while (!rising.empty()) {
      std::vector<int> users(links_.size(), 0);
      for (const std::size_t i : rising)
        for (const int link : flows_[i].links) ++users[static_cast<std::size_t>(link)];
      double level = infinity;
      for (std::size_t l = 0; l < left.size(); ++l)
        if (users[l] > 0) level = std::min(level, left[l] / users[l]);
      for (const std::size_t i : rising) level = std::min(level, flows_[i].rate_cap_bytes_per_s);
      std::vector<std::size_t> stop;
      for (const std::size_t i : rising) {
        bool full = flows_[i].rate_cap_bytes_per_s <= level;
        for (const int link : flows_[i].links) {
          const auto l = static_cast<std::size_t>(link);
          full = full || left[l] / users[l] <= level * (1 + 1e-12);
        }
        if (full) stop.push_back(i);
      }
      for (const std::size_t i : stop) {
        rates[i] = level;
        rising.erase(i);
        for (const int link : flows_[i].links) left[static_cast<std::size_t>(link)] -= level;
      }
    }
    return rates;
  }

  std::vector<double> links_;
  std::vector<Flow> flows_;
  double now_ = 0;
};

inline Ends ask_oracle(const Scenario& scenario) {
  Oracle oracle(scenario.links);
  Ends ends;
  for (const End& end : play(oracle, scenario)) ends[end.id] = end.time_s;
  return ends;
}

// Ports: link i is PE i's way out, link n + i its way in.
inline std::vector<int> ports(int src, int dst, int n) { return {src, n + dst}; }

// Everything a flow can have: 1 to 4 links, caps that bind and caps that do not, starts spread out.
inline Scenario random_scenario(unsigned seed, int links, int flows) {
  std::mt19937_64 random(seed);
  const auto below = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  Scenario s;
  for (int l = 0; l < links; ++l) s.links.push_back(bw * (1 + below(8)) / 4);
  for (int f = 0; f < flows; ++f) {
    std::set<int> crossed;
    for (int want = 1 + below(4); want > 0; --want) crossed.insert(below(links));
    Flow flow{static_cast<FlowId>(f),
              {crossed.begin(), crossed.end()},
              1e6 * (1 + below(1000)),
              no_rate_cap};
    if (below(3) == 0) flow.rate_cap_bytes_per_s = bw * (1 + below(40)) / 40;
    s.timed.emplace_back(below(2) == 0 ? 0.0 : 1e-4 * below(500), flow);
  }
  return s;
}

inline Scenario windowed_all_to_all(unsigned seed, int n, std::size_t window) {
  std::mt19937_64 random(seed);
  Scenario s;
  s.links.assign(2 * static_cast<std::size_t>(n), bw);
  s.window = window;
  for (int src = 0; src < n; ++src) {
    s.streams.emplace_back();
    for (int step = 1; step < n; ++step) {
      const int dst = (src + step) % n;
      const double bytes = static_cast<double>(100'000 + random() % 10'000'000);
      s.streams.back().push_back(
          {static_cast<FlowId>(src * n + dst), ports(src, dst, n), bytes, no_rate_cap});
    }
  }
  return s;
}

}  // namespace sym::sim
