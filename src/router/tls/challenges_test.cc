// Files become answers and certificates; what is none is passed over.
#include "router/tls/challenges.h"

#include <gtest/gtest.h>
#include <openssl/x509.h>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::router {
namespace challenges_test {

TEST(Challenges, AreReadFromAFolder) {
  TestingFolder folder;
  RealDisk disk;
  auto put = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_atomically(disk, folder.path(name), text, 0600));
  };
  put("a.json", R"({"kind":"http-01","name":"a.example","token":"t1","key_authorization":"t1.k"})");
  put("b.json", R"({"kind":"tls-alpn-01","name":"b.example","token":"t2","key_authorization":"t2.k"})");
  put("c.json", "nothing");
  put("d.txt", R"({"kind":"http-01","name":"d.example","token":"t4","key_authorization":"t4.k"})");
  ChallengeBoard board;
  EXPECT_FALSE(board.any());
  board.put(Challenges::read(disk, folder.path(), RealClock().wall_ms()));
  EXPECT_TRUE(board.any());
  auto now = board.now();
  ASSERT_NE(now->answer("t1"), nullptr);
  EXPECT_EQ(*now->answer("t1"), "t1.k");
  EXPECT_EQ(now->answer("t2"), nullptr);
  EXPECT_EQ(now->answer("t4"), nullptr);
  const Shown* shown = now->shown("b.example");
  ASSERT_NE(shown, nullptr);
  ASN1_OBJECT* kind = OBJ_txt2obj("1.3.6.1.5.5.7.1.31", 1);
  const int at = X509_get_ext_by_OBJ(shown->other->leaf(), kind, -1);
  ASN1_OBJECT_free(kind);
  ASSERT_GE(at, 0);
  X509_EXTENSION* proof = X509_get_ext(shown->other->leaf(), at);
  EXPECT_EQ(X509_EXTENSION_get_critical(proof), 1);
  EXPECT_EQ(ASN1_STRING_length(X509_EXTENSION_get_data(proof)), 34);
  EXPECT_EQ(now->tokens().size(), 2U);
  board.put(Challenges::read(disk, folder.path("none"), 0));
  EXPECT_FALSE(board.any());
}

}  // namespace challenges_test
}  // namespace sluice::router
