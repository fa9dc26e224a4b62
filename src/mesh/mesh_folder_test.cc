// An operator's folder from nothing to signed artifacts, with one signer, with two, and through a rotation.
#include "mesh/mesh_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "mesh/node_store.h"

namespace sluice::mesh {
namespace mesh_folder_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kNow = 1'790'000'000'000;

struct MeshFolder : testing::Test {
  RealDisk disk;
  TestingFolder place;
  std::string folder = place.path("acme");

  MeshFolder() {
    EXPECT_TRUE(begin_folder(disk, folder, "acme"));
    auto made = make_keys(disk, folder, kNow);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_THAT(made->faults, IsEmpty());
  }

  std::string text(const std::string& name) { return read_file(disk, folder + "/" + name, 1 << 20).value(); }
  void replace(const std::string& name, std::string_view old, std::string_view now) {
    std::string all = text(name);
    const size_t at = all.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    all.replace(at, old.size(), now);
    ASSERT_TRUE(write_atomically(disk, folder + "/" + name, all, 0644));
  }
  FolderWork work(int64_t now_ms = kNow) {
    auto made = compile_folder(disk, folder, now_ms);
    EXPECT_TRUE(made) << made.error().message;
    for (const Error& each : made->faults) ADD_FAILURE() << to_string(each);
    return *std::move(made);
  }
  SignedFolder signed_now(int64_t now_ms = kNow) {
    auto made = sign_folder(disk, folder, folder, work(now_ms));
    EXPECT_TRUE(made) << made.error().message;
    return made ? *std::move(made) : SignedFolder();
  }
};

TEST_F(MeshFolder, FromNothingToSignedArtifacts) {
  EXPECT_THAT(begin_folder(disk, folder, "acme").error().message, HasSubstr("nothing was written"));
  EXPECT_EQ(begin_folder(disk, place.path("other"), "Not A Name").error().code, Code::invalid);
  EXPECT_EQ(disk.stat(folder + "/keys/ca.key", FollowLinks::no)->mode, 0600U);
  const FolderWork first = work();
  EXPECT_THAT(first.plan.nodes, ElementsAre("hub", "laptop", "web"));
  EXPECT_THAT(first.plan.gains, SizeIs(5)) << "three nodes, olga and alice";
  EXPECT_FALSE(disk.exists(folder + "/ledger.json").value()) << "planning writes nothing";
  const SignedFolder done = signed_now();
  EXPECT_THAT(done.signers, ElementsAre("management-plane/primary", "control-plane/primary"));
  EXPECT_THAT(done.written, Contains("web/ctrl/vertices/rete.json"));
  EXPECT_EQ(done.versions.at("web"), 1U);
  EXPECT_TRUE(work().plan.empty());
  EXPECT_THAT(signed_now(kNow + 1000).written, IsEmpty());
  EXPECT_TRUE(parse_trust(text("trust.json")));
}

TEST_F(MeshFolder, FaultsComeBeforeAnything) {
  replace("access.yaml", "groups: [api] }", "groups: [apis] }");
  auto made = compile_folder(disk, folder, kNow);
  ASSERT_TRUE(made);
  EXPECT_THAT(made->faults, testing::Not(IsEmpty()));
  EXPECT_THAT(make_keys(disk, folder, kNow)->faults, testing::Not(IsEmpty()));
}

TEST_F(MeshFolder, WithoutCertificatesTheFaultNamesTheCommand) {
  ASSERT_TRUE(disk.remove(folder + "/certs/control-planes/primary.crt"));
  auto made = compile_folder(disk, folder, kNow);
  ASSERT_THAT(made->faults, SizeIs(1));
  EXPECT_THAT(to_string(made->faults[0]), HasSubstr("there is no certificate certs/control-planes/primary.crt"));
}

TEST_F(MeshFolder, ALostLedgerIsNotBegunAnew) {
  signed_now();
  const std::string first = text("ledger.json");
  replace("access.yaml", "addr: 127.0.0.1:8000", "addr: 127.0.0.1:8001");
  signed_now();
  ASSERT_TRUE(write_atomically(disk, folder + "/ledger.json", first, 0644));
  EXPECT_EQ(compile_folder(disk, folder, kNow).error().message,
            "ledger.json is missing or older than compiled/: it does not know version 2 of web, which is signed; "
            "nothing was changed");
  ASSERT_TRUE(disk.remove(folder + "/ledger.json"));
  auto refused = compile_folder(disk, folder, kNow);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("it does not know version 1 of hub"));
  EXPECT_THAT(refused.error().next, HasSubstr("from version control"));
}

TEST_F(MeshFolder, DraftsWaitForTheSecondSigner) {
  replace("rete.yaml", "mgmt: { keys: [",
          "mgmt: { threshold: 2, keys: [ { name: second, cert: certs/management-planes/second.crt },");
  ASSERT_TRUE(make_keys(disk, folder, kNow));
  const std::string usb = place.path("usb");
  ASSERT_TRUE(disk.make_folder(usb, 0700));
  ASSERT_TRUE(disk.make_folder(usb + "/keys", 0700));
  ASSERT_TRUE(disk.make_folder(usb + "/keys/management-planes", 0700));
  ASSERT_TRUE(disk.rename(folder + "/keys/management-planes/second.key", usb + "/keys/management-planes/second.key"));
  EXPECT_THAT(keep_drafts(disk, folder, work()).value(), Contains("hub/mgmt/agent.json"));
  const SignedFolder one = signed_now();
  EXPECT_THAT(one.waiting, ElementsAre("hub", "laptop", "web"));
  EXPECT_THAT(one.written, IsEmpty());
  auto both = sign_folder(disk, folder, usb, work(kNow + 5000));
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_THAT(both->waiting, IsEmpty());
  EXPECT_EQ(both->versions.at("hub"), 1U) << "the same drafts got both signatures";
  EXPECT_TRUE(read_tree(disk, folder + "/drafts")->empty());
  auto enrolment = enrolment_of(disk, folder, work(), "hub", kNow);
  ASSERT_TRUE(enrolment) << enrolment.error().message;
  auto artifacts = parse_all(enrolment->artifacts);
  ASSERT_TRUE(artifacts);
  for (const Artifact& each : *artifacts) EXPECT_TRUE(verify(each, enrolment->trust, kNow)) << each.identity();
}

TEST_F(MeshFolder, AKeyOfAnotherSignerIsRefused) {
  const std::string key = folder + "/keys/management-planes/primary.key";
  ASSERT_TRUE(disk.remove(key));
  ASSERT_TRUE(write_atomically(disk, key, text("keys/control-planes/primary.key"), 0600));
  EXPECT_THAT(sign_folder(disk, folder, folder, work()).error().message,
              HasSubstr("the key of management-plane/primary is not that of its certificate"));
  EXPECT_THAT(sign_folder(disk, folder, place.path("none"), work()).error().message,
              HasSubstr("there is no signer's key"));
}

// A node that was off during both steps follows the chain; a replacement in one step is refused.
TEST_F(MeshFolder, SignersRotateInThreeSteps) {
  signed_now();
  auto enrolment = enrolment_of(disk, folder, work(), "web", kNow);
  ASSERT_TRUE(enrolment) << enrolment.error().message;
  const std::string root = place.path("node");
  ASSERT_TRUE(disk.make_folder(root, 0755));
  auto node = NodeStore::enrol(disk, root, "acme", "web", enrolment->trust, enrolment->identity,
                               parse_all(enrolment->artifacts).value(), kNow);
  ASSERT_TRUE(node) << node.error().message;
  const std::string primary = "{ name: primary, cert: certs/management-planes/primary.crt }";
  const std::string second = "{ name: second, cert: certs/management-planes/second.crt }";
  replace("rete.yaml", primary, second);
  ASSERT_TRUE(make_keys(disk, folder, kNow));
  EXPECT_THAT(sign_folder(disk, folder, folder, work()).value().waiting, ElementsAre("hub", "laptop", "web"))
      << "nobody that the nodes trust has signed";
  replace("rete.yaml", second, second + ", " + primary);
  EXPECT_EQ(signed_now().versions.at("web"), 3U);
  replace("rete.yaml", ", " + primary, "");
  EXPECT_EQ(signed_now().versions.at("web"), 4U);
  auto tree = read_tree(disk, folder + "/compiled");
  std::erase_if(*tree, [](const auto& each) { return !each.first.starts_with("web/"); });
  auto published = publication_of(*tree);
  ASSERT_TRUE(published);
  EXPECT_EQ(published->chain.size(), 3U);
  auto accepted = node->accept(parse_all(published->chain).value(), parse_all(published->artifacts).value(), kNow, 0);
  ASSERT_TRUE(accepted) << accepted.error().message;
  ASSERT_EQ(node->state().marks.trust.mgmt_signers.size(), 1U);
  EXPECT_EQ(node->state().marks.trust.mgmt_signers[0].spiffe_id, "spiffe://acme/management-plane/second");
}

TEST_F(MeshFolder, APublicationComesApartByNodes) {
  signed_now();
  const auto tree = read_tree(disk, folder + "/compiled");
  const Publication whole = publication_of(*tree).value();
  const auto one = parts_of(whole, {}, size_t{1} << 20);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_THAT(one[0].nodes, ElementsAre("hub", "laptop", "web"));
  const auto parts = parts_of(whole, {"web"}, 1);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_THAT(parts[0].nodes, ElementsAre("web")) << "who is first comes first";
  EXPECT_THAT(parts[1].nodes, ElementsAre("hub"));
  size_t artifacts = 0, chain = 0;
  for (const PublicationPart& part : parts) {
    auto read = parse_json(part.document);
    for (const json::value& each : read->root.at("artifacts").as_array()) {
      EXPECT_EQ(each.at("node").as_string(), part.nodes[0]);
      ++artifacts;
    }
    chain += read->root.at("chain").as_array().size();
  }
  EXPECT_EQ(artifacts, whole.artifacts.size());
  EXPECT_EQ(chain, whole.chain.size());
  EXPECT_TRUE(parts_of({}, {}, 1).empty());
}

TEST_F(MeshFolder, PrincipalsHaveShortNames) {
  const FolderWork made = work();
  EXPECT_EQ(principal_named(made.model, "user/alice").value(), "spiffe://acme/user/alice");
  EXPECT_EQ(principal_named(made.model, "spiffe://acme/service/api").value(), "spiffe://acme/service/api");
  EXPECT_EQ(principal_named(made.model, "alice").error().code, Code::usage);
  EXPECT_EQ(enrolment_of(disk, folder, made, "nowhere", kNow).error().code, Code::not_found);
  EXPECT_THAT(enrolment_of(disk, folder, made, "web", kNow).error().message, HasSubstr("nothing is signed for web"));
}

}  // namespace mesh_folder_test
}  // namespace sluice::mesh
