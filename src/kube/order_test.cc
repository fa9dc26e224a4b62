// Waves: what others need comes first.
#include "kube/order.h"

#include <gtest/gtest.h>

namespace sluice::kube {
namespace order_test {

json::value object(const std::string& kind, const std::string& wave = "") {
  json::value made = json::parse(R"({"apiVersion":"v1","metadata":{"name":"x"}})");
  made.as_object()["kind"] = kind;
  if (!wave.empty()) made.at("metadata").as_object()["annotations"] = {{kWaveAnnotation, wave}};
  return made;
}

TEST(Waves, NamespacesConfigWorkloadsRoutes) {
  auto waves = waves_of({object("Ingress"), object("Deployment"), object("Secret"), object("Widget"),
                         object("Namespace"), object("ConfigMap")});
  ASSERT_TRUE(waves);
  EXPECT_EQ(*waves, (std::vector<std::vector<size_t>>{{4}, {2, 5}, {1, 3}, {0}}));
  EXPECT_TRUE(waves_of({})->empty());
}

TEST(Waves, AnAnnotationSaysOtherwise) {
  auto waves = waves_of({object("Deployment", "7"), object("Ingress", "0"), object("Job")});
  EXPECT_EQ(*waves, (std::vector<std::vector<size_t>>{{1}, {2}, {0}}));
  for (const char* bad : {"-1", "100", "x", "1x"}) {
    EXPECT_EQ(waves_of({object("Job", bad)}).error().message,
              "the annotation sluice.dev/wave of Job/x is no number from 0 to 99");
  }
}

}  // namespace order_test
}  // namespace sluice::kube
