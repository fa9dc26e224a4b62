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

// After a restore: routers and homes may have seen the tokens of the store that was lost.
TEST_F(PostgresStoreTest, ATokenIsRaisedAboveThoseThatWereSeen) {
  auto store = opened();
  ASSERT_TRUE(store->raise_token(1'000'000));
  EXPECT_EQ(store->token(), 1'000'001);
  EXPECT_TRUE(store->commit(step(1, "1")));
  auto newer = opened();
  EXPECT_EQ(newer->token(), 1'000'002);
  EXPECT_FALSE(store->raise_token(2'000'000)) << "it was taken over";
  EXPECT_TRUE(newer->commit(step(2, "2")));
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

// ---------------------------------------------------------------------------------------------------------- the lease

PostgresOptions replica(const std::string& name, int lease_s = 60) {
  return {.name = name, .instance = "instance of " + name, .url = "https://" + name + ".example", .lease_s = lease_s};
}

TEST_F(PostgresStoreTest, WhileOneLeadsNobodyElseOpensIt) {
  EXPECT_FALSE(opened(address(), {.follow = true})->lease()->has_value());
  auto first = opened(address(), replica("east"));
  auto refused = PostgresStore::open(clock, address(), replica("west"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("the replica east leads this store"));
  auto lease = *first->lease();
  EXPECT_EQ(lease->name, "east");
  EXPECT_EQ(lease->url, "https://east.example");
  EXPECT_GT(lease->left_ms, 50'000);
  EXPECT_TRUE(first->renew());
  EXPECT_TRUE(first->commit(step(1, "1")));
}

TEST_F(PostgresStoreTest, WhoResignsMakesRoomAtOnce) {
  auto first = opened(address(), replica("east"));
  const auto token = first->token();
  first->resign();
  EXPECT_LE((*first->lease())->left_ms, 0);
  auto second = opened(address(), replica("west"));
  EXPECT_GT(second->token(), token);
  EXPECT_FALSE(first->commit(step(1, "from the one that resigned")));
}

TEST_F(PostgresStoreTest, TheSameHomeMayTakeItsOwnLeaseAgain) {
  auto killed = opened(address(), replica("east"));
  ASSERT_TRUE(killed->commit(step(1, "1")));
  auto again = opened(address(), replica("east"));
  EXPECT_TRUE(again->commit(step(2, "2")));
  EXPECT_FALSE(killed->renew());
  EXPECT_TRUE(killed->broken());
}

TEST_F(PostgresStoreTest, ALeaseThatLapsedBreaksTheStoreOfItsHolder) {
  auto paused = opened(address(), replica("east", 1));
  auto other = PostgresStore::open(clock, address(), replica("west"));
  while (!other) {
    ASSERT_EQ(other.error().code, Code::conflict);
    other = PostgresStore::open(clock, address(), replica("west"));
  }
  EXPECT_EQ(*paused->lease_left_ms(), 0);
  auto refused = paused->renew();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the lease on the store has lapsed"));
  EXPECT_TRUE(paused->broken());
  EXPECT_FALSE(paused->commit(step(1, "from the one that was paused")));
  EXPECT_TRUE((*other)->commit(step(1, "1")));
}

TEST_F(PostgresStoreTest, AStoreWithLessThanThisHomeSawIsRefusedAndNotTakenOver) {
  uint64_t seen = 0;
  std::string id;
  {
    auto store = opened(address(), replica("east"));
    ASSERT_TRUE(store->commit(step(1, "1")));
    seen = store->batch();
    id = store->id();
    store->resign();
  }
  auto options = replica("west");
  options.seen = seen + 1;
  auto refused = PostgresStore::open(clock, address(), options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("less than it had acknowledged"));
  options.seen = seen;
  options.store_id = std::string(16, 'x');
  EXPECT_EQ(PostgresStore::open(clock, address(), options).error().code, Code::conflict);
  options.store_id = id;
  options.admit = [](const std::string&) -> Result<void> { return Error{.code = Code::denied, .message = "no key"}; };
  EXPECT_EQ(PostgresStore::open(clock, address(), options).error().code, Code::denied);
  EXPECT_EQ((*opened(address(), {.follow = true})->lease())->name, "east");
  options.admit = {};
  EXPECT_TRUE(opened(address(), options));
}

TEST_F(PostgresStoreTest, AFollowerIsListedReadsAndWritesNothing) {
  auto leader = opened(address(), replica("east"));
  ASSERT_TRUE(leader->commit(step(1, "1")));
  auto options = replica("west");
  options.follow = true;
  auto follower = opened(address(), options);
  EXPECT_EQ(value_of(*follower), "1");
  EXPECT_EQ(follower->commit(step(2, "2")).error().code, Code::conflict);
  EXPECT_TRUE(follower->say_here());
  auto all = *follower->replicas();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "east");
  EXPECT_TRUE(all[0].leads);
  EXPECT_EQ(all[1].name, "west");
  EXPECT_FALSE(all[1].leads);
  EXPECT_EQ(all[1].url, "https://west.example");
  EXPECT_TRUE(leader->commit(step(2, "2")));
  follower->resign();
  EXPECT_EQ(leader->replicas()->size(), 1u);
}

TEST_F(PostgresStoreTest, TwoReplicasCannotHaveOneName) {
  auto first = opened(address(), replica("east"));
  auto options = replica("east");
  options.instance = "another home";
  options.follow = true;
  auto refused = PostgresStore::open(clock, address(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("another replica is called east"));
  auto other = *PostgresConnection::open(address());
  ASSERT_TRUE(other->execute("UPDATE sluice.replica SET seen = seen - interval '11 seconds'"));
  EXPECT_TRUE(PostgresStore::open(clock, address(), options));
}

// ---------------------------------------------------------------------------------------------------------- files

TEST_F(PostgresStoreTest, FilesAreKeptInPartsAndTheirRemovalIsRemembered) {
  auto store = opened();
  const std::string one(32, '1'), two(32, '2'), three(32, '3');
  int asked = 0;
  const auto bytes_of = [&](size_t part) -> Result<std::string> {
    ++asked;
    return "bytes of part " + std::to_string(part);
  };
  ASSERT_TRUE(store->keep({.name = "blobs/a", .mode = 0400, .size = 30, .parts = {one, two}}, bytes_of));
  EXPECT_EQ(asked, 2);
  auto first = *store->changed_after(0);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].parts, (std::vector<std::string>{one, two}));
  EXPECT_EQ(first[0].mode, 0400u);
  EXPECT_EQ(*store->part("blobs/a", 1, two), "bytes of part 1");
  ASSERT_TRUE(store->keep({.name = "blobs/a", .mode = 0400, .size = 31, .parts = {one, three}}, bytes_of));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(store->part("blobs/a", 1, two).error().code, Code::not_found);
  auto second = *store->changed_after(first[0].version);
  ASSERT_EQ(second.size(), 1u);
  ASSERT_TRUE(store->drop("blobs/a"));
  auto gone = *store->changed_after(second[0].version);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_TRUE(gone[0].gone);
  EXPECT_EQ(store->part("blobs/a", 0, one).error().code, Code::not_found);
}

TEST_F(PostgresStoreTest, WhoWasTakenOverKeepsNoFileEither) {
  auto paused = opened();
  auto newer = opened();
  auto refused = paused->keep({.name = "keys/k", .parts = {std::string(32, '1')}},
                              [](size_t) -> Result<std::string> { return std::string("old"); });
  ASSERT_FALSE(refused);
  EXPECT_TRUE(newer->changed_after(0)->empty());
}

// ---------------------------------------------------------------------------------------------------------- faults

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
