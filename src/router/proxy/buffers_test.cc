// Bytes that wait.
#include "router/proxy/buffers.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::router {
namespace buffers_test {

TEST(Buffers, KeepWhatIsAppendedHoweverMuchItIs) {
  Buffers buffers;
  Buffer* buffer = nullptr;
  std::string all;
  for (int i = 0; i < 500; ++i) {
    std::string piece(static_cast<size_t>(i), static_cast<char>('a' + i % 26));
    buffers.append(buffer, piece);
    all += piece;
    if (i % 3 == 0 && buffer->size() > 10) {
      buffer->drop(10);
      all.erase(0, 10);
    }
    ASSERT_EQ(buffer->view(), all);
  }
  EXPECT_EQ(buffers.taken(), 1U);
  buffers.give_up(buffer);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(buffers.taken(), 0U);
}

TEST(Buffers, AreUsedAgain) {
  Buffers buffers;
  Buffer* first = buffers.take(100);
  first->append("abc");
  buffers.give(first);
  Buffer* second = buffers.take(200);
  EXPECT_EQ(second, first);
  EXPECT_EQ(second->view(), "");
  buffers.give(second);
}

TEST(Buffers, HaveTheRoomThatIsAskedFor) {
  Buffers buffers;
  for (size_t size : {1, 480, 481, 8'000, 36'000, 73'696, 500'000}) {
    Buffer* buffer = buffers.take(size);
    EXPECT_GE(buffer->room(), size);
    buffers.give(buffer);
  }
}

}  // namespace buffers_test
}  // namespace sluice::router
