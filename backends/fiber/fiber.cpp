#include "backends/fiber/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SYM_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#define SYM_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif

namespace sym::fiber {

namespace context = boost::context::detail;

namespace {

// Costs addresses and no memory: code that was compiled without -fstack-clash-protection may step
// over a smaller one.
constexpr std::size_t guard_bytes = 1024 * 1024;

struct Mapping {
  std::byte* base = nullptr;
  std::size_t usable_bytes = 0;
  bool guarded = false;
  std::size_t mapped_bytes() const { return usable_bytes + (guarded ? guard_bytes : 0); }
};

// Stacks that pools of this thread have left. Bounded, so that a large run's do not stay for ever.
class Spare {
 public:
  ~Spare() {
    for (const Mapping& mapping : mappings_) munmap(mapping.base, mapping.mapped_bytes());
  }
  std::byte* take(std::size_t usable_bytes, bool guarded) {
    for (std::size_t i = mappings_.size(); i-- > 0;) {
      const Mapping mapping = mappings_[i];
      if (mapping.usable_bytes != usable_bytes || mapping.guarded != guarded) continue;
      mappings_[i] = mappings_.back();
      mappings_.pop_back();
      return mapping.base;
    }
    return nullptr;
  }
  void put(const Mapping& mapping) {
    constexpr std::size_t most = 512;
    if (mappings_.size() < most) {
      mappings_.push_back(mapping);
    } else {
      munmap(mapping.base, mapping.mapped_bytes());
    }
  }

 private:
  std::vector<Mapping> mappings_;
};
thread_local Spare spare;

}  // namespace

struct StackPool::Impl {
  std::vector<Mapping> all;
  std::vector<std::byte*> free;  // usable lowest addresses
};

StackPool::StackPool(std::size_t bytes, bool guarded)
    : impl_(std::make_unique<Impl>()), guarded_(guarded) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = (bytes + page - 1) / page * page;
}

StackPool::~StackPool() {
  for (const Mapping& mapping : impl_->all) spare.put(mapping);
}

std::byte* StackPool::take() {
  if (!impl_->free.empty()) {
    std::byte* stack = impl_->free.back();
    impl_->free.pop_back();
    return stack;
  }
  Mapping mapping{spare.take(bytes_, guarded_), bytes_, guarded_};
  if (mapping.base == nullptr) {
    void* made =
        mmap(nullptr, mapping.mapped_bytes(), guarded_ ? PROT_NONE : PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    const bool usable =
        made != MAP_FAILED && (!guarded_ || mprotect(static_cast<std::byte*>(made) + guard_bytes,
                                                     bytes_, PROT_READ | PROT_WRITE) == 0);
    if (!usable)
      throw Unavailable("no memory for another fibre's stack: fewer PEs or blocks are needed");
    mapping.base = static_cast<std::byte*>(made);
  }
  impl_->all.push_back(mapping);
  return mapping.base + (guarded_ ? guard_bytes : 0);
}

void StackPool::give_back(std::byte* stack) { impl_->free.push_back(stack); }

bool StackPool::guards(const void* address) const {
  if (!guarded_) return false;
  const auto* at = static_cast<const std::byte*>(address);
  return std::any_of(impl_->all.begin(), impl_->all.end(), [&](const Mapping& mapping) {
    return at >= mapping.base && at < mapping.base + guard_bytes;
  });
}

// Both ends of the switch, and the exception state of whoever is not running: without it, a fiber
// that suspends inside a catch block would rethrow another fiber's exception.
struct Fiber::Switch {
  context::fcontext_t inside = nullptr;
  context::fcontext_t outside = nullptr;
  std::byte exceptions[2 * sizeof(void*)] = {};
#if defined(SYM_ASAN)
  const void* outside_stack = nullptr;
  std::size_t outside_bytes = 0;
  void* inside_fake = nullptr;
#endif
#if defined(SYM_TSAN)
  void* tsan_inside = nullptr;
  void* tsan_outside = nullptr;
#endif

  void swap_exceptions() {
    std::byte saved[sizeof(exceptions)];
    void* globals = abi::__cxa_get_globals();
    std::memcpy(saved, globals, sizeof(saved));
    std::memcpy(globals, exceptions, sizeof(saved));
    std::memcpy(exceptions, saved, sizeof(saved));
  }
};

Fiber::Fiber(StackPool& pool) : pool_(pool), switch_(std::make_unique<Switch>()) {}

Fiber::~Fiber() {
#if defined(SYM_TSAN)
  if (switch_->tsan_inside != nullptr) __tsan_destroy_fiber(switch_->tsan_inside);
#endif
  if (stack_ != nullptr) pool_.give_back(stack_);
}

void Fiber::start(std::function<void()> body) {
  if (!ended_) throw std::logic_error("Fiber::start: its body is still running");
  body_ = std::move(body);
  if (stack_ == nullptr) stack_ = pool_.take();
  ended_ = false;
#if defined(SYM_ASAN)
  __asan_unpoison_memory_region(stack_, pool_.bytes());  // an abandoned body left its frames marked
#endif
  std::memset(switch_->exceptions, 0, sizeof(switch_->exceptions));
  auto entry = [](context::transfer_t from) {
    auto* self = static_cast<Fiber*>(from.data);
    self->switch_->outside = from.fctx;
    self->run_body();
  };
  switch_->inside = context::make_fcontext(stack_ + pool_.bytes(), pool_.bytes(), +entry);
#if defined(SYM_TSAN)
  if (switch_->tsan_inside == nullptr) switch_->tsan_inside = __tsan_create_fiber(0);
#endif
}

void Fiber::run_body() {
#if defined(SYM_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &switch_->outside_stack, &switch_->outside_bytes);
#endif
  body_();
  body_ = nullptr;
  ended_ = true;
#if defined(SYM_ASAN)
  __sanitizer_start_switch_fiber(nullptr, switch_->outside_stack, switch_->outside_bytes);
#endif
#if defined(SYM_TSAN)
  __tsan_switch_to_fiber(switch_->tsan_outside, 0);
#endif
  context::jump_fcontext(switch_->outside, this);
}

void Fiber::abandon() {
  ended_ = true;
#if defined(SYM_ASAN)
  __sanitizer_start_switch_fiber(nullptr, switch_->outside_stack, switch_->outside_bytes);
#endif
#if defined(SYM_TSAN)
  __tsan_switch_to_fiber(switch_->tsan_outside, 0);
#endif
  context::jump_fcontext(switch_->outside, this);
  std::abort();  // nobody resumes it
}

bool Fiber::holds(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return stack_ != nullptr && at >= stack_ && at < stack_ + pool_.bytes();
}

// Boost's context of a suspended body is its stack pointer, with its registers above.
std::uint64_t Fiber::fingerprint() const {
  const auto* end = reinterpret_cast<const std::uint64_t*>(stack_ + pool_.bytes());
  std::uint64_t hash = 14695981039346656037ULL;
  for (const auto* at = static_cast<const std::uint64_t*>(switch_->inside); at < end; ++at) {
    hash = (hash ^ *at) * 1099511628211ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

void Fiber::resume() {
  switch_->swap_exceptions();
#if defined(SYM_ASAN)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_, pool_.bytes());
#endif
#if defined(SYM_TSAN)
  switch_->tsan_outside = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(switch_->tsan_inside, 0);
#endif
  const context::transfer_t back = context::jump_fcontext(switch_->inside, this);
#if defined(SYM_ASAN)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  switch_->inside = back.fctx;
  switch_->swap_exceptions();
}

void Fiber::suspend() {
#if defined(SYM_ASAN)
  __sanitizer_start_switch_fiber(&switch_->inside_fake, switch_->outside_stack,
                                 switch_->outside_bytes);
#endif
#if defined(SYM_TSAN)
  __tsan_switch_to_fiber(switch_->tsan_outside, 0);
#endif
  const context::transfer_t back = context::jump_fcontext(switch_->outside, this);
#if defined(SYM_ASAN)
  __sanitizer_finish_switch_fiber(switch_->inside_fake, &switch_->outside_stack,
                                  &switch_->outside_bytes);
#endif
  switch_->outside = back.fctx;
}

}  // namespace sym::fiber
