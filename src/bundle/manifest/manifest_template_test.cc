// What `sluice init` writes can be read, with and without its comments.
#include "bundle/manifest/manifest_template.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sluice::bundle {
namespace manifest_template_test {

TEST(ManifestTemplate, HoldsTheThreeAnswers) {
  auto manifest = parse_manifest(
      manifest_template({.name = {"shop"}, .run = {"./bin/shop", "--say", "a \"b\""}, .listen = Listen::unix}));
  ASSERT_TRUE(manifest) << to_string(manifest.error());
  EXPECT_EQ(manifest->name.text, "shop");
  EXPECT_EQ(manifest->run, (std::vector<std::string>{"./bin/shop", "--say", "a \"b\""}));
  EXPECT_EQ(manifest->listen, Listen::unix);
}

// Every line that begins like a setting is one: taken out of its comment the whole is still a manifest, and what is
// said to be a default is the default.
TEST(ManifestTemplate, ItsCommentsAreSettings) {
  std::istringstream lines(manifest_template({.name = {"shop"}, .run = {"a"}}));
  std::string text;
  std::string previous;
  int settings = 0;
  for (std::string line; std::getline(lines, line);) {
    size_t colon = line.find(": ");
    bool is_setting = line.starts_with("# ") && colon != std::string::npos &&
                      line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", 2) == colon;
    settings += is_setting ? 1 : 0;
    // These stand in place of `run`.
    if (line.starts_with("# image: ") || line.starts_with("# container: ")) is_setting = false;
    text += (is_setting ? line.substr(2) : line) + "\n";
  }
  EXPECT_EQ(settings, 23);
  auto manifest = parse_manifest(text);
  ASSERT_TRUE(manifest) << to_string(manifest.error());
  Manifest defaults;
  EXPECT_EQ(manifest->health, defaults.health);
  EXPECT_EQ(manifest->resources, defaults.resources);
  EXPECT_EQ(manifest->include, defaults.include);
  EXPECT_EQ(manifest->drain, defaults.drain);
  EXPECT_EQ(manifest->replicas, defaults.replicas);
  EXPECT_EQ(manifest->user, kDefaultUser);
  EXPECT_EQ(manifest->transport, defaults.transport);
  EXPECT_EQ(manifest->secrets_as, secrets_as_of(defaults));
}

}  // namespace manifest_template_test
}  // namespace sluice::bundle
