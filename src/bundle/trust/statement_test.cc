// The statement's JSON to the letter, and the strict reader.
#include "bundle/trust/statement.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"

namespace sluice::bundle {
namespace statement_test {

Statement whole() {
  return {.bundle = "shop",
          .version = "1.2.0",
          .tree = crypto::sha256("tree"),
          .archive = crypto::sha256("archive"),
          .parameters = {{"build", json::array{"make", "all"}}, {"level", 3}},
          .dependencies = {{.name = "gcc", .uri = "pkg:deb/debian/gcc@12.2.0", .digest = {{"sha256", "00ff"}}},
                           {.uri = "git+https://code.example/shop"}},
          .builder_version = {{"sluice", "0.1.0"}},
          .invocation = "01JTKR0000000000000000000Z",
          .started_ms = 1'900'000'000'000,
          .finished_ms = 1'900'000'001'500};
}

constexpr std::string_view kWhole =
    R"({"_type":"https://in-toto.io/Statement/v1",)"
    R"("predicate":{"buildDefinition":{"buildType":"https://sluice.dev/bundle/v1",)"
    R"("externalParameters":{"build":["make","all"],"bundle":"shop","level":3,"version":"1.2.0"},)"
    R"("resolvedDependencies":[{"digest":{"sha256":"00ff"},"name":"gcc","uri":"pkg:deb/debian/gcc@12.2.0"},)"
    R"({"uri":"git+https://code.example/shop"}]},)"
    R"("runDetails":{"builder":{"id":"https://sluice.dev/builder/v1","version":{"sluice":"0.1.0"}},)"
    R"("metadata":{"finishedOn":"2030-03-17T17:46:41.500Z","invocationId":"01JTKR0000000000000000000Z",)"
    R"("startedOn":"2030-03-17T17:46:40.000Z"}}},)"
    R"("predicateType":"https://slsa.dev/provenance/v1",)"
    R"("subject":[{"digest":{"sha256":"dc9c5edb8b2d479e697b4b0b8ab874f32b325138598ce9e7b759eb8292110622"},"name":"tree"},)"
    R"({"digest":{"sha256":"0eb3e36bfb24dcd9bb1d1bece1531216b59539a8fde17ee80224af0653c92aa3"},"name":"archive"}]})";

// The statement's text with one part replaced.
std::string with(std::string_view old_part, std::string_view new_part) {
  std::string text = write_statement(whole()).value();
  size_t at = text.find(old_part);
  if (at == std::string::npos) return "there is no " + std::string(old_part);
  return text.replace(at, old_part.size(), new_part);
}

std::string refusal(const std::string& text) {
  auto statement = read_statement(text);
  return statement ? "accepted" : to_string(statement.error());
}

TEST(Statement, IsInTotoWithProvenanceToTheLetter) { EXPECT_EQ(write_statement(whole()).value(), kWhole); }

TEST(Statement, ReadsWhatItWrites) {
  EXPECT_EQ(read_statement(write_statement(whole()).value()).value(), whole());
  Statement least{.bundle = "shop", .version = "1"};
  EXPECT_EQ(read_statement(write_statement(least).value()).value(), least);
}

TEST(Statement, ReadsOverWhatTheSpecificationsHaveAndItHasNot) {
  std::string text = with(R"("resolvedDependencies":[{)",
                          R"("internalParameters":{"a":1},"resolvedDependencies":[{"mediaType":"x","annotations":{},)");
  EXPECT_EQ(read_statement(text).value(), whole());
  text = with(R"("runDetails":{)", R"("runDetails":{"byproducts":[{"name":"log"}],)");
  EXPECT_EQ(read_statement(text).value(), whole());
}

TEST(Statement, RefusesWhatIsNotAStatementOfABundle) {
  EXPECT_EQ(refusal("[]"), "expected an object");
  EXPECT_EQ(refusal("{}"), "/_type: expected https://in-toto.io/Statement/v1");
  EXPECT_EQ(refusal(with("Statement/v1", "Statement/v0.1")), "/_type: expected https://in-toto.io/Statement/v1");
  EXPECT_EQ(refusal(with("provenance/v1", "provenance/v0.2")),
            "/predicateType: expected https://slsa.dev/provenance/v1, found https://slsa.dev/provenance/v0.2");
  EXPECT_EQ(refusal(with("dev/bundle/v1", "dev/bundle/v2")),
            "/predicate/buildDefinition/buildType: expected https://sluice.dev/bundle/v1, found "
            "https://sluice.dev/bundle/v2");
  EXPECT_EQ(refusal(with(R"("name":"archive")", R"("name":"tree")")),
            R"(/subject/1: there is a subject "tree" already)");
  EXPECT_EQ(refusal(with(R"("name":"tree")", R"("name":"log")")), R"(/subject: expected a subject "tree")");
  EXPECT_EQ(refusal(with(R"("subject":[)", R"("subject":[{"name":"log"},)")),
            "/subject: expected two subjects, a tree and an archive of it");
  EXPECT_EQ(refusal(with(R"("subject":[{"digest":{"sha256")", R"("subject":[{"digest":{"sha512")")),
            "/subject/0/digest: expected a digest sha256");
  EXPECT_EQ(refusal(with(R"("subject":[{"digest":{"sha256":")", R"("subject":[{"digest":{"sha256":"A)")),
            "/subject/0/digest/sha256: expected 64 lowercase hex digits");
  EXPECT_EQ(refusal(with(R"("bundle":"shop",)", "")),
            "/predicate/buildDefinition/externalParameters/bundle: expected a string");
  EXPECT_EQ(refusal(with(R"("level":3,"version":"1.2.0")", R"("level":3,"version":"")")),
            "/predicate/buildDefinition/externalParameters/version: expected 1 to 256 bytes");
  EXPECT_EQ(refusal(with(R"("predicateType")", R"("also":1,"predicateType")")),
            "/also: unknown field, expected one of subject, predicateType, predicate");
  EXPECT_EQ(
      refusal(with("2030-03-17T17:46:40.000Z", "yesterday")),
      R"(/predicate/runDetails/metadata/startedOn: expected a UTC time such as "2030-01-31T12:00:00.000Z", found )"
      R"("yesterday")");
}

TEST(Statement, NeverWritesWhatItWouldNotRead) {
  EXPECT_EQ(to_string(write_statement({.bundle = "", .version = "1"}).error()),
            "/predicate/buildDefinition/externalParameters/bundle: expected 1 to 256 bytes");
  EXPECT_FALSE(write_statement({.bundle = "\xff", .version = "1"}));
}

TEST(Statement, IsSafeFromHugeAndDeepText) {
  EXPECT_EQ(read_statement(std::string(2 << 20, ' ')).error().code, Code::limit);
  EXPECT_EQ(read_statement(std::string(100'000, '[')).error().code, Code::limit);
}

}  // namespace statement_test
}  // namespace sluice::bundle
