// The engine's transfers: issue, order by fences, delivery, and what waits for them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/fiber/engine.hpp"
#include "backends/fiber/own_words.hpp"
#include "backends/fiber/tracer.hpp"
#include "core/error.hpp"

namespace sym::fiber {

namespace {
bool is_quiet(const Agent& agent) {
  return agent.payload_only ? agent.payloads == 0 : agent.outstanding.empty();
}
bool is_ordered(const Transfer& transfer) {
  return transfer.kind != Transfer::Kind::get && !transfer.packet;
}
}  // namespace

Transfer& Engine::issue(Transfer transfer, int ordered_to) {
  Agent& agent = *current_;
  constexpr std::size_t most = std::size_t{1} << 18;  // nothing ends them: a loop, most likely
  if (agent.outstanding.size() >= most) {
    refuse("more than 2^18 transfers of this block are under way, and it calls no quiet");
  }
  transfer.id = next_transfer_++;
  transfer.issuer = &agent;
  transfer.step = agent.step;
  transfer.launch = agent.launch;
  transfer.order = ++agent.issued;
  if (ordered_to >= 0) {
    Agent::ToPe& to_pe = agent.to_pe[ordered_to];
    transfer.to_pe = &to_pe;
    transfer.pe_order = ++to_pe.issued;
    transfer.fence_epoch = to_pe.fence_epoch;
    if (to_pe.undelivered.empty() || to_pe.undelivered.back().first != to_pe.fence_epoch) {
      to_pe.undelivered.emplace_back(to_pe.fence_epoch, 0);
    }
    ++to_pe.undelivered.back().second;
  }
  if (spare_transfers_.empty()) {
    transfers_.push_back(std::make_unique<Transfer>());
    spare_transfers_.push_back(transfers_.back().get());
  }
  Transfer& issued = *spare_transfers_.back();
  spare_transfers_.pop_back();
  issued = std::move(transfer);
  issued.place = agent.outstanding.insert(agent.outstanding.end(), &issued);
  if (issued.kind != Transfer::Kind::signal) ++agent.payloads;
  ++outstanding_[static_cast<std::size_t>(agent.pe)];
  ++statistics_.transfers;
  changed();
  return issued;
}

// Local memory is a pointer of the program's. One that leads nowhere is to fault here, in the block
// that names it, and not when the transfer is delivered.
static void touch(const Bytes& bytes) {
  if (bytes.space != Bytes::local_space || bytes.data == nullptr || bytes.size == 0) return;
  (void)*static_cast<const volatile std::byte*>(bytes.data);
  (void)*static_cast<const volatile std::byte*>(bytes.data + bytes.size - 1);
}

void Engine::put(const Bytes& src, const Bytes& dst, Transfer::Kind kind) {
  touch(src);
  touch(dst);
  refuse_overlap(src, dst);
  refuse_own_words(*this, holds_words_, dst);
  Transfer transfer;
  transfer.kind = kind;
  transfer.src = src;
  transfer.dst = dst;
  Transfer& issued = issue(std::move(transfer), kind == Transfer::Kind::get ? -1 : dst.pe);
  last_put_ = &issued;
  if (observer_ != nullptr) observer_->issued(issued);
  if (current_->step.verb != Verb::put_signal) policy_->issued(*this, issued);
}

void Engine::put_value(std::vector<std::byte> value, const Bytes& dst) {
  refuse_own_words(*this, holds_words_, dst);
  Transfer transfer;
  transfer.kind = Transfer::Kind::value;
  transfer.dst = dst;
  transfer.buffer = std::move(value);
  transfer.source_read = true;
  Transfer& issued = issue(std::move(transfer), dst.pe);
  if (observer_ != nullptr) observer_->issued(issued);
  policy_->issued(*this, issued);
}

void Engine::signal(const WordId& id, std::uint64_t amount, bool sets, bool follows_last_put) {
  const std::size_t bytes = sizeof(std::uint64_t);
  refuse_own_words(*this, holds_words_, {id.pe, id.space, id.index * bytes, bytes});
  Transfer transfer;
  transfer.kind = Transfer::Kind::signal;
  transfer.word_id = id;
  transfer.word = &word(id);
  transfer.amount = amount;
  transfer.sets = sets;
  transfer.source_read = true;
  Transfer* payload = follows_last_put ? last_put_ : nullptr;
  transfer.payload = payload;
  Transfer& issued = issue(std::move(transfer), id.pe);
  if (payload != nullptr) payload->follower = &issued;
  issued.word->pending.push_back(&issued);
  for (const Word::Waiter& waiter : issued.word->waiters) ++waiter.agent->incoming;
  if (observer_ != nullptr) observer_->issued(issued);
  // The pair is handed over only when both exist, so that a policy that delivers at once sees the
  // signal behind its payload.
  if (payload != nullptr) policy_->issued(*this, *payload);
  policy_->issued(*this, issued);
}

void Engine::packet(const Bytes& src, const Bytes& dst, const WordId& id, std::uint64_t value,
                    Range range) {
  auto& last = messages_[static_cast<std::size_t>(id.pe)][key_of(id)];
  const Agent& agent = *current_;
  last[0] = last[1];
  last[1] = {
      {agent.id, agent.launch, agent.step.verb, agent.step.site, value, false}, range, src.element};
  Transfer payload;
  payload.kind = Transfer::Kind::put;
  payload.packet = true;
  payload.src = src;
  payload.dst = dst;
  Transfer flag;
  flag.kind = Transfer::Kind::signal;
  flag.packet = true;
  flag.word_id = id;
  flag.word = &word(id);
  flag.amount = value;
  flag.sets = true;
  flag.source_read = true;
  Transfer& data = issue(std::move(payload), -1);
  flag.payload = &data;
  Transfer& arrival = issue(std::move(flag), -1);
  data.follower = &arrival;
  arrival.word->pending.push_back(&arrival);
  for (const Word::Waiter& waiter : arrival.word->waiters) ++waiter.agent->incoming;
  if (observer_ != nullptr) observer_->issued(data);
  policy_->issued(*this, data);
  policy_->issued(*this, arrival);
}

void Engine::received(const Bytes& bytes, const WordId& id) {
  if (observer_ != nullptr) observer_->received(*current_, bytes, word(id));
}

const Engine::Message* Engine::message(const WordId& id, std::uint64_t value) const {
  const auto& messages = messages_[static_cast<std::size_t>(id.pe)];
  const auto found = messages.find(key_of(id));
  if (found == messages.end()) return nullptr;
  for (const Message& one : found->second) {
    if (one.element != 0 && one.sent.value == value) return &one;
  }
  return nullptr;
}

void Engine::fence(int pe) {
  Agent& agent = *current_;
  Agent::ToPe& to_pe = agent.to_pe[pe];
  to_pe.fenced = to_pe.issued;
  ++to_pe.fence_epoch;
  if (observer_ != nullptr) observer_->fenced(agent, pe);
}

void Engine::quiet() {
  Agent& agent = *current_;
  agent.on_quiet = !is_quiet(agent);
  block_while(agent, agent.on_quiet);
  if (observer_ != nullptr) observer_->completed(agent);
}

void Engine::quiet_copies() {
  current_->payload_only = true;
  quiet();
  current_->payload_only = false;
}

bool Engine::eligible(const Transfer& transfer) const {
  if (transfer.payload != nullptr) return false;
  // The word stands for the flags of both buffers: one who waits for a message sees its own flag.
  if (transfer.packet && transfer.word != nullptr)
    return transfer.word->pending.front() == &transfer;
  if (!is_ordered(transfer)) return true;
  const auto& undelivered = transfer.to_pe->undelivered;
  for (const auto& [epoch, count] : undelivered) {
    if (count != 0) return epoch >= transfer.fence_epoch;
  }
  return true;
}

void Engine::read_source(Transfer& transfer) {
  if (transfer.source_read) return;
  transfer.source_read = true;
  changed();
  if (options_.tracer != nullptr) options_.tracer->source_read(transfer);
  if (observer_ != nullptr) observer_->source_read(transfer, transfer.src);
  if (transfer.src.data == nullptr || transfer.dst.data == nullptr) return;
  transfer.buffer.assign(transfer.src.data, transfer.src.data + transfer.src.size);
}

void Engine::deliver_piece(Transfer& transfer, std::size_t first, std::size_t bytes) {
  const bool last = transfer.pieces_delivered + bytes >= transfer.dst.size;
  if (last && options_.tracer != nullptr) options_.tracer->delivered(transfer);
  changed();
  const Bytes to = transfer.dst.part(first, bytes);
  if (!transfer.source_read && observer_ != nullptr) {
    observer_->source_read(transfer, transfer.src.part(first, bytes));
  }
  if (to.data != nullptr) {
    const std::byte* from = transfer.source_read           ? transfer.buffer.data()
                            : transfer.src.data != nullptr ? transfer.src.data
                                                           : nullptr;
    if (holds_words(to.space) || notes_writes(to.space, false)) {
      end_writes();  // of the verbs before it in this event
      begin_write(to, false, &transfer);
    }
    if (from != nullptr) std::memmove(to.data, from + first, bytes);
  }
  if (observer_ != nullptr) observer_->destination_written(transfer, to);
  end_writes(&transfer);
  transfer.pieces_delivered += bytes;
  if (last) finished(transfer);
}

void Engine::deliver(Transfer& transfer) {
  if (transfer.kind == Transfer::Kind::signal) {
    arrive(transfer);
    finished(transfer);
    return;
  }
  deliver_piece(transfer, 0, transfer.dst.size);
}

void Engine::poison(Transfer& transfer) {
  if (transfer.dst.data == nullptr || transfer.src.data == transfer.dst.data) return;
  std::memset(transfer.dst.data, 0xA5, transfer.dst.size);
}

void Engine::finished(Transfer& transfer) {
  Agent& issuer = *transfer.issuer;
  if (is_ordered(transfer)) {
    auto& undelivered = transfer.to_pe->undelivered;
    for (auto& [epoch, count] : undelivered) {
      if (epoch == transfer.fence_epoch) --count;
    }
    const auto first = std::find_if(undelivered.begin(), undelivered.end(),
                                    [](const auto& epoch) { return epoch.second != 0; });
    undelivered.erase(undelivered.begin(), first);
  }
  if (transfer.follower != nullptr) transfer.follower->payload = nullptr;
  issuer.outstanding.erase(transfer.place);
  if (transfer.kind != Transfer::Kind::signal) --issuer.payloads;
  const auto pe = static_cast<std::size_t>(issuer.pe);
  --outstanding_[pe];
  transfer = Transfer{};  // what it held ends now
  spare_transfers_.push_back(&transfer);
  if (issuer.on_quiet && is_quiet(issuer)) {
    issuer.on_quiet = false;
    wake(issuer);
  }
  if (outstanding_[pe] == 0) check_host(static_cast<int>(pe));
}

}  // namespace sym::fiber
