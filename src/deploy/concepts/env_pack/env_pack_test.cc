// Packs from outside, by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "deploy/concepts/env_pack/env_pack_work.h"
#include "deploy/pack_keeper.h"
#include "lang/run/harness.h"
#include "pack/testing_packs.h"

namespace sluice::deploy::env_pack {
namespace {
using testing::HasSubstr;

struct Shelf {
  TestingFolder folder;
  RealDisk disk;
  sluice::pack::PackShelf shelf{disk, folder.path()};
  PackKeeper keeper{disk, shelf, [](const sluice::pack::Pack&) { return Result<void>(); }};
};

Shelf& shared_shelf() {
  static Shelf shelf;
  return shelf;
}
}  // namespace

void prepare(lang::Harness& harness) { harness.tools().add(shared_shelf().keeper); }

namespace env_pack_test {

struct EnvPackTest : testing::Test {
  Shelf home;
  lang::Harness harness{env_pack_binding()};
  std::string source = sluice::pack::write_pack(home.folder.path() + "/file", "acme.telemetry.file@1.0.0");
  const EnvPackId kind{"acme.telemetry.file@1.0.0"};

  void SetUp() override { harness.tools().add(home.keeper); }
  Install::Ok install() { return harness.invoke(Install{.source = source}).as<Install::Ok>(); }
};

TEST_F(EnvPackTest, InstalledIsKeptByItsDigestAndAdmittedToLocal) {
  auto ok = install();
  EXPECT_EQ(ok.pack, kind);
  EXPECT_EQ(ok.slot, "telemetry");
  EXPECT_EQ(ok.scope, "packs/acme.telemetry.file");
  ASSERT_EQ(home.shelf.all([](const std::string&) {}).size(), 1U);
  EXPECT_EQ(home.shelf.all([](const std::string&) {}).front().digest, ok.digest);
  auto listed = harness.invoke(List{}).as<List::Ok>().packs;
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().admitted, std::vector<std::string>{"local"});
  EXPECT_EQ(install().digest, ok.digest) << "installing the same again is harmless";
  EXPECT_EQ(harness.invoke(Describe{.pack = kind}).as<Describe::Ok>().slot, "telemetry");
  EXPECT_TRUE(harness.invoke(Describe{.pack = EnvPackId("b.c@1.0.0")}).is<Describe::NotFound>());
}

TEST_F(EnvPackTest, OtherContentsNeedAnotherVersion) {
  install();
  sluice::pack::write_pack(source, "acme.telemetry.file@1.0.0", "summary: Another one.\n");
  EXPECT_THAT(harness.invoke(Install{.source = source}).as<Install::Exists>().message,
              HasSubstr("is installed with other contents"));
}

TEST_F(EnvPackTest, WhatIsNoPackIsRefused) {
  EXPECT_TRUE(harness.invoke(Install{.source = home.folder.path() + "/none"}).is<Install::NotFound>());
  sluice::pack::write_pack(source, "acme.telemetry.file@1.0.0", "colour: red\n");
  EXPECT_THAT(harness.invoke(Install{.source = source}).as<Install::Invalid>().message, HasSubstr("colour"));
  EXPECT_TRUE(home.shelf.all([](const std::string&) {}).empty()) << "nothing is left behind";
}

TEST_F(EnvPackTest, UninstalledIsGone) {
  EXPECT_TRUE(harness.invoke(Uninstall{.pack = kind}).is<Uninstall::NotFound>());
  auto digest = install().digest;
  EXPECT_EQ(harness.invoke(Uninstall{.pack = kind}).as<Uninstall::Ok>().digest, digest);
  EXPECT_TRUE(home.shelf.all([](const std::string&) {}).empty());
}

TEST(EnvPackFaults, UninstallFailedSaysWhatCannotBeRemoved) {
  const EnvPackId kind{"acme.telemetry.file@1.0.0"};
  std::string said;
  for (uint64_t at = 1; said.empty() && at < 20; ++at) {
    TestingFolder folder;
    RealDisk real;
    FaultyDisk disk(real, {.kind = FaultKind::fail, .at = at, .only = DiskOperation::remove});
    sluice::pack::PackShelf shelf(disk, folder.path());
    PackKeeper keeper(disk, shelf, [](const sluice::pack::Pack&) { return Result<void>(); });
    lang::Harness harness(env_pack_binding());
    harness.tools().add(keeper);
    const std::string source = sluice::pack::write_pack(folder.path() + "/file", kind.text());
    if (!harness.invoke(Install{.source = source}).is<Install::Ok>()) continue;
    auto ended = harness.invoke(Uninstall{.pack = kind});
    if (ended.is<Uninstall::Failed>()) said = ended.as<Uninstall::Failed>().message;
  }
  EXPECT_NE(said, "");
}

TEST_F(EnvPackTest, AdmittedByTrustAlone) {
  EXPECT_TRUE(harness.invoke(Admit{.pack = kind, .environment = "prod"}).is<Admit::NotFound>());
  install();
  EXPECT_TRUE(harness.invoke(Admit{.pack = kind, .environment = "local"}).is<Admit::Ok>());
  harness.answer_with(Admit::Untrusted{.message = "no"});
  EXPECT_EQ(harness.invoke(Admit{.pack = kind, .environment = "prod"}).as<Admit::Untrusted>().message, "no");
  harness.answer_with(Admit::Ok{});
  EXPECT_TRUE(harness.invoke(Admit{.pack = kind, .environment = "prod"}).is<Admit::Ok>());
  EXPECT_EQ(harness.invoke(List{}).as<List::Ok>().packs.front().admitted, (std::vector<std::string>{"local", "prod"}));
}

}  // namespace env_pack_test
}  // namespace sluice::deploy::env_pack
