// Packs that a home keeps, as a kit takes them.
#include "host/pack_concepts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/deploy_kit.h"
#include "host/kit_place.h"
#include "host/testing_opening.h"
#include "pack/testing_packs.h"

namespace sluice::host {
namespace pack_concepts_test {
using testing::HasSubstr;

struct PackConceptsTest : testing::Test {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  TestingNarrator narrator;
  pack::PackShelf shelf{disk, folder.path()};
  KitPlace place{.folder = std::string(deploy::kKitFolder), .options = {}, .home = folder.path()};

  std::shared_ptr<const lang::CheckedKit> kit() {
    auto checked = check_place(place, false, disk, narrator);
    return checked.kit ? std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)) : nullptr;
  }
};

TEST_F(PackConceptsTest, VersionsStandSideBySide) {
  for (const char* kind : {"acme.telemetry.notes@1.0.0", "acme.telemetry.notes@1.1.0"}) {
    ASSERT_TRUE(shelf.keep(pack::write_pack(folder.path(kind), kind)));
  }
  auto loaded = kit();
  ASSERT_TRUE(loaded) << narrator.said;
  EXPECT_TRUE(loaded->symbols().find_action("AcmeTelemetryNotes_1_0_0/keep"));
  EXPECT_TRUE(loaded->symbols().find_action("AcmeTelemetryNotes_1_1_0/keep"));
  EXPECT_FALSE(loaded->symbols().find_concept("Notes"));
  PackConcepts packs(shelf, disk, clock, [](const std::string&) { return std::nullopt; });
  EXPECT_EQ(packs.bind(loaded).size(), 2U);
  EXPECT_EQ(packs.health("acme.telemetry.notes@1.0.0"), "");
  EXPECT_THAT(packs.health("acme.telemetry.none@1.0.0"), HasSubstr("is not installed"));
}

TEST_F(PackConceptsTest, OneThatDoesNotFitIsLeftOut) {
  ASSERT_TRUE(shelf.keep(pack::write_pack(folder.path("a"), "acme.telemetry.a@1.0.0")));
  ASSERT_TRUE(shelf.keep(pack::write_pack(folder.path("b"), "acme.telemetry.b@1.0.0", "", pack::kNotesProgram,
                                          "concept B [X] { purpose { p } state { y: Z -> Int } actions { } }")));
  auto loaded = kit();
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->symbols().find_concept("AcmeTelemetryA_1_0_0"));
  EXPECT_THAT(narrator.said, HasSubstr("the pack acme.telemetry.b@1.0.0 is left out"));
  EXPECT_FALSE(fits_the_kit(shelf.all([](const std::string&) {}).back()));
}

}  // namespace pack_concepts_test
}  // namespace sluice::host
