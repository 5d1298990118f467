#include "backends/fiber/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
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

struct StackPool::Impl {
  bool guarded = false;
  std::size_t page = 4096;
  std::vector<std::byte*> all;   // mappings
  std::vector<std::byte*> free;  // usable lowest addresses
};

StackPool::StackPool(std::size_t bytes, bool guarded)
    : impl_(std::make_unique<Impl>()), bytes_(bytes) {
  impl_->guarded = guarded;
  impl_->page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = (bytes + impl_->page - 1) / impl_->page * impl_->page;
}

StackPool::~StackPool() {
  const std::size_t mapped = bytes_ + (impl_->guarded ? impl_->page : 0);
  for (std::byte* mapping : impl_->all) munmap(mapping, mapped);
}

std::byte* StackPool::take() {
  if (!impl_->free.empty()) {
    std::byte* stack = impl_->free.back();
    impl_->free.pop_back();
    return stack;
  }
  const std::size_t guard = impl_->guarded ? impl_->page : 0;
  void* mapping = mmap(nullptr, bytes_ + guard, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED)
    throw Unavailable("no memory for another fibre's stack: fewer PEs or blocks are needed");
  auto* base = static_cast<std::byte*>(mapping);
  if (guard != 0) mprotect(base, guard, PROT_NONE);
  impl_->all.push_back(base);
  return base + guard;
}

void StackPool::give_back(std::byte* stack) { impl_->free.push_back(stack); }

bool StackPool::guards(const void* address) const {
  if (!impl_->guarded) return false;
  const auto* at = static_cast<const std::byte*>(address);
  return std::any_of(impl_->all.begin(), impl_->all.end(),
                     [&](const std::byte* base) { return at >= base && at < base + impl_->page; });
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
