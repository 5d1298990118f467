#include "backends/check/behind.hpp"

#include <algorithm>

namespace sym::check {

void Calls::add(const fiber::Agent& agent, Call::Kind kind, int pe, const fiber::Bytes& flag) {
  if (agent.block < 0 || agent.queue >= 0) return;
  const Call call{kind, pe, agent.issued, agent.step.verb, agent.step.site, flag.space, flag.begin};
  // The latest call at each place: a loop is as many calls as it has places.
  std::erase_if(calls_, [&call](const Call& one) {
    return one.kind == call.kind && one.pe == call.pe && one.site.line == call.site.line &&
           one.space == call.space && one.begin == call.begin;
  });
  if (calls_.size() == most) calls_.erase(calls_.begin());
  calls_.push_back(call);
}

Behind behind(const Access& transfer, const Access& other, const Calls& calls,
              const fiber::Agent& issuer, const Looked& looked) {
  Behind found;
  bool told = false;   // a signal has been sent since
  bool quiet = false;  // ... or was it sent behind a quiet
  for (const Call& call : calls.all()) {
    if (call.issued < transfer.order) continue;
    switch (call.kind) {
      case Call::Kind::fence:
        found.fence |= call.pe == transfer.to_pe;
        break;
      case Call::Kind::quiet:
        quiet = true;
        found.quiet |= !told;
        break;
      case Call::Kind::flag:
        if (call.pe == looked.pe && call.space == looked.space && call.begin == looked.begin)
          found.flag = call;
        break;
      case Call::Kind::packets:
      case Call::Kind::signal:
        found.packets |= call.kind == Call::Kind::packets;
        found.told |= call.kind == Call::Kind::signal && call.pe == other.pe;
        told = true;
        found.quiet |= quiet;
        break;
    }
  }
  // About to: nothing that comes before it tells of it.
  if (issuer.step.verb == fiber::Verb::quiet && issuer.issued >= transfer.order)
    found.quiet |= !told;
  return found;
}

}  // namespace sym::check
