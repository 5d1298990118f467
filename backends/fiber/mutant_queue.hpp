// MutantQueue: a Queue whose synchronisation a Mutation may change, operation by operation, where
// it is enqueued.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "backends/fiber/mutation.hpp"
#include "core/queue.hpp"

namespace sym::fiber {

template <class Q>
class MutantQueue : public Q {
 public:
  template <class... A>
  explicit MutantQueue(Mutation* mutation, A&&... queue)
      : Q(std::forward<A>(queue)...), mutation_(mutation) {}

  template <class T>
  void put(Matrix<T> dst, Matrix<T> src, int pe, Site site = Site::here()) {
    Q::put(dst, src, pe, site);
    catch_up();
  }
  template <class T>
  void get(Matrix<T> dst, Matrix<T> src, int pe, Site site = Site::here()) {
    Q::get(dst, src, pe, site);
    catch_up();
  }
  template <class Kernel>
  void launch(const LaunchConfig& config, Kernel kernel, Site site = Site::here(),
              Verb call = Verb::host_launch) {
    Q::launch(config, kernel, site, call);
    catch_up();
  }
  template <class T>
  void gemm(const Gemm<T>& gemm, Site site = Site::here()) {
    Q::gemm(gemm, site);
    catch_up();
  }

  void post(const Posts& posts, std::size_t slot, int pe, Site site = Site::here()) {
    const Change change = at(Verb::post, site);
    if (change != Change::drop) Q::post(posts, row(change, posts, slot), peer(change, pe), site);
  }
  void take(const Posts& posts, std::size_t slot, int pe, Site site = Site::here()) {
    const Change change = at(Verb::take, site);
    if (change == Change::late) {
      late_.push_back({posts, slot, pe, site});
    } else if (change != Change::drop) {
      Q::take(posts, row(change, posts, slot), peer(change, pe), site);
    }
  }
  void after(Mark mark, Site site = Site::here()) {
    if (at(Verb::after, site) != Change::drop) Q::after(mark, site);
  }

 private:
  Change at(Verb verb, Site site) const {
    return mutation_ == nullptr ? Change::none : mutation_->at(verb, site, Q::pe(), -1);
  }
  void catch_up() {
    for (const Take& take : std::exchange(late_, {}))
      Q::take(take.posts, take.slot, take.pe, take.site);
  }
  static std::size_t row(Change change, const Posts& posts, std::size_t slot) {
    return change == Change::other_slot ? (slot + 1) % posts.slots : slot;
  }
  int peer(Change change, int pe) const {
    if (change != Change::other_pe) return pe;
    return pe + 1 == Q::n_pes() ? 0 : pe + 1;
  }

  struct Take {
    Posts posts;
    std::size_t slot;
    int pe;
    Site site;
  };
  Mutation* mutation_;
  std::vector<Take> late_;
};

}  // namespace sym::fiber
