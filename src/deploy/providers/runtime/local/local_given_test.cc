// What a program is given, and what is said when something is missing.
#include "deploy/providers/runtime/local/local_given.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "process/testing_replicas.h"

namespace sluice::deploy::local_runtime {
namespace local_given_test {

using testing::ElementsAre;

// An attempt that can open one sealed value, or none any more.
class OneSecret final : public lang::Attempt {
 public:
  explicit OneSecret(std::string value) : value_(std::move(value)) {}
  const std::string& id() const override { return id_; }
  int number() const override { return 1; }
  bool cancelled() const override { return false; }
  std::string open(const lang::Sealed&) override {
    if (value_.empty()) throw std::runtime_error("the sealed value is gone");
    return value_;
  }
  lang::Sealed seal(std::string) override { throw std::logic_error("not asked for"); }
  const lang::Snapshot& read() override { throw std::logic_error("not asked for"); }
  const lang::Tools& tools() const override { throw std::logic_error("not asked for"); }

 private:
  std::string id_ = "1", value_;
};

struct LocalGivenTest : testing::Test {
  bundle::Manifest manifest(const std::string& more) {
    auto parsed = bundle::parse_manifest("name: a\nversion: \"1\"\nrun: [./a]\n" + more);
    EXPECT_TRUE(parsed) << to_string(parsed.error());
    return *parsed;
  }
  Lacking lacks(const std::string& more, const std::string& value) {
    OneSecret attempt(value);
    auto given = given_for(host, manifest(more), "s", "{}", sealed, attempt);
    EXPECT_TRUE(std::holds_alternative<Lacking>(given));
    return std::holds_alternative<Lacking>(given) ? std::get<Lacking>(given) : Lacking{};
  }

  process::TestingReplicas world;
  LocalHost host{world.disk, world.replicas, {.home = world.folder.path(), .bundles = world.folder.path("unpacked")}};
  std::optional<lang::Sealed> sealed = lang::Sealed::of_handle("sealed:1:1");
};

TEST_F(LocalGivenTest, AProgramGetsTheSecretsThatItsBundleNames) {
  OneSecret attempt(R"({"TOKEN":"t","OTHER":"o"})");
  auto given = given_for(host, manifest("secrets: [TOKEN]\n"), "s", R"({"color":"blue"})", sealed, attempt);
  EXPECT_EQ(std::get<Given>(given).secrets, (process::Secrets{{"TOKEN", "t"}}));
  EXPECT_EQ(std::get<Given>(given).config, R"({"color":"blue"})");
}

TEST_F(LocalGivenTest, TheLoginAtTheRegistryIsForTheRuntimeAlone) {
  auto from = [&](const std::string& image, const std::string& value) {
    auto parsed = bundle::parse_manifest("name: a\nversion: \"1\"\nimage: " + image + "\nsecrets: [TOKEN]\n");
    EXPECT_TRUE(parsed) << to_string(parsed.error());
    OneSecret attempt(value);
    auto given = given_for(host, *parsed, "s", "{}", sealed, attempt);
    EXPECT_TRUE(std::holds_alternative<Given>(given));
    return std::get<Given>(given);
  };
  const std::string both = R"({"TOKEN":"t","registry login":"ci:hunter2"})";
  const Given given = from("registry.example/shop:1", both);
  EXPECT_EQ(given.registry_login, (oci::Login{"ci", "hunter2"}));
  EXPECT_EQ(given.secrets, (process::Secrets{{"TOKEN", "t"}}));
  EXPECT_EQ(from("registry.example/shop:1", R"({"TOKEN":"t"})").registry_login, std::nullopt);
  EXPECT_EQ(from("./layout", both).registry_login, std::nullopt) << "nothing is pulled for it";
}

TEST_F(LocalGivenTest, SecretsThatAreGoneAreThoseOfAReplicaThatRuns) {
  world.settled("s.1.0", world.shell("exec sleep 1000"), {{"TOKEN", "t"}});
  OneSecret attempt("");
  auto secrets = secrets_for(host, manifest("secrets: [TOKEN]\n"), "s", sealed, attempt);
  EXPECT_EQ(std::get<process::Secrets>(secrets), (process::Secrets{{"TOKEN", "t"}}));
}

TEST_F(LocalGivenTest, SaysWhichSecretsAreMissing) {
  const std::string give = "; give them with the deployment, as a JSON object of texts";
  Lacking gone = lacks("secrets: [TOKEN, KEY]\n", "");
  EXPECT_THAT(gone.secrets, ElementsAre("TOKEN", "KEY"));
  EXPECT_EQ(text_of(gone), "it has no TOKEN, KEY among its secrets: the sealed value is gone" + give);
  EXPECT_EQ(text_of(lacks("secrets: [TOKEN]\n", R"({"KEY":"k"})")),
            "it has no TOKEN among its secrets: others were given" + give);
  EXPECT_EQ(text_of(lacks("secrets: [TOKEN]\n", "t0p")),
            "it has no TOKEN among its secrets: the secrets that were handed over cannot be read" + give);
}

TEST_F(LocalGivenTest, SaysWhatIsWrongWithTheConfig) {
  EXPECT_EQ(text_of(lacks("config: [{ name: region, question: Where? }]\n", "{}")),
            "/region: region has no answer: Where?");
}

}  // namespace local_given_test
}  // namespace sluice::deploy::local_runtime
