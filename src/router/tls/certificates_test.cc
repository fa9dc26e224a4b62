// Which certificate is shown for a name, and what becomes of bad ones.
#include "router/tls/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "router/testing_tls.h"

namespace sluice::router {
namespace certificates_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CertificatesTest : public testing::Test {
 protected:
  std::shared_ptr<const Certificates> read(const Certificates* before = nullptr) {
    std::vector<LeftOut> left;
    auto set = Certificates::read(disk, folder.path(), now_ms, before, left);
    EXPECT_TRUE(set);
    faults.clear();
    for (const LeftOut& each : left) faults.push_back(to_string(each));
    return *set;
  }
  static std::string shown_for(const Certificates& set, std::string_view name) {
    const Shown* shown = set.find(name);
    return shown != nullptr ? shown->other->facts().names.front() : "";
  }

  RealDisk disk;
  TestingFolder folder;
  int64_t now_ms = RealClock().wall_ms();
  std::vector<std::string> faults;
};

TEST_F(CertificatesTest, AreFoundByExactNameThenWildcardThenDefault) {
  write_certificate(folder, "one", {.names = {"shop.example", "www.shop.example"}});
  write_certificate(folder, "two", {.names = {"*.shop.example"}});
  auto set = read();
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(shown_for(*set, "www.shop.example"), "shop.example");
  EXPECT_EQ(shown_for(*set, "other.shop.example"), "*.shop.example");
  EXPECT_EQ(shown_for(*set, "a.b.shop.example"), "");
  EXPECT_EQ(shown_for(*set, "none.example"), "");
  EXPECT_EQ(shown_for(*set, ""), "");
  write_certificate(folder, "default", {.names = {"fallback.example"}});
  set = read();
  EXPECT_EQ(shown_for(*set, "none.example"), "fallback.example");
  EXPECT_EQ(shown_for(*set, ""), "fallback.example");
  EXPECT_EQ(shown_for(*set, "www.shop.example"), "shop.example");
}

TEST_F(CertificatesTest, OfTwoForOneNameTheOneThatHoldsLongerIsShown) {
  write_certificate(folder, "a", {.names = {"shop.example"}, .until_ms = now_ms + 100'000'000});
  write_certificate(folder, "b", {.names = {"shop.example", "later"}, .until_ms = now_ms + 200'000'000});
  write_certificate(folder, "c", {.names = {"shop.example"}, .until_ms = now_ms + 150'000'000});
  EXPECT_EQ(read()->find("shop.example")->other->facts().names.size(), 2U);
}

TEST_F(CertificatesTest, ABadPairIsLeftOutAloneAndTheOneBeforeStays) {
  write_certificate(folder, "good", {.names = {"good.example"}});
  write_certificate(folder, "bad", {.names = {"bad.example"}});
  auto before = read();
  ASSERT_TRUE(disk.remove(folder.path("bad/privkey.pem")));
  write_certificate(folder, "new",
                    {.names = {"new.example"}, .until_ms = now_ms - 1'000, .now_ms = now_ms - 90'000'000});
  auto after = read(before.get());
  EXPECT_THAT(faults, ElementsAre(HasSubstr("certificate bad is left out, and the one before stays: "),
                                  HasSubstr("certificate new is left out: the certificate has expired on ")));
  EXPECT_EQ(shown_for(*after, "bad.example"), "bad.example");
  EXPECT_EQ(shown_for(*after, "good.example"), "good.example");
  EXPECT_EQ(shown_for(*after, "new.example"), "");
  EXPECT_EQ(after->all().size(), 2U);
}

TEST_F(CertificatesTest, OneThatDoesNotHoldYetIsLeftOut) {
  write_certificate(folder, "soon", {.names = {"a.example"}, .now_ms = now_ms + 90'000'000});
  EXPECT_EQ(shown_for(*read(), "a.example"), "");
  EXPECT_THAT(faults, ElementsAre(HasSubstr("the certificate holds only from ")));
}

TEST_F(CertificatesTest, AFolderThatIsNotThereIsAnError) {
  std::vector<LeftOut> left;
  EXPECT_EQ(Certificates::read(disk, folder.path("none"), now_ms, nullptr, left).error().code, Code::not_found);
}

TEST_F(CertificatesTest, FoldersThatBeginWithADotArePassedOver) {
  write_certificate(folder, ".kept", {.names = {"a.example"}});
  EXPECT_THAT(read()->all(), IsEmpty());
  EXPECT_THAT(faults, IsEmpty());
}

}  // namespace certificates_test
}  // namespace sluice::router
