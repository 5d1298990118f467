// What the host programs of all families do alike.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/world.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

// What a window that nobody has written shows.
inline constexpr unsigned char untouched = 0xA5;

// Rows of a window, written and read in parts: many PEs of one process then need little memory
// beside their windows, and a GPU few copies.
template <World W, class T>
class RowWindow {
 public:
  RowWindow(W& world, Window<T> window, std::size_t row)
      : world_(world), window_(window), row_(row) {}

  // f(r, place) for each row that is written, place being where its elements go.
  template <class F>
  void write(std::size_t first, std::size_t rows, F f) {
    for_parts(first, rows, [&](std::size_t begin, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) f(begin + i, buffer_.data() + i * row_);
      world_.write(window_.at(begin * row_), buffer_.data(), n * row_);
    });
  }
  // f(r, place) for each row, place being where its elements are.
  template <class F>
  void read(std::size_t first, std::size_t rows, F f) {
    for_parts(first, rows, [&](std::size_t begin, std::size_t n) {
      world_.read(buffer_.data(), window_.at(begin * row_), n * row_);
      for (std::size_t i = 0; i < n; ++i) f(begin + i, buffer_.data() + i * row_);
    });
  }
  void spoil(std::size_t first, std::size_t rows) {
    write(first, rows, [&](std::size_t, T* place) {
      std::memset(static_cast<void*>(place), untouched, row_ * sizeof(T));
    });
  }

 private:
  template <class F>
  void for_parts(std::size_t first, std::size_t rows, F f) {
    const std::size_t most = std::max<std::size_t>(1, (std::size_t{1} << 20) / row_);
    buffer_.resize(std::max<std::size_t>(1, std::min(most, rows)) * row_);
    for (std::size_t done = 0; done < rows; done += most)
      f(first + done, std::min(most, rows - done));
  }

  W& world_;
  Window<T> window_;
  std::size_t row_;
  std::vector<T> buffer_;
};

// Notes elements that are not as they must be: counts all, and words the first.
class Mismatches {
 public:
  Mismatches(PointResult& result, int pe) : result_(result), pe_(pe) {}

  // `first` is the number of the first element, for the words alone.
  template <class T>
  void compare(const std::string& what, const T* got, const T* wanted, std::size_t n,
               std::size_t first = 0) {
    if (std::memcmp(got, wanted, n * sizeof(T)) == 0) return;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::memcmp(got + i, wanted + i, sizeof(T)) == 0 || result_.wrong++ != 0) continue;
      char text[200];
      std::snprintf(text, sizeof(text), "PE %d %s element %zu is %g, expected %g", pe_,
                    what.c_str(), first + i, static_cast<double>(widen(got[i])),
                    static_cast<double>(widen(wanted[i])));
      result_.first_wrong = text;
    }
  }
  // Memory that nobody should have written.
  template <class T>
  void untouched_row(const std::string& what, const T* got, std::size_t n) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(got);
    const auto touched = [](unsigned char byte) { return byte != untouched; };
    if (std::none_of(bytes, bytes + n * sizeof(T), touched)) return;
    if (result_.wrong++ == 0) {
      result_.first_wrong =
          "PE " + std::to_string(pe_) + " " + what + " was written, beyond the rows";
    }
  }

 private:
  PointResult& result_;
  int pe_;
};

// What a PE exchanges with its peers, by the way it takes.
class Exchanged {
 public:
  Exchanged(const Point& point, int pe)
      : node_(pe / point.gpus_per_node), per_node_(point.gpus_per_node), pe_(pe) {}
  void sent(int to, double bytes) { add(sent_, to, bytes); }
  void received(int from, double bytes) { add(received_, from, bytes); }
  void report(Measures& measures) const {
    measures.remote_bytes = measures.remote_bytes_max = sent_.link + sent_.nic;
    measures.link_bytes_max = std::max(sent_.link, received_.link);
    measures.nic_bytes_max = std::max(sent_.nic, received_.nic);
  }

 private:
  struct Ways {
    double link = 0, nic = 0;
  };
  void add(Ways& ways, int peer, double bytes) const {
    if (peer == pe_) return;
    (peer / per_node_ == node_ ? ways.link : ways.nic) += bytes;
  }

  int node_, per_node_, pe_;
  Ways sent_, received_;
};

// Runs `body`. What every PE refuses at once (a fault in counts or choices, by contract) becomes
// the result's, and the World is good again; a PE that does not take part is left to the runner.
template <World W, class F>
void report_refusal(W& world, const Point& point, PointResult& result, F body) {
  try {
    body();
  } catch (const Failure& failure) {
    if (point.skip_pe >= 0) throw;
    result.failure = failure.what();
    world.recover();
  }
}

}  // namespace sym::command
