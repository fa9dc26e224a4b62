// An inventory is read as it was written, and is of one instance.
#include "kube/inventory.h"

#include <gtest/gtest.h>

namespace sluice::kube {
namespace inventory_test {

const InstanceKey kKey{"h1", "petstore", "dev"};

TEST(Inventory, IsReadAsItWasWritten) {
  const Inventory inventory{
      .version = "7",
      .objects = {{{"apps/v1", "Deployment", "dev", "web"}, "u1"}, {{"v1", "ConfigMap", "dev", "c"}, ""}},
      .manifest_hash = "sha256:1",
      .snapshot = "s1",
      .request = "r1",
      .lock = {"r2", "d1", 1'700'000'000'000}};
  const json::value object = inventory_object(kKey, inventory);
  EXPECT_EQ(text_at(object, {"metadata", "resourceVersion"}), "7");
  EXPECT_EQ(ref_of(object), inventory_ref(kKey));
  auto read = read_inventory(object, kKey);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->objects, inventory.objects);
  EXPECT_EQ(read->lock, inventory.lock);
  EXPECT_EQ(read->snapshot, "s1");
  EXPECT_EQ(read->version, "7");
}

TEST(Inventory, EachInstanceHasItsOwn) {
  EXPECT_NE(inventory_ref(kKey).name, inventory_ref({"h2", "petstore", "dev"}).name);
  EXPECT_NE(inventory_ref({"a", "bc", "dev"}).name, inventory_ref({"ab", "c", "dev"}).name);
  const json::value object = inventory_object(kKey, {});
  EXPECT_EQ(read_inventory(object, {"h2", "petstore", "dev"}).error().code, Code::conflict);
  EXPECT_FALSE(object.at("metadata").as_object().contains("resourceVersion"));
  EXPECT_EQ(read_inventory(json::parse(R"({"data":{"inventory":"{"}})"), kKey).error().code, Code::invalid);
  EXPECT_EQ(read_inventory(json::parse("{}"), kKey).error().code, Code::invalid);
}

}  // namespace inventory_test
}  // namespace sluice::kube
