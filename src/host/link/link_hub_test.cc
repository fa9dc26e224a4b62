// A router at the other end of a connection looks like one of this home.
#include "host/link/link_hub.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <boost/json.hpp>
#include <future>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "router/control_client.h"

namespace sluice::host {
namespace link_hub_test {

namespace json = boost::json;

// The router's end.
struct FarEnd {
  explicit FarEnd(http::Socket socket) : connection(std::move(socket), nullptr) {}
  void say(LinkKind kind, uint32_t stream, std::string_view bytes) {
    connection.send(link_frame(kind, stream, bytes));
    ASSERT_TRUE(connection.flush());
  }
  // The next frame of that kind; what comes before it is passed over.
  LinkFrame await(LinkKind kind) {
    while (true) {
      auto frame = reader.take();
      if (frame && *frame && (*frame)->kind == kind) return **std::move(frame);
      if (frame && *frame) continue;
      pollfd ready{connection.fd(), POLLIN, 0};
      if (::poll(&ready, 1, 20'000) <= 0 || connection.read(reader.input()) == http::HeldConnection::Read::ended) {
        return {};
      }
    }
  }

  http::HeldConnection connection;
  LinkReader reader;
};

struct Hub : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(home.folder("router"));
    start({});
  }
  void start(const std::vector<JoinedRouter>& joined) {
    hub.reset();
    hub = LinkHub::start({.disk = disk,
                          .home = home,
                          .clock = clock,
                          .key = [this] { return crypto::PrivateKey::from_seed(seed); },
                          .token = 7,
                          .urls = [] { return std::vector<std::string>{"https://east.example:8443"}; },
                          .log = [](const std::string&) {}},
                         joined)
              .value();
  }
  std::unique_ptr<FarEnd> linked(const std::string& name) {
    auto ends = http::socket_pair().value();
    hub->take({.name = name, .router = "01J00000000000000000000001", .environment = "prod", .machine = "mill"},
              std::make_unique<http::HeldConnection>(std::move(ends.first), nullptr), "");
    auto far = std::make_unique<FarEnd>(std::move(ends.second));
    far->say(LinkKind::hello, 0, R"({"version":"1","listen":["10.0.0.2:80"],"files":{"token":0,"version":0}})");
    return far;
  }
  std::string control(const std::string& name) { return (home.root() / "router" / name / "control.sock").string(); }
  json::value record(const std::string& name) {
    auto text = read_file(disk, (home.root() / "router" / name / "router.json").string(), 1 << 20);
    return text ? parse_json(*text)->root : json::value();
  }

  RealDisk disk;
  TestingFolder folder;
  Home home{disk, folder.path("h")};
  RealClock clock;
  std::array<uint8_t, 32> seed{1};
  std::unique_ptr<LinkHub> hub;
};

TEST_F(Hub, WhoeverAsksTheRouterHereIsAnsweredByTheOneThere) {
  auto far = linked("edge");
  EXPECT_EQ(far->await(LinkKind::urls).bytes, R"(["https://east.example:8443"])");
  far->await(LinkKind::files);
  EXPECT_EQ(record("edge").at("environment"), "prod");
  EXPECT_EQ(record("edge").at("machine"), "mill");
  auto asking = std::async(std::launch::async, [&] {
    return router::ControlClient::connect(control("edge"), 20'000)->ask({{"op", "stats"}}).value();
  });
  const LinkFrame asked = far->await(LinkKind::data);
  EXPECT_EQ(asked.bytes, "{\"op\":\"stats\"}\n");
  far->say(LinkKind::data, asked.stream, "{\"ok\":true,\"gene");
  far->say(LinkKind::data, asked.stream, "ration\":12}\n");
  EXPECT_EQ(asking.get().at("generation"), 12);
  EXPECT_EQ(far->await(LinkKind::end).stream, asked.stream);
}

TEST_F(Hub, CertificatesGoBeforeWhatAsksForThem) {
  auto far = linked("edge");
  far->await(LinkKind::files);
  auto asking = std::async(std::launch::async, [&] {
    return router::ControlClient::connect(control("edge"), 20'000)->ask({{"op", "certificates"}}).value();
  });
  const LinkFrame files = far->await(LinkKind::files);
  EXPECT_NE(files.bytes.find("statement"), std::string::npos);
  const LinkFrame asked = far->await(LinkKind::data);
  far->say(LinkKind::data, asked.stream, "{\"ok\":true}\n");
  EXPECT_EQ(asking.get().at("ok"), true);
}

TEST_F(Hub, CertificatesThatChangeAreSentUnasked) {
  auto far = linked("edge");
  far->await(LinkKind::files);
  const auto tls = home.folder("tls").value();
  ASSERT_TRUE(disk.make_folder((tls / "shop.example").string(), 0700));
  for (const char* file : {"chain.pem", "key.pem"}) {
    ASSERT_TRUE(write_atomically(disk, (tls / "shop.example" / file).string(), "new", 0600));
  }
  EXPECT_NE(far->await(LinkKind::files).bytes.find("shop.example"), std::string::npos);
}

TEST_F(Hub, OneThatGoesLeavesItsRecordAndNobodyAtItsSocket) {
  auto far = linked("edge");
  far->await(LinkKind::files);
  auto asking = std::async(std::launch::async, [&] {
    return router::ControlClient::connect(control("edge"), 20'000)->ask({{"op", "stats"}});
  });
  far->await(LinkKind::data);
  far.reset();
  EXPECT_FALSE(asking.get());  // at once: nobody waits for one that has gone
  start({});                   // which ends the one before, and all that it had open
  EXPECT_FALSE(disk.exists(control("edge")).value());
  EXPECT_TRUE(record("edge").is_object());
}

TEST_F(Hub, OneThatHasJoinedIsMissedFromTheBeginning) {
  start({{.name = "core", .router = "01J00000000000000000000002", .environment = "prod", .machine = "ant"}});
  EXPECT_EQ(record("core").at("router"), "01J00000000000000000000002");
  EXPECT_FALSE(disk.exists(control("core")).value());
}

TEST_F(Hub, ANewConnectionOfTheSameRouterTakesThePlaceOfTheOld) {
  auto before = linked("edge");
  before->await(LinkKind::files);
  auto after = linked("edge");
  after->await(LinkKind::files);
  EXPECT_EQ(before->await(LinkKind::files).kind, LinkKind::beat);  // it was closed
  auto asking = std::async(std::launch::async, [&] {
    return router::ControlClient::connect(control("edge"), 20'000)->ask({{"op", "stats"}}).has_value();
  });
  after->say(LinkKind::data, after->await(LinkKind::data).stream, "{\"ok\":true}\n");
  EXPECT_TRUE(asking.get());
}

TEST_F(Hub, OneThatSendsNoFramesIsCutOff) {
  auto ends = http::socket_pair().value();
  hub->take({.name = "odd", .router = "01J00000000000000000000003"},
            std::make_unique<http::HeldConnection>(std::move(ends.first), nullptr), "GET / HTTP/1.1\r\n");
  FarEnd far(std::move(ends.second));
  EXPECT_EQ(far.await(LinkKind::files).kind, LinkKind::beat);
  EXPECT_FALSE(disk.exists(control("odd")).value());
}

}  // namespace link_hub_test
}  // namespace sluice::host
