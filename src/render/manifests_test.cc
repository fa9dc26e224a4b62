// Objects of an instance: read inside their folder, checked, hashed without secrets, labelled.
#include "render/manifests.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::rendering {
namespace manifests_test {

class ManifestsTest : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.path(path)).parent_path());
    ASSERT_TRUE(write_atomically(disk, folder.path(path), text, 0600));
  }
  Result<std::vector<TemplateFile>> read(const std::string& path) {
    return read_local_templates(disk, folder.path(), path);
  }
  Result<Manifests> made(const std::string& text, const json::value& values = json::object()) {
    return make_objects({{"a.yaml", text}}, values, hmac);
  }

  RealDisk disk;
  TestingFolder folder;
  crypto::Hmac hmac{"a key of the test, thirty-two bytes"};
};

TEST_F(ManifestsTest, TemplatesAreReadInTheOrderOfTheirPaths) {
  put("k8s/b.yml", "b");
  put("k8s/a.yaml", "a");
  put("k8s/sub/c.yaml", "c");
  put("k8s/readme.txt", "no");
  std::filesystem::create_symlink("/etc", folder.path("k8s/etc"));
  auto files = read("k8s");
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 3U);
  EXPECT_EQ((*files)[0].path, "a.yaml");
  EXPECT_EQ((*files)[1].path, "b.yml");
  EXPECT_EQ((*files)[2].path, "sub/c.yaml");
}

TEST_F(ManifestsTest, NoPathLeadsOutOfTheFolder) {
  put("k8s/a.yaml", "a");
  std::filesystem::create_symlink("/etc", folder.path("away"));
  for (const char* path : {"/etc", "k8s/../../b", "away", "away/x", "nowhere", "k8s/a.yaml"}) {
    auto files = read(path);
    ASSERT_FALSE(files) << path;
    EXPECT_EQ(files.error().message.find(folder.path()), std::string::npos);
  }
  std::filesystem::create_directories(folder.path("empty"));
  EXPECT_EQ(read("empty").error().message, "the template 'empty' has no YAML file");
}

TEST_F(ManifestsTest, TheHashIsOfWhatWasRenderedAndShowsNoSecret) {
  const std::string text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n";
  auto first = made(text, {{"name", "x"}});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->hash, made(text, {{"name", "x"}})->hash);
  EXPECT_EQ(first->hash, made("# other words\n" + text, {{"name", "x"}, {"unused", 1}})->hash);
  EXPECT_NE(first->hash, made(text, {{"name", "y"}})->hash);
  EXPECT_NE(first->hash, make_objects({{"b.yaml", text}}, {{"name", "x"}}, hmac)->hash);
  const std::string block = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  p: ${p}\n";
  EXPECT_NE(made(block, {{"p", "one"}})->hash, made(block, {{"p", "two"}})->hash);
  EXPECT_NE(make_objects({{"a.yaml", block}}, {{"p", "one"}}, crypto::Hmac("another"))->hash,
            made(block, {{"p", "one"}})->hash);
}

TEST_F(ManifestsTest, WhatIsNoObjectIsRefused) {
  EXPECT_EQ(made("apiVersion: v1\nmetadata: {name: a}\n").error().message, "a.yaml:1:1: missing required field `kind`");
  EXPECT_EQ(made("apiVersion: v1\nkind: A\n").error().message, "a.yaml:1:1: missing required field `metadata.name`");
  EXPECT_EQ(made("- 1\n").error().message, "a.yaml:1:1: this is no object of Kubernetes");
  EXPECT_EQ(made("a: ${b}\n").error().message, "a.yaml:1:4: missing value for placeholder `b`");
  // All of it at once, and what lacks a value is not called incomplete besides.
  EXPECT_EQ(made("# words\nkind: A\n---\n---\na: ${b}\n---\n- 1\n").error().message,
            "a.yaml:2:1: missing required field `apiVersion`\na.yaml:2:1: missing required field `metadata.name`\n"
            "a.yaml:5:4: missing value for placeholder `b`\na.yaml:7:1: this is no object of Kubernetes");
}

TEST_F(ManifestsTest, WrappedBase64IsMendedAndNonsenseRefused) {
  const std::string head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n";
  auto good = made(head + "  a: |\n    aHVudGVy\n    Mg==\n");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->objects[0].object.at_pointer("/data/a"), json::value("aHVudGVyMg=="));
  EXPECT_EQ(good->taint.redacted(std::string_view("hunter2")), "<REDACTED>");
  auto bad = made(head + "  a: $(base64 f)\n");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "a.yaml:1:1: secret data key `a` is no base64");
}

TEST_F(ManifestsTest, NamespaceAndLabelsAreSet) {
  json::value object = json::parse(R"({"kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}}})");
  place(object, "dev", false, {.host = "h1", .instance = "petstore", .request = "r1"});
  EXPECT_EQ(object, json::parse(R"({"kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y",
      "app.kubernetes.io/managed-by":"light-deployer","lightapi.net/host-id":"h1","lightapi.net/instance-id":"petstore",
      "lightapi.net/request-id":"r1"},"namespace":"dev"}})"));
  json::value wide = json::parse(R"({"kind":"Namespace","metadata":{"name":"a"}})");
  place(wide, "dev", true, {});
  EXPECT_FALSE(wide.at("metadata").as_object().contains("namespace"));
  EXPECT_EQ(label_fault("petstore-dev.1"), "");
  EXPECT_NE(label_fault("-x"), "");
  EXPECT_NE(label_fault(std::string(64, 'a')), "");
  EXPECT_NE(label_fault("a b"), "");
}

}  // namespace manifests_test
}  // namespace sluice::rendering
