// References as people write them, and what is refused.
#include "oci/reference.h"

#include <gtest/gtest.h>

namespace sluice::oci {
namespace reference_test {

const std::string kDigest = "sha256:" + std::string(64, 'a');

std::string read(const std::string& text) {
  auto reference = parse_reference(text);
  return reference ? to_string(*reference) : "refused: " + reference.error().message;
}

TEST(Reference, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(read("registry.example:5000/team/shop:1.4"), "registry.example:5000/team/shop:1.4");
  EXPECT_EQ(read("oci://Registry.Example/shop"), "registry.example/shop:latest");
  EXPECT_EQ(read("registry.example/a/b.c_d__e--f@" + kDigest), "registry.example/a/b.c_d__e--f@" + kDigest);
  EXPECT_EQ(read("localhost/shop:V1@" + kDigest), "localhost/shop:V1@" + kDigest);
  EXPECT_EQ(read("[::1]:5000/shop"), "[::1]:5000/shop:latest");
  EXPECT_EQ(parse_reference("a.example/b:c@" + kDigest)->wanted(), kDigest);
  EXPECT_EQ(parse_reference("a.example/b:c")->wanted(), "c");
}

TEST(Reference, ANameWithoutAHostIsOneOfDockerHub) {
  EXPECT_EQ(read("nginx"), "docker.io/library/nginx:latest");
  EXPECT_EQ(read("team/shop:2"), "docker.io/team/shop:2");
  EXPECT_EQ(base_url("docker.io"), "https://registry-1.docker.io");
}

TEST(Reference, WhatIsNoneIsRefused) {
  for (const std::string text :
       {"", "/", "a.example/", "a.example/Shop", "a.example/shop:", "a.example/shop:-x", "a.example/a//b",
        "a.example/a..b", "a.example/a___b", "a.example/-a", "a.example/a-", "a.example/a@sha256:12", "a.example:0x/a",
        "a.example/a b", "a.example/a/../b", "user@a.example/b"}) {
    EXPECT_TRUE(read(text).starts_with("refused: ")) << text;
  }
  EXPECT_FALSE(parse_reference("a.example/" + std::string(256, 'a')));
  EXPECT_FALSE(parse_reference("a.example/a:" + std::string(129, 'a')));
  EXPECT_EQ(read("a.example/Shop"),
            "refused: 'a.example/Shop' names nothing in a registry: its repository is not of small letters, digits and "
            ". _ - /");
}

TEST(Reference, PlainHttpIsForTheLoopbackAlone) {
  EXPECT_EQ(base_url("127.0.0.1:5000"), "http://127.0.0.1:5000");
  EXPECT_EQ(base_url("localhost:5000"), "http://localhost:5000");
  EXPECT_EQ(base_url("[::1]:5000"), "http://[::1]:5000");
  for (const std::string host : {"127.0.0.1.example", "127.example", "10.0.0.1:5000", "localhost.example", "[::2]"}) {
    EXPECT_EQ(base_url(host), "https://" + host);
  }
}

TEST(Reference, AHostStandsAlone) {
  EXPECT_EQ(*parse_host("Registry.example:5000"), "registry.example:5000");
  for (const char* text : {"", "registry.example/shop", "registry.example/", "u@registry.example", "a b"}) {
    EXPECT_FALSE(parse_host(text)) << text;
  }
}

}  // namespace reference_test
}  // namespace sluice::oci
