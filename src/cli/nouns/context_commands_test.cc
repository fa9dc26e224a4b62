// sluice context where nobody has logged in; logging in is tested end to end.
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace context_commands_test {

TEST(ContextCommands, LocalIsAlwaysThere) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"context", "use", "local"}).out, "using  local\n");
  EXPECT_EQ(home.run({"context", "use", "team"}).err, "error: there is no context team\nnext:  sluice context list\n");
  EXPECT_EQ(home.run({"context", "list", "-o", "json"}).exit, 0);
  EXPECT_EQ(home.run({"login", "http://192.0.2.1:80"}).exit, 2);
  EXPECT_EQ(home.run({"login", "http://127.0.0.1:1", "--name", "local"}).exit, 2);
}

}  // namespace context_commands_test
}  // namespace sluice::cli
