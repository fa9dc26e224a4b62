// The store in PostgreSQL: what every store must do, and what happens when somebody else opens it or its wire is cut.
// SLUICE_TEST_POSTGRES has the address of a server that the test may use as it likes, SLUICE_TEST_SOCKET its socket.
#include "store/postgres_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "store/postgres_connection.h"
#include "store/store_conformance.h"

namespace sluice::store::postgres {
namespace {

using testing::HasSubstr;

RealClock clock;  // of the stores under test

std::string address() {
  const char* given = std::getenv("SLUICE_TEST_POSTGRES");
  return given ? given : "";
}

void empty() {
  auto connection = PostgresConnection::open(address());
  ASSERT_TRUE(connection) << connection.error().message;
  ASSERT_TRUE((*connection)->execute("DROP SCHEMA IF EXISTS sluice CASCADE"));
}

std::unique_ptr<PostgresStore> opened(const std::string& at = address(), PostgresOptions options = {}) {
  auto store = PostgresStore::open(clock, at, options);
  EXPECT_TRUE(store) << (store ? "" : store.error().message);
  return store ? std::move(*store) : nullptr;
}

Batch step(uint64_t seq, const std::string& value) {
  return {.journal = {{.seq = seq, .flow = test_id(1), .record = "r" + value}},
          .state = {{.rel = "A", .key = "k", .generation = seq, .seq = seq, .value = value}}};
}

std::string value_of(Store& store) {
  auto row = (*store.read())->get("A", "k");
  return row && *row ? (*row)->value : "nothing";
}

class PostgresStoreTest : public testing::Test {
 protected:
  void SetUp() override { empty(); }
};

TEST_F(PostgresStoreTest, WhatWasCommittedIsThereWhenItIsOpenedAgain) {
  {
    auto store = opened();
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->commit(step(1, "1")));
  }
  auto store = opened();
  EXPECT_EQ(value_of(*store), "1");
  EXPECT_EQ((*store->read())->position(), 1u);
  EXPECT_TRUE(store->commit(step(2, "2")));
}

TEST_F(PostgresStoreTest, WhoeverOpenedItBeforeCanWriteNothing) {
  auto paused = opened();
  ASSERT_TRUE(paused->commit(step(1, "1")));
  auto newer = opened();
  auto refused = paused->commit(step(2, "from the paused one"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("another process has opened this store"));
  EXPECT_TRUE(paused->broken());
  EXPECT_FALSE(paused->read());
  EXPECT_EQ(value_of(*newer), "1");
  EXPECT_TRUE(newer->commit(step(2, "2")));
  EXPECT_EQ(value_of(*newer), "2");
}

TEST_F(PostgresStoreTest, AFormatThatIsNotKnownIsRefused) {
  opened();
  auto connection = *PostgresConnection::open(address());
  ASSERT_TRUE(connection->execute("UPDATE sluice.fence SET format = 99"));
  auto store = PostgresStore::open(clock, address());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::invalid);
}

TEST_F(PostgresStoreTest, AnAddressShowsNoPassword) {
  auto store = PostgresStore::open(clock, "postgresql://nobody:pq-s3cret-word@/none?host=/nowhere");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::unavailable);
  EXPECT_THAT(store.error().message, testing::Not(HasSubstr("pq-s3cret-word")));
  EXPECT_EQ(PostgresStore::open(clock, "postgresql://a:pq-s3cret-word@[/x").error().code, Code::invalid);
}

TEST_F(PostgresStoreTest, AServerThatWentBackIsRefused) {
  auto store = opened();
  ASSERT_TRUE(store->commit(step(1, "1")));
  ASSERT_TRUE(store->commit(step(2, "2")));
  auto other = *PostgresConnection::open(address());
  ASSERT_TRUE(other->execute("UPDATE sluice.fence SET batch = batch - 1"));
  ASSERT_TRUE(
      other->execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice' AND pid "
                     "<> pg_backend_pid()"));
  auto refused = store->commit(step(3, "3"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("less than it had acknowledged"));
  EXPECT_TRUE(store->broken());
}

// Passes everything on between a client and the server, until it is told to cut.
class Relay {
 public:
  Relay() {
    char made[] = "/tmp/pgXXXXXX";
    folder_ = mkdtemp(made);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    auto at = named(folder_ + "/.s.PGSQL.5432");
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~Relay() {
    ending_ = true;
    thread_.join();
    close(listener_);
    unlink((folder_ + "/.s.PGSQL.5432").c_str());
    rmdir(folder_.c_str());
  }

  std::string address() const {
    auto text = postgres::address();
    return text.substr(0, text.find("host=") + 5) + folder_;
  }
  // The next answer of the server to what asks for `word` is dropped, and all wires with it.
  void cut_answer_to(const std::string& word) { word_ = word, cut_ = Cut::answer; }
  // The next request that has `word` is dropped before the server sees it.
  void cut_request(const std::string& word) { word_ = word, cut_ = Cut::request; }

 private:
  enum class Cut { none, answer, request, answer_is_due };

  static sockaddr_un named(const std::string& path) {
    sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    return at;
  }

  void run() {
    std::vector<std::pair<int, int>> wires;  // client, server
    std::vector<char> bytes(1 << 16);
    while (!ending_) {
      std::vector<pollfd> polled{{listener_, POLLIN, 0}};
      for (const auto& [client, server] : wires) {
        polled.push_back({client, POLLIN, 0});
        polled.push_back({server, POLLIN, 0});
      }
      if (poll(polled.data(), polled.size(), 20) <= 0) continue;
      bool cut = false;
      for (size_t index = 1; index < polled.size() && !cut; ++index) {
        if (polled[index].revents == 0) continue;
        const bool from_client = index % 2 == 1;
        auto& [client, server] = wires[(index - 1) / 2];
        const auto got = read(polled[index].fd, bytes.data(), bytes.size());
        if (got <= 0) {
          close(client), close(server);
          wires.erase(wires.begin() + static_cast<long>((index - 1) / 2));
          break;
        }
        const std::string_view text(bytes.data(), static_cast<size_t>(got));
        if (from_client && cut_ == Cut::request && text.find(word_) != text.npos) cut = true;
        if (!from_client && cut_ == Cut::answer_is_due) cut = true;
        if (from_client && cut_ == Cut::answer && text.find(word_) != text.npos) cut_ = Cut::answer_is_due;
        if (!cut) {
          EXPECT_EQ(write(from_client ? server : client, bytes.data(), text.size()), got);
        }
      }
      if (cut) {
        cut_ = Cut::none;
        for (const auto& [client, server] : wires) close(client), close(server);
        wires.clear();
        continue;
      }
      if (polled[0].revents != 0) {
        const int client = accept(listener_, nullptr, nullptr);
        const int server = socket(AF_UNIX, SOCK_STREAM, 0);
        auto at = named(std::getenv("SLUICE_TEST_SOCKET"));
        EXPECT_EQ(connect(server, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
        wires.emplace_back(client, server);
      }
    }
    for (const auto& [client, server] : wires) close(client), close(server);
  }

  std::string folder_, word_;
  int listener_ = -1;
  std::atomic<Cut> cut_{Cut::none};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

TEST_F(PostgresStoreTest, ACommitWhoseAnswerIsLostIsFoundToBeThere) {
  Relay relay;
  auto store = opened(relay.address());
  ASSERT_TRUE(store->commit(step(1, "1")));
  relay.cut_answer_to("COMMIT");
  auto done = store->commit(step(2, "2"));
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  EXPECT_EQ(value_of(*store), "2");
  EXPECT_TRUE(store->commit(step(3, "3")));
  EXPECT_EQ(value_of(*store), "3");
}

TEST_F(PostgresStoreTest, ACommitThatNeverReachedTheServerHasNotHappened) {
  Relay relay;
  auto store = opened(relay.address());
  ASSERT_TRUE(store->commit(step(1, "1")));
  relay.cut_request("COMMIT");
  auto done = store->commit(step(2, "2"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unavailable);
  EXPECT_FALSE(store->broken());
  EXPECT_EQ(value_of(*store), "1");
  EXPECT_TRUE(store->commit(step(2, "two")));
  EXPECT_EQ(value_of(*store), "two");
}

TEST_F(PostgresStoreTest, AnAnswerThatNobodyCanGiveBreaksTheStore) {
  auto relay = std::make_unique<Relay>();
  auto store = opened(relay->address(), {.patience_s = 1});
  relay.reset();
  auto done = store->commit(step(1, "1"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unavailable);
  EXPECT_TRUE(store->broken());
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreConformance,
                         testing::Values(StoreMaker{"postgres",
                                                    [] {
                                                      empty();
                                                      return StoreUnderTest{.ground = nullptr, .store = opened()};
                                                    }}),
                         [](const auto& made) { return made.param.name; });

}  // namespace
}  // namespace sluice::store::postgres
