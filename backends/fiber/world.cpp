#include "backends/fiber/world.hpp"

#include <algorithm>

#include "backends/fiber/queue_numbers.hpp"

namespace sym::fiber {

Team FiberWorld::team(const std::vector<int>& members, Site site) {
  begin(Verb::world_team, site);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool valid = members[i] >= 0 && members[i] < n_pes() &&
                       std::count(members.begin(), members.end(), members[i]) == 1;
    if (!valid) {
      throw UsageError("team: member " + std::to_string(members[i]) +
                       " is named twice or is no PE of 0.." + std::to_string(n_pes() - 1));
    }
  }
  teams_.push_back(std::make_unique<std::vector<int>>(members));
  return Team::listed(pe_, teams_.back()->data(), static_cast<int>(members.size()));
}

std::size_t FiberWorld::allocate_bytes(Segment segment, std::size_t count, std::size_t element,
                                       const Own& own) {
  const std::size_t bytes = bytes_of(count, element);
  const char* kind = segment == Segment::control ? "allocate_control" : "allocate";
  const std::string call = own.call.empty()
                               ? std::string(kind) + " of " + std::to_string(count) +
                                     " elements of " + std::to_string(element) + " bytes"
                               : own.call;
  engine().host_barrier(host_, call, true);
  const std::size_t nth = allocations_++;
  if (nth == shared_.allocations.size()) {
    Memory& memory = engine().memory();
    // Before any PE returns, as zeroing is, words have their first value.
    const std::size_t offset = own.words ? memory.allocate_words(count, own.first_value, own.name)
                                         : memory.allocate(segment, bytes, own.name);
    shared_.allocations.push_back({segment, offset});
  }
  return shared_.allocations[nth].offset;
}

void FiberWorld::free_bytes(Segment segment, std::size_t offset) {
  engine().host_barrier(host_, "free of offset " + std::to_string(offset), true);
  if (frees_++ == shared_.frees) {
    ++shared_.frees;
    engine().free(segment, offset);
  }
}

Channel FiberWorld::channel(const ChannelRequest& request, Site site) {
  begin(Verb::world_channel, site);
  if (request.blocks < 1) throw UsageError("channel: blocks must be at least 1");
  const auto slots = static_cast<std::size_t>(request.blocks);
  const std::size_t words = slots * static_cast<std::size_t>(n_pes());
  // With `wrap`, 2^64 - 3: the low 48 and 32 bits, which tags and GPUs' flags keep, wrap with it.
  const std::uint64_t epoch = engine().options().wrap ? ~std::uint64_t{2} : 0;
  const std::string name = "channel #" + std::to_string(channels_.size()) + " ";
  const std::string call = "channel of " + std::to_string(request.blocks) + " blocks, " +
                           std::to_string(request.packet_bytes) + " packet bytes";
  const auto own = [&](const char* part, std::size_t count, std::uint64_t first_value = 0) {
    return Window<std::uint64_t>{Segment::control,
                                 allocate_bytes(Segment::control, count, sizeof(std::uint64_t),
                                                {name + part, first_value, true, call}),
                                 count};
  };
  const auto private_words = [&](const std::string& part, std::size_t count, std::uint64_t first) {
    const auto made = own(part.c_str(), count, first);
    engine().control(engine().resolve(made.segment, made.offset_bytes, 0, pe_), true);
    return made;
  };
  const auto make_tables = [&](Signals& signals, const std::string& part) {
    signals.words = own(part.c_str(), words, signals.tagged ? tagged_word(epoch, 0) : epoch);
    signals.sent = private_words(part + " sent", words, epoch);
    signals.seen = private_words(part + " seen", words, epoch);
    signals.slots = slots;
    signals.lanes = n_pes();
  };
  Channel channel;
  channel.blocks = request.blocks;
  // One PE has one lane; lanes == 1 would mean plain counters, and nobody else could signal them.
  channel.barriers.tagged = true;
  make_tables(channel.barriers, "barriers");
  make_tables(channel.steps, "steps");
  channel.busy = private_words("busy", slots, 0);
  if (request.packet_bytes > 0) {
    Packets& inbox = channel.inbox;
    // A fibre that stands for several blocks has their inboxes.
    const bool merge = shared_.fibres > 0 && shared_.fibres < request.blocks;
    const int each = merge ? (request.blocks + shared_.fibres - 1) / shared_.fibres : 1;
    inbox.capacity_bytes = bytes_of((bytes_of(request.packet_bytes, 1) + 15) / 16 * 16,
                                    static_cast<std::size_t>(each));
    inbox.lanes.tagged = true;
    make_tables(inbox.lanes, "inbox");
    const std::size_t cells = bytes_of(words * 2, inbox.message_bytes()) / sizeof(std::uint64_t);
    inbox.cells = {Segment::payload,
                   allocate_bytes(Segment::payload, cells, sizeof(std::uint64_t),
                                  {name + "inbox cells", 0, false, call}),
                   cells};
  }
  channels_.push_back(channel);
  return channel;
}

MutantQueue<FiberQueue>& FiberWorld::stream(int number) {
  if (number < 0 || number >= most_queues) {
    throw UsageError("queue " + std::to_string(number) + "; 0 to " +
                     std::to_string(most_queues - 1) + " are accepted");
  }
  return queues_.try_emplace(number, engine().mutation(), streams_, number).first->second;
}

void FiberWorld::barrier(Site site) {
  begin(Verb::world_barrier, site);
  if (!dropped("World::barrier")) engine().host_barrier(host_, "barrier", false);
}

void FiberWorld::synchronize(Site site) {
  begin(Verb::world_synchronize, site);
  if (!dropped("World::synchronize")) engine().synchronize(host_, -1);
}

bool FiberWorld::dropped(const char* call) const {
  Mutation* const mutation = engine().mutation();
  return mutation != nullptr && mutation->at(Verb::host, Site{call, 0}, pe_, -1) == Change::drop;
}

Posts FiberWorld::posts(std::size_t slots, Site site) {
  begin(Verb::world_posts, site);
  const auto lanes = static_cast<std::size_t>(n_pes());
  const std::size_t words = bytes_of(slots, lanes);
  const std::string name = "posts #" + std::to_string(posts_++);
  return Posts{Window<std::uint64_t>{
                   Segment::control,
                   allocate_bytes(Segment::control, words, sizeof(std::uint64_t),
                                  {name, 0, true, "posts of " + std::to_string(slots) + " slots"}),
                   words},
               slots, n_pes()};
}

void FiberWorld::copy(const Bytes& bytes, void* host, bool write) {
  engine().synchronize(host_, 0);
  engine().host_access(host_, bytes.size);
  engine().synced();
  engine().access(bytes, write);
  if (engine().memory().sparse(bytes.space))
    throw UsageError(
        "a channel of so many PEs keeps the words that are used, and no table of them");
  if (bytes.data == nullptr) {
    if (!write) std::memset(host, 0, bytes.size);
    return;
  }
  if (bytes.size == 0) return;
  if (write) {
    std::memcpy(bytes.data, host, bytes.size);
  } else {
    std::memcpy(host, bytes.data, bytes.size);
  }
}

void FiberWorld::finish() {
  host_.step = {};
  engine().synchronize(host_, -1);
  streams_.report_open_capture();
}

// The engine ends a run at its first wait that cannot be satisfied, so there is nothing to recover
// from but what the program finds in its own results.
void FiberWorld::recover(Site site) {
  begin(Verb::world_recover, site);
  engine().host_barrier(host_, "recover", true);
}

void run_worlds(Engine& engine, int fibres, const std::function<void(FiberWorld&)>& program) {
  SharedWorld shared{engine, fibres, {}, 0};
  engine.run([&](int pe) {
    FiberWorld world(shared, pe);
    program(world);
    world.finish();
  });
}

}  // namespace sym::fiber
