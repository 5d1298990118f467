// What a rank does in a rehearsal: its walk, written down.
#pragma once

#include <string>
#include <vector>

#include "core/gemm/rehearsal_memory.hpp"
#include "core/gemm/walk.hpp"

namespace sym::gemm::detail {

enum class Verb { begin, post, take, record, after, pull, multiply, deliver, end };

// One operation of a line, as the walk gave it.
struct Op {
  Verb verb = Verb::begin;
  int call = 0;
  Flag flag;
  int mark = -1;
  Pull pull;
  Stage stage;
  Delivery delivery;
};

// The target of a rank's walk: writes down what it is told.
class Recorder {
 public:
  void begin(int call) {
    call_ = call;
    put(Line::compute, Verb::begin);
  }
  void end() { put(Line::compute, Verb::end); }
  void post(Line line, const Flag& flag) { put(line, Verb::post).flag = flag; }
  void take(Line line, const Flag& flag) { put(line, Verb::take).flag = flag; }
  int record(Line line) { return put(line, Verb::record).mark = marks_++; }
  void after(Line line, int mark) { put(line, Verb::after).mark = mark; }
  void pull(const Pull& pull) { put(Line::copies, Verb::pull).pull = pull; }
  void multiply(const Stage& stage) { put(Line::compute, Verb::multiply).stage = stage; }
  void deliver(const Delivery& one) { put(Line::compute, Verb::deliver).delivery = one; }

  const std::vector<Op>& line(int which) const { return which == 0 ? compute_ : copies_; }
  int marks() const { return marks_; }

 private:
  Op& put(Line line, Verb verb) {
    std::vector<Op>& ops = line == Line::compute ? compute_ : copies_;
    ops.emplace_back();
    ops.back().verb = verb;
    ops.back().call = call_;
    return ops.back();
  }
  std::vector<Op> compute_, copies_;
  int marks_ = 0;
  int call_ = 0;
};

// For sentences.
inline std::string op_text(const Op& op) {
  switch (op.verb) {
    case Verb::begin:
      return "writing its operands";
    case Verb::multiply:
      return "step " + std::to_string(op.stage.step);
    case Verb::pull:
      return std::string("copying tile ") + tile_text(op.pull.row, op.pull.col) + " of " +
             name_of(op.pull.which);
    case Verb::deliver:
      return "fetching a tile of D";
    case Verb::take:
      return "waiting for flag " + std::to_string(op.flag.slot) + " of rank " +
             std::to_string(op.flag.pe);
    case Verb::after:
      return "waiting for its other line";
    default:
      return "its end";
  }
}

}  // namespace sym::gemm::detail
