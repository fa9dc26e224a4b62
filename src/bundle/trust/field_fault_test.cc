// What readers of signed JSON say about a field.
#include "bundle/trust/field_fault.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace field_fault_test {

TEST(FieldFault, NamesTheFieldAndWhatToWrite) {
  EXPECT_EQ(to_string(invalid("/keys/0/label", "expected a name", "give it one")), "/keys/0/label: expected a name");
}

TEST(FieldFault, ATimeMayBeMissingButNotWrong) {
  EXPECT_EQ(time_of(std::nullopt, "/at").value(), std::nullopt);
  EXPECT_EQ(time_of("1970-01-01T00:00:01Z", "/at").value(), 1000);
  EXPECT_EQ(time_of("yesterday", "/at").error().path, "/at");
}

}  // namespace field_fault_test
}  // namespace sluice::bundle
