// The queues of one PE in the fibre world: each is a stream of the engine, and each operation that
// is no kernel is a launch of one fibre on it. Arguments are looked at when an operation is
// enqueued; memory is looked up again when it runs, because a graph may be replayed after a free.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/fiber/block.hpp"
#include "backends/fiber/mutant_block.hpp"
#include "backends/fiber/mutant_queue.hpp"
#include "backends/host/gemm.hpp"
#include "core/queue.hpp"
#include "core/world.hpp"

namespace sym::fiber {

// Where a matrix lies. Rows that touch each other are one.
struct Area {
  Segment segment = Segment::payload;
  std::size_t offset_bytes = 0;
  std::size_t span_bytes = 0;
  std::size_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t pitch_bytes = 0;  // from row to row
  std::uint32_t element = 1;
  int pe = 0;

  template <class T>
  static Area of(const Matrix<T>& matrix, int pe) {
    Area area{
        matrix.data.segment,     matrix.data.offset_bytes, matrix.span() * sizeof(T), matrix.rows,
        matrix.cols * sizeof(T), matrix.ld * sizeof(T),    std::uint32_t{sizeof(T)},  pe};
    const bool touching = matrix.ld == matrix.cols || matrix.rows == 1;
    if (touching) area.row_bytes = area.pitch_bytes = area.span_bytes;
    if (touching || area.span_bytes == 0) area.rows = area.span_bytes == 0 ? 0 : 1;
    return area;
  }
};

// What the queues of a PE share: its streams in the engine, captures and marks.
class Streams {
 public:
  // `fibres`: of a symmetric launch; 0: as many as it has blocks.
  Streams(Engine& engine, Agent& host, int fibres)
      : engine_(engine), host_(host), fibres_(fibres) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  Engine& engine() const { return engine_; }
  int pe() const { return host_.pe; }
  bool capturing() const { return capturing_; }

  // What reports say of the host from here on: that it is in this call. Refused if a kernel calls:
  // on a GPU there are no Worlds and Queues inside a kernel.
  void begin(Verb call, Site site);

  // Runs it behind what its stream has, or records it.
  void push(Work work);
  void launch(const LaunchConfig& config, int stream, std::function<void(Agent&)> body);
  Mark record(int queue, Site site);
  void after(int queue, Mark mark, Site site);

  void begin_capture(Site site);
  GraphId end_capture();
  void replay(GraphId graph);
  // At the end of the PE's program: what has been captured since begin_capture never runs.
  void report_open_capture();
  // The program has thrown: that a capture is open says nothing.
  void drop_capture() { capturing_ = false; }

  // Throws UsageError, beginning with `what`, if the memory is not there.
  void require(const Area& area, const char* what) const;
  void require_pe(int pe, const char* what) const;
  Bytes resolve(const Area& area) const;
  // The current agent reads or writes the area, row by row.
  std::byte* access(const Area& area, bool write) const;

 private:
  struct Operation {
    Work work;
    std::int64_t mark = -1;  // that it makes or waits for
    bool makes = false;
  };
  struct Marked {
    int queue = 0;
    int graph = -1;                // that it was captured in
    std::shared_ptr<Event> event;  // of the latest run
  };
  void push(Operation operation);
  void run(Operation operation, int graph);
  int stream_of(int graph, int queue);
  std::int64_t make_mark(int queue);
  Operation mark_operation(int queue, std::int64_t mark, bool makes, Site site) const;

  Engine& engine_;
  Agent& host_;
  int fibres_;
  std::vector<Marked> marks_;
  std::vector<std::vector<Operation>> graphs_;
  bool capturing_ = false;
  Site captured_at_;         // begin_capture
  std::vector<int> forked_;  // queues other than 0 that the capture has reached
  std::map<std::pair<int, int>, int> graph_streams_;
};

class FiberQueue {
 public:
  FiberQueue(Streams& streams, int number) : streams_(streams), number_(number) {}

  int pe() const { return streams_.pe(); }
  int n_pes() const { return streams_.engine().pes(); }

  template <class T>
  void put(Matrix<T> dst, Matrix<T> src, int pe, Site site = Site::here()) {
    streams_.begin(Verb::host_put, site);
    streams_.require_pe(pe, "put");
    require_copy(dst, src, "put");
    copy(Verb::queue_put, Area::of(dst, pe), Area::of(src, this->pe()), pe, site);
  }
  template <class T>
  void get(Matrix<T> dst, Matrix<T> src, int pe, Site site = Site::here()) {
    streams_.begin(Verb::host_get, site);
    streams_.require_pe(pe, "get");
    require_copy(dst, src, "get");
    copy(Verb::queue_get, Area::of(dst, this->pe()), Area::of(src, pe), pe, site);
  }

  // `call`: as the program calls it.
  template <class Kernel>
  void launch(const LaunchConfig& config, Kernel kernel, Site site = Site::here(),
              Verb call = Verb::host_launch) {
    streams_.begin(call, site);
    streams_.launch(config, number_, [engine = &streams_.engine(), kernel](Agent& agent) {
      MutantBlock<FiberBlock> block(engine->mutation(), *engine, agent);
      kernel(block);
    });
  }

  template <class T>
  void gemm(const Gemm<T>& gemm, Site site = Site::here()) {
    streams_.begin(Verb::host_gemm, site);
    const Operands operands = operands_of(gemm);
    if (streams_.engine().memory().payload_storage()) host::require_gemm();
    Step step{Verb::gemm, site};
    step.m = gemm.a.rows;
    step.n = gemm.b.rows;
    step.k = gemm.a.cols;
    step.pe = operands.c.pe;
    step.bytes = operands.c.pe == pe() ? 0 : step.m * step.n * sizeof(T);
    push("gemm", step,
         [streams = &streams_, gemm, operands](Agent&) { multiply(*streams, gemm, operands); });
  }
  // Leaves rubbish in d: programs may not count on anything else.
  template <class T>
  void prepare(const Gemm<T>& gemm, Site site = Site::here()) {
    streams_.begin(Verb::host_prepare, site);
    if (streams_.capturing()) throw UsageError("prepare: not while capturing; call it before");
    spoil(operands_of(gemm).d, site);
  }

  void post(const Posts& posts, std::size_t slot, int pe, Site site = Site::here());
  void take(const Posts& posts, std::size_t slot, int pe, Site site = Site::here());
  Mark record(Site site = Site::here()) {
    streams_.begin(Verb::host_record, site);
    return streams_.record(number_, site);
  }
  void after(Mark mark, Site site = Site::here()) {
    streams_.begin(Verb::host_after, site);
    streams_.after(number_, mark, site);
  }

 private:
  struct Operands {
    Area a, b, c, d, bias;  // those that are not there have no rows
  };

  template <class T>
  static void require_copy(const Matrix<T>& dst, const Matrix<T>& src, const char* what);
  template <class T>
  Operands operands_of(const Gemm<T>& gemm) const;
  template <class T>
  static void multiply(const Streams& streams, const Gemm<T>& gemm, const Operands& operands);

  void push(const char* name, const Step& step, std::function<void(Agent&)> body);
  void copy(Verb verb, const Area& to, const Area& from, int peer, Site site);
  void spoil(const Area& area, Site site);
  WordId flag(const Posts& posts, std::size_t slot, int from, int at, const char* what) const;

  Streams& streams_;
  int number_;
};

template <class T>
void FiberQueue::require_copy(const Matrix<T>& dst, const Matrix<T>& src, const char* what) {
  const auto text = [](const Matrix<T>& x) {
    return std::to_string(x.rows) + " x " + std::to_string(x.cols);
  };
  if (dst.rows != src.rows || dst.cols != src.cols) {
    throw UsageError(std::string(what) + ": a matrix of " + text(src) + " to one of " + text(dst) +
                     "; the shapes must be equal");
  }
  for (const Matrix<T>* x : {&dst, &src}) {
    if (x->ld >= x->cols && x->span() <= x->data.count) continue;
    throw UsageError(std::string(what) + ": a matrix of " + text(*x) + " with " +
                     std::to_string(x->ld) + " elements from row to row in a window of " +
                     std::to_string(x->data.count));
  }
}

template <class T>
FiberQueue::Operands FiberQueue::operands_of(const Gemm<T>& gemm) const {
  require_shapes(gemm, pe());
  Operands all{Area::of(gemm.a, pe()), Area::of(gemm.b, pe()), Area{}, Area::of(gemm.d, pe()),
               Area::of(row_of(gemm.bias, 0, gemm.bias.count), pe())};
  all.c.pe = pe();
  if (gemm.beta != 0) {
    if (gemm.c.pe != -1) streams_.require_pe(gemm.c.pe, "gemm");
    all.c = Area::of(gemm.c.matrix, gemm.c.pe == -1 ? pe() : gemm.c.pe);
  }
  for (const Area* area : {&all.a, &all.b, &all.c, &all.d, &all.bias}) {
    streams_.require(*area, "gemm");
  }
  return all;
}

template <class T>
void FiberQueue::multiply(const Streams& streams, const Gemm<T>& gemm, const Operands& operands) {
  const auto read = [&](const Area& area) {
    return reinterpret_cast<const T*>(streams.access(area, false));
  };
  host::Product<T> product;
  product.m = gemm.a.rows;
  product.n = gemm.b.rows;
  product.k = gemm.a.cols;
  product.a = {read(operands.a), gemm.a.ld};
  product.b = {read(operands.b), gemm.b.ld};
  product.beta = gemm.beta;
  product.c = {read(operands.c), gemm.c.matrix.ld};
  product.bias = read(operands.bias);
  product.d = {reinterpret_cast<T*>(streams.access(operands.d, true)), gemm.d.ld};
  const bool stored = product.a.data != nullptr && product.b.data != nullptr &&
                      product.d.data != nullptr && (gemm.beta == 0 || product.c.data != nullptr) &&
                      (gemm.bias.count == 0 || product.bias != nullptr);
  if (stored) host::multiply(product);
}

static_assert(Queue<FiberQueue>);
// What programs get: they are the same type whether a run changes them or not, so that nothing is
// compiled twice.
static_assert(Queue<MutantQueue<FiberQueue>>);
static_assert(Block<MutantBlock<FiberBlock>>);

}  // namespace sym::fiber
