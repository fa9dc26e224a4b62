// Publications taken apart, and what a node gets who shows who it is.
#include "mesh/config_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/base64.h"
#include "mesh/agent.h"
#include "mesh/mesh_folder.h"
#include "mesh/proof.h"

namespace sluice::mesh {
namespace config_server_test {

using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

struct ConfigServer : testing::Test {
  RealDisk disk;
  TestingFolder place;
  std::string folder = place.path("acme");
  std::map<std::string, ServedNode> served;
  std::string revoked;
  std::vector<NodeReport> reports;
  std::map<std::string, std::map<std::string, std::string>> identities;

  ConfigServer() {
    EXPECT_TRUE(begin_folder(disk, folder, "acme"));
    EXPECT_TRUE(make_keys(disk, folder, kNow));
    sign();
    auto made = publishing();
    EXPECT_TRUE(made) << made.error().message;
    served = made->nodes;
    auto work = compile_folder(disk, folder, kNow);
    for (const char* node : {"web", "hub"})
      identities[node] = enrolment_of(disk, folder, *work, node, kNow).value().identity;
  }
  void sign() {
    auto work = compile_folder(disk, folder, kNow);
    ASSERT_TRUE(work && work->faults.empty());
    ASSERT_TRUE(sign_folder(disk, folder, folder, *work));
  }
  void replace(std::string_view old, std::string_view now) {
    std::string all = read_file(disk, folder + "/access.yaml", 1 << 20).value();
    all.replace(all.find(old), old.size(), now);
    ASSERT_TRUE(write_atomically(disk, folder + "/access.yaml", all, 0644));
    sign();
  }
  Publication publication() { return publication_of(read_tree(disk, folder + "/compiled").value()).value(); }
  Result<Publishing> publishing() { return publishing(publication()); }
  Result<Publishing> publishing(const Publication& publication) {
    return read_publication(write(to_json(publication)), [&](const std::string& node) {
      const auto known = served.find(node);
      return known == served.end() ? std::nullopt : std::optional(known->second.document);
    });
  }
  http::Response ask(const std::string& who, const std::string& target, const std::string& method = "GET",
                     const std::string& body = "", int64_t at_ms = kNow) {
    http::Request request{.method = method, .target = target, .body = body};
    EXPECT_TRUE(http::take_target_apart(request));
    const auto& own = identities.at(who);
    const auto key = crypto::PrivateKey::from_pem(own.at("certs/node." + who + ".key")).value();
    request.headers = {{std::string(kCertificateHeader), crypto::to_base64(own.at("certs/node." + who + ".crt"))},
                       {std::string(kProofHeader),
                        prove({.trust_domain = "acme", .method = method, .target = target, .body = body}, key, at_ms)}};
    return answer_node(request, shelf(), kNow);
  }
  NodeShelf shelf() {
    return {.find = [this](const std::string& mesh, const std::string& node) -> Result<std::optional<KnownNode>> {
              const auto known = served.find(node);
              if (mesh != "acme" || known == served.end()) return std::optional<KnownNode>();
              return std::optional(KnownNode{.authority = read_file(disk, folder + "/certs/ca.crt", 1 << 20).value(),
                                             .served = known->second,
                                             .revoked = revoked});
            },
            .report = [this](const std::string&, const std::string&, const NodeReport& report) -> Result<void> {
              reports.push_back(report);
              return {};
            }};
  }
};

TEST_F(ConfigServer, ANodeGetsItsOwnSetWhenThereIsNews) {
  auto answer = ask("web", "/artifact/mgmt/web?have=0");
  ASSERT_EQ(answer.status, 200) << answer.body;
  auto fetched = parse_served(answer.body);
  ASSERT_TRUE(fetched) << fetched.error().message;
  for (const Artifact& each : fetched->artifacts) EXPECT_EQ(each.envelope.node, "web");
  EXPECT_EQ(fetched->chain.size(), 1U);
  EXPECT_EQ(ask("web", "/artifact/mgmt/web?have=1").status, 304);
  EXPECT_EQ(ask("web", "/artifact/ctrl/web").status, 200);
  EXPECT_EQ(ask("web", "/artifact/mgmt/web?have=x").status, 400);
}

TEST_F(ConfigServer, NothingForOthers) {
  EXPECT_EQ(ask("web", "/artifact/mgmt/hub").status, 403);
  EXPECT_EQ(ask("web", "/artifact/mgmt/none").status, 404);
  EXPECT_EQ(ask("web", "/artifact/mgmt/web", "GET", "", kNow - kProofValid_ms - 1).status, 401);
  http::Request bare{.method = "GET", .target = "/artifact/mgmt/web"};
  ASSERT_TRUE(http::take_target_apart(bare));
  EXPECT_EQ(answer_node(bare, shelf(), kNow).status, 401);
  EXPECT_EQ(ask("web", "/artifact/other/web").status, 404);
  EXPECT_EQ(ask("web", "/artifact/mgmt/web", "POST").status, 405);
  revoked = "lost";
  EXPECT_THAT(ask("web", "/artifact/mgmt/web").body, HasSubstr("revoked: lost"));
}

TEST_F(ConfigServer, TakesReports) {
  const std::string body =
      R"({"version":1,"ctrl":{"rete":1},"active":"v1","pending":false,"rejected":false,"trouble":""})";
  EXPECT_EQ(ask("web", "/artifact/report/web", "POST", body).status, 200);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].version, 1U);
  EXPECT_EQ(ask("web", "/artifact/report/web", "POST", "{}").status, 400);
  EXPECT_EQ(ask("web", "/artifact/report/hub", "POST", body).status, 403);
}

// A lower version is refused, the identical one is accepted.
TEST_F(ConfigServer, Florete23VersionsOnlyGrow) {
  const auto before = served;
  EXPECT_TRUE(check_newer("web", before.at("web"), publishing()->nodes.at("web")));
  replace("127.0.0.1:8000", "127.0.0.1:8001");
  auto made = publishing();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->nodes.at("web").version, 2U);
  EXPECT_TRUE(check_newer("web", before.at("web"), made->nodes.at("web")));
  auto back = check_newer("web", made->nodes.at("web"), before.at("web"));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, Code::conflict);
  EXPECT_THAT(back.error().message, HasSubstr("mgmt version 1 of web is older than version 2"));
  ServedNode other = before.at("web");
  other.document.replace(other.document.find("127.0.0.1:8000"), 14, "127.0.0.1:9999");
  EXPECT_THAT(check_newer("web", before.at("web"), other).error().message, HasSubstr("with another content"));
}

TEST_F(ConfigServer, CtrlAloneIsJoinedWithWhatIsServed) {
  Publication all = publication();
  std::erase_if(all.artifacts, [](const json::value& each) { return each.at("plane").is_string(); });
  all.chain.clear();
  auto made = publishing(all);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->whole);
  EXPECT_EQ(made->nodes.at("web"), served.at("web"));
  served.clear();
  EXPECT_THAT(publishing(all).error().message, HasSubstr("has no agent.json"));
}

TEST_F(ConfigServer, ASetThatDoesNotJoinIsRefused) {
  Publication all = publication();
  for (json::value& each : all.artifacts) {
    if (each.at("node").as_string() == "web" && !each.at("plane").is_string())
      each.as_object()["payload"].as_object()["active_links"].as_array().emplace_back("nowhere");
  }
  EXPECT_EQ(publishing(all).error().code, Code::gate_rejected);
  EXPECT_FALSE(read_publication("{", [](const std::string&) { return std::nullopt; }));
}

}  // namespace config_server_test
}  // namespace sluice::mesh
