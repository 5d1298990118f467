#include "backends/fiber/queue.hpp"

#include <algorithm>
#include <cstring>

#include "backends/fiber/queue_numbers.hpp"

namespace sym::fiber {

namespace {
// What allocates, copies or waits for this PE's launches.
bool waits(Verb call) {
  switch (call) {
    case Verb::world_allocate:
    case Verb::world_allocate_control:
    case Verb::world_free:
    case Verb::world_local:
    case Verb::world_channel:
    case Verb::world_write:
    case Verb::world_read:
    case Verb::world_posts:
    case Verb::world_synchronize:
    case Verb::world_recover:
    case Verb::world_mark_us:
      return true;
    default:
      return false;
  }
}
}  // namespace

// --- streams, captures and marks -----------------------------------------------------------------

void Streams::begin(Verb call, Site site) {
  if (&engine_.current() != &host_) {
    const std::string name = to_string(call);
    engine_.refuse(name + " is called from inside a kernel; host programs alone call a " +
                       name.substr(0, name.find("::")),
                   Engine::Of::call);
  }
  site.file = in_tree(site.file);
  host_.step = Step{call, site};
  if (capturing_ && waits(call))
    throw UsageError(std::string(to_string(call)) +
                     " cannot be captured: call end_capture() first");
}

void Streams::push(Work work) { push(Operation{std::move(work), -1, false}); }

void Streams::push(Operation operation) {
  const int queue = operation.work.stream;
  if (!capturing_) {
    run(std::move(operation), -1);
    return;
  }
  auto& graph = graphs_.back();
  const bool known =
      queue == 0 || std::find(forked_.begin(), forked_.end(), queue) != forked_.end();
  if (!known) {
    forked_.push_back(queue);
    // A queue begins behind what it waits for first, or behind what queue 0 has had by now.
    if (operation.mark < 0 || operation.makes) {
      const std::int64_t mark = make_mark(0);
      graph.push_back(mark_operation(0, mark, true, {}));
      graph.push_back(mark_operation(queue, mark, false, {}));
    }
  }
  graph.push_back(std::move(operation));
}

void Streams::launch(const LaunchConfig& config, int stream, std::function<void(Agent&)> body) {
  if (config.blocks < 1) throw UsageError("launch: blocks must be at least 1");
  if (config.name == nullptr)
    throw UsageError("launch: the name is null; a string literal is wanted");
  const int fibres = std::max(fibres_, config.kinds);
  const bool merge = config.symmetric && fibres_ > 0 && fibres < config.blocks;
  Work work;
  work.stream = stream;
  work.name = config.name;
  work.blocks = merge ? fibres : config.blocks;
  work.weight = static_cast<double>(config.blocks) / work.blocks;
  work.early = config.early;
  work.scratch_bytes = config.scratch_bytes;
  work.body = std::move(body);
  push(std::move(work));
}

// The work of a graph is ordered with the PE's other work by queue 0 alone, so its other queues are
// streams of their own.
int Streams::stream_of(int graph, int queue) {
  if (graph < 0 || queue == 0) return queue;
  const int next = most_queues + static_cast<int>(graph_streams_.size());
  return graph_streams_.emplace(std::pair{graph, queue}, next).first->second;
}

void Streams::run(Operation operation, int graph) {
  Work& work = operation.work;
  if (operation.mark >= 0) {
    Marked& marked = marks_[static_cast<std::size_t>(operation.mark)];
    if (operation.makes) marked.event = std::make_shared<Event>();
    work.body = [engine = &engine_, event = marked.event, makes = operation.makes,
                 queue = marked.queue](Agent&) {
      if (makes) {
        engine->record(*event);
      } else {
        engine->after(*event, "a mark of queue " + std::to_string(queue));
      }
    };
  }
  work.stream = stream_of(graph, work.stream);
  engine_.launch(host_, std::move(work));
}

std::int64_t Streams::make_mark(int queue) {
  marks_.push_back({queue, capturing_ ? static_cast<int>(graphs_.size()) - 1 : -1, nullptr});
  return static_cast<std::int64_t>(marks_.size()) - 1;
}

Streams::Operation Streams::mark_operation(int queue, std::int64_t mark, bool makes,
                                           Site site) const {
  Operation operation;
  operation.mark = mark;
  operation.makes = makes;
  operation.work.stream = operation.work.queue = queue;
  operation.work.name = makes ? "record" : "after";
  operation.work.step = Step{makes ? Verb::record : Verb::after, site};
  return operation;
}

Mark Streams::record(int queue, Site site) {
  const std::int64_t mark = make_mark(queue);
  push(mark_operation(queue, mark, true, site));
  return Mark{mark};
}

void Streams::after(int queue, Mark mark, Site site) {
  if (mark.index < 0 || static_cast<std::size_t>(mark.index) >= marks_.size()) {
    throw UsageError("after: mark " + std::to_string(mark.index) +
                     " was not made by record() of a queue of this PE");
  }
  const Marked& marked = marks_[static_cast<std::size_t>(mark.index)];
  const int graph = capturing_ ? static_cast<int>(graphs_.size()) - 1 : -1;
  if (marked.graph != graph) {
    throw UsageError(
        "after: the mark was made in another capture, or one of the two is outside captures; both "
        "must be in the same");
  }
  if (marked.queue != queue) push(mark_operation(queue, mark.index, false, site));
}

void Streams::begin_capture(Site site) {
  if (capturing_) throw UsageError("begin_capture: a capture is under way; end it first");
  capturing_ = true;
  captured_at_ = site;
  graphs_.emplace_back();
}

GraphId Streams::end_capture() {
  if (!capturing_) throw UsageError("end_capture: no capture is under way");
  for (const int queue : forked_) {  // a graph has ended when all of its queues have
    const std::int64_t mark = make_mark(queue);
    graphs_.back().push_back(mark_operation(queue, mark, true, {}));
    graphs_.back().push_back(mark_operation(0, mark, false, {}));
  }
  forked_.clear();
  capturing_ = false;
  return GraphId{static_cast<int>(graphs_.size()) - 1};
}

void Streams::report_open_capture() {
  if (!capturing_) return;
  Place place = engine_.place_of(host_, "begin");
  place.verb = Verb::world_begin_capture;
  place.site = captured_at_;
  place.site.file = in_tree(captured_at_.file);
  const std::string why = "launches and queue operations since then are recorded, and never run";
  const std::string fix = "call end_capture, and replay what it returns";
  engine_.report({"unbalanced",
                  "UNBALANCED a capture was begun and not ended by the end of the program\n" +
                      std::string("  at     PE ") + std::to_string(pe()) +
                      " host  World::begin_capture at " + place.site.file + ":" +
                      std::to_string(place.site.line) + "\n  why    " + why + "\n  fix    " + fix,
                  "",
                  why,
                  fix,
                  {place}});
}

void Streams::replay(GraphId graph) {
  if (capturing_) throw UsageError("replay: not while capturing");
  if (graph.index < 0 || static_cast<std::size_t>(graph.index) >= graphs_.size()) {
    throw UsageError("replay: no such graph");
  }
  for (const Operation& operation : graphs_[static_cast<std::size_t>(graph.index)]) {
    run(operation, graph.index);
  }
}

// --- memory --------------------------------------------------------------------------------------

void Streams::require_pe(int pe, const char* what) const {
  if (pe >= 0 && pe < engine_.pes()) return;
  throw UsageError(std::string(what) + ": PE " + std::to_string(pe) + "; 0 to " +
                   std::to_string(engine_.pes() - 1) + " are there");
}

void Streams::require(const Area& area, const char* what) const {
  if (area.rows == 0) return;
  try {
    (void)resolve(area);
  } catch (const Failure& failure) {
    throw UsageError(std::string(what) + ": " + failure.what());
  }
}

Bytes Streams::resolve(const Area& area) const {
  Bytes bytes = engine_.resolve(area.segment, area.offset_bytes, area.span_bytes, area.pe);
  bytes.element = area.element;
  return bytes;
}

std::byte* Streams::access(const Area& area, bool write) const {
  if (area.rows == 0) return nullptr;
  const Bytes bytes = resolve(area);
  for (std::size_t row = 0; engine_.observer() != nullptr && row < area.rows; ++row) {
    engine_.access(bytes.part(row * area.pitch_bytes, area.row_bytes), write);
  }
  return bytes.data;
}

// --- operations ----------------------------------------------------------------------------------

void FiberQueue::push(const char* name, const Step& step, std::function<void(Agent&)> body) {
  Work work;
  work.stream = work.queue = number_;
  work.name = name;
  work.step = step;
  work.body = std::move(body);
  streams_.push(std::move(work));
}

// The areas have as many rows as each other, or one of them has touching rows and counts as one.
void FiberQueue::copy(Verb verb, const Area& to, const Area& from, int peer, Site site) {
  const bool gets = to.pe != peer;
  const char* name = to_string(verb);
  streams_.require(to, name);
  streams_.require(from, name);
  const std::size_t rows = std::max(to.rows, from.rows);
  const std::size_t row_bytes = std::min(to.row_bytes, from.row_bytes);
  const Step step{verb, site, rows * row_bytes, 1, peer, nullptr};
  push(name, step, [streams = &streams_, to, from, rows, row_bytes, gets, site](Agent&) {
    if (rows == 0) return;
    const auto part = [&](const Area& area, std::size_t row) {
      const std::size_t pitch = area.rows == rows ? area.pitch_bytes : row_bytes;
      return streams->resolve(area).part(row * pitch, row_bytes);
    };
    Engine& engine = streams->engine();
    for (std::size_t row = 0; row < rows; ++row) {
      engine.put(part(from, row), part(to, row), gets ? Transfer::Kind::get : Transfer::Kind::put);
    }
    engine.step(Step{Verb::quiet, site});
    engine.quiet_copies();
  });
}

void FiberQueue::spoil(const Area& area, Site site) {
  push("prepare", Step{Verb::gemm, site}, [streams = &streams_, area](Agent&) {
    std::byte* data = streams->access(area, true);
    if (data == nullptr) return;
    for (std::size_t row = 0; row < area.rows; ++row) {
      std::memset(data + row * area.pitch_bytes, 0xA5, area.row_bytes);
    }
  });
}

WordId FiberQueue::flag(const Posts& posts, std::size_t slot, int from, int at,
                        const char* what) const {
  if (slot >= posts.slots) {
    throw UsageError(std::string(what) + ": slot " + std::to_string(slot) + " of " +
                     std::to_string(posts.slots));
  }
  const Area area = Area::of(row_of(posts.words, posts.word(slot, from), 1), at);
  streams_.require(area, what);
  const Bytes bytes = streams_.resolve(area);
  return WordId{at, bytes.space, bytes.begin / sizeof(std::uint64_t), slot, from};
}

void FiberQueue::post(const Posts& posts, std::size_t slot, int pe, Site site) {
  streams_.begin(Verb::host_post, site);
  streams_.require_pe(pe, "post");
  const WordId id = flag(posts, slot, this->pe(), pe, "post");
  push("post", Step{Verb::post, site, 0, 1, pe, nullptr},
       [engine = &streams_.engine(), id](Agent&) { engine->post(id); });
}

void FiberQueue::take(const Posts& posts, std::size_t slot, int pe, Site site) {
  streams_.begin(Verb::host_take, site);
  streams_.require_pe(pe, "take");
  const WordId id = flag(posts, slot, pe, this->pe(), "take");
  push("take", Step{Verb::take, site, 0, 1, pe, nullptr},
       [engine = &streams_.engine(), id](Agent&) { engine->take(id); });
}

}  // namespace sym::fiber
