// Texts and descriptors arrive whole, and the end of the other side is told.
#include "router/channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace sluice::router {
namespace channel_test {

TEST(Channel, CarriesTextsAndDescriptors) {
  auto ends = make_channel();
  ASSERT_TRUE(ends);
  EXPECT_FALSE(hear(ends->second));
  EXPECT_TRUE(tell(ends->first, "yield"));
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  EXPECT_TRUE(tell(ends->first, "yielded", pipe[0]));
  EXPECT_EQ(hear(ends->second)->text, "yield");
  auto heard = hear(ends->second);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->text, "yielded");
  ASSERT_EQ(::write(pipe[1], "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(heard->passed, &byte, 1), 1) << "it is the same pipe";
  ::close(ends->first);
  heard = hear(ends->second);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->text, "");
  EXPECT_FALSE(tell(ends->second, "serving"));
  for (int fd : {pipe[0], pipe[1], heard->passed, ends->second}) ::close(fd);
}

}  // namespace channel_test
}  // namespace sluice::router
