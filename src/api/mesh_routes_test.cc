// A node's questions reach the view and the action of the concept Mesh.
#include "api/mesh_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "crypto/x509.h"
#include "deploy/views/mesh_nodes.h"
#include "mesh/proof.h"

namespace sluice::api {
namespace mesh_routes_test {

constexpr int64_t kNow = 1'790'000'000'000;

// Knows one node, and remembers what it was told.
struct OneNode final : host::Door {
  deploy::views::ServedNodeView served;
  std::vector<host::Call> calls;

  Result<host::Answer> call(const host::Call& call, const host::Waiting&) override {
    calls.push_back(call);
    return host::Answer{.action = call.action, .variant = "ok"};
  }
  Result<host::Answer> answer_of(const Ulid&, host::WaitFor, const host::Waiting&) override { return Error{}; }
  Result<host::ViewAnswer> view(const std::string&, const json::object& query) override {
    if (query.at("node").as_string() != "web") return Error{.code = Code::not_found};
    return host::ViewAnswer{.document = to_json(served)};
  }
  Result<host::Decided> decide(engine::Decision, const host::Waiting&) override { return Error{}; }
  Result<void> follow(uint64_t, const std::function<bool(const engine::Step&)>&,
                      const std::function<bool()>&) override {
    return Error{};
  }
  Result<std::string> put(File&, const std::string&) override { return Error{}; }
  Result<int> exec(const host::ExecAsk&, const host::ExecEnds&) override { return Error{}; }
  Result<void> read_logs(const host::LogAsk&, const host::VisitLine&, const std::function<bool()>&) override {
    return Error{};
  }
};

struct MeshRoutes : testing::Test {
  crypto::MadeCertificate ca =
      crypto::make_certificate({.name = "CA", .is_ca = true, .until_ms = kNow + 1'000'000, .ed25519 = true}, nullptr,
                               kNow)
          .value();
  crypto::MadeCertificate node =
      crypto::make_certificate(
          {.name = "web", .until_ms = kNow + 1'000'000, .uri = "spiffe://acme/node/web", .ed25519 = true}, &ca, kNow)
          .value();
  OneNode door;

  MeshRoutes() {
    door.served = {.authority = ca.chain_pem, .version = 3, .document = R"({"mgmt":[{"a":1}],"ctrl":[],"chain":[]})"};
  }
  http::Response ask(const std::string& method, const std::string& target, const std::string& body = "") {
    http::Request request{.method = method, .target = target, .body = body};
    EXPECT_TRUE(http::take_target_apart(request));
    const auto key = crypto::PrivateKey::from_pem(node.key_pem.reveal()).value();
    request.headers = {
        {std::string(mesh::kCertificateHeader), crypto::to_base64(node.chain_pem)},
        {std::string(mesh::kProofHeader),
         mesh::prove({.trust_domain = "acme", .method = method, .target = target, .body = body}, key, kNow)}};
    return answer_mesh_node(request, door, kNow);
  }
};

TEST_F(MeshRoutes, ANodeGetsWhatTheViewSays) {
  EXPECT_EQ(ask("GET", "/artifact/mgmt/web?have=2").body, R"({"artifacts":[{"a":1}],"chain":[]})");
  EXPECT_EQ(ask("GET", "/artifact/mgmt/web?have=3").status, 304);
  EXPECT_EQ(ask("GET", "/artifact/mgmt/hub").status, 404);
}

TEST_F(MeshRoutes, AReportIsAnAction) {
  EXPECT_EQ(ask("POST", "/artifact/report/web",
                R"({"version":3,"ctrl":{},"active":"v3","pending":false,"rejected":true,"trouble":""})")
                .status,
            200);
  ASSERT_EQ(door.calls.size(), 1U);
  EXPECT_EQ(door.calls[0].action, "Mesh/report");
  EXPECT_EQ(
      write(door.calls[0].input),
      R"({"mesh":"acme","node":"web","version":3,"ctrlVersion":0,"active":"v3","pending":false,"rejected":true,"trouble":""})");
  // The same again is not written down before an hour is over.
  const std::string same = R"({"version":3,"ctrl":{},"active":"v3","pending":false,"rejected":true,"trouble":""})";
  door.served.said = deploy::views::SaidByNode{.version = 3, .active = "v3", .rejected = true, .at = {kNow - 1000}};
  EXPECT_EQ(ask("POST", "/artifact/report/web", same).status, 200);
  EXPECT_EQ(door.calls.size(), 1U);
  door.served.said->at = {kNow - 60 * 60 * 1000};
  EXPECT_EQ(ask("POST", "/artifact/report/web", same).status, 200);
  EXPECT_EQ(door.calls.size(), 2U);
}

}  // namespace mesh_routes_test
}  // namespace sluice::api
