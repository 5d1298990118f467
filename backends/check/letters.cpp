#include "backends/check/letters.hpp"

namespace sym::check {

void Letters::sent(const fiber::WordId& flag, LetterRef letter) {
  Row& row = rows_[key(flag)];
  row.sent[0] = std::exchange(row.sent[1], std::move(letter));
}

void Letters::received(const fiber::WordId& flag, std::uint64_t epoch) {
  const auto row = rows_.find(key(flag));
  if (row == rows_.end()) return;
  for (const LetterRef& letter : row->second.sent) {
    if (letter != nullptr && letter->epoch == epoch) row->second.received = letter;
  }
}

LetterRef Letters::answer(const fiber::WordId& flag) const {
  fiber::WordId back = flag;  // the table is the same on all PEs
  back.index = flag.index - static_cast<std::size_t>(flag.lane) + static_cast<std::size_t>(flag.pe);
  back.pe = flag.lane;
  const auto row = rows_.find(key(back));
  return row == rows_.end() ? nullptr : row->second.received;
}

std::size_t Letters::bytes() const {
  constexpr std::size_t row = sizeof(Row) + sizeof(Key) + 2 * sizeof(Letter) + 64;
  return rows_.size() * row;
}

}  // namespace sym::check
