// LocalCa through the harness: what it issues holds by its own authority, and nothing else is issued.
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/certificate_shelf.h"
#include "deploy/providers/certificate/local_ca/local_ca_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::local_ca {

void prepare(lang::Harness&) {}

namespace local_ca_test {

class LocalCaTest : public testing::Test {
 protected:
  LocalCaTest() {
    harness.tools().add(shelf);
    harness.tools().add<Clock>(clock);
  }
  auto issue(std::vector<std::string> names) {
    return harness.invoke(Issue{.certificate = "local", .names = std::move(names)});
  }
  std::string chain() { return shelf.chain_of("local").value(); }
  std::string roots() { return read_file(disk, shelf.authority_file(), 1 << 20).value(); }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  CertificateShelf shelf{disk, folder.path()};
  lang::Harness harness{local_ca_binding()};
};

TEST_F(LocalCaTest, IssueOkHoldsByTheAuthorityOfTheHome) {
  const auto ok = issue({"localhost", "*.shop.test", "127.0.0.1"}).as<Issue::Ok>();
  EXPECT_EQ(ok.names, (std::vector<std::string>{"localhost", "*.shop.test", "127.0.0.1"}));
  EXPECT_TRUE(ok.issuer.starts_with("CN=Sluice local CA of "));
  for (const char* host : {"localhost", "a.shop.test", "127.0.0.1"}) {
    auto held = crypto::verify_chain(chain(), roots(), host, clock.wall_ms());
    EXPECT_TRUE(held) << held.error().message;
  }
  EXPECT_EQ(disk.stat(folder.path("ca/key.pem"), FollowLinks::yes)->mode, 0600U);
  const std::string before = roots();
  issue({"localhost"}).as<Issue::Ok>();
  EXPECT_EQ(roots(), before) << "one authority for all";
}

TEST_F(LocalCaTest, IssueNotLocal) {
  for (const char* name : {"shop.com", "notexample", "10.0.0.1", "test.com"}) {
    EXPECT_EQ(issue({"localhost", name}).as<Issue::NotLocal>().message,
              "the local CA issues for localhost, *.test, *.example and this machine's addresses, not for " +
                  std::string(name));
  }
  EXPECT_FALSE(disk.exists(folder.path("ca")).value());
}

TEST_F(LocalCaTest, IssueNotShown) {
  ASSERT_TRUE(disk.make_folder(folder.path("tls"), 0700));
  ASSERT_TRUE(disk.make_folder(folder.path("tls/local"), 0700));
  EXPECT_NE(issue({"localhost"}).as<Issue::NotShown>().message.find("a folder that Sluice has not made"),
            std::string::npos);
}

TEST_F(LocalCaTest, RenewOkUnreadableAndNotShown) {
  auto renew = [&] { return harness.invoke(Renew{.certificate = "local"}); };
  EXPECT_TRUE(renew().is<Renew::Unreadable>());
  const auto before = issue({"localhost"}).as<Issue::Ok>();
  const auto after = renew().as<Renew::Ok>();
  EXPECT_EQ(after.names, before.names);
  EXPECT_NE(after.fingerprint, before.fingerprint);
  ASSERT_TRUE(write_atomically(disk, folder.path("ca/key.pem"), "nothing", 0600));
  EXPECT_EQ(renew().as<Renew::NotShown>().message, "the issuer's key cannot be read");
}

}  // namespace local_ca_test
}  // namespace sluice::deploy::local_ca
