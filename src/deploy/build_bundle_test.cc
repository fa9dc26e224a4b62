// From folders to archives, with real commands.
#include "deploy/build_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/trust/verify.h"

namespace sluice::deploy {
namespace build_bundle_test {

using ::testing::ElementsAre;
namespace fs = std::filesystem;

struct BuildBundle : ::testing::Test {
  BuildBundle() {
    fs::create_directory(folder.path("shop"));
    manifest("");
    put("main.txt", "text\n");
  }
  void put(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder.path("shop/" + name)).parent_path());
    std::ofstream(folder.path("shop/" + name)) << text;
  }
  void manifest(const std::string& more) { put("bundle.yaml", "name: shop\nversion: \"1.0\"\nrun: [./app]\n" + more); }
  Result<BuiltBundle> build(const BundleHooks& hooks = {}) {
    return build_bundle(disk, runner, clock,
                        {.folder = folder.path("shop"),
                         .out = out,
                         .environment = {{"PATH", "/usr/bin:/bin"}},
                         .version_of = [](const std::string&) { return std::optional<std::string>("1.2"); }},
                        hooks);
  }
  std::vector<std::string> paths(const BuiltBundle& built) {
    std::vector<std::string> all;
    for (const auto& [path, entry] : built.packed.tree.entries()) all.push_back(path);
    return all;
  }
  std::vector<std::string> left() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  process::RealRunner runner{clock};
  std::string out = folder.path("shop.bundle");
};

TEST_F(BuildBundle, PacksAndStatesWhatItIs) {
  put(".env", "A=b\n");
  auto built = build();
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(paths(*built), ElementsAre("bundle.yaml", "main.txt"));
  ASSERT_EQ(built->skipped.size(), 1U);
  EXPECT_EQ(built->skipped[0].path, ".env");
  EXPECT_EQ(built->statement.bundle, "shop");
  EXPECT_EQ(crypto::to_string(built->statement.archive), "sha256:" + *bundle::sha256_of_file(disk, out));
  EXPECT_EQ(crypto::to_string(built->statement.tree), "sha256:" + built->packed.tree_digest);
  EXPECT_TRUE(built->statement.dependencies.empty());
}

TEST_F(BuildBundle, RefusesAPageThatIsNotPacked) {
  manifest("paused: {page: paused.html}\ninclude: [main.txt]\n");
  put("paused.html", "back soon");
  auto built = build();
  ASSERT_FALSE(built);
  EXPECT_EQ(to_string(built.error()),
            folder.path("shop/bundle.yaml") + ":4:10: /paused/page: the page paused.html is not in the bundle");
  EXPECT_THAT(left(), ElementsAre("shop"));
  manifest("paused: {page: paused.html}\n");
  EXPECT_TRUE(build());
}

TEST_F(BuildBundle, RunsTheCommandInACleanCopy) {
  manifest("include: [out/**]\nbuild: [sh, -c, 'mkdir -p out; ls -A > out/seen; echo $HOME > out/home']\n");
  put(".sluiceignore", "stale/\n");
  put("stale/x", "x");
  put(".env", "A=b\n");
  auto built = build();
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(paths(*built), ElementsAre("bundle.yaml", "out", "out/home", "out/seen"));
  EXPECT_EQ(built->packed.tree.find("out/seen")->size,
            std::string(".sluiceignore\nbundle.yaml\nmain.txt\nout\n").size());
  EXPECT_FALSE(fs::exists(folder.path("shop/out")));
  ASSERT_EQ(built->statement.dependencies.size(), 2U);
  EXPECT_EQ(built->statement.dependencies[0].name, "source");
  EXPECT_EQ(built->statement.dependencies[1].uri, "pkg:generic/sh@1.2");
  EXPECT_EQ(built->statement.parameters.at("build").at(0), "sh");
  EXPECT_THAT(left(), ElementsAre("shop", "shop.bundle"));
}

TEST_F(BuildBundle, AFailedCommandLeavesNothingAndIsHeard) {
  manifest("build: [sh, -c, 'echo one; echo two; exit 2']\n");
  std::vector<std::string> said;
  auto built = build({.said = [&](const std::string& line) { said.push_back(line); }});
  EXPECT_EQ(built.error().message, "shop was not built: sh ended with exit code 2");
  EXPECT_THAT(said, ElementsAre("one", "two"));
  EXPECT_THAT(left(), ElementsAre("shop"));
}

TEST_F(BuildBundle, ASecretThatTheCommandMakesIsFoundToo) {
  manifest(std::string("build: [sh, -c, 'echo key AKIA") + "Q3EGLU2R7XVNTP4H > config']\n");
  auto built = build();
  EXPECT_EQ(built.error().code, Code::verification_failed);
  EXPECT_THAT(built.error().message, ::testing::HasSubstr("\nconfig:1: an AWS access key (sha256:"));
  EXPECT_THAT(left(), ElementsAre("shop"));
}

TEST_F(BuildBundle, AllowsAFindingByItsHash) {
  put("config", std::string("key AKIA") + "Q3EGLU2R7XVNTP4H\n");
  std::string message = build().error().message;
  size_t at = message.find("sha256:");
  manifest("allowed_secrets: [\"" + message.substr(at, 71) + "\"]\n");
  auto built = build();
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->secrets.allowed, 1U);
}

TEST_F(BuildBundle, DoesNotPackItself) {
  out = folder.path("shop/shop.bundle");
  auto first = build();
  ASSERT_TRUE(first) << first.error().message;
  put("shop.bundle.sig.json", "{}");
  auto second = build();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->packed.archive_sha256, first->packed.archive_sha256);
  EXPECT_THAT(second->skipped,
              ElementsAre(bundle::Skipped{.path = "shop.bundle", .reason = "a bundle that was built before"},
                          bundle::Skipped{.path = "shop.bundle.sig.json", .reason = "a bundle that was built before"}));
  // Neither does the next version, nor is the archive alone taken for a part of it.
  out = folder.path("shop/next.bundle");
  auto next = build();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->packed.archive_sha256, first->packed.archive_sha256);
  auto again = build();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->packed.archive_sha256, first->packed.archive_sha256);
  EXPECT_EQ(again->skipped[0], (bundle::Skipped{.path = "next.bundle", .reason = "the bundle itself"}));
}

// Compilers write the path of what they compile into what they make.
TEST_F(BuildBundle, ACommandSeesTheSamePathWhereverItRuns) {
  manifest("include: [place]\nbuild: [sh, -c, 'pwd > place; echo $HOME $TMPDIR >> place']\n");
  auto first = build();
  ASSERT_TRUE(first) << first.error().message;
  fs::create_directory(folder.path("elsewhere"));
  out = folder.path("elsewhere/other-name.bundle");
  auto second = build();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->packed.archive_sha256, first->packed.archive_sha256);
  EXPECT_EQ(first->packed.tree.find("place")->size,
            std::string("/tmp/sluice-build/src\n/tmp/sluice-build/home /tmp/sluice-build/tmp\n").size());
}

TEST_F(BuildBundle, ACommandMustLeaveTheManifestAlone) {
  manifest("build: [sh, -c, 'rm bundle.yaml']\n");
  EXPECT_EQ(build().error().message, "shop was not built: its `build` has removed bundle.yaml");
  manifest("build: [sh, -c, 'echo >> bundle.yaml']\n");
  EXPECT_EQ(build().error().message, "shop was not built: its `build` has changed bundle.yaml");
  EXPECT_THAT(left(), ElementsAre("shop"));
}

TEST_F(BuildBundle, ACommandThatIsNotThereIsSaidToBe) {
  manifest("build: [nosuchprogram]\n");
  EXPECT_THAT(build().error().message, ::testing::StartsWith("shop was not built: "));
  EXPECT_THAT(build().error().message, ::testing::HasSubstr("nosuchprogram"));
  EXPECT_THAT(left(), ElementsAre("shop"));
}

TEST_F(BuildBundle, ASymlinkThatTheCommandMakesIsRefusedByTheFoldersName) {
  manifest("build: [ln, -s, /etc/passwd, users]\n");
  auto built = build();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message,
            folder.path("shop") + " after its build: \"users\": the symlink's target is absolute");
  EXPECT_EQ(built.error().next, "change it, or name it in .sluiceignore");
  EXPECT_THAT(left(), ElementsAre("shop"));
  put(".sluiceignore", "users\n");
  EXPECT_TRUE(build());
}

TEST_F(BuildBundle, WhereNoFileCanBeIsSaidBeforeAnythingIsBuilt) {
  manifest("build: [touch, " + folder.path("ran") + "]\n");
  ASSERT_EQ(::mkfifo(out.c_str(), 0600), 0);
  auto built = build();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, Code::conflict);
  EXPECT_EQ(built.error().message, out + " is a device, a FIFO or a socket, and was left as it is");
  EXPECT_THAT(left(), ElementsAre("shop", "shop.bundle"));
  EXPECT_EQ(disk.stat(out, FollowLinks::no)->kind, FileKind::other);
  out = folder.path("none/shop.bundle");
  built = build();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message, "cannot write " + out + ": there is no folder " + folder.path("none"));
}

TEST_F(BuildBundle, ASecretInANameOrBehindASymlinkIsFoundToo) {
  const std::string key = "AKIA" + std::string("Q3EGLU2R7XVNTP4H");
  fs::create_symlink(key, folder.path("shop/l"));
  EXPECT_THAT(build().error().message,
              ::testing::StartsWith("there is a secret in it:\nl:1: an AWS access key (sha256:"));
  fs::remove(folder.path("shop/l"));
  put(key + "/a", "");
  EXPECT_THAT(build().error().message,
              ::testing::StartsWith("there is a secret in it:\n…/a: an AWS access key (sha256:"));
  EXPECT_THAT(left(), ElementsAre("shop"));
}

TEST_F(BuildBundle, WarnsOfWhatIsProbablyNotMeant) {
  manifest("include: [nomatch, .env, main.txt]\n");
  put(".env", "A=b\n");
  put("other.txt", "");
  auto built = build();
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(built->warnings,
              ElementsAre("include: nomatch names nothing that is there", "include: .env names only what is skipped",
                          "run: ./app is not in the bundle"));
  ASSERT_EQ(built->skipped.size(), 2U);
  EXPECT_EQ(built->skipped.back(), (bundle::Skipped{.path = "other.txt", .reason = "not included"}));
}

TEST_F(BuildBundle, WarnsOfAnImageThatIsNotThereAndOfSecretsThatAnEngineKeeps) {
  put("bundle.yaml", "name: shop\nversion: \"1\"\nimage: ./image\nsecrets: [KEY]\nsecrets_as: env\n");
  auto built = build();
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(
      built->warnings,
      ElementsAre("secrets_as: env gives a container its secrets as variables, which its engine writes to disk; "
                  "leave it out",
                  "image: ./image is no OCI layout in the bundle"));
}

TEST_F(BuildBundle, WhatCannotBeSearchedFailsItUntilItIsAllowed) {
  put("x.7z", "7z\xbc\xaf\x27\x1c and so on");
  auto built = build();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, Code::verification_failed);
  std::string message = built.error().message;
  EXPECT_THAT(message, ::testing::StartsWith("this could not be searched for secrets:\nx.7z: an archive that is not "
                                             "looked into (7z) (sha256:"));
  EXPECT_THAT(left(), ElementsAre("shop"));
  manifest("allowed_secrets: [\"" + message.substr(message.find("sha256:"), 71) + "\"]\n");
  built = build();
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->secrets.allowed, 1U);
}

TEST_F(BuildBundle, StopsWhenAskedAndLeavesNothing) {
  EXPECT_EQ(build({.stopped = [] { return true; }}).error().message, "stopped; nothing was written");
  manifest("build: [sleep, '1000']\n");
  EXPECT_EQ(build({.stopped = [] { return true; }}).error().message, "stopped; nothing was written");
  EXPECT_THAT(left(), ElementsAre("shop"));
}

TEST_F(BuildBundle, TellsHowFarItIs) {
  std::vector<std::string> told;
  auto built = build({.progress = [&](const std::string& doing, uint64_t done, std::optional<uint64_t> total) {
    told.push_back(doing + " " + std::to_string(done) + "/" + std::to_string(total.value_or(0)));
  }});
  ASSERT_TRUE(built);
  EXPECT_THAT(told, ElementsAre("packing 1/2", "packing 2/2"));
}

}  // namespace build_bundle_test
}  // namespace sluice::deploy
