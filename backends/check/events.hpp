// Events: what the verbs of a block do not show, and GPUs have: single threads, loads and stores
// with an order and a scope, fences, proxies, bulk copies with two completions, launches that begin
// before the one before has ended. A program of such events is stated, not run; races() decides for
// each two conflicting accesses whether one is before the other.
//
// The rules, after the memory consistency model of NVIDIA's PTX ISA (causality order, scopes,
// proxies), and no stronger:
//  - A thread's events are in program order. A store releases what its thread knows if it is a
//    release or a fence stands before it; a load that sees it acquires that if it is an acquire or
//    a fence stands after it. All four have scopes, and each must include the other thread.
//  - What is known is known *in a proxy*. An access counts for its own proxy only; a proxy fence of
//    a thread makes what it knows in that proxy known in the generic one, and the other way round.
//    Releases, acquires and block barriers carry what is known in the generic proxy alone.
//  - A bulk copy reads and writes in its proxy, some time after what its thread knew in that proxy
//    when it issued it. read_done says that its source may be written; done that its destination is
//    written, in its proxy. NICs look at memory as sys-scope observers: what they are to read must
//    lie behind a sys-scope fence of the thread that rings the bell.
//  - Non-coherent loads (ld.nc, textures) know of nothing but what was complete when their launch
//    began. Nothing else orders them.
//  - A store and a load of a flag that are not the same bytes are no pair (not morally strong).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sym::check {

enum class Order { relaxed, acquire, release };
enum class Scope { cta, gpu, sys };
enum class Proxy { generic, async, alias, nic, nc };
const char* to_string(Scope scope);
const char* to_string(Proxy proxy);

struct Spot {
  std::string name;
  int pe = 0;
  std::size_t first = 0, size = 8;  // bytes of it
};

class Events {
 public:
  using Thread = int;
  using Event = int;
  struct Strength {
    Order order = Order::relaxed;
    Scope scope = Scope::sys;
  };
  struct Copy {
    Event read = -1, write = -1;
    Thread copier = -1;
  };
  struct Race {
    Event earlier = -1, later = -1;  // as they were stated
    std::string text;                // both, and why nothing orders them
  };

  // A thread (or a role, or all lanes in step) of a block. `launch` is a name for the reader.
  Thread thread(int pe, int block, const std::string& launch = "");

  Event write(Thread thread, const Spot& spot, Proxy proxy = Proxy::generic);
  Event read(Thread thread, const Spot& spot, Proxy proxy = Proxy::generic);
  Event store(Thread thread, const Spot& spot, Strength strength);
  // A load that sees what `seen` stored.
  Event load(Thread thread, const Spot& spot, Strength strength, Event seen);
  void fence(Thread thread, Scope scope);
  // Throws UsageError for proxies that have no fence (generic, nic, nc).
  void proxy_fence(Thread thread, Proxy proxy);
  // The threads of one block meet. Throws UsageError if they are not of one.
  void barrier(const std::vector<Thread>& threads);
  Copy copy(Thread thread, const Spot& src, const Spot& dst, Proxy proxy = Proxy::async);
  void read_done(Thread thread, const Copy& copy);
  void done(Thread thread, const Copy& copy);
  // The launch of `earlier` has ended, and all its memory operations with it: before anything of
  // `later` (in stream order), or before what follows in it (a dependent launch waits).
  void in_stream(Thread earlier, Thread later);
  void wait_for_launch(Thread later, Thread earlier);

  // Each two accesses that touch the same bytes, one of them writing, that nothing orders.
  std::vector<Race> races() const;

 private:
  enum class Kind { access, flag, fence, proxy_fence, meeting };
  struct Step {
    Kind kind = Kind::access;
    Thread thread = -1;
    Spot spot;
    bool writes = false;
    Proxy proxy = Proxy::generic;
    Strength strength;
    Event seen = -1;  // of a load: the store
  };
  struct Actor {
    int pe = 0, block = 0;
    std::string launch;
    std::vector<Event> steps;
    Event issued_after = -1;  // of a copy: the last event of its thread before it
  };
  // What an edge lacks to be one: the report names it.
  enum class Lack { nothing, scope, order, bytes };
  struct Link {
    Event from = -1, to = -1;
    Proxy from_proxy = Proxy::generic, to_proxy = Proxy::generic;
    Lack lack = Lack::nothing;
  };
  // Which links count besides those that lack nothing.
  struct Allowed {
    Lack lack = Lack::nothing;
    bool any_proxy = false;
  };

  Event add(Thread thread, Step step);
  void link_program_order(std::vector<Link>& links, const Actor& actor) const;
  void link_flags(std::vector<Link>& links, Event load) const;
  std::vector<Link> links() const;
  bool includes(Scope scope, Thread a, Thread b) const;
  bool reaches(Event from, Event to, const std::vector<Link>& links, Allowed allowed) const;
  bool strong_pair(const Step& a, const Step& b) const;
  std::string why(Event earlier, Event later, const std::vector<Link>& links) const;
  std::string describe(Event event) const;

  std::vector<Actor> actors_;
  std::vector<Step> steps_;
  std::vector<Link> stated_;
  std::vector<std::pair<Event, Thread>> launches_;  // an event after a launch, and a thread of that
  std::vector<std::pair<Thread, Thread>> streams_;
};

}  // namespace sym::check
