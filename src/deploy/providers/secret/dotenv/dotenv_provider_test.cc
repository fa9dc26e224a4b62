// DotenvProvider through the harness, with files of a test.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/providers/secret/dotenv/dotenv_provider_work.h"
#include "deploy/value_versions.h"
#include "lang/run/harness.h"

namespace sluice::deploy::dotenv_provider {

void prepare(lang::Harness&) {}

namespace dotenv_provider_test {

class DotenvProviderTest : public testing::Test {
 protected:
  DotenvProviderTest() {
    harness.tools().add<Disk>(disk);
    harness.tools().add(versions);
  }
  void bind(const std::string& answers) {
    EXPECT_TRUE(write_atomically(disk, folder.path() + "/answers.yaml", answers, 0600));
    harness.rows().put("Env.packs", lang::child_key("local", lang::rows::number_key(0)),
                       json::object{{"slot", "secrets"},
                                    {"kind", "sluice.secrets.dotenv@1.0.0"},
                                    {"packRef", "sluice.secrets.dotenv"},
                                    {"answersRef", folder.path() + "/answers.yaml"},
                                    {"generation", 0},
                                    {"boundAt", "2030-01-31T12:00:00.000Z"}});
  }
  void file(const std::string& text) { EXPECT_TRUE(write_atomically(disk, folder.path() + "/app.env", text, 0600)); }
  auto fetch(std::optional<std::string> version = {}) {
    return harness.invoke(Fetch{.environment = "local", .name = "hello/KEY", .version = version});
  }
  auto head() { return harness.invoke(Head{.environment = "local", .name = "hello/KEY"}); }

  TestingFolder folder;
  RealDisk disk;
  SeededRandom random{1};
  ValueVersions versions{disk, random, folder.path() + "/versions.key"};
  lang::Harness harness{dotenv_provider_binding()};
};

TEST_F(DotenvProviderTest, AVariableOfTheFileIsASecret) {
  bind("file: " + folder.path() + "/app.env\n");
  file("HELLO_KEY='hunter2'\n");
  auto ok = fetch().as<Fetch::Ok>();
  EXPECT_EQ(harness.opened(ok.value), "hunter2");
  EXPECT_EQ(head().as<Head::Ok>().version, ok.version);
  file("HELLO_KEY=hunter3\n");
  EXPECT_EQ(fetch(ok.version).as<Fetch::Changed>().name, "hello/KEY");
  file("OTHER=1\n");
  EXPECT_EQ(fetch().as<Fetch::VariableNotSet>().message, "the file has no variable HELLO_KEY for hello/KEY");
  EXPECT_FALSE(head().as<Head::Ok>().exists);
}

TEST_F(DotenvProviderTest, FileNotFound) {
  EXPECT_EQ(fetch().as<Fetch::FileNotFound>().message, "the answers of the secrets pack of local name no `file`");
  bind("file: " + folder.path() + "/app.env\n");
  EXPECT_EQ(fetch().as<Fetch::FileNotFound>().message, "there is no file " + folder.path() + "/app.env");
  EXPECT_TRUE(head().is<Head::FileNotFound>());
}

TEST_F(DotenvProviderTest, ParseErrorQuotesNothing) {
  bind("file: " + folder.path() + "/app.env\n");
  file("A=1\nhunter2\n");
  EXPECT_EQ(fetch().as<Fetch::ParseError>().message, folder.path() + "/app.env:2: there is no = in it");
  EXPECT_EQ(head().as<Head::ParseError>().line, 2);
}

}  // namespace dotenv_provider_test
}  // namespace sluice::deploy::dotenv_provider
