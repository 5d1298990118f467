#include "sim/trace.hpp"

#include <cstdio>
#include <fstream>
#include <set>

#include "core/error.hpp"

namespace sym::sim {
namespace {

std::string us(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4f", seconds * 1e6);
  return text;
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + "\"";
}

// Processes of the timeline: PEs, then all links as one.
std::string named(int process, const std::string& name) {
  return R"({"ph":"M","name":"process_name","pid":)" + std::to_string(process) +
         R"(,"args":{"name":)" + quoted(name) + "}}";
}

}  // namespace

bool Trace::full() {
  cut_ = cut_ || slices_.size() + flows_.size() >= most;
  return cut_;
}

void Trace::verb(const fiber::Agent& agent, double now_s) {
  const auto id = static_cast<std::size_t>(agent.id);
  if (id >= open_.size()) open_.resize(id + 1);
  Open& open = open_[id];
  if (open.is && now_s > open.slice.begin_s && !full()) {
    slices_.push_back(open.slice);
    slices_.back().end_s = now_s;
  }
  const int row = agent.queue >= 0 ? 1000 + agent.queue : agent.block + 1;
  open = {true, {to_string(agent.step.verb), agent.step.site, agent.pe, row, now_s, now_s}};
}

void Trace::flow_began(std::uint64_t id, int link, const std::string& name, double now_s) {
  if (!full()) flows_.push_back({id, link, true, name, now_s});
}

void Trace::flow_ended(std::uint64_t id, int link, double now_s) {
  if (!full()) flows_.push_back({id, link, false, "", now_s});
}

void Trace::write(const std::string& path, const Platform& platform, double end_s) const {
  std::ofstream file(path);
  file << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"complete\":" << (cut_ ? "false" : "true")
       << ",\"end_us\":" << us(end_s) << "},\n\"traceEvents\":[\n";
  std::set<int> pes;
  for (const Slice& slice : slices_) {
    file << R"({"ph":"X","pid":)" << slice.pe << R"(,"tid":)" << slice.row << R"(,"name":)"
         << quoted(slice.name) << R"(,"ts":)" << us(slice.begin_s) << R"(,"dur":)"
         << us(slice.end_s - slice.begin_s) << R"(,"args":{"at":)"
         << quoted(std::string(slice.site.file) + ":" + std::to_string(slice.site.line)) << "}},\n";
    pes.insert(slice.pe);
  }
  const int links = pes.empty() ? 1 : *pes.rbegin() + 1;
  for (const FlowEnd& flow : flows_) {
    file << R"({"ph":")" << (flow.began ? 'b' : 'e') << R"(","cat":"flow","pid":)" << links
         << R"(,"tid":)" << flow.link << R"(,"id":)" << flow.id << R"(,"name":)"
         << quoted(platform.link_name(flow.link)) << R"(,"ts":)" << us(flow.time_s);
    if (flow.began) file << R"(,"args":{"flow":)" << quoted(flow.name) << "}";
    file << "},\n";
  }
  for (const int pe : pes) file << named(pe, "PE " + std::to_string(pe)) << ",\n";
  file << named(links, "links") << "\n]}\n";
  if (!file.flush()) throw Failure("cannot write " + path);
}

}  // namespace sym::sim
