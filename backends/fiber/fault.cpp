#include "backends/fiber/fault.hpp"

#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

namespace sym::fiber {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

struct FaultGuard::Impl {};
FaultGuard::FaultGuard(double) {}
FaultGuard::~FaultGuard() = default;
bool FaultGuard::works() { return false; }
int FaultGuard::resume(Fiber& fiber, int) {
  fiber.resume();
  return 0;
}
void FaultGuard::mark() {}
const void* FaultGuard::address() const { return nullptr; }
const void* FaultGuard::stack_pointer() const { return nullptr; }

#else

namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM};
constexpr int ticks_a_stretch = 4;

// What a handler sees of its thread.
struct Watched {
  Fiber* volatile running = nullptr;
  volatile int stretches = 0;
  volatile std::uint64_t marks = 0;
  struct Clock {
    timer_t timer = {};
    double tick_s = 0;  // 0: there is no timer
    std::uint64_t marks = 0;
    int ticks = 0;      // with no mark between them
    double used_s = 0;  // CPU time of the thread at the last tick
    bool hurries = false;
  } clocks[2];  // CPU time, then wall time
  int signal = 0;
  const void* address = nullptr;
  const void* stack_pointer = nullptr;
};
thread_local Watched watched;

// The handlers are the process's: the first guard sets them and the last one puts the old ones
// back.
std::mutex handlers_mutex;
int guards = 0;
struct sigaction previous[64];

// Where the code of this library and of whoever links it lies.
struct Text {
  std::uintptr_t begin = 0, end = 0;
};
Text text_of_program() {
  Text text;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const auto here = reinterpret_cast<std::uintptr_t>(&text_of_program);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || here < begin || here >= begin + part.p_memsz) continue;
          *static_cast<Text*>(out) = {begin, begin + part.p_memsz};
          return 1;
        }
        return 0;
      },
      &text);
  return text;
}
Text text;

struct Registers {
  std::uintptr_t program_counter = 0, stack_pointer = 0;
};
Registers registers_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine.gregs[REG_RIP]),
          static_cast<std::uintptr_t>(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine.pc, machine.sp};
#else
  (void)machine;
  return {};
#endif
}

itimerspec every(double seconds) {
  itimerspec times = {};
  times.it_interval.tv_sec = static_cast<time_t>(seconds);
  times.it_interval.tv_nsec =
      static_cast<long>((seconds - static_cast<double>(times.it_interval.tv_sec)) * 1e9) + 1;
  times.it_value = times.it_interval;
  return times;
}

void set(Watched::Clock& clock, double tick_s) {
  const itimerspec times = every(tick_s);
  timer_settime(clock.timer, 0, &times, nullptr);
}

double thread_seconds() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// A tick of a clock: whether the fibre is to be ended. Code outside the program, an allocator say,
// may hold a lock that would be held for ever: then rather at one of many short ticks that follow.
// But who has slept for so long is in a system call; and who has had a part of the processor in
// that time, on a machine with much else to do, has not slept.
bool is_over(Watched::Clock& clock, bool cpu, const void* context) {
  constexpr int most_ticks = 1'000;
  constexpr double busy = 0.01;
  const double before_s = std::exchange(clock.used_s, thread_seconds());
  if (!cpu && clock.used_s - before_s > busy * clock.tick_s) clock.marks = 0;
  if (watched.marks != clock.marks) {
    clock.marks = watched.marks;
    clock.ticks = 0;
    if (clock.hurries) set(clock, clock.tick_s);
    clock.hurries = false;
    return false;
  }
  if (watched.stretches == 0 || ++clock.ticks < watched.stretches * ticks_a_stretch) return false;
  const std::uintptr_t at = registers_of(context).program_counter;
  if (!cpu || (at >= text.begin && at < text.end) || clock.ticks >= most_ticks) return true;
  clock.hurries = true;
  set(clock, 1e-3);
  return false;
}

void handle(int signal, siginfo_t* info, void* context) {
  Fiber* fiber = watched.running;
  int reason = signal;
  if (signal == SIGVTALRM) {
    const bool cpu = info->si_value.sival_int == 0;
    if (fiber == nullptr || !is_over(watched.clocks[cpu ? 0 : 1], cpu, context)) return;
    reason = cpu ? FaultGuard::too_long : FaultGuard::asleep;
  }
  if (fiber == nullptr) {
    sigaction(signal, &previous[signal], nullptr);  // on return it happens again
    if (signal == SIGABRT) raise(signal);
    return;
  }
  watched.signal = reason;
  watched.address = info->si_addr;
  watched.stack_pointer =
      reinterpret_cast<const void*>(registers_of(context).stack_pointer);  // NOLINT
  watched.running = nullptr;
  pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
  fiber->abandon();
}

void install() {
  const std::lock_guard lock(handlers_mutex);
  if (guards++ > 0) return;
  text = text_of_program();
  struct sigaction action = {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : faults) sigaction(signal, &action, &previous[signal]);
}

// Ticks come to this thread alone. A machine that was halted gives one tick, however long it was.
void start_clock(int number, clockid_t kind, double tick_s) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGVTALRM;
  event.sigev_value.sival_int = number;
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
#if defined(sigev_notify_thread_id)
  event.sigev_notify_thread_id = thread;
#else
  event._sigev_un._tid = thread;
#endif
  Watched::Clock& clock = watched.clocks[number];
  if (timer_create(kind, &event, &clock.timer) != 0) return;
  clock.tick_s = tick_s;
  set(clock, tick_s);
}

void uninstall() {
  const std::lock_guard lock(handlers_mutex);
  if (--guards > 0) return;
  for (const int signal : faults) sigaction(signal, &previous[signal], nullptr);
}

}  // namespace

struct FaultGuard::Impl {
  stack_t old_stack = {};
  bool has_stack = false;
};

FaultGuard::FaultGuard(double stretch_s) : impl_(std::make_unique<Impl>()) {
  // A handler has its own stack: that of the fibre may be the fault.
  static thread_local std::vector<std::byte> stack(64 * 1024);
  sigaltstack(nullptr, &impl_->old_stack);
  if ((impl_->old_stack.ss_flags & SS_DISABLE) != 0) {
    stack_t own = {};
    own.ss_sp = stack.data();
    own.ss_size = stack.size();
    impl_->has_stack = sigaltstack(&own, nullptr) == 0;
  }
  watched = Watched{};
  install();
  if (stretch_s <= 0) return;
  start_clock(0, CLOCK_THREAD_CPUTIME_ID, stretch_s / ticks_a_stretch);
  start_clock(1, CLOCK_MONOTONIC, stretch_s * asleep_stretches / ticks_a_stretch);
}

FaultGuard::~FaultGuard() {
  for (const Watched::Clock& clock : watched.clocks) {
    if (clock.tick_s > 0) timer_delete(clock.timer);
  }
  uninstall();
  if (impl_->has_stack) sigaltstack(&impl_->old_stack, nullptr);
}

bool FaultGuard::works() { return true; }

int FaultGuard::resume(Fiber& fiber, int stretches) {
  watched.signal = 0;
  watched.stretches = stretches;
  watched.marks = watched.marks + 1;
  watched.running = &fiber;
  fiber.resume();
  watched.running = nullptr;
  return watched.signal;
}

void FaultGuard::mark() { watched.marks = watched.marks + 1; }
const void* FaultGuard::address() const { return watched.address; }
const void* FaultGuard::stack_pointer() const { return watched.stack_pointer; }

#endif

}  // namespace sym::fiber
