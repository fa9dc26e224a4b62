// Names of packs, and of their concepts.
#include "pack/descriptor.h"

#include <gtest/gtest.h>

namespace sluice::pack {
namespace descriptor_test {

TEST(PackDescriptor, NamesItsConcept) {
  EXPECT_EQ(concept_name_of({"acme.telemetry.file", "1.0.0"}), "AcmeTelemetryFile_1_0_0");
  EXPECT_EQ(concept_name_of({"acme.telemetry.my-file", "2.1.0-rc.1"}), "AcmeTelemetryMy_file_2_1_0_rc_1");
  EXPECT_EQ(concept_name_of({"3d.telemetry", "1.0.0"}), "P3dTelemetry_1_0_0");
}

TEST(PackDescriptor, IsReadAndWritten) {
  auto descriptor = parse_descriptor("acme.telemetry.file@1.0.0");
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(to_string(*descriptor), "acme.telemetry.file@1.0.0");
  EXPECT_FALSE(parse_descriptor("acme@1.0.0"));
  EXPECT_TRUE(is_slot("iac"));
  EXPECT_FALSE(is_slot("kitchen"));
}

}  // namespace descriptor_test
}  // namespace sluice::pack
