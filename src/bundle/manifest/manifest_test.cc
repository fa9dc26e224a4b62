// bundle.yaml: defaults, and each rule with its place in the file.
#include "bundle/manifest/manifest.h"

#include <gtest/gtest.h>

#include "base/json_writer.h"

namespace sluice::bundle {
namespace manifest_test {

std::string with(std::string_view rest) { return "name: shop\nversion: \"1.0\"\nrun: [./shop]\n" + std::string(rest); }

std::string refusal(std::string_view text) {
  auto manifest = parse_manifest(text);
  return manifest ? "accepted" : to_string(manifest.error());
}

TEST(Manifest, NeedsThreeThingsAndHasDefaultsForTheRest) {
  auto manifest = parse_manifest(with(""));
  ASSERT_TRUE(manifest) << to_string(manifest.error());
  EXPECT_EQ(manifest->name.text, "shop");
  EXPECT_EQ(manifest->run, std::vector<std::string>{"./shop"});
  EXPECT_EQ(manifest->include, std::vector<InnerPath>{{"**"}});
  EXPECT_EQ(manifest->listen, Listen::port);
  EXPECT_EQ(manifest->health.path.text, "/health");
  EXPECT_EQ(manifest->drain.length, std::chrono::seconds(30));
  EXPECT_EQ(manifest->replicas, 1u);
  EXPECT_EQ(manifest->user, std::nullopt);
  EXPECT_EQ(secrets_as_of(*manifest), SecretsAs::env);
  EXPECT_EQ(manifest->resources.memory.bytes, uint64_t{512} << 20);
}

TEST(Manifest, ReadsEverything) {
  auto manifest = parse_manifest(R"(name: shop
version: "1.0"
run: [./shop, --fast]
build: [make]
include: [bin, "lib/*.so"]
listen: unix
health: {by: command, command: [./check], interval: 1s, timeout: 500ms, healthy_after: 2}
routes: [{host: shop.example, path: /buy}, {}]
stickiness: {mode: bucket, key: {cookie: sid}, ttl: 2h}
paused: {page: pages/paused.html, retry_after: 2m}
timeouts: {connect: 500ms, first_byte: 2s}
env: {LOG: info}
config: [{name: greeting, question: How?, default: Hi, choices: [Hi, Ho]}, {name: limit, question: Most?, type: integer}]
secrets: [DB]
secrets_as: file
storage: [{name: data, size: 2GB}]
drain: 5s
replicas: 3
resources: {cpu: 0.5, memory: 64MB}
user: 1000
transport: http
concept: Catalogue
allowed_secrets: ["sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"]
)");
  ASSERT_TRUE(manifest) << to_string(manifest.error());
  EXPECT_EQ(manifest->health.command, std::vector<std::string>{"./check"});
  EXPECT_EQ(manifest->routes[0].host->text, "shop.example");
  EXPECT_EQ(manifest->routes[1].path.text, "/");
  EXPECT_EQ(manifest->stickiness,
            (Stickiness{StickyMode::bucket, SessionKey{.cookie = HeaderName{"sid"}}, Duration{std::chrono::hours(2)}}));
  EXPECT_EQ(manifest->paused, (Paused{InnerPath{"pages/paused.html"}, Duration{std::chrono::minutes(2)}}));
  EXPECT_EQ(manifest->timeouts.connect.length, std::chrono::milliseconds(500));
  EXPECT_EQ(manifest->timeouts.stream_idle.length, std::chrono::minutes(5));
  EXPECT_EQ(manifest->config[0].default_->as_string(), "Hi");
  EXPECT_EQ(manifest->storage[0].size.bytes, uint64_t{2} << 30);
  EXPECT_EQ(*manifest->concept_, "Catalogue");
  EXPECT_EQ(manifest->secrets_as, SecretsAs::file);
  auto again = parse_manifest(json::serialize(to_json(*manifest)));
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(*again, *manifest);
}

TEST(Manifest, SaysWhereItIsWrong) {
  EXPECT_EQ(refusal(""), "bundle.yaml:1:1: the manifest is empty");
  EXPECT_EQ(refusal("name: shop\nversion: \"1\"\n"),
            "bundle.yaml:1:1: it does not say how the bundle is run (\"run\", or \"image\" for a container)");
  EXPECT_EQ(refusal("version: \"1\"\nrun: [a]\n"),
            "bundle.yaml:1:1: /name: missing field, expected a name of small letters, digits and hyphens");
  EXPECT_EQ(refusal("name: shop\nversion: 1.0\nrun: [a]\n"),
            "bundle.yaml:2:1: /version: expected a version in quotes, such as \"1.2.0\", found the number 1.0");
  EXPECT_EQ(refusal(with("prot: 1\n")).substr(0, 35), "bundle.yaml:4:1: /prot: unknown fie");
  EXPECT_EQ(refusal(with("name: again\n")).substr(0, 16), "bundle.yaml:4:1:");
}

TEST(FirstWeek15, WhatThisVersionCannotDoIsRefusedByName) {
  auto refused = parse_manifest(with("transport: tcp\n"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "expected one of http, http2, found \"tcp\"");
  EXPECT_EQ(refused.error().path, "/transport");
  EXPECT_EQ(refusal(with("transport: http\n")), "accepted");
  EXPECT_EQ(parse_manifest(with("transport: http2\n"))->transport, Transport::http2);
}

TEST(Manifest, MigrationsNameOneDatabase) {
  const std::string all = "secrets: [DB]\nstorage: [{name: data}]\nmigrations: {backupBefore: false, ";
  EXPECT_EQ(refusal(with(all + "database: DB}\n")), "accepted");
  EXPECT_EQ(refusal(with(all + "file: data/app.db, folder: db, autoMigrate: false}\n")), "accepted");
  EXPECT_EQ(
      refusal(with(all + "file: data/app.db, database: DB}\n")),
      "bundle.yaml:6:1: /migrations: it names either \"database\", the secret with PostgreSQL's address, or \"file\", "
      "of SQLite");
  EXPECT_EQ(refusal(with(all + "database: OTHER}\n")),
            "bundle.yaml:6:35: /migrations/database: \"OTHER\" is none of \"secrets\"");
  EXPECT_EQ(refusal(with(all + "file: app.db}\n")),
            "bundle.yaml:6:35: /migrations/file: it begins with the name of a storage: data/app.db");
  EXPECT_EQ(refusal(with("secrets: [DB]\nmigrations: {database: DB, autoContract: true, contractApprovals: 2}\n")),
            "accepted");
}

TEST(Manifest, AnImageStandsInPlaceOfRun) {
  const std::string image = "name: shop\nversion: \"1\"\nimage: registry.example/shop:1\n";
  auto plain = parse_manifest(image);
  ASSERT_TRUE(plain) << to_string(plain.error());
  EXPECT_EQ(plain->image, "registry.example/shop:1");
  EXPECT_EQ(plain->container, std::nullopt);
  EXPECT_EQ(secrets_as_of(*plain), SecretsAs::file);
  auto full =
      parse_manifest(image + "container: {command: [serve], port: 80, writable: true, tmp: 1MB}\nsecrets_as: env\n");
  ASSERT_TRUE(full) << to_string(full.error());
  EXPECT_EQ(full->container->command, std::vector<std::string>{"serve"});
  EXPECT_EQ(full->container->port, 80);
  EXPECT_TRUE(full->container->writable);
  EXPECT_EQ(secrets_as_of(*full), SecretsAs::env);
  EXPECT_EQ(refusal(image + "run: [./app]\n"),
            "bundle.yaml:3:1: /image: a bundle runs a program of its own (\"run\") or one of an image, not both; the "
            "words that an image's program is called with are \"container: {command: …}\"");
  EXPECT_EQ(refusal(image + "container: {port: 0}\n"), "bundle.yaml:4:13: /container/port: from 1 to 65535");
  EXPECT_EQ(refusal(with("container: {port: 80}\n")),
            "bundle.yaml:4:1: /container: only a bundle with an \"image\" has a container");
  for (const std::string bad : {"\"\"", "../image", "/image", "./a/../../b"}) {
    EXPECT_NE(refusal("name: shop\nversion: \"1\"\nimage: " + bad + "\n"), "accepted") << bad;
  }
  EXPECT_TRUE(manifest_schema().as_object().contains("oneOf"));
}

TEST(Manifest, HoldsItsRules) {
  auto rule = [](std::string_view rest) {
    std::string text = refusal(with(rest));
    return text.substr(std::min(text.find(": /"), text.size() - 2) + 2);
  };
  EXPECT_EQ(rule("include: []\n"), "/include: nothing would be packed: name at least one glob");
  EXPECT_EQ(rule("build: [\"\"]\n"), "/build/0: the program has no name");
  EXPECT_EQ(rule("health: {by: command}\n"), "/health: health by command needs a \"command\"");
  EXPECT_EQ(rule("health: {command: [x]}\n"), "/health/command: a command is run only with \"by: command\"");
  EXPECT_EQ(rule("env: {A-B: x}\n").substr(0, 9), "/env/A-B:");
  EXPECT_EQ(rule("secrets: [A, A]\n"), "/secrets/1: \"A\" is named twice in \"env\" and \"secrets\"");
  EXPECT_EQ(rule("replicas: 0\n"), "/replicas: from 1 to 1000");
  EXPECT_EQ(rule("drain: 2h\n"), "/drain: at most 1h");
  EXPECT_EQ(rule("user: 0\n"), "/user: a bundle does not run as root");
  EXPECT_EQ(rule("resources: {cpu: 0}\n"), "/resources/cpu: more than 0 and at most 1024 processors");
  EXPECT_EQ(rule("storage: [{name: a}, {name: a}]\n"), "/storage/1/name: \"a\" occurs twice");
}

TEST(FirstWeek20, ARouteMayHaveItsPathStripped) {
  EXPECT_TRUE(parse_manifest(with("routes: [{path: /api, strip: true}]\n"))->routes[0].strip);
  EXPECT_FALSE(parse_manifest(with("routes: [{path: /api}]\n"))->routes[0].strip);
  EXPECT_EQ(refusal(with("routes: [{strip: true}]\n")),
            "bundle.yaml:4:11: /routes/0/strip: the path / leaves nothing to strip");
}

TEST(Manifest, HoldsTheRulesOfRequests) {
  EXPECT_EQ(refusal(with("stickiness:\n  mode: session\n  key: {}\n")),
            "bundle.yaml:6:3: /stickiness/key: it names neither a \"header\" nor a \"cookie\"");
  EXPECT_EQ(
      refusal(with("stickiness:\n  key: {header: X-Session, cookie: sid}\n")),
      "bundle.yaml:5:28: /stickiness/key/cookie: a session's key is in a \"header\" or in a \"cookie\", not in both");
  EXPECT_EQ(refusal(with("stickiness: {mode: none, key: {cookie: sid}}\n")),
            "bundle.yaml:4:26: /stickiness/key: with \"mode: none\" nobody is kept anywhere");
  EXPECT_EQ(refusal(with("stickiness: {mode: sticky}\n")).substr(0, 35), "bundle.yaml:4:14: /stickiness/mode:");
  EXPECT_EQ(refusal(with("stickiness: {key: {header: a b}}\n")).substr(0, 41),
            "bundle.yaml:4:20: /stickiness/key/header:");
  for (const char* bad : {"0s", "1500ms", "401d"}) {
    EXPECT_EQ(refusal(with("stickiness: {ttl: " + std::string(bad) + "}\n")),
              "bundle.yaml:4:14: /stickiness/ttl: whole seconds, from 1s to 400d");
  }
  for (const char* bad : {"1ms", "2d"}) {
    EXPECT_EQ(refusal(with("paused: {retry_after: " + std::string(bad) + "}\n")),
              "bundle.yaml:4:10: /paused/retry_after: whole seconds, from 0s to 1d");
  }
  EXPECT_EQ(refusal(with("paused: {page: paused.png}\n")),
            "bundle.yaml:4:10: /paused/page: a page is a file that ends in .html, .txt or .json");
  EXPECT_EQ(refusal(with("paused: {page: ../paused.html}\n")).substr(0, 32), "bundle.yaml:4:10: /paused/page: ");
  for (const char* wait : {"connect", "first_byte", "idle", "stream_idle"}) {
    for (const char* bad : {"0s", "25h"}) {
      EXPECT_EQ(refusal(with("timeouts: {" + std::string(wait) + ": " + bad + "}\n")),
                "bundle.yaml:4:12: /timeouts/" + std::string(wait) + ": from 1ms to 1d");
    }
  }
}

TEST(Manifest, HoldsTheRulesOfQuestions) {
  auto rule = [](const std::string& question) {
    std::string text = refusal(with("config: [{name: a, question: Q?" + question + "}]\n"));
    return text.substr(std::min(text.find(": /"), text.size() - 2) + 2);
  };
  EXPECT_EQ(rule(", type: integer, default: x"),
            "/config/0/default: the default is not of the question's type, integer");
  EXPECT_EQ(rule(", choices: [x], default: y"), "/config/0/default: the default is not one of the choices");
  EXPECT_EQ(rule(", type: boolean, choices: [1]"),
            "/config/0/choices/0: this choice is not of the question's type, boolean");
}

TEST(Manifest, PlacesAnErrorThatIsFoundLater) {
  Error error{.code = Code::invalid, .message = "not there", .path = "/paused/page"};
  EXPECT_EQ(to_string(placed_in_manifest(error, with("paused:\n  page: a.html\n"), "shop/bundle.yaml")),
            "shop/bundle.yaml:5:3: /paused/page: not there");
  EXPECT_EQ(to_string(placed_in_manifest(error, "{", "x")), "/paused/page: not there");
}

TEST(Manifest, HasASchema) {
  json::value schema = manifest_schema();
  EXPECT_EQ(json::serialize(schema.at("required")), R"(["name","version"])");
  EXPECT_EQ(json::serialize(schema.at("oneOf")), R"([{"required":["run"]},{"required":["image"]}])");
  EXPECT_EQ(json::serialize(schema.at("properties").at("listen")),
            R"({"type":"string","enum":["port","unix"],"default":"port"})");
  EXPECT_EQ(schema.at("additionalProperties").as_bool(), false);
  EXPECT_EQ(schema.at("properties").at("run").at("minItems"), 1);
  EXPECT_FALSE(schema.at("properties").at("run").as_object().contains("default"));
  EXPECT_TRUE(schema.at("properties").as_object().contains("concept"));
  const json::value& key = schema.at("$defs").at("bundle.SessionKey");
  EXPECT_EQ(json::serialize(key.at("oneOf")), R"([{"required":["header"]},{"required":["cookie"]}])");
}

TEST(Manifest, SurvivesWhatNobodyWrites) {
  EXPECT_NE(refusal(std::string(100'000, '[')), "accepted");
  EXPECT_NE(refusal("name: \xff"), "accepted");
  EXPECT_NE(refusal("[]"), "accepted");
  EXPECT_EQ(parse_manifest(std::string(2 << 20, ' ')).error().code, Code::limit);
}

}  // namespace manifest_test
}  // namespace sluice::bundle
