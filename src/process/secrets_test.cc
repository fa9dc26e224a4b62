// Secrets on their way from the controller to a program.
#include "process/secrets.h"

#include <gtest/gtest.h>

namespace sluice::process {
namespace secrets_test {

const Secrets kSecrets{{"KEY", "k\"1\n"}, {"TOKEN", "t"}};

TEST(Secrets, AreVariablesOrFilesInMemory) {
  auto sealed = seal(kSecrets);
  ASSERT_TRUE(sealed);
  auto bytes = read_all(sealed->fd());
  auto variables = HandedSecrets::take(*bytes, SecretsAs::env);
  ASSERT_TRUE(variables);
  EXPECT_EQ(variables->variables(), kSecrets);
  EXPECT_TRUE(variables->descriptors().empty());
  auto files = HandedSecrets::take(*bytes, SecretsAs::file);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->variables(), (Secrets{{"KEY", "/proc/self/fd/3"}, {"TOKEN", "/proc/self/fd/4"}}));
  ASSERT_EQ(files->descriptors().size(), 2U);
  EXPECT_EQ(*read_all(files->descriptors()[0]), "k\"1\n");
  EXPECT_EQ(*read_all(files->descriptors()[1]), "t");
}

TEST(Secrets, AreReadBack) {
  auto sealed = seal(kSecrets);
  EXPECT_EQ(*unseal(*read_all(sealed->fd())), kSecrets);
}

TEST(Secrets, AreNotQuotedWhenTheyCannotBeRead) {
  for (const char* text : {"", "{\"KEY\":\"abc", "{\"KEY\":1}", "[]"}) {
    EXPECT_EQ(HandedSecrets::take(text, SecretsAs::env).error(),
              (Error{.code = Code::invalid, .message = "the secrets that were handed over cannot be read"}));
  }
}

}  // namespace secrets_test
}  // namespace sluice::process
