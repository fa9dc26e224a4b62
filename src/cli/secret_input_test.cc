// How a value comes in, and that none comes in on the command line.
#include "cli/secret_input.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "cli/testing_context.h"

namespace sluice::cli {
namespace secret_input_test {

struct SecretInput : testing::Test {
  SecretInput() {
    here.given.set("env", "local");
    here.given.set("name", "hello/KEY");
  }
  std::string told(const std::string& piped) {
    here.in.clear();
    here.in.str(piped);
    auto value = read_secret_value(here.context, "hello/KEY");
    return value ? *value : to_string(value.error());
  }
  TestingContext here{{}, "secrets put"};
};

TEST_F(SecretInput, OneLineBreakAtTheEndIsLeftOut) {
  EXPECT_EQ(told("hunter2\n"), "hunter2");
  EXPECT_EQ(told("two\nlines\n\n"), "two\nlines\n");
  EXPECT_EQ(told(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST_F(SecretInput, WhatIsNoValueIsRefused) {
  EXPECT_EQ(told("\n"), "the value of hello/KEY is empty; nothing was changed");
  EXPECT_EQ(told("\xff"), "the value of hello/KEY is no text in UTF-8; nothing was changed");
}

TEST_F(SecretInput, AFileIsReadAsItIs) {
  const std::string file = here.folder.path("value");
  ASSERT_TRUE(write_atomically(here.disk, file, "hunter2\n", 0600));
  here.given.set("file", file);
  EXPECT_EQ(told("not this"), "hunter2\n");
}

TEST_F(SecretInput, AValueOnTheCommandLineIsNotRepeated) {
  EXPECT_TRUE(check_no_value_given(here.context));
  here.given.set("value", "hunter2");
  auto refused = check_no_value_given(here.context);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("hunter2"), std::string::npos);
  EXPECT_EQ(refused.error().next.find("sluice secrets put local hello/KEY, which asks for it"), 0U);
}

}  // namespace secret_input_test
}  // namespace sluice::cli
