// Descriptors are open and strict, slots are closed.
#include "deploy/packs.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace packs_test {

std::string refusal(std::string_view text) { return parse_descriptor(text).error().message; }

TEST(Packs, ReadsADescriptor) {
  EXPECT_EQ(parse_descriptor("sluice.deployer.k8s@1.0.0").value(), (PackDescriptor{"sluice.deployer.k8s", "1.0.0"}));
  EXPECT_EQ(parse_descriptor("acme.x-1@10.20.30-rc.1+b2").value().version, "10.20.30-rc.1+b2");
}

TEST(Packs, SaysWhatIsWrongWithADescriptor) {
  EXPECT_EQ(refusal("sluice.deployer.k8s"), "'sluice.deployer.k8s' names no pack: it has no @ and version");
  EXPECT_EQ(refusal("@1.0.0"), "'@1.0.0' names no pack: there is nothing before the @");
  EXPECT_EQ(refusal("deployer@1.0.0"), "'deployer@1.0.0' names no pack: its path has no dot");
  EXPECT_EQ(refusal("A.b@1.0.0"), "'A.b@1.0.0' names no pack: its path has more than a-z, 0-9, . and -");
  EXPECT_EQ(refusal("a..b@1.0.0"), "'a..b@1.0.0' names no pack: a word of its path is empty");
  EXPECT_EQ(refusal("a.b@1"), "'a.b@1' names no pack: '1' is no version such as 1.0.0");
  for (const char* version : {"", "1.0", "1.0.0.0", "01.0.0", "1.0.x", "1.0.0-", "1.0.0+", "1.0.0@2.0.0", "1.0.0-ä"}) {
    EXPECT_FALSE(parse_descriptor("a.b@" + std::string(version))) << version;
  }
  EXPECT_FALSE(parse_descriptor("a.b@1.0.0" + std::string(300, '0')));
}

TEST(Packs, SlotsAreAClosedList) {
  EXPECT_EQ(slots().size(), 8U);
  EXPECT_TRUE(is_slot("gitops"));
  EXPECT_FALSE(is_slot("messaging"));
}

TEST(Packs, DefaultsAreBuiltInAndServeTheirSlots) {
  ASSERT_EQ(default_packs().size(), 5U);
  for (const DefaultPack& each : default_packs()) {
    const BuiltInPack* pack = find_built_in(parse_descriptor(each.kind).value().path);
    ASSERT_NE(pack, nullptr) << each.kind;
    EXPECT_EQ(pack->slot, each.slot);
    EXPECT_TRUE(is_slot(each.slot));
  }
  EXPECT_EQ(find_built_in("sluice.deployer.ecs"), nullptr);
  EXPECT_EQ(find_built_in("sluice.sessions.redis")->slot, "sessions");
}

TEST(Packs, BuiltInOnesAskSoundQuestions) {
  for (const BuiltInPack& each : built_in_packs()) {
    EXPECT_FALSE(bundle::fault_of(questions_of(each), "")) << each.path;
  }
}

TEST(Packs, AVaultAsksForWhatItsLoginNeeds) {
  const auto questions = questions_of(*find_built_in("sluice.secrets.vault"));
  const auto refused = [&](const json::object& given) {
    return bundle::complete_answers(questions, given).error().message;
  };
  EXPECT_EQ(refused({}), "address has no answer: Where is the Vault?");
  EXPECT_EQ(refused({{"address", "https://vault.example"}}), "token_file has no answer: Which file has the token?");
  EXPECT_EQ(refused({{"address", "https://vault.example"}, {"auth", "approle"}, {"secret_id_file", "/id"}}),
            "role_id has no answer: Which role?");
  const auto answers =
      bundle::complete_answers(questions, {{"address", "https://vault.example"}, {"token_file", "/t"}});
  EXPECT_EQ(answers.value(),
            (json::object{{"address", "https://vault.example"}, {"token_file", "/t"}, {"auth", "token"}}));
}

TEST(Packs, ADeployerNamesItsRuntime) {
  EXPECT_EQ(runtime_type_of({"sluice.deployer.local-process", "1.0.0"}), "local");
  EXPECT_EQ(runtime_type_of({"sluice.deployer.container", "1.0.0"}), "local");
  EXPECT_EQ(runtime_type_of({"sluice.deployer.k8s", "1.0.0"}), "k8s");
  EXPECT_EQ(runtime_type_of({"acme.deployer.k8s", "2.0.0"}), "acme.deployer.k8s@2.0.0");
}

}  // namespace packs_test
}  // namespace sluice::deploy
