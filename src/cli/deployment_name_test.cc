// A deployment by the name of its bundle, by its id, and for one of several customers.
#include "cli/deployment_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace deployment_name_test {

using testing::HasSubstr;

TEST(FirstWeek12, ADeploymentIsNamedByBundleCustomerOrId) {
  ObjectsHome home;
  const std::string archive = home.archive();
  for (const char* customer : {"acme", "other"}) {
    home.data(
        {"bundles", "add", "local", archive, "--customer-id", customer, "--host", std::string(customer) + ".example"});
  }
  Ran several = home.run({"scale", "shop", "2"});
  EXPECT_EQ(several.exit, 6);
  EXPECT_THAT(several.err, HasSubstr("next:  name the customer with --customer-id\n"));
  EXPECT_EQ(home.run({"scale", "shop", "2", "--customer-id", "acme"}).exit, 0);
  const std::string id(home.data({"bundles", "list", "local"}).as_array()[0].at("deployment_id").as_string());
  EXPECT_EQ(home.run({"scale", id, "2"}).exit, 0);
  Ran none = home.run({"scale", "tea", "2"});
  EXPECT_EQ(none.exit, 5);
  EXPECT_THAT(none.err, HasSubstr("there is no deployment of 'tea' in local"));
}

}  // namespace deployment_name_test
}  // namespace sluice::cli
