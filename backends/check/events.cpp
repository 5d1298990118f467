#include "backends/check/events.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"

namespace sym::check {

namespace {
constexpr std::array<Proxy, 5> proxies{Proxy::generic, Proxy::async, Proxy::alias, Proxy::nic,
                                       Proxy::nc};
std::size_t node(int event, Proxy proxy) {
  return static_cast<std::size_t>(event) * proxies.size() + static_cast<std::size_t>(proxy);
}
bool overlap(const Spot& a, const Spot& b) {
  return a.pe == b.pe && a.name == b.name && a.first < b.first + b.size &&
         b.first < a.first + a.size;
}
bool same(const Spot& a, const Spot& b) {
  return a.pe == b.pe && a.name == b.name && a.first == b.first && a.size == b.size;
}
}  // namespace

const char* to_string(Scope scope) {
  return std::array{"cta", "gpu", "sys"}[static_cast<std::size_t>(scope)];
}
const char* to_string(Proxy proxy) {
  return std::array{"generic", "async", "alias", "nic", "nc"}[static_cast<std::size_t>(proxy)];
}

// --- statements ----------------------------------------------------------------------------------

Events::Thread Events::thread(int pe, int block, const std::string& launch) {
  actors_.push_back({pe, block, launch, {}, -1});
  return static_cast<Thread>(actors_.size()) - 1;
}

Events::Event Events::add(Thread thread, Step step) {
  step.thread = thread;
  steps_.push_back(std::move(step));
  const auto event = static_cast<Event>(steps_.size()) - 1;
  actors_[static_cast<std::size_t>(thread)].steps.push_back(event);
  return event;
}

Events::Event Events::write(Thread thread, const Spot& spot, Proxy proxy) {
  return add(thread, {Kind::access, thread, spot, true, proxy, {}, -1});
}
Events::Event Events::read(Thread thread, const Spot& spot, Proxy proxy) {
  return add(thread, {Kind::access, thread, spot, false, proxy, {}, -1});
}
Events::Event Events::store(Thread thread, const Spot& spot, Strength strength) {
  return add(thread, {Kind::flag, thread, spot, true, Proxy::generic, strength, -1});
}
Events::Event Events::load(Thread thread, const Spot& spot, Strength strength, Event seen) {
  return add(thread, {Kind::flag, thread, spot, false, Proxy::generic, strength, seen});
}
void Events::fence(Thread thread, Scope scope) {
  add(thread, {Kind::fence, thread, {}, false, Proxy::generic, {Order::relaxed, scope}, -1});
}

void Events::proxy_fence(Thread thread, Proxy proxy) {
  if (proxy != Proxy::async && proxy != Proxy::alias) {
    throw UsageError(std::string("proxy_fence: no fence orders the ") + to_string(proxy) +
                     " proxy; async and alias have one");
  }
  add(thread, {Kind::proxy_fence, thread, {}, false, proxy, {}, -1});
}

void Events::barrier(const std::vector<Thread>& threads) {
  std::vector<Event> meeting;
  for (const Thread thread : threads) {
    if (!includes(Scope::cta, thread, threads.front()))
      throw UsageError("barrier: its threads are of different blocks");
    meeting.push_back(add(thread, {Kind::meeting, thread, {}, false, Proxy::generic, {}, -1}));
  }
  for (const Event from : meeting) {
    for (const Event to : meeting) {
      if (from != to) stated_.push_back({from, to, Proxy::generic, Proxy::generic, Lack::nothing});
    }
  }
}

Events::Copy Events::copy(Thread thread, const Spot& src, const Spot& dst, Proxy proxy) {
  const Actor& issuer = actors_[static_cast<std::size_t>(thread)];
  const Event last = issuer.steps.empty() ? -1 : issuer.steps.back();
  const Thread copier = this->thread(issuer.pe, issuer.block, issuer.launch);
  actors_.back().issued_after = last;
  const Event reads = read(copier, src, proxy);
  return {reads, write(copier, dst, proxy), copier};
}

void Events::read_done(Thread thread, const Copy& copy) {
  const Event here = add(thread, {Kind::meeting, thread, {}, false, Proxy::generic, {}, -1});
  const Proxy proxy = steps_[static_cast<std::size_t>(copy.read)].proxy;
  for (const Proxy to : {proxy, Proxy::generic})
    stated_.push_back({copy.read, here, proxy, to, Lack::nothing});
}

void Events::done(Thread thread, const Copy& copy) {
  read_done(thread, copy);
  const Event here = actors_[static_cast<std::size_t>(thread)].steps.back();
  const Proxy proxy = steps_[static_cast<std::size_t>(copy.write)].proxy;
  stated_.push_back({copy.write, here, proxy, proxy, Lack::nothing});
}

void Events::in_stream(Thread earlier, Thread later) { streams_.emplace_back(earlier, later); }

void Events::wait_for_launch(Thread later, Thread earlier) {
  launches_.emplace_back(add(later, {Kind::meeting, later, {}, false, Proxy::generic, {}, -1}),
                         earlier);
}

// --- links ---------------------------------------------------------------------------------------

bool Events::includes(Scope scope, Thread a, Thread b) const {
  const Actor& x = actors_[static_cast<std::size_t>(a)];
  const Actor& y = actors_[static_cast<std::size_t>(b)];
  if (scope == Scope::sys) return true;
  return x.pe == y.pe && (scope == Scope::gpu || (x.block == y.block && x.launch == y.launch));
}

// A thread keeps what it knows in each proxy, and fences move it between them.
void Events::link_program_order(std::vector<Link>& links, const Actor& actor) const {
  Event before = actor.issued_after;
  for (const Event event : actor.steps) {
    const Step& step = steps_[static_cast<std::size_t>(event)];
    for (const Proxy proxy : proxies) {
      if (before >= 0) links.push_back({before, event, proxy, proxy, Lack::nothing});
    }
    if (step.kind == Kind::proxy_fence) {
      links.push_back({event, event, step.proxy, Proxy::generic, Lack::nothing});
      links.push_back({event, event, Proxy::generic, step.proxy, Lack::nothing});
    }
    if (step.kind == Kind::fence && step.strength.scope == Scope::sys)
      links.push_back({event, event, Proxy::generic, Proxy::nic, Lack::nothing});
    before = event;
  }
}

// From every place where the seen store's thread may have released to every one where the load's
// thread may have acquired.
void Events::link_flags(std::vector<Link>& links, Event load) const {
  const Step& to = steps_[static_cast<std::size_t>(load)];
  const Step& from = steps_[static_cast<std::size_t>(to.seen)];
  const auto ends = [&](const Step& flag, Event at, Order order) {
    std::vector<std::pair<Event, Scope>> all;  // and the narrower of the scopes on this side
    if (flag.strength.order == order) all.emplace_back(at, flag.strength.scope);
    for (const Event event : actors_[static_cast<std::size_t>(flag.thread)].steps) {
      const Step& step = steps_[static_cast<std::size_t>(event)];
      const bool side = order == Order::release ? event < at : event > at;
      if (step.kind == Kind::fence && side)
        all.emplace_back(event, std::min(step.strength.scope, flag.strength.scope));
    }
    return all;
  };
  const auto released = ends(from, to.seen, Order::release);
  const auto acquired = ends(to, load, Order::acquire);
  for (const auto& [at, scope] : released) {
    for (const auto& [by, other] : acquired) {
      const bool wide =
          includes(scope, from.thread, to.thread) && includes(other, from.thread, to.thread);
      const Lack lack = !same(from.spot, to.spot) ? Lack::bytes
                        : wide                    ? Lack::nothing
                                                  : Lack::scope;
      links.push_back({at, by, Proxy::generic, Proxy::generic, lack});
    }
  }
  if (released.empty() || acquired.empty())
    links.push_back({to.seen, load, Proxy::generic, Proxy::generic, Lack::order});
}

std::vector<Events::Link> Events::links() const {
  std::vector<Link> all = stated_;
  for (const Actor& actor : actors_) link_program_order(all, actor);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].seen >= 0) link_flags(all, static_cast<Event>(i));
  }
  // The end of a launch completes its accesses for every proxy of what comes after.
  const auto ended = [&](Thread earlier, Event after) {
    for (const Event event : actors_[static_cast<std::size_t>(earlier)].steps) {
      for (const Proxy from : proxies)
        for (const Proxy to : proxies) all.push_back({event, after, from, to, Lack::nothing});
    }
  };
  for (const auto& [event, earlier] : launches_) ended(earlier, event);
  for (const auto& [earlier, later] : streams_) {
    const auto& steps = actors_[static_cast<std::size_t>(later)].steps;
    if (!steps.empty()) ended(earlier, steps.front());
  }
  return all;
}

// --- races ---------------------------------------------------------------------------------------

bool Events::reaches(Event from, Event to, const std::vector<Link>& links, Allowed allowed) const {
  std::vector<bool> seen(steps_.size() * proxies.size(), false);
  const Step& start = steps_[static_cast<std::size_t>(from)];
  const Step& goal = steps_[static_cast<std::size_t>(to)];
  seen[node(from, start.proxy)] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (const Link& link : links) {
      if (link.lack != Lack::nothing && link.lack != allowed.lack) continue;
      for (const Proxy proxy : proxies) {
        const Proxy by = allowed.any_proxy ? proxy : link.from_proxy;
        const Proxy end = allowed.any_proxy ? proxy : link.to_proxy;
        if (!seen[node(link.from, by)] || seen[node(link.to, end)]) continue;
        seen[node(link.to, end)] = grew = true;
      }
    }
  }
  if (!allowed.any_proxy) return seen[node(to, goal.proxy)];
  return std::any_of(proxies.begin(), proxies.end(),
                     [&](Proxy proxy) { return seen[node(to, proxy)]; });
}

// Two accesses of a flag that do not race with each other.
bool Events::strong_pair(const Step& a, const Step& b) const {
  return a.kind == Kind::flag && b.kind == Kind::flag && same(a.spot, b.spot) &&
         includes(a.strength.scope, a.thread, b.thread) &&
         includes(b.strength.scope, a.thread, b.thread);
}

std::string Events::describe(Event event) const {
  const Step& step = steps_[static_cast<std::size_t>(event)];
  const Actor& actor = actors_[static_cast<std::size_t>(step.thread)];
  std::string text = (step.writes ? "write" : "read") + (" of " + step.spot.name) + "@" +
                     std::to_string(step.spot.pe) + " by PE " + std::to_string(actor.pe) +
                     " block " + std::to_string(actor.block);
  if (!actor.launch.empty()) text += " (" + actor.launch + ")";
  if (step.proxy != Proxy::generic) text += std::string(", ") + to_string(step.proxy) + " proxy";
  return text;
}

// The first of what is missing that alone would have ordered them.
std::string Events::why(Event earlier, Event later, const std::vector<Link>& links) const {
  const auto ordered = [&](Allowed allowed) {
    return reaches(earlier, later, links, allowed) || reaches(later, earlier, links, allowed);
  };
  const Step& a = steps_[static_cast<std::size_t>(earlier)];
  const Step& b = steps_[static_cast<std::size_t>(later)];
  const bool flags = a.kind == Kind::flag && b.kind == Kind::flag;
  const Scope scope = std::min(a.strength.scope, b.strength.scope);
  if (flags && !same(a.spot, b.spot)) return "the two name different bytes, so neither is atomic";
  if (flags) return std::string("their scope is ") + to_string(scope) + " < sys";
  if (ordered({Lack::scope, false})) {
    Scope narrow = Scope::sys;
    for (const Step& step : steps_) narrow = std::min(narrow, step.strength.scope);
    const bool one_pe = includes(Scope::gpu, a.thread, b.thread);
    return std::string("an edge exists, but its scope ") + to_string(narrow) + " < " +
           to_string(one_pe ? Scope::gpu : Scope::sys) + " leaves the other thread out";
  }
  if (ordered({Lack::nothing, true})) {
    const Proxy proxy = a.proxy != Proxy::generic ? a.proxy : b.proxy;
    if (proxy == Proxy::nc) return "non-coherent loads are outside of every order but the launch's";
    const char* what =
        proxy == Proxy::nic ? " without a sys-scope fence" : " without a proxy fence";
    return std::string("an edge exists, but it crosses proxies (") + to_string(a.proxy) + " to " +
           to_string(b.proxy) + ")" + what;
  }
  if (ordered({Lack::bytes, false})) return "the flag is stored and loaded as different bytes";
  if (ordered({Lack::order, true}))
    return "the flag that was seen is relaxed, and no fence makes it release and acquire";
  return "nothing orders them";
}

std::vector<Events::Race> Events::races() const {
  const std::vector<Link> all = links();
  std::vector<Race> found;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    for (std::size_t j = i + 1; j < steps_.size(); ++j) {
      const auto a = static_cast<Event>(i);
      const auto b = static_cast<Event>(j);
      const Step& x = steps_[i];
      const Step& y = steps_[j];
      if (!overlap(x.spot, y.spot) || !(x.writes || y.writes) || strong_pair(x, y)) continue;
      if (reaches(a, b, all, {}) || reaches(b, a, all, {})) continue;
      found.push_back(
          {a, b, "RACE  " + describe(a) + " and " + describe(b) + ": " + why(a, b, all)});
    }
  }
  return found;
}

}  // namespace sym::check
