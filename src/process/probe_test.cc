// Probe against a socket that this test holds the other end of.
#include "process/probe.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/testing_folder.h"

namespace sluice::process {
namespace probe_test {

constexpr int64_t kMs_ns = 1'000'000;

struct ProbeTest : testing::Test {
  ProbeTest() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    listener = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener.fd(), 5), 0);
  }
  Probe http() { return Probe({.by = HealthBy::http, .path = "/health", .timeout_ms = 100}, {}, path); }
  // What the probe makes of this answer.
  Answer answer_to(const std::string& text) {
    Probe probe = http();
    probe.begin(0);
    Descriptor peer(::accept(listener.fd(), nullptr, nullptr));
    std::array<char, 256> asked{};
    EXPECT_GT(::read(peer.fd(), asked.data(), asked.size()), 0);
    EXPECT_EQ(::write(peer.fd(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    peer.reset();
    for (int i = 0; i < 100 && probe.open(); ++i) probe.look(i * 1000);
    return probe.answer().value_or(Answer{.message = "no answer"});
  }

  TestingFolder folder;
  std::string path = folder.path("socket");
  Descriptor listener;
};

TEST_F(ProbeTest, AsksForThePath) {
  Probe probe = http();
  probe.begin(0);
  Descriptor peer(::accept(listener.fd(), nullptr, nullptr));
  std::array<char, 256> asked{};
  ssize_t got = ::read(peer.fd(), asked.data(), asked.size());
  EXPECT_EQ(std::string(asked.data(), static_cast<size_t>(got)),
            "GET /health HTTP/1.1\r\nHost: localhost\r\nUser-Agent: sluice-health\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(probe.open());
  EXPECT_EQ(probe.events(), POLLIN);
  probe.look(1);
  EXPECT_FALSE(probe.answer());
}

TEST_F(ProbeTest, StatusesFrom200To399AreHealthy) {
  for (const char* status : {"200", "204", "301", "399"}) {
    EXPECT_TRUE(answer_to("HTTP/1.1 " + std::string(status) + " Fine\r\n\r\n").healthy) << status;
  }
  EXPECT_TRUE(answer_to("HTTP/1.0 200 OK\r\n\r\n").healthy);
  EXPECT_EQ(answer_to("HTTP/1.1 503 Busy\r\n\r\n").message, "answered 503 to /health");
  EXPECT_EQ(answer_to("HTTP/1.1 199 \r\n\r\n").message, "answered 199 to /health");
}

TEST_F(ProbeTest, AnythingElseIsNot) {
  EXPECT_EQ(answer_to("SSH-2.0-OpenSSH_9.2\r\n").message, "does not answer in HTTP");
  EXPECT_EQ(answer_to("HTTP/1.1 2x0 Fine\r\n").message, "does not answer in HTTP");
  EXPECT_EQ(answer_to("HTTP/1.1").message, "closed the connection without an answer");
  EXPECT_EQ(answer_to("").message, "closed the connection without an answer");
}

TEST_F(ProbeTest, EndsAtItsDeadline) {
  Probe probe = http();
  probe.begin(5 * kMs_ns);
  EXPECT_EQ(probe.deadline_ns(), 105 * kMs_ns);
  probe.look(104 * kMs_ns);
  EXPECT_TRUE(probe.open());
  probe.look(105 * kMs_ns);
  auto answer = probe.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->message, "did not answer within 100 ms");
  EXPECT_EQ(answer->latency_us, 100'000);
  EXPECT_FALSE(probe.answer()) << "once";
}

TEST_F(ProbeTest, SaysThatNobodyListens) {
  listener.reset();
  Probe probe({.by = HealthBy::tcp}, {}, path);
  probe.begin(0);
  EXPECT_EQ(probe.answer()->message, "refuses connections");
  Probe none({.by = HealthBy::tcp}, {}, folder.path("none"));
  none.begin(0);
  EXPECT_EQ(none.answer()->message, "has no socket yet");
}

TEST_F(ProbeTest, ByTcpAConnectionIsEnough) {
  Probe probe({.by = HealthBy::tcp}, {}, path);
  probe.begin(0);
  EXPECT_TRUE(probe.answer()->healthy);
}

TEST_F(ProbeTest, ByCommandItsOwnerSays) {
  Probe probe({.by = HealthBy::command, .timeout_ms = 100}, {}, "");
  probe.begin(0);
  EXPECT_TRUE(probe.open());
  EXPECT_EQ(probe.fd(), -1);
  probe.command_ended(false, "failed", 1000);
  EXPECT_EQ(probe.answer()->message, "failed");
  probe.command_ended(true, "", 2000);
  EXPECT_FALSE(probe.answer()) << "nobody asked";
}

TEST_F(ProbeTest, AsksAllAtOnceAndAnswersInTheirOrder) {
  std::vector<Probe> probes;
  probes.push_back(http());
  probes.emplace_back(HealthCheck{.by = HealthBy::tcp}, std::nullopt, folder.path("none"));
  probes.emplace_back(HealthCheck{.by = HealthBy::tcp, .timeout_ms = 60'000}, std::nullopt, path);
  auto answers = ask_all(probes);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].message, "did not answer within 100 ms");
  EXPECT_EQ(answers[1].message, "has no socket yet");
  EXPECT_TRUE(answers[2].healthy);
  // More than are asked at once.
  std::vector<Probe> many;
  for (int i = 0; i < 100; ++i) many.emplace_back(HealthCheck{.by = HealthBy::none}, std::nullopt, path);
  EXPECT_EQ(ask_all(many).size(), 100U);
}

}  // namespace probe_test
}  // namespace sluice::process
