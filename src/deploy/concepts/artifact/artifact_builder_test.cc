// What the hash is over, what is kept, and what is left behind.
#include "deploy/concepts/artifact/artifact_builder.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/concepts/artifact/testing_builder.h"
#include "process/build_place.h"

namespace sluice::deploy::artifact {
namespace artifact_builder_test {

const BuildCommand kCompile{.argv = {"compile", "main.txt"}, .output = "out"};

struct Builders : testing::Test {
  std::string hash_of(const BuildSources& sources, const std::optional<BuildCommand>& command = kCompile) {
    auto workplace = place.builder.prepare("id", sources, command);
    return workplace ? workplace->hash : to_string(workplace.error());
  }
  std::variant<BuiltBlob, BuildFailure> build(const BuildSources& sources,
                                              const std::optional<BuildCommand>& command = kCompile) {
    auto workplace = place.builder.prepare("id", sources, command);
    EXPECT_TRUE(workplace) << to_string(workplace.error());
    return place.builder.build(*workplace, command, {}).value();
  }

  TestingBuilder place;
  const BuildSources shop{.implementation = "/shop"};
};

TEST_F(Builders, TheHashIsOfContentAndNotOfPlace) {
  ASSERT_TRUE(place.disk.make_folder("/elsewhere", 0700));
  place.put("/elsewhere/main.txt", "one");
  EXPECT_EQ(hash_of(shop), hash_of({.implementation = "/elsewhere"}));
  ASSERT_TRUE(place.disk.make_folder("/elsewhere/.git", 0700));
  EXPECT_EQ(hash_of(shop), hash_of({.implementation = "/elsewhere"}));
}

TEST_F(Builders, WhatABundleWouldNotHaveIsNoPartOfABuild) {
  const std::string before = hash_of(shop);
  place.put("/shop/.env", "PASSWORD=tr0ub4dor");
  place.put("/shop/main.txt~", "an editor's");
  place.put("/shop/shop.bundle", "built before");
  place.put("/shop/shop.bundle.sig.json", "{}");
  place.put("/shop/.sluiceignore", "stale/\n");
  ASSERT_TRUE(place.disk.make_folder("/shop/stale", 0700));
  place.put("/shop/stale/x", "x");
  EXPECT_EQ(hash_of(shop), before);
  place.put("/shop/seen.txt", "x");
  EXPECT_NE(hash_of(shop), before);
}

TEST_F(Builders, EverythingThatABuildSeesChangesTheHash) {
  std::set<std::string> hashes = {hash_of(shop)};
  auto is_new = [&](const std::string& hash) { return hash.starts_with("sha256:") && hashes.insert(hash).second; };
  place.put("/shop/main.txt", "two");
  EXPECT_TRUE(is_new(hash_of(shop)));
  ASSERT_TRUE(place.disk.chmod("/shop/main.txt", 0755));
  EXPECT_TRUE(is_new(hash_of(shop)));
  ASSERT_TRUE(place.disk.make_folder("/shop/empty", 0700));
  EXPECT_TRUE(is_new(hash_of(shop)));
  ASSERT_TRUE(place.disk.symlink("main.txt", "/shop/link"));
  EXPECT_TRUE(is_new(hash_of(shop)));
  EXPECT_TRUE(is_new(hash_of({.spec = "/shop/main.txt", .implementation = "/shop"})));
  EXPECT_TRUE(is_new(hash_of({.implementation = "/shop", .deps = {"/shop/main.txt"}})));
  EXPECT_TRUE(is_new(hash_of(shop, BuildCommand{.argv = {"compile", "-O2"}, .output = "out"})));
  EXPECT_TRUE(is_new(hash_of(shop, BuildCommand{.argv = {"compile", "main.txt"}, .output = "other"})));
  EXPECT_TRUE(is_new(hash_of(shop, BuildCommand{.argv = {"compile", "main.txt"}, .tools = {"ld"}, .output = "out"})));
  place.versions["compile"] = "1.1";
  EXPECT_TRUE(is_new(hash_of(shop)));
}

TEST_F(Builders, TheBytesOfAToolThatIsNamedByItsPathCount) {
  const BuildCommand by_path{.argv = {"/tool.sh", "main.txt"}, .output = "out"};
  EXPECT_EQ(place.builder.prepare("id", shop, by_path).error().code, Code::not_found);
  place.put("/tool.sh", "v1");
  const std::string first = hash_of(shop, by_path);
  EXPECT_EQ(hash_of(shop, by_path), first);
  place.put("/tool.sh", "v2");
  EXPECT_NE(hash_of(shop, by_path), first);
  place.put("/shop/make.sh", "v1");
  EXPECT_TRUE(hash_of(shop, BuildCommand{.argv = {"./make.sh"}, .output = "out"}).starts_with("sha256:"));
  EXPECT_EQ(hash_of(shop, BuildCommand{.argv = {"./../../tool.sh"}, .output = "out"}),
            "./../../tool.sh leads out of what is built: name it by its whole path");
}

TEST_F(Builders, RefusesSymlinksThatLeadOut) {
  place.put("/outside.txt", "d1");
  ASSERT_TRUE(place.disk.symlink("/outside.txt", "/shop/in.txt"));
  EXPECT_EQ(hash_of(shop), "/shop: \"in.txt\": the symlink's target is absolute");
  ASSERT_TRUE(place.disk.remove("/shop/in.txt"));
  ASSERT_TRUE(place.disk.symlink("../outside.txt", "/shop/in.txt"));
  EXPECT_EQ(hash_of(shop), "/shop: \"in.txt\": the symlink leads out of the archive: \"../outside.txt\"");
  ASSERT_TRUE(place.disk.remove("/shop/in.txt"));
  ASSERT_TRUE(place.disk.symlink("main.txt", "/shop/in.txt"));
  EXPECT_TRUE(hash_of(shop).starts_with("sha256:"));
}

TEST_F(Builders, BuildsInACleanCopyAndLeavesNothingBehind) {
  BuiltBlob blob = std::get<BuiltBlob>(build(shop));
  EXPECT_EQ(place.blob(blob.digest), "built from one");
  EXPECT_EQ(blob.size_bytes, 14);
  EXPECT_EQ(place.compiler.last.folder, "/home/artifacts/work/id/src");
  EXPECT_EQ(place.compiler.last.environment,
            (std::map<std::string, std::string>{{"PATH", "/usr/bin"},
                                                {"HOME", "/home/artifacts/work/id/home"},
                                                {"TMPDIR", "/home/artifacts/work/id/tmp"},
                                                {"SLUICE_SPEC", "/home/artifacts/work/id/spec"},
                                                {"SLUICE_DEPS", "/home/artifacts/work/id/deps"}}));
  EXPECT_EQ(place.disk.list("/shop")->size(), 1U);
  EXPECT_TRUE(place.disk.list("/home/artifacts/work")->empty());
}

TEST_F(Builders, EveryBuildSeesTheSamePath) {
  RealDisk disk;
  RealClock clock;
  process::RealRunner runner(clock);
  TestingFolder folder;
  ASSERT_TRUE(disk.make_folder(folder.path("src"), 0755));
  ASSERT_TRUE(write_atomically(disk, folder.path("src/main.txt"), "one", 0644));
  for (const char* home : {"a", "b"}) {
    ASSERT_TRUE(disk.make_folder(folder.path(home), 0700));
    ArtifactBuilder builder(
        disk, runner,
        {.home = folder.path(home),
         .environment = {{"PATH", "/usr/bin:/bin"}},
         .version_of = [](const std::string&) { return "1"; },
         .has_build_place = [&](const std::string& work) { return process::has_build_place(runner, work); }});
    BuildCommand command{.argv = {"sh", "-c", "pwd > out; echo $HOME $TMPDIR $SLUICE_DEPS >> out"}, .output = "out"};
    auto workplace = builder.prepare(home, {.implementation = folder.path("src")}, command);
    ASSERT_TRUE(workplace) << to_string(workplace.error());
    const bool has_place = process::has_build_place(runner, workplace->folder());
    auto built = builder.build(*workplace, command, {});
    ASSERT_TRUE(built) << to_string(built.error());
    ASSERT_TRUE(std::holds_alternative<BuiltBlob>(*built)) << std::get<BuildFailure>(*built).reason;
    auto seen = read_file(disk, folder.path(home) + "/" + location_of(std::get<BuiltBlob>(*built).digest), 1000);
    ASSERT_TRUE(seen) << to_string(seen.error());
    // Where the system has no namespaces, a build sees its folder where it is.
    const std::string root = has_place ? std::string(process::kBuildPlace) : workplace->folder();
    EXPECT_EQ(*seen, root + "/src\n" + root + "/home " + root + "/tmp " + root + "/deps\n");
    command.argv = {"no-such-program"};
    auto other = builder.prepare("other", {.implementation = folder.path("src")}, command);
    ASSERT_TRUE(other) << to_string(other.error());
    auto failed = builder.build(*other, command, {});
    ASSERT_TRUE(failed && std::holds_alternative<BuildFailure>(*failed));
    EXPECT_NE(std::get<BuildFailure>(*failed).reason.find("no-such-program"), std::string::npos);
  }
}

TEST_F(Builders, WithoutACommandAFileIsTheArtifact) {
  BuiltBlob blob = std::get<BuiltBlob>(build({.implementation = "/shop/main.txt"}, std::nullopt));
  EXPECT_EQ(place.blob(blob.digest), "one");
  EXPECT_EQ(place.compiler.runs, 0);
  EXPECT_EQ(std::get<BuildFailure>(build(shop, std::nullopt)).reason,
            "a folder is built by a command, and there is none");
  EXPECT_EQ(std::get<BuildFailure>(build({.implementation = "/shop/main.txt"})).reason,
            "a command is run in a folder, and this is a file");
}

TEST_F(Builders, AFailureHasTheLastLines) {
  place.compiler.ran = {.code = 2};
  for (int i = 1; i <= 30; ++i) place.compiler.ran.tail += "line " + std::to_string(i) + "\n";
  BuildFailure failure = std::get<BuildFailure>(build(shop));
  EXPECT_EQ(failure.reason, "compile ended with exit code 2");
  ASSERT_EQ(failure.lines.size(), 20U);
  EXPECT_EQ(failure.lines.front(), "line 11");
  EXPECT_EQ(failure.lines.back(), "line 30");
  EXPECT_EQ(place.blobs(), 0U);
}

TEST_F(Builders, AnOutputThatIsNotThereOrNotInsideIsAFailure) {
  for (const char* output : {"missing", "../../../../shop/main.txt", "/shop/main.txt", ""}) {
    BuildFailure failure = std::get<BuildFailure>(build(shop, BuildCommand{.argv = {"compile"}, .output = output}));
    EXPECT_EQ(failure.reason, std::string("the command left no file ") + output);
  }
}

TEST_F(Builders, TwoEqualBuildsAtOnceRunOnce) {
  std::mutex mutex;
  std::condition_variable changed;
  bool begun = false, may_end = false;
  place.compiler.meanwhile = [&] {
    std::unique_lock lock(mutex);
    begun = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_end; });
  };
  auto one = place.builder.prepare("one", shop, kCompile), two = place.builder.prepare("two", shop, kCompile);
  auto first = std::async(std::launch::async, [&] { return place.builder.build(*one, kCompile, {}); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun; });
  }
  // The second asks whether it is cancelled only while it waits for the first.
  auto waits = [&] {
    std::unique_lock lock(mutex);
    may_end = true;
    changed.notify_all();
    return false;
  };
  BuiltBlob second = std::get<BuiltBlob>(place.builder.build(*two, kCompile, waits).value());
  BuiltBlob made = std::get<BuiltBlob>(first.get().value());
  EXPECT_EQ(place.compiler.runs, 1);
  EXPECT_FALSE(made.shared);
  EXPECT_TRUE(second.shared);
  EXPECT_EQ(second.digest, made.digest);
}

TEST_F(Builders, WhatIsGoneIsBuiltAgain) {
  BuiltBlob first = std::get<BuiltBlob>(build(shop));
  EXPECT_TRUE(std::get<BuiltBlob>(build(shop)).shared);
  ASSERT_TRUE(place.disk.remove("/home/" + location_of(first.digest)));
  EXPECT_FALSE(std::get<BuiltBlob>(build(shop)).shared);
  EXPECT_EQ(place.compiler.runs, 2);
}

TEST_F(Builders, SaysWhatIsMissing) {
  EXPECT_EQ(place.builder.prepare("id", {.implementation = "/none"}, kCompile).error().code, Code::not_found);
  EXPECT_EQ(hash_of(shop, BuildCommand{.argv = {"cc"}, .output = "out"}), "there is no program cc on PATH");
  EXPECT_TRUE(place.disk.list("/home/artifacts/work")->empty());
}

TEST_F(Builders, KeepsOnlyWhatItIsTold) {
  std::string first = std::get<BuiltBlob>(build(shop)).digest;
  place.put("/shop/main.txt", "two");
  std::string second = std::get<BuiltBlob>(build(shop)).digest;
  ASSERT_TRUE(place.disk.make_folder("/home/artifacts/work/crashed", 0700));
  ASSERT_TRUE(place.builder.keep_only({second}));
  EXPECT_FALSE(*place.builder.has(first));
  EXPECT_TRUE(*place.builder.has(second));
  EXPECT_FALSE(*place.disk.exists("/home/artifacts/work/crashed"));
  EXPECT_TRUE(TestingBuilder().builder.keep_only({}));  // where nothing was ever built
}

TEST(ToolVersion, IsWhatTheToolTellsOrTheDigestOfItsFile) {
  VolatileDisk disk;
  Variables variables = [](const std::string&) { return std::optional<std::string>("/usr/bin:/bin"); };
  EXPECT_NE(version_of_tool(disk, "python3", variables), std::nullopt);
  EXPECT_EQ(version_of_tool(disk, "no-such-tool", variables), std::nullopt);
}

}  // namespace artifact_builder_test
}  // namespace sluice::deploy::artifact
