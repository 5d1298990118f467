// The engine's words: signals that arrive, waits and tests, and verbs that write words as they
// write any memory.
#include <algorithm>
#include <utility>

#include "backends/fiber/engine.hpp"
#include "backends/fiber/own_words.hpp"
#include "backends/fiber/tracer.hpp"

namespace sym::fiber {

namespace {
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

void mark(std::vector<char>& words, int at, Words kind) {
  const auto space = static_cast<std::size_t>(at);
  if (space >= words.size()) words.resize(space + 1, 0);
  if (words[space] != static_cast<char>(Words::own)) words[space] = static_cast<char>(kind);
}
}  // namespace

void refuse_own_words(Engine& engine, const std::vector<char>& words, const Bytes& dst) {
  if (dst.size == 0 || !engine.holds_words(dst.space)) return;
  const bool own = words[static_cast<std::size_t>(dst.space)] == static_cast<char>(Words::own);
  if (!own || engine.mutation() != nullptr) return;  // mutants count in them, as their verbs would
  const bool by_host = engine.current().block < 0;
  engine.refuse((by_host ? "a host" : "a " + std::string(to_string(engine.current().step.verb))) +
                " writes " + engine.memory().name(dst.space) +
                ", which a PE keeps for itself; only the verbs of its table may");
}

// A host tells of words that it has just made, and that verbs of blocks alone write.
void Engine::control(const Bytes& bytes, bool write) {
  if (current_->block < 0) {
    mark(holds_words_, bytes.space, Words::own);
  } else if (observer_ != nullptr) {
    observer_->control(*current_, bytes, write);
  }
}

Word& Engine::word(const WordId& id) {
  auto& word = words_[static_cast<std::size_t>(id.pe)][key_of(id)];
  if (word == nullptr) {
    word = std::make_unique<Word>(id, memory_.word_at(id.pe, id.space, id.index));
    mark(holds_words_, id.space, Words::signals);
    word->history.reset = plain_writes_.last(id);
    word->history.reset.value = word->value();
  }
  return *word;
}

std::vector<Word*> Engine::words_in(const Bytes& bytes) const {
  std::vector<Word*> found;
  if (bytes.size == 0 || !holds_words(bytes.space)) return found;
  const auto& words = words_[static_cast<std::size_t>(bytes.pe)];
  const std::size_t first = bytes.begin / word_bytes;
  const std::size_t last = (bytes.end() - 1) / word_bytes;
  if (last - first < words.size()) {
    for (std::size_t index = first; index <= last; ++index) {
      const auto word = words.find(key_of(bytes.space, index));
      if (word != words.end()) found.push_back(word->second.get());
    }
    return found;
  }
  for (const auto& [key, word] : words) {
    const WordId& id = word->history.id;
    if (id.space == bytes.space && id.index >= first && id.index <= last)
      found.push_back(word.get());
  }
  std::sort(found.begin(), found.end(),
            [](const Word* a, const Word* b) { return a->history.id.index < b->history.id.index; });
  return found;
}

void Engine::free(Segment segment, std::size_t offset) {
  check_memory();
  const int space = memory_.space_of(segment, offset);
  for (auto& words : words_) {
    if (!holds_words(space)) break;
    for (auto& [key, word] : words) {
      if (word->history.id.space == space) word->leave_memory();
    }
  }
  memory_.free(space);
}

// Of control memory that a host has written, with counters to begin with, all later writes too.
bool Engine::notes_writes(int space, bool of_host) const {
  return plain_writes_.in(space) || (of_host && memory_.is_control(space));
}

void Engine::begin_write(const Bytes& bytes, bool adds, const Transfer* transfer) {
  refuse_own_words(*this, holds_words_, bytes);
  const Agent& agent = transfer != nullptr ? *transfer->issuer : *current_;
  const Step& step = transfer != nullptr ? transfer->step : agent.step;
  const int launch = transfer != nullptr ? transfer->launch : agent.launch;
  const History::Touch touch{agent.id, launch, step.verb, step.site, 0, false};
  if (notes_writes(bytes.space, agent.block < 0)) plain_writes_.note(bytes, touch);
  for (Word* word : words_in(bytes)) {
    word->writer = touch;
    word->added = adds && (!word->written || word->added);
    if (std::exchange(word->written, true)) continue;
    word->before = word->value();
    written_.push_back(word);
  }
}

void Engine::end_writes(const Transfer* transfer) {
  if (written_.empty()) return;
  Agent& agent = transfer != nullptr ? *transfer->issuer : *current_;
  for (Word* word : std::exchange(written_, {})) {
    word->written = false;
    rewritten(*word, agent, transfer);
  }
}

void Engine::rewritten(Word& word, Agent& agent, const Transfer* transfer) {
  word.writer.value = word.value();
  if (word.added) {
    word.history.updated(word.writer);
  } else {
    word.history.restarted(word.writer);
    set_back_ = true;
  }
  if (observer_ != nullptr) {
    observer_->word_written(agent, transfer, word, word.before, word.added);
  }
  wake_reached(word);
}

void Engine::wake_reached(Word& word) {
  for (std::size_t i = 0; i < word.waiters.size();) {
    const Word::Waiter waiter = word.waiters[i];
    if (!word.reached(waiter.target, waiter.shift)) {
      ++i;
      continue;
    }
    word.waiters.erase(word.waiters.begin() + static_cast<std::ptrdiff_t>(i));
    waiter.agent->incoming -= word.pending.size();  // it no longer waits for these
    if (--waiter.agent->missing == 0) wake(*waiter.agent);
  }
}

void Engine::arrive(Transfer& transfer) {
  if (options_.tracer != nullptr) options_.tracer->delivered(transfer);
  changed();
  Word& word = *transfer.word;
  word.pending.erase(std::find(word.pending.begin(), word.pending.end(), &transfer));
  for (const Word::Waiter& waiter : word.waiters) --waiter.agent->incoming;
  const std::uint64_t before = word.value();
  const bool stale = transfer.sets && has_come(before, transfer.amount, 0);
  if (!stale) word.set(transfer.sets ? transfer.amount : before + transfer.amount);
  word.history.updated({transfer.issuer->id, transfer.launch, transfer.step.verb,
                        transfer.step.site, word.value(), stale});
  if (observer_ != nullptr) observer_->signalled(transfer);
  wake_reached(word);
}

// Until every word has been reached at once. Who is about to go on is not there yet: if a word is
// set back by then, it has seen nothing.
void Engine::wait(std::vector<Want>& wants) {
  Agent& agent = *current_;
  do {
    await_words(agent, wants);
    block_while(agent, agent.missing > 0);
    agent.words.clear();
  } while (are_set_back(agent, wants));
  // They were all looked at before any of them gave what it brings.
  for (const Want& want : wants) {
    if (observer_ == nullptr) break;
    observer_->word_read(agent, *want.word, want.value, want.shift, want.consume);
  }
  for (const Want& want : wants) acquire(agent, want);
}

bool Engine::are_set_back(Agent& agent, const std::vector<Want>& wants) {
  if (!set_back_) return false;
  for (const Want& want : wants) {
    if (want.word->reached(want.value, want.shift)) continue;
    if (observer_ != nullptr)
      observer_->word_read(agent, *want.word, want.value, want.shift, false);
    return true;
  }
  return false;
}

void Engine::await_words(Agent& agent, std::vector<Want>& wants) {
  agent.words.clear();
  for (Want& want : wants) {
    Word& word = this->word(want.id);
    want.word = &word;
    word.history.awaits(want.value, want.shift);
    if (word.reached(want.value, want.shift)) continue;
    word.waiters.push_back({&agent, want.value, want.shift});
    agent.words.emplace_back(want.id, &word);
    ++agent.missing;
    agent.incoming += word.pending.size();
  }
}

// The wait is over: the observer decides what it acquires.
void Engine::acquire(Agent& agent, const Want& want) {
  Word& word = *want.word;
  word.history.met = word.history.highest(word.history.met, want.value);
  if (want.consume) {
    word.history.taker = {agent.id,        agent.launch, agent.step.verb,
                          agent.step.site, want.value,   false};
    changed();
  }
  if (observer_ != nullptr && !hides(Change::no_acquire)) {
    observer_->waited(agent, word, want.value, want.shift, want.consume);
  }
}

std::uint64_t Engine::test(const WordId& id) {
  Word& word = this->word(id);
  word.history.tested = true;
  if (observer_ != nullptr) {
    observer_->word_read(*current_, word, 0, 0, false);
    if (!hides(Change::no_acquire)) observer_->waited(*current_, word, word.value(), 0, false);
  }
  looked(&word, word.value());
  current_->polls = &word;
  return word.value();
}

void Engine::looked(const void* place, std::uint64_t value) {
  Agent& agent = *current_;
  agent.polls = nullptr;
  const auto [last, first_time] = agent.looked.try_emplace(place, value);
  if (!first_time && last->second == value) {
    ++agent.looks_in_vain;
  } else {
    agent.looks_in_vain = 0;
    last->second = value;
  }
}

}  // namespace sym::fiber
