// What is never packed.
#include "bundle/secrets/deny_list.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace deny_list_test {

std::string what(std::string_view path, bool is_folder = false) {
  auto found = denied(path, is_folder);
  return found ? std::string(found->what) : "";
}

TEST(DenyList, KnowsFilesOfSecretsByTheirNames) {
  EXPECT_EQ(what(".env"), "an environment file");
  EXPECT_EQ(what("deep/.env.production"), "an environment file");
  EXPECT_EQ(what("prod.ENV"), "an environment file");
  EXPECT_EQ(what("keys/id_ed25519"), "a private key");
  EXPECT_EQ(what("tls/server.key"), "a private key");
  EXPECT_EQ(what(".aws", true), "a store of secrets");
  EXPECT_EQ(what(".sluice/dev/.dev.secrets.env"), "an environment file");
  EXPECT_EQ(what(".netrc"), "a file with credentials");
  EXPECT_TRUE(denied(".env", false)->secret);
  for (const char* path : {".env-prod", ".env_local", ".env1", ".environment", ".envrc", ".env.dist", "prod.env.bak"}) {
    EXPECT_EQ(what(path), "an environment file") << path;
  }
  for (const char* path : {"prod.key.dist", "id_rsa.sample", "id_ed25519.bak", "server.p8", "server.pk8"}) {
    EXPECT_EQ(what(path), "a private key") << path;
  }
}

TEST(DenyList, TemplatesAndCompressedCopiesAreTheSame) {
  for (const char* path : {".env.example", "deep/.env.sample", ".ENV.TEMPLATE", "prod.env.gz", "prod.env.bak.zst"}) {
    EXPECT_EQ(what(path), "an environment file") << path;
  }
  EXPECT_EQ(what("id_rsa.xz"), "a private key");
  EXPECT_EQ(what("main.py.gz"), "");
}

TEST(DenyList, KnowsVersionControlAndEditors) {
  EXPECT_EQ(what(".git", true), "of version control");
  EXPECT_EQ(what("sub/.git"), "of version control");
  EXPECT_EQ(what(".main.c.swp"), "an editor's or the system's");
  EXPECT_EQ(what("notes~"), "an editor's or the system's");
  EXPECT_EQ(what(".DS_Store"), "an editor's or the system's");
  EXPECT_FALSE(denied(".git", true)->secret);
}

TEST(DenyList, LetsTheRestPass) {
  for (const char* path : {"main.py", "environment.ts", "config.example", "keys.json", "id_ed25519.pub", "cert.pem",
                           "bundle.yaml", "keyboard", "monkey", "notes.key.md", "main.py.orig"}) {
    EXPECT_EQ(what(path), "") << path;
  }
  EXPECT_EQ(what("server.key", true), "") << "a folder";
}

}  // namespace deny_list_test
}  // namespace sluice::bundle
