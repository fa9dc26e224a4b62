// Packs on the shelf, and what a pack.yaml may say.
#include "pack/pack_shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "pack/testing_packs.h"

namespace sluice::pack {
namespace pack_shelf_test {
using testing::ElementsAre;
using testing::HasSubstr;

struct PackShelfTest : testing::Test {
  TestingFolder folder;
  RealDisk disk;
  PackShelf shelf{disk, folder.path()};
  std::vector<std::string> told;

  std::string refused(const std::string& more) {
    auto kept = shelf.keep(write_pack(folder.path("bad"), "acme.telemetry.bad@1.0.0", more));
    return kept ? "" : to_string(kept.error());
  }
  std::vector<Pack> all() {
    return shelf.all([&](const std::string& text) { told.push_back(text); });
  }
};

TEST_F(PackShelfTest, KeepsByDigestAndReadsBack) {
  auto kept = shelf.keep(write_pack(folder.path("a"), "acme.telemetry.a@1.0.0"));
  ASSERT_TRUE(kept) << to_string(kept.error());
  EXPECT_EQ(kept->folder, folder.path() + "/packs/sha256-" + kept->digest.substr(7));
  EXPECT_EQ(all(), std::vector<Pack>{*kept});
  EXPECT_TRUE(shelf.check(*kept));
  EXPECT_TRUE(shelf.remove(kept->digest));
  EXPECT_TRUE(shelf.remove(kept->digest)) << "removing what is gone is no error";
  EXPECT_TRUE(all().empty());
}

TEST_F(PackShelfTest, WhatWasChangedSinceIsLeftOutAndToldOf) {
  auto kept = shelf.keep(write_pack(folder.path("a"), "acme.telemetry.a@1.0.0"));
  ASSERT_TRUE(kept);
  std::ofstream(kept->folder + "/serve.py", std::ios::app) << "# changed\n";
  EXPECT_FALSE(shelf.check(*kept));
  EXPECT_TRUE(all().empty());
  EXPECT_THAT(told, ElementsAre(HasSubstr("was changed: the pack acme.telemetry.a@1.0.0 is left out")));
}

TEST_F(PackShelfTest, RefusesWhatIsNoPackAndLeavesNothing) {
  std::filesystem::create_directories(folder.path("empty"));
  EXPECT_THAT(to_string(shelf.keep(folder.path("empty")).error()), HasSubstr("it has no pack.yaml"));
  EXPECT_THAT(refused("slot: kitchen\n"), HasSubstr("slot"));
  EXPECT_THAT(refused("credentials: c.yaml\n"), HasSubstr("only a deployer has credentials"));
  EXPECT_THAT(refused("proofs: [{ fixture: first }]\n"), HasSubstr("a proof is either a \"file\" or a \"query\""));
  EXPECT_THAT(refused("questions: [{ name: a, question: A?, computed: x }]\n"),
              HasSubstr("questions have no \"computed\""));
  write_pack(folder.path("plain"), "acme.telemetry.plain@1.0.0");
  std::filesystem::permissions(folder.path("plain/serve.py"), std::filesystem::perms(0644));
  EXPECT_THAT(to_string(shelf.keep(folder.path("plain")).error()), HasSubstr("is no program of the pack"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(shelf.folder()), {}), 0);
}

TEST_F(PackShelfTest, AProgramGetsOnlyTheVariablesThatItDeclares) {
  auto kept = shelf.keep(write_pack(folder.path("a"), "acme.telemetry.a@1.0.0", "variables: [TZ, UNSET]\n"));
  ASSERT_TRUE(kept) << to_string(kept.error());
  auto program = shelf.program_of(*kept, [](const std::string& name) -> std::optional<std::string> {
    if (name == "UNSET") return std::nullopt;
    return "value of " + name;
  });
  ASSERT_TRUE(program);
  EXPECT_EQ(program->environment,
            (std::map<std::string, std::string>{{"TZ", "value of TZ"},
                                                {"SLUICE_PACK_DATA", folder.path() + "/pack-data/acme.telemetry.a"},
                                                {"PYTHONDONTWRITEBYTECODE", "1"}}));
}

}  // namespace pack_shelf_test
}  // namespace sluice::pack
