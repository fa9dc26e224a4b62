// Secret through the harness: a provider's answers, and what is kept of them.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "deploy/concepts/secret/secret_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::secret {

void prepare(lang::Harness&) {}

namespace secret_test {

class SecretTest : public testing::Test {
 protected:
  static constexpr const char* kName = "hello/KEY";

  template <class Ask, class Variant>
  lang::Invoked<Ask> answered(const Ask& ask, const Variant& variant) {
    harness.answer_with(variant);
    return harness.invoke(ask);
  }
  Resolve::Ok resolved(const std::string& version) {
    return answered(ask, Resolve::Ok{.version = version, .value = harness.seal("value")}).as<Resolve::Ok>();
  }
  State state() { return State(harness.rows()); }
  Gather gather(std::vector<SecretWantedItem> wanted, std::optional<std::string> provider = "store") const {
    return {.environment = "local", .provider = provider, .wanted = wanted, .reader = "hello@1", .purpose = "warming"};
  }

  lang::Harness harness{secret_binding()};
  const SecretId id{"local/hello/KEY"};
  const Resolve ask{
      .name = kName, .provider = "store", .environment = "local", .reader = "hello@1", .purpose = "warming"};
  const Put put{.name = kName, .provider = "store", .environment = "local", .value = harness.seal("value")};
  const Rotate rotate{.name = kName, .provider = "store", .environment = "local"};
  const Remove remove{.name = kName, .provider = "store", .environment = "local"};
  const Exists exists{.name = kName, .provider = "store", .environment = "local"};
};

TEST_F(SecretTest, ResolveOkNotesTheReader) {
  EXPECT_EQ(resolved("1").secret, id);
  EXPECT_EQ(resolved("1").reader, "hello@1");
  EXPECT_EQ(resolved("1").purpose, "warming");
  EXPECT_EQ(harness.opened(resolved("2").value), "value");
  EXPECT_EQ(state().get(id)->version, "2");
  auto readers = state().audit(id).values();
  ASSERT_EQ(readers.size(), 4U);
  EXPECT_EQ(readers[0].accessedBy, "hello@1");
  EXPECT_EQ(readers[0].version, "1");
  EXPECT_EQ(readers[3].version, "2");
  EXPECT_EQ(readers[3].purpose, "warming");
}

TEST_F(SecretTest, NoticedOkKeepsTheNewestVersion) {
  auto ok = harness.invoke(Noticed{.name = kName, .provider = "env", .environment = "local", .version = "7"});
  EXPECT_EQ(ok.as<Noticed::Ok>().version, "7");
  EXPECT_EQ(state().get(id)->version, "7");
}

TEST_F(SecretTest, AVersionThatWasAskedForNeedNotBeTheNewest) {
  answered(put, Put::Ok{.version = "1"});
  answered(put, Put::Ok{.version = "2"});
  Resolve older = ask;
  older.version = "1";
  EXPECT_EQ(answered(older, Resolve::Ok{.version = "1", .value = harness.seal("value")}).as<Resolve::Ok>().version,
            "1");
  EXPECT_EQ(state().get(id)->version, "2");
  ASSERT_EQ(state().audit(id).values().size(), 1U);
  EXPECT_EQ(state().known(id).values().back().version, "2");
}

TEST_F(SecretTest, OnlyTheLastReadersAreKept) {
  for (int i = 0; i < 120; ++i) resolved(std::to_string(i));
  auto readers = state().audit(id).values();
  ASSERT_EQ(readers.size(), 100U);
  EXPECT_EQ(readers.back().version, "119");
}

TEST_F(SecretTest, AProvidersRefusalsAreNoReading) {
  EXPECT_EQ(answered(ask, Resolve::NotFound{kName, "store", "none"}).as<Resolve::NotFound>().message, "none");
  EXPECT_EQ(answered(ask, Resolve::AccessDenied{kName, "store", "no"}).as<Resolve::AccessDenied>().message, "no");
  EXPECT_EQ(answered(ask, Resolve::Expired{kName, {1}, "old"}).as<Resolve::Expired>().expiresAt.ms, 1);
  EXPECT_EQ(answered(ask, Resolve::Failed{kName, "store", "shut"}).as<Resolve::Failed>().message, "shut");
  EXPECT_TRUE(state().audit(id).values().empty());
}

TEST_F(SecretTest, WhatNobodyAnswersHasFailed) {
  EXPECT_EQ(harness.invoke(ask).as<Resolve::Failed>().name, kName);
  EXPECT_EQ(harness.invoke(exists).as<Exists::Failed>().name, kName);
  EXPECT_EQ(harness.invoke(put).as<Put::Failed>().name, kName);
  EXPECT_EQ(harness.invoke(rotate).as<Rotate::Failed>().name, kName);
  EXPECT_EQ(harness.invoke(remove).as<Remove::Failed>().name, kName);
}

TEST_F(SecretTest, Exists) {
  auto ok = answered(exists, Exists::Ok{.exists = true, .version = "3"}).as<Exists::Ok>();
  EXPECT_EQ(ok.name, kName);
  EXPECT_EQ(ok.version, "3");
  EXPECT_TRUE(answered(exists, Exists::AccessDenied{kName, "store", "no"}).is<Exists::AccessDenied>());
}

TEST_F(SecretTest, PutKeepsTheVersion) {
  EXPECT_EQ(answered(put, Put::Ok{.version = "1"}).as<Put::Ok>().secret, id);
  EXPECT_EQ(state().get(id)->version, "1");
  EXPECT_TRUE(answered(put, Put::ReadOnly{kName, "env", "no"}).is<Put::ReadOnly>());
  EXPECT_TRUE(answered(put, Put::AccessDenied{kName, "vault", "no"}).is<Put::AccessDenied>());
  Put bad = put;
  bad.name = "KEY";
  EXPECT_EQ(harness.invoke(bad).as<Put::Invalid>().message,
            "'KEY' names no secret: expected BUNDLE/NAME, such as hello/API_KEY");
}

TEST_F(SecretTest, Rotate) {
  EXPECT_EQ(answered(rotate, Rotate::Ok{.newVersion = "2"}).as<Rotate::Ok>().secret, id);
  EXPECT_EQ(state().get(id)->version, "2");
  EXPECT_TRUE(answered(rotate, Rotate::RotationUnsupported{kName, "env", "no"}).is<Rotate::RotationUnsupported>());
  EXPECT_TRUE(answered(rotate, Rotate::NotFound{kName, "store", "no"}).is<Rotate::NotFound>());
  EXPECT_TRUE(answered(rotate, Rotate::AccessDenied{kName, "vault", "no"}).is<Rotate::AccessDenied>());
}

TEST_F(SecretTest, RemoveForgetsReadersToo) {
  resolved("1");
  EXPECT_EQ(answered(remove, Remove::Ok{}).as<Remove::Ok>().name, kName);
  EXPECT_FALSE(state().has(id));
  EXPECT_TRUE(state().audit(id).values().empty());
  EXPECT_TRUE(answered(remove, Remove::NotFound{kName, "store", "no"}).is<Remove::NotFound>());
  EXPECT_TRUE(answered(remove, Remove::ReadOnly{kName, "env", "no"}).is<Remove::ReadOnly>());
  EXPECT_TRUE(answered(remove, Remove::AccessDenied{kName, "vault", "no"}).is<Remove::AccessDenied>());
}

TEST_F(SecretTest, VersionsAreListedOnce) {
  resolved("1");
  resolved("1");
  resolved("2");
  ASSERT_EQ(state().known(id).values().size(), 2U);
  EXPECT_EQ(state().known(id).values()[1].version, "2");
}

TEST_F(SecretTest, RekeyIsTheProviders) {
  const Rekey ask{.environment = "local", .provider = "store"};
  EXPECT_EQ(answered(ask, Rekey::Ok{"local", 3}).as<Rekey::Ok>().values, 3);
  EXPECT_TRUE(answered(ask, Rekey::RekeyUnsupported{"env", "no"}).is<Rekey::RekeyUnsupported>());
  EXPECT_TRUE(answered(ask, Rekey::Empty{"local", "none"}).is<Rekey::Empty>());
  EXPECT_TRUE(answered(ask, Rekey::Invalid{"local", "bad"}).is<Rekey::Invalid>());
  EXPECT_EQ(harness.invoke(ask).as<Rekey::Failed>().provider, "store") << "nobody answered";
}

TEST_F(SecretTest, InvalidateCacheForgetsTheVersion) {
  resolved("1");
  const InvalidateCache forget{.name = kName, .environment = "local"};
  EXPECT_EQ(harness.invoke(forget).as<InvalidateCache::Ok>().secret, id);
  EXPECT_FALSE(state().get(id)->version);
}

TEST_F(SecretTest, WhyARevisionIsBehindIsKeptUntilItIsNot) {
  const Renew ask{.revision = SecretNId("r1"), .reason = "version 2"};
  harness.answer_with(Renew::Failed{.revision = ask.revision, .message = "it crashes"});
  EXPECT_EQ(harness.invoke(ask).as<Renew::Failed>().message, "it crashes");
  harness.invoke(Stalled{.revision = ask.revision, .message = "it crashes"}).as<Stalled::Ok>();
  EXPECT_EQ(state().get(ask.revision)->renewProblem, "it crashes");
  EXPECT_FALSE(harness.invoke(ask).as<Renew::Failed>().message.empty()) << "nobody answered";
  harness.answer_with(Renew::Ok{.revision = ask.revision});
  EXPECT_TRUE(harness.invoke(ask).is<Renew::Ok>());
  EXPECT_FALSE(state().has(ask.revision));
  state().put(ask.revision, {.renewing = lang::Request("another")});
  EXPECT_TRUE(harness.invoke(ask).is<Renew::Busy>());
}

TEST_F(SecretTest, NothingWantedIsGatheredAtOnce) {
  EXPECT_FALSE(harness.invoke(gather({}, std::nullopt)).as<Gather::Ok>().values);
}

TEST_F(SecretTest, AnEnvironmentWithoutASecretsPackHasNone) {
  EXPECT_EQ(harness.invoke(gather({{"KEY", kName, ""}}, std::nullopt)).as<Gather::Missing>().message,
            "nothing serves the slot secrets of local, and hello@1 needs hello/KEY");
}

TEST_F(SecretTest, WhatIsNotGatheredIsMissing) {
  EXPECT_NE(harness.invoke(gather({{"KEY", kName, ""}})).as<Gather::Missing>().message.find("hello@1"),
            std::string::npos);
  for (const SecretGFound& each : state().all_g()) ADD_FAILURE() << each.id.text() << " is left";
}

// As syncs would, while a gather is open.
TEST_F(SecretTest, WhatIsCollectedIsCombined) {
  const SecretGId open = state().add(SecretGRecord{.gathering = lang::Request("r"), .open = 2});
  state().gathered(open).push({.variable = "A", .name = "hello/A"});
  state().gathered(open).push({.variable = "B", .name = "hello/B"});
  const Collect first{.gather = open, .name = "hello/A", .version = "1", .value = harness.seal("one")};
  const Collect second{.gather = open, .name = "hello/B", .version = "7", .value = harness.seal("two")};
  harness.invoke(first).as<Collect::Ok>();
  EXPECT_EQ(state().get(open)->open, 1);
  harness.invoke(second).as<Collect::Ok>();
  EXPECT_EQ(state().get(open)->open, 0);
  harness.invoke(second).as<Collect::Ok>();
  EXPECT_EQ(state().get(open)->open, 0) << "it waits for nothing any more";
  auto ok = harness.invoke(Combine{.gather = open}).as<Combine::Ok>();
  EXPECT_EQ(harness.opened(ok.values), R"({"A":"one","B":"two"})");
  ASSERT_EQ(ok.versions.size(), 2U);
  EXPECT_EQ(ok.versions[1].version, "7");
}

TEST_F(SecretTest, WhatIsFoundIsTheNewestUnlessSomebodyHasPutAnother) {
  answered(put, Put::Ok{.version = "1"});
  auto collected = [&](const std::string& version, bool newest) {
    const SecretGId open =
        state().add(SecretGRecord{.gathering = lang::Request("r"), .forEnvironment = "local", .open = 1});
    state().gathered(open).push({.variable = "KEY", .name = kName, .newest = newest, .before = "1"});
    harness.invoke(Collect{.gather = open, .name = kName, .version = version, .value = harness.seal("x")})
        .as<Collect::Ok>();
    return state().get(id)->version;
  };
  EXPECT_EQ(collected("0", false), "1") << "it was pinned";
  EXPECT_EQ(collected("2", true), "2");
  EXPECT_EQ(collected("3", true), "2") << "it has changed since this gather began";
}

TEST_F(SecretTest, ALoginIsGatheredWithTheOthersAndIsNoVersionOfTheReader) {
  Gather asked = gather({}, std::nullopt);
  asked.login = "registry/registry.example";
  EXPECT_EQ(harness.invoke(asked).as<Gather::Missing>().message,
            "nothing serves the slot secrets of local, and hello@1 needs registry/registry.example");
  const SecretGId open = state().add(SecretGRecord{.gathering = lang::Request("r"), .open = 2});
  state().gathered(open).push({.variable = "A", .name = "hello/A"});
  state().gathered(open).push({.variable = "registry login", .name = "registry/registry.example"});
  const Collect login{
      .gather = open, .name = "registry/registry.example", .version = "2", .value = harness.seal("ci:hunter2")};
  harness.invoke(login).as<Collect::Ok>();
  harness.invoke(login).as<Collect::Ok>();
  EXPECT_EQ(state().get(open)->open, 1) << "what comes twice counts once";
  harness.invoke(Collect{.gather = open, .name = "hello/A", .version = "1", .value = harness.seal("one")})
      .as<Collect::Ok>();
  auto ok = harness.invoke(Combine{.gather = open}).as<Combine::Ok>();
  EXPECT_EQ(harness.opened(ok.values), R"({"A":"one","registry login":"ci:hunter2"})");
  ASSERT_EQ(ok.versions.size(), 1U);
  EXPECT_EQ(ok.versions[0].name, "hello/A");
}

TEST_F(SecretTest, AllThatIsMissingIsTold) {
  const SecretGId open = state().add(SecretGRecord{.gathering = lang::Request("r"), .open = 2});
  state().gathered(open).push({.variable = "A", .name = "hello/A"});
  state().gathered(open).push({.variable = "B", .name = "hello/B"});
  harness.invoke(Collect{.gather = open, .name = "hello/A", .problem = "no A"}).as<Collect::Ok>();
  harness.invoke(Collect{.gather = open, .name = "hello/B", .problem = "no B"}).as<Collect::Ok>();
  EXPECT_EQ(state().get(open)->missing, "no A; no B");
}

TEST_F(SecretTest, AValueThatIsGoneIsNamed) {
  const SecretGId open = state().add(SecretGRecord{.gathering = lang::Request("r"), .open = 0});
  state().gathered(open).push({.variable = "A", .name = "hello/A", .value = lang::Sealed::of_handle("sealed:gone")});
  EXPECT_EQ(harness.invoke(Combine{.gather = open}).as<Combine::Lost>().message.find("hello/A"), 0U);
}

TEST_F(SecretTest, ExpectSaysWhatIsMissing) {
  const Expect expect{.name = kName, .provider = "vault", .environment = "local"};
  EXPECT_EQ(answered(expect, Expect::Ok{}).as<Expect::Ok>().name, kName);
  EXPECT_EQ(answered(expect, Expect::Missing{.message = "it has none"}).as<Expect::Missing>().name, kName);
  EXPECT_EQ(harness.invoke(expect).as<Expect::Missing>().name, kName);
}

}  // namespace secret_test
}  // namespace sluice::deploy::secret
