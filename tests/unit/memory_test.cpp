// Words of channels: the same whether they have bytes behind them or are kept one by one.
#include "backends/fiber/memory.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace sym::fiber {
namespace {

Bytes word(const Memory& memory, std::size_t offset, std::size_t index, int pe) {
  return memory.resolve(Segment::control, offset + index * sizeof(std::uint64_t),
                        sizeof(std::uint64_t), pe);
}

// 2^26 words on each of 4096 PEs would be two terabytes.
TEST(Memory, ManyWordsAreKeptOneByOne) {
  Memory few(4, false, true), many(4096, false, true);
  const std::size_t here = few.allocate_words(100, 7, "few");
  const std::size_t there = many.allocate_words(std::size_t{1} << 26, 7, "many");
  EXPECT_FALSE(few.sparse(0));
  EXPECT_TRUE(many.sparse(0));
  for (auto [memory, offset] : {std::pair{&few, here}, std::pair{&many, there}}) {
    EXPECT_EQ(memory->own_word(word(*memory, offset, 99, 3)), 7U);
    ++memory->own_word(word(*memory, offset, 99, 3));
    EXPECT_EQ(memory->own_word(word(*memory, offset, 99, 3)), 8U);
    EXPECT_EQ(memory->own_word(word(*memory, offset, 98, 3)), 7U);
    EXPECT_EQ(memory->own_word(word(*memory, offset, 99, 2)), 7U);
    EXPECT_EQ(*memory->word_at(1, 0, 5), 7U);
  }
  EXPECT_THROW((void)word(many, there, std::size_t{1} << 26, 0), Failure);
  many.free(many.space_of(Segment::control, there));
  EXPECT_THROW((void)word(many, there, 0, 0), Failure);
}

}  // namespace
}  // namespace sym::fiber
