// Timeline: what two PEs did up to a finding, side by side: the counter-example for people.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "backends/fiber/engine.hpp"
#include "backends/fiber/tracer.hpp"

namespace sym::check {

class Timeline : public fiber::Tracer {
 public:
  // Of the first finding for which `wanted` holds.
  explicit Timeline(std::function<bool(const fiber::Finding&)> wanted)
      : wanted_(std::move(wanted)) {}

  void begin() override;
  void verb(const fiber::Agent& agent) override { note(agent, What::verb); }
  void woken(const fiber::Agent& agent) override { note(agent, What::woken); }
  void source_read(const fiber::Transfer& transfer) override;
  void delivered(const fiber::Transfer& transfer) override;
  void reported(const fiber::Finding& finding) override;

  // At most `most`, the latest; a column for each of the two PEs that the finding is about. Lines
  // that begin with > are its places. Empty: no such finding came.
  std::vector<std::string> lines(std::size_t most) const;

 private:
  enum class What { verb, woken, source_read, delivered };
  struct Event {
    What what = What::verb;
    int pe = 0;          // whose column
    fiber::Place place;  // of who does it, or of who issued it
    int peer = -1;
    fiber::WordId word;
    bool signal = false;
  };
  void note(const fiber::Agent& agent, What what);
  void add(Event event);
  std::string text(const Event& event) const;
  bool is_place(const Event& event) const;
  bool about(const Event& event) const;

  std::function<bool(const fiber::Finding&)> wanted_;
  std::deque<Event> events_;
  bool found_ = false;
  fiber::Finding finding_;
  int left_ = 0, right_ = 1;  // PEs
};

}  // namespace sym::check
