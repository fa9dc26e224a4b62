// Mesh through the harness: one test a variant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "lang/run/harness.h"
#include "mesh.gen.h"
#include "mesh/mesh_folder.h"

namespace sluice::deploy::mesh {

void prepare(lang::Harness&) {}

namespace mesh_test {

namespace tools = ::sluice::mesh;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kNow = 1'790'000'000'000;

class MeshTest : public testing::Test {
 protected:
  MeshTest() {
    EXPECT_TRUE(tools::begin_folder(disk, folder, "acme"));
    EXPECT_TRUE(tools::make_keys(disk, folder, kNow));
    authority = read_file(disk, folder + "/certs/ca.crt", 1 << 20).value();
  }
  // The signed tree, after the service api has moved to a port.
  std::string tree(int port = 8000) {
    std::string text = read_file(disk, folder + "/access.yaml", 1 << 20).value();
    const size_t at = text.find("at: web, via: rete, addr: 127.0.0.1:") + 36;
    text.replace(at, 4, std::to_string(port));
    EXPECT_TRUE(write_atomically(disk, folder + "/access.yaml", text, 0644));
    auto work = tools::compile_folder(disk, folder, kNow);
    EXPECT_TRUE(work && work->faults.empty());
    EXPECT_TRUE(tools::sign_folder(disk, folder, folder, *work));
    return write(to_json(tools::publication_of(tools::read_tree(disk, folder + "/compiled").value()).value()));
  }
  // Every node's artifacts anew: another validity.
  std::string all_anew() {
    std::string text = read_file(disk, folder + "/rete.yaml", 1 << 20).value();
    const std::string line = "  ca: { cert: certs/ca.crt }\n";
    text.replace(text.find(line), line.size(), line + "  artifacts: { validity_days: 30 }\n");
    EXPECT_TRUE(write_atomically(disk, folder + "/rete.yaml", text, 0644));
    return tree();
  }
  auto enrol() { return harness.invoke(Enrol{.mesh = mesh, .authority = authority}); }
  auto publish(const std::string& document, std::optional<std::vector<std::string>> first = {}) {
    return harness.invoke(Publish{.mesh = mesh, .document = document, .first = std::move(first)});
  }
  auto report(const std::string& node, int64_t version, bool pending = false, bool rejected = false) {
    return harness.invoke(Report{.mesh = mesh,
                                 .node = node,
                                 .version = version,
                                 .ctrlVersion = version,
                                 .active = "v" + std::to_string(version),
                                 .pending = pending,
                                 .rejected = rejected});
  }

  RealDisk disk;
  TestingFolder place;
  std::string folder = place.path("acme");
  std::string authority;
  MeshMId mesh{"acme"};
  lang::Harness harness{mesh_binding()};
};

TEST_F(MeshTest, EnrolTakesACertificateOfACa) {
  EXPECT_TRUE(enrol().is<Enrol::Ok>());
  authority = "nonsense";
  EXPECT_TRUE(enrol().is<Enrol::Invalid>());
  authority = read_file(disk, folder + "/certs/control-planes/primary.crt", 1 << 20).value();
  EXPECT_EQ(enrol().as<Enrol::Invalid>().message, "authority is not the certificate of a CA");
}

TEST_F(MeshTest, PublishNeedsAMeshAndSetsThatHold) {
  const std::string first = tree();
  EXPECT_TRUE(publish(first).is<Publish::NotFound>());
  enrol();
  EXPECT_TRUE(publish("{").is<Publish::Malformed>());
  EXPECT_THAT(publish(first, {{"nobody"}}).as<Publish::Malformed>().message, HasSubstr("no node nobody"));
  EXPECT_THAT(
      harness.invoke(Publish{.mesh = mesh, .document = first, .plane = "ctrl"}).as<Publish::Malformed>().message,
      HasSubstr("mgmt artifacts among those of ctrl"));
  EXPECT_THAT(publish(first).as<Publish::Ok>().changed, ElementsAre("hub", "laptop", "web"));
  EXPECT_THAT(publish(first).as<Publish::Ok>().changed, IsEmpty()) << "the same again";
}

TEST_F(MeshTest, VersionsOnlyGrow) {
  enrol();
  const std::string first = tree(8000);
  publish(first);
  EXPECT_THAT(publish(tree(8001)).as<Publish::Ok>().changed, ElementsAre("web"));
  EXPECT_THAT(publish(first).as<Publish::VersionConflict>().message, HasSubstr("version 1 of web is older"));
}

TEST_F(MeshTest, OthersWaitForTheFirst) {
  enrol();
  publish(tree());
  auto done = publish(all_anew(), {{"web"}}).as<Publish::Ok>();
  EXPECT_THAT(done.changed, ElementsAre("web"));
  EXPECT_THAT(done.held, ElementsAre("hub", "laptop"));
  EXPECT_THAT(report("web", 2, true).as<Report::Ok>().released, IsEmpty()) << "not confirmed yet";
  EXPECT_THAT(report("web", 2, false, true).as<Report::Ok>().released, IsEmpty()) << "taken back";
  EXPECT_THAT(report("web", 2).as<Report::Ok>().released, ElementsAre("hub", "laptop"));
  EXPECT_TRUE(report("nobody", 2).is<Report::NotFound>());
}

TEST_F(MeshTest, FirstOnesThatHaveConfirmedHoldNobodyBack) {
  enrol();
  publish(tree());
  report("laptop", 1);
  auto done = publish(all_anew(), {{"laptop"}}).as<Publish::Ok>();
  EXPECT_THAT(done.held, ElementsAre("hub", "web")) << "laptop has something new";
  report("laptop", 2);
  done = publish(tree(8001), {{"laptop"}}).as<Publish::Ok>();
  EXPECT_THAT(done.changed, ElementsAre("web")) << "laptop has nothing new, and has confirmed what it has";
}

TEST_F(MeshTest, ALargeMeshIsPublishedInParts) {
  enrol();
  publish(tree());
  all_anew();
  auto signed_tree = tools::read_tree(disk, folder + "/compiled").value();
  const std::vector<std::string> all = {"hub", "laptop", "web"}, first = {"web"};
  const auto part = [&](size_t number, const std::vector<std::string>& named) {
    const auto parts = tools::parts_of(tools::publication_of(signed_tree).value(), first, 1);
    return harness.invoke(Publish{.mesh = mesh, .document = parts[number].document, .first = first, .all = named});
  };
  EXPECT_THAT(part(0, {"hub", "laptop"}).as<Publish::Malformed>().message, HasSubstr("does not name the node web"));
  auto done = part(0, all).as<Publish::Ok>();
  EXPECT_THAT(done.changed, ElementsAre("web"));
  EXPECT_THAT(done.gone, IsEmpty()) << "the others come in other parts";
  done = part(1, all).as<Publish::Ok>();
  EXPECT_THAT(done.held, ElementsAre("hub")) << "it waits for one that came in another part";
  report("web", 2);
  EXPECT_THAT(part(2, all).as<Publish::Ok>().changed, ElementsAre("laptop")) << "web has confirmed its own meanwhile";
  EXPECT_THAT(part(0, {"hub", "web"}).as<Publish::Ok>().gone, ElementsAre("laptop")) << "nobody names it";
}

TEST_F(MeshTest, RevokeIsKept) {
  enrol();
  publish(tree());
  EXPECT_TRUE(harness.invoke(Revoke{.mesh = mesh, .node = "web", .reason = "lost"}).is<Revoke::Ok>());
  EXPECT_TRUE(harness.invoke(Revoke{.mesh = mesh, .node = "nobody", .reason = "lost"}).is<Revoke::NotFound>());
}

}  // namespace mesh_test
}  // namespace sluice::deploy::mesh
