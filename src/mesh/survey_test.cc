// What is read from the artifacts alone is what the sources said. compile_test.cc compares the ways of random meshes.
#include "mesh/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "mesh/config_server.h"
#include "mesh/mesh_folder.h"

namespace sluice::mesh {
namespace survey_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

std::map<std::string, std::string> published() {
  RealDisk disk;
  TestingFolder place;
  const std::string folder = place.path("acme");
  EXPECT_TRUE(begin_folder(disk, folder, "acme"));
  EXPECT_TRUE(make_keys(disk, folder, kNow));
  auto work = compile_folder(disk, folder, kNow);
  EXPECT_TRUE(sign_folder(disk, folder, folder, *work));
  const std::string text = write(to_json(publication_of(read_tree(disk, folder + "/compiled").value()).value()));
  auto made = read_publication(text, [](const std::string&) { return std::nullopt; });
  std::map<std::string, std::string> documents;
  for (const auto& [node, served] : made->nodes) documents[node] = served.document;
  return documents;
}

TEST(Survey, SaysWhoIsThereAndWhichWayPairsTake) {
  auto made = survey(published());
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->nodes.size(), 3U);
  EXPECT_EQ(made->nodes[2].node, "web");
  EXPECT_EQ(made->nodes[2].vertices.size(), 2U);
  EXPECT_THAT(made->nodes[2].serves, ElementsAre("spiffe://acme/service/api"));
  EXPECT_THAT(made->nodes[2].signers,
              ElementsAre("spiffe://acme/control-plane/primary", "spiffe://acme/management-plane/primary"));
  ASSERT_EQ(made->links.size(), 2U);
  EXPECT_EQ(made->links[0].a.node + " " + made->links[0].b.node, "hub laptop");
  EXPECT_EQ(made->links[1].a.node + " " + made->links[1].b.node, "hub web");
  const auto alice = std::ranges::find(made->ways, "spiffe://acme/user/alice", &Traced::initiator);
  ASSERT_NE(alice, made->ways.end());
  EXPECT_EQ(alice->fault, "");
  EXPECT_EQ(alice->to, "web");
  ASSERT_EQ(alice->there.size(), 2U);
  EXPECT_EQ(alice->there[0].node + " " + alice->there[0].link, "laptop hub");
  EXPECT_EQ(alice->there[1].node + " " + alice->there[1].link, "hub web");
}

TEST(Survey, SaysWhereAPairGetsLost) {
  auto documents = published();
  documents.erase("hub");
  auto made = survey(documents);
  ASSERT_TRUE(made) << made.error().message;
  const auto alice = std::ranges::find(made->ways, "spiffe://acme/user/alice", &Traced::initiator);
  ASSERT_NE(alice, made->ways.end());
  EXPECT_EQ(alice->fault, "the link hub of laptop leads nowhere");
}

TEST(Survey, RefusesWhatIsNoDocument) {
  EXPECT_THAT(to_string(survey({{"web", "{"}}).error()), HasSubstr("web"));
  EXPECT_EQ(survey({{"web", R"({"mgmt":[{}],"ctrl":[],"chain":[]})"}}).error().code, Code::invalid);
}

}  // namespace survey_test
}  // namespace sluice::mesh
