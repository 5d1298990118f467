// Queues: copies of matrices, kernels between them, flags, marks, graphs, and what is refused.
#pragma once

#include "tests/conformance/cases_gemm.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

struct Plus {
  template <class A>
  SYM_HD A operator()(A a, A b) const {
    return static_cast<A>(a + b);
  }
};

// out = a + b.
struct AddKernel {
  Window<std::int32_t> out, a, b;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range part = chunk(out.all(), block.index(), block.count());
    block.transform(out, part, Plus{}, a, b);
  }
};

struct Ring {
  int left, right;
  template <World W>
  explicit Ring(W& world)
      : left((world.pe() + world.n_pes() - 1) % world.n_pes()),
        right((world.pe() + 1) % world.n_pes()) {}
};

struct Shape {
  std::size_t rows, cols, dst_ld, src_ld;
};

// `from`'s elements where the matrix of shape `s` lies, rubbish elsewhere.
template <class T>
std::vector<T> copied(const std::vector<T>& from, const Shape& s, std::size_t n) {
  std::vector<T> all = poison<T>(n);
  for (std::size_t row = 0; row < s.rows; ++row) {
    for (std::size_t col = 0; col < s.cols; ++col)
      all[row * s.dst_ld + col] = from[row * s.src_ld + col];
  }
  return all;
}

// Every PE gets a matrix from every PE, and then puts one to every PE. Flags say that the sources
// are there, and that the puts have been made.
template <class T, class W>
void copy_each_way(W& world, Errors& errors, const Shape& s) {
  const std::size_t from_n = s.rows * s.src_ld;
  const std::size_t to_n = s.rows * s.dst_ld;
  const int pes = world.n_pes();
  const auto source = world.template allocate<T>(from_n);
  const auto fetched = world.template allocate<T>(to_n);
  const auto inbox = world.template allocate<T>(to_n * static_cast<std::size_t>(pes));
  const Posts posts = world.posts(2);
  auto& queue = world.queue(0);
  const Matrix<T> src{source, s.rows, s.cols, s.src_ld};
  write_all(world, source, values<T>({1, world.pe(), 1}, from_n));
  write_all(world, inbox, poison<T>(to_n * static_cast<std::size_t>(pes)));
  for (int pe = 0; pe < pes; ++pe) queue.post(posts, 0, pe);
  for (int pe = 0; pe < pes; ++pe) queue.take(posts, 0, pe);
  for (int pe = 0; pe < pes; ++pe) {
    write_all(world, fetched, poison<T>(to_n));
    queue.get(Matrix<T>{fetched, s.rows, s.cols, s.dst_ld}, src, pe);
    world.synchronize();
    expect_equal(errors, who(world, "got from PE " + std::to_string(pe)),
                 read_all(world, fetched, to_n), copied(values<T>({1, pe, 1}, from_n), s, to_n));
    const auto mine = inbox.at(to_n * static_cast<std::size_t>(world.pe()));
    queue.put(Matrix<T>{mine, s.rows, s.cols, s.dst_ld}, src, pe);
    queue.post(posts, 1, pe);
  }
  for (int pe = 0; pe < pes; ++pe) {
    queue.take(posts, 1, pe);
    world.synchronize();
    expect_equal(errors, who(world, "put by PE " + std::to_string(pe)),
                 read_all(world, inbox.at(to_n * static_cast<std::size_t>(pe)), to_n),
                 copied(values<T>({1, pe, 1}, from_n), s, to_n));
  }
}

template <class W>
void queue_copies(W& world, Errors& errors) {
  copy_each_way<float>(world, errors, {4, 8, 8, 8});
  copy_each_way<float>(world, errors, {5, 7, 9, 11});
  copy_each_way<double>(world, errors, {1, 1, 1, 1});
  copy_each_way<bf16>(world, errors, {3, 1, 1, 2});
  copy_each_way<std::uint8_t>(world, errors, {3, 33, 33, 41});
  copy_each_way<std::uint8_t>(world, errors, {2, 257, 300, 257});
}

// A kernel between copies, on a queue that is not 0: each sees what was before it.
template <class W>
void queue_in_order(W& world, Errors& errors) {
  using T = std::int32_t;
  constexpr std::size_t n = 301;
  const Ring ring(world);
  const auto source = world.template allocate<T>(n);
  const auto first = world.template allocate<T>(n);
  const auto middle = world.template allocate<T>(n);
  const auto last = world.template allocate<T>(n);
  const Posts posts = world.posts(2);
  write_all(world, source, values<T>({1, world.pe(), 1}, n));
  world.barrier();
  auto& queue = world.queue(1);
  queue.put(row_of(first, 0, n), row_of(source, 0, n), ring.right);
  queue.post(posts, 0, ring.right);
  queue.take(posts, 0, ring.left);
  queue.launch(launch_of("doubles", 2), AddKernel{middle, first, first});
  queue.put(row_of(last, 0, n), row_of(middle, 0, n), ring.right);
  queue.post(posts, 1, ring.right);
  queue.take(posts, 1, ring.left);
  world.synchronize();
  const int origin = (ring.left + world.n_pes() - 1) % world.n_pes();
  std::vector<T> wanted = values<T>({1, origin, 1}, n);
  for (T& one : wanted) one *= 2;
  expect_equal(errors, who(world, "twice round"), read_all(world, last, n), wanted);
}

// The same two flags for every round, with a payload that each round overwrites.
template <class W>
void queue_ping_pong(W& world, Errors& errors) {
  using T = std::int32_t;
  constexpr std::size_t n = 40;
  constexpr int rounds = 20;
  const Ring ring(world);
  const auto source = world.template allocate<T>(n);
  const auto inbox = world.template allocate<T>(n);
  const auto total = world.template allocate<T>(n);
  const Posts posts = world.posts(2);
  write_all(world, source, values<T>({1, world.pe(), 1}, n));
  world.barrier();
  auto& queue = world.queue(0);
  for (int round = 0; round < rounds; ++round) {
    queue.put(row_of(inbox, 0, n), row_of(source, 0, n), ring.right);
    queue.post(posts, 0, ring.right);
    queue.take(posts, 0, ring.left);
    queue.launch(launch_of("adds"), AddKernel{total, total, inbox});
    queue.launch(launch_of("counts"), AddKernel{source, source, source});
    queue.post(posts, 1, ring.left);  // the inbox may be written again
    queue.take(posts, 1, ring.right);
  }
  world.synchronize();
  std::vector<T> wanted = values<T>({1, ring.left, 1}, n);
  for (T& one : wanted) one *= (1 << rounds) - 1;
  expect_equal(errors, who(world, "sum of all rounds"), read_all(world, total, n), wanted);
}

// Two queues of a PE that wait for each other in turn.
template <class W>
void queue_marks(W& world, Errors& errors) {
  using T = std::int32_t;
  constexpr std::size_t n = 123;
  const auto a = world.template allocate<T>(n);
  const auto b = world.template allocate<T>(n);
  const auto c = world.template allocate<T>(n);
  auto& main = world.queue(0);
  auto& side = world.queue(1);
  write_all(world, a, values<T>({1, world.pe(), 1}, n));
  for (int round = 0; round < 5; ++round) {
    main.put(row_of(b, 0, n), row_of(a, 0, n), world.pe());
    const Mark copied = main.record();
    main.after(copied);  // its own: already so
    side.after(copied);
    side.launch(launch_of("adds", 2), AddKernel{c, c, b});
    main.after(side.record());
    main.launch(launch_of("doubles", 2), AddKernel{a, a, a});
  }
  world.synchronize();
  std::vector<T> wanted = values<T>({1, world.pe(), 1}, n);
  for (T& one : wanted) one *= (1 << 5) - 1;
  expect_equal(errors, who(world, "sum by turns"), read_all(world, c, n), wanted);
}

// Copies and flags on one queue, kernels on another that the graph forks to and joins.
template <class W>
void queue_capture(W& world, Errors& errors) {
  using T = std::int32_t;
  constexpr std::size_t n = 211;
  const Ring ring(world);
  const auto source = world.template allocate<T>(n);
  const auto inbox = world.template allocate<T>(n);
  const auto sum = world.template allocate<T>(n);
  const auto out = world.template allocate<T>(n);
  const Posts posts = world.posts(2);
  auto& main = world.queue(0);
  auto& side = world.queue(1);
  world.begin_capture();
  main.put(row_of(inbox, 0, n), row_of(source, 0, n), ring.right);
  main.post(posts, 0, ring.right);
  main.take(posts, 0, ring.left);
  side.after(main.record());
  side.launch(launch_of("adds", 2), AddKernel{sum, inbox, source});
  main.put(row_of(out, 0, n), row_of(inbox, 0, n), world.pe());  // beside it
  main.after(side.record());
  main.launch(launch_of("adds too", 2), AddKernel{out, out, sum});
  main.post(posts, 1, ring.left);
  main.take(posts, 1, ring.right);
  const GraphId graph = world.end_capture();
  expect_equal(errors, who(world, "a capture runs nothing"), read_all(world, out, n),
               std::vector<T>(n, 0));
  for (int replay = 1; replay <= 3; ++replay) {
    write_all(world, source, values<T>({replay, world.pe(), 1}, n));
    world.replay(graph);
    if (replay == 2) world.replay(graph);  // twice in a row
    world.synchronize();
    std::vector<T> wanted = values<T>({replay, ring.left, 1}, n);
    const std::vector<T> own = values<T>({replay, world.pe(), 1}, n);
    for (std::size_t i = 0; i < n; ++i) wanted[i] = 2 * wanted[i] + own[i];
    expect_equal(errors, who(world, "replay " + std::to_string(replay)), read_all(world, out, n),
                 wanted);
  }
}

template <class W, class F>
void expect_refused(W& world, Errors& errors, const char* what, F call) {
  try {
    call();
    errors.add(who(world, std::string(what) + " was not refused"));
  } catch (const UsageError&) {
  }
}

// What a product writes is apart from what it reads; only c may be d itself.
template <class W>
void products_apart(W& world, Errors& errors) {
  const auto a = world.template allocate<float>(8);
  const auto b = world.template allocate<float>(8);
  auto& queue = world.queue(0);
  const auto square = [](Window<float> data) { return Matrix<float>{data, 2, 2, 2}; };
  const auto product = [&](Window<float> d, Window<float> c, double beta) {
    return Gemm<float>{square(a), square(a.at(4)), {square(c), world.pe()}, square(d), beta, {}};
  };
  const auto refused = [&](const char* what, auto call) {
    expect_refused(world, errors, what, call);
  };
  refused("d is a", [&] { queue.gemm(product(a, b, 0)); });
  refused("d is b", [&] { queue.gemm(product(a.at(4), b, 0)); });
  refused("d has a part of a", [&] { queue.gemm(product(a.at(2), b, 0)); });
  refused("d has a part of c", [&] { queue.gemm(product(b, b.at(1), 1)); });
  refused("d is the bias", [&] {
    Gemm<float> biased = product(b, b, 0);
    biased.bias = Window<float>{b.segment, b.offset_bytes + 4, 2};
    queue.gemm(biased);
  });
}

template <class W>
void queue_refuses(W& world, Errors& errors) {
  const int pes = world.n_pes();
  const auto a = world.template allocate<float>(12);
  const auto b = world.template allocate<float>(12);
  const Posts posts = world.posts(2);
  auto& queue = world.queue(0);
  auto& side = world.queue(1);
  const auto matrix = [](Window<float> data, std::size_t rows, std::size_t cols, std::size_t ld) {
    return Matrix<float>{data, rows, cols, ld};
  };
  const Gemm<float> good{
      matrix(a, 2, 2, 2), matrix(a.at(4), 2, 2, 2), {}, matrix(b, 2, 2, 2), 0, {}};
  const auto refused = [&](const char* what, auto call) {
    expect_refused(world, errors, what, call);
  };
  refused("other shape", [&] { queue.put(matrix(b, 3, 2, 2), matrix(a, 2, 3, 3), 0); });
  refused("rows that overlap", [&] { queue.put(matrix(b, 3, 2, 2), matrix(a, 3, 2, 1), 0); });
  refused("past the window", [&] { queue.get(matrix(b, 3, 4, 4), matrix(a, 3, 4, 5), 0); });
  refused("put to no PE", [&] { queue.put(matrix(b, 3, 4, 4), matrix(a, 3, 4, 4), pes); });
  refused("get from no PE", [&] { queue.get(matrix(b, 3, 4, 4), matrix(a, 3, 4, 4), -1); });
  refused("post to no slot", [&] { queue.post(posts, 2, 0); });
  refused("post to no PE", [&] { queue.post(posts, 0, pes); });
  refused("take from no slot", [&] { queue.take(posts, 2, 0); });
  refused("take from no PE", [&] { queue.take(posts, 0, -1); });
  Gemm<float> bad = good;
  bad.d = matrix(b, 2, 3, 3);
  refused("a product that does not fit", [&] { queue.gemm(bad); });
  bad = good;
  bad.beta = 1;
  bad.c = {matrix(a.at(8), 2, 2, 2), pes};
  refused("c of no PE", [&] { queue.gemm(bad); });
  refused("a mark of nobody", [&] { side.after(Mark{}); });

  const Mark outside = queue.record();
  world.begin_capture();
  refused("prepare in a capture", [&] { queue.prepare(good); });
  refused("a mark from outside", [&] { side.after(outside); });
  queue.put(row_of(b, 0, 12), row_of(a, 0, 12), world.pe());
  const Mark inside = queue.record();
  const GraphId graph = world.end_capture();
  refused("a mark of a capture", [&] { side.after(inside); });

  write_all(world, a, values<float>({1, world.pe(), 1}, 12));
  world.replay(graph);
  world.synchronize();
  expect_equal(errors, who(world, "a copy after all that"), read_all(world, b, 12),
               values<float>({1, world.pe(), 1}, 12));
}

// --- what must fail: each backend's test says how ------------------------------------------------

// PE 0 takes a flag that PE 1 never posts.
template <class W>
void never_posted(W& world) {
  if constexpr (requires { world.set_wait_limit_ms(300.0); }) world.set_wait_limit_ms(300.0);
  const Posts posts = world.posts(3);
  if (world.pe() == 0) world.queue(0).take(posts, 2, 1);
  world.synchronize();
}

template <class W>
std::vector<Case<W>> queue_cases() {
  std::vector<Case<W>> all = {{"queue_copies", {1, 2, 3}, queue_copies<W>},
                              {"queue_copies_far", {9}, queue_copies<W>, Effort::worst_only},
                              {"queue_in_order", {1, 2, 5}, queue_in_order<W>},
                              {"queue_ping_pong", {1, 2, 3}, queue_ping_pong<W>},
                              {"queue_marks", {1, 3}, queue_marks<W>},
                              {"queue_capture", {1, 2, 3}, queue_capture<W>},
                              {"queue_refuses", {1, 3}, queue_refuses<W>},
                              {"products_apart", {1, 3}, products_apart<W>}};
  for (const Case<W>& one : gemm_cases<W>()) all.push_back(one);
  return all;
}

}  // namespace sym::conformance
