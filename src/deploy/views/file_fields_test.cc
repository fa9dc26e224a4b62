// Faults are told with the path and the position.
#include "deploy/views/file_fields.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/yaml.h"

namespace sluice::deploy::views {
namespace file_fields_test {

TEST(FileFields, SayWhereAFaultIs) {
  Document file = parse_yaml("name: 7\nother: x\nnothing: null\n", "env.yaml").value();
  EXPECT_EQ(to_string(check_fields(file, "", file.root, {"name", "nothing"}).error()),
            "env.yaml:2:1: /other: there is no such field");
  EXPECT_TRUE(check_fields(file, "", file.root, {"name", "nothing", "other"}));
  EXPECT_EQ(to_string(text_at(file, "", file.root, "name").error()), "env.yaml:1:1: /name: expected a text");
  EXPECT_EQ(text_at(file, "", file.root, "other").value(), "x");
  EXPECT_EQ(text_at(file, "", file.root, "nothing").value(), "");
  EXPECT_EQ(text_at(file, "", file.root, "missing").value(), "");
  EXPECT_EQ(check_fields(file, "/name", file.root.at("name"), {}).error().message, "expected an object");
}

}  // namespace file_fields_test
}  // namespace sluice::deploy::views
