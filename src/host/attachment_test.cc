// Both sides of an attached command, over a socket pair.
#include "host/attachment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/testing_wait.h"

namespace sluice::host {
namespace attachment_test {

using process::Attached;
using process::Descriptor;

struct Ends {
  Descriptor ours, theirs;
};

Ends pair_of() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Ends pipe_of() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string all_of(int fd) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t got = 0; (got = ::read(fd, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<size_t>(got));
  }
  return text;
}

struct Attachments : testing::Test {
  Attachments() : connection(pair_of()), in(pipe_of()), out(pipe_of()), err(pipe_of()), stop(pipe_of()) {}
  ~Attachments() override {
    connection.ours.reset();
    if (server.joinable()) server.join();
  }
  void serve(const std::string& script) {
    auto started = Attached::start({"/bin/sh", "-c", script}, {});
    ASSERT_TRUE(started) << to_string(started.error());
    command.emplace(*std::move(started));
    server = std::thread([this] {
      serve_command(*command, connection.theirs.fd(), "", stop.ours.fd());
      command.reset();
      connection.theirs.reset();
    });
  }
  Result<int> attach_with(const std::string& input) {
    EXPECT_EQ(::write(in.theirs.fd(), input.data(), input.size()), static_cast<ssize_t>(input.size()));
    in.theirs.reset();
    auto code = attach(connection.ours.fd(), "", {.in = in.ours.fd(), .out = out.theirs.fd(), .err = err.theirs.fd()});
    out.theirs.reset();
    err.theirs.reset();
    return code;
  }

  Ends connection, in, out, err, stop;  // of pipes: ours reads, theirs writes
  std::optional<Attached> command;
  std::thread server;
};

TEST_F(Attachments, InputOutputErrorsAndExitCodePass) {
  serve("cat; echo wrong >&2; exit 42");
  auto code = attach_with("tea\n");
  ASSERT_TRUE(code) << to_string(code.error());
  EXPECT_EQ(*code, 42);
  EXPECT_EQ(all_of(out.ours.fd()), "tea\n");
  EXPECT_EQ(all_of(err.ours.fd()), "wrong\n");
}

TEST_F(Attachments, MuchIsPassedWholeAndInOrder) {
  serve("seq 1 200000");
  std::string said;
  std::thread reader([&] { said = all_of(out.ours.fd()); });
  auto code = attach_with("");
  reader.join();
  ASSERT_TRUE(code) << to_string(code.error());
  std::string wanted;
  for (int i = 1; i <= 200000; ++i) wanted += std::to_string(i) + "\n";
  EXPECT_TRUE(said == wanted);
}

TEST_F(Attachments, ACommandThatReadsNothingIsNoObstacle) {
  serve("exec 0<&-; echo done");
  auto code = attach_with(std::string(60'000, 'x'));
  ASSERT_TRUE(code) << to_string(code.error());
  EXPECT_EQ(all_of(out.ours.fd()), "done\n");
}

TEST_F(Attachments, TheCommandEndsWithTheConnection) {
  serve("exec sleep 1000");
  connection.ours.reset();
  server.join();
}

TEST_F(Attachments, TheCommandEndsWhenTheServerStops) {
  serve("exec sleep 1000");
  ASSERT_EQ(::write(stop.theirs.fd(), "x", 1), 1);
  EXPECT_EQ(attach_with("").error().code, Code::unavailable);
}

TEST_F(Attachments, WhateverIsNoFrameEndsTheCommand) {
  serve("exec sleep 1000");
  const std::string nonsense = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(connection.ours.fd(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(nonsense.size()));
  server.join();
}

TEST(FrameReaders, TakeFramesAsTheyCome) {
  FrameReader reader(frame_of('i', "ab") + frame_of('i', "").substr(0, 3));
  auto first = reader.next();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->kind, 'i');
  EXPECT_EQ((*first)->bytes, "ab");
  EXPECT_FALSE(*reader.next());
  reader.add(std::string(2, '\0'));
  EXPECT_EQ((*reader.next())->bytes, "");
  reader.add(std::string("i\x7f\0\0\0", 5));
  EXPECT_EQ(reader.next().error().message, "a frame has too many bytes");
}

}  // namespace attachment_test
}  // namespace sluice::host
