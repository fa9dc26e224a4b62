// Fields are found by their managers, also in lists of named elements.
#include "deploy/executor/drift.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::deploy::executor {
namespace drift_test {

boost::json::value parsed(const char* text) { return parse_json_value(text).value(); }

TEST(Drift, NamesFieldsOfOthersThatHaveAnotherValue) {
  const auto last = parsed(R"({"spec":{"replicas":1,"paused":false,"containers":[{"name":"a","image":"x:1"}]}})");
  const auto live = parsed(R"({"metadata":{"managedFields":[
      {"manager":"me","operation":"Apply","fieldsV1":{"f:spec":{"f:paused":{}}}},
      {"manager":"scaler","operation":"Apply","fieldsV1":{"f:spec":{"f:replicas":{}}}},
      {"manager":"kubectl","operation":"Update",
       "fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}}}]},
      "spec":{"replicas":3,"paused":true,"containers":[{"name":"a","image":"x:2"}]}})");
  EXPECT_EQ(drift_of(last, live, "me"), (std::vector<DriftedField>{{".spec.replicas", "scaler"},
                                                                   {".spec.containers[name=\"a\"].image", "kubectl"}}));
  EXPECT_TRUE(drift_of(live, live, "me").empty());
  EXPECT_TRUE(drift_of(last, {}, "me").empty());
}

}  // namespace drift_test
}  // namespace sluice::deploy::executor
