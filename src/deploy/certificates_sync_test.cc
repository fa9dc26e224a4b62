// What the kit makes of certificates: a provider answers, and a renewal that is late finds out.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <thread>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/certificate_shelf.h"
#include "deploy/testing_kit_engine.h"

namespace sluice::deploy {
namespace certificates_sync_test {

class CertificatesSync : public testing::Test {
 protected:
  CertificatesSync() {
    kit.tools().add(shelf);
    kit.tools().add<Clock>(clock);
  }
  // The timer of the renewal goes on.
  engine::End ended(const std::string& action, const json::object& input) {
    const size_t before = kit.ends(action).size();
    kit.start(action, input);
    const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (kit.ends(action).size() == before && std::chrono::steady_clock::now() < late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const auto all = kit.ends(action);
    return all.size() > before ? all.back() : engine::End{};
  }
  engine::End issue(const std::string& provider, const std::string& name) {
    return ended("Certificate/issue", {{"certificate", "local"}, {"provider", provider}, {"names", json::array{name}}});
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  CertificateShelf shelf{disk, folder.path()};
  KitEngine kit;
};

TEST_F(CertificatesSync, AProviderIssuesAndRenews) {
  const auto issued = issue("local-ca", "localhost");
  ASSERT_EQ(issued.variant, "ok") << json::serialize(issued.fields);
  EXPECT_EQ(issued.fields.at("certificate"), json::value("local"));
  const std::string first(issued.fields.at("fingerprint").as_string());
  EXPECT_EQ(shelf.look("local")->fingerprint, first);
  const auto renewed = ended("Certificate/renew", {{"certificate", "local"}, {"fingerprint", first}});
  ASSERT_EQ(renewed.variant, "ok") << json::serialize(renewed.fields);
  EXPECT_EQ(kit.row("Certificate", "local").at("fingerprint"), renewed.fields.at("fingerprint"));
  EXPECT_EQ(kit.run("Certificate/renew", {{"certificate", "local"}, {"fingerprint", first}}).variant, "replaced");
}

TEST_F(CertificatesSync, WhatTheProviderRefusesAndWhoIsNoProvider) {
  EXPECT_EQ(issue("local-ca", "shop.com").variant, "invalid");
  EXPECT_EQ(issue("nobody", "localhost").variant, "failed");
  EXPECT_EQ(kit.count("Certificate"), 0U);
}

}  // namespace certificates_sync_test
}  // namespace sluice::deploy
