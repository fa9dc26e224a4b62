// Sidecars made, signed again, written and read.
#include "bundle/trust/sidecar.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::bundle {
namespace sidecar_test {

class SidecarTest : public testing::Test {
 protected:
  SidecarTest() {
    for (int i = 0; i < 2; ++i) keys.push_back(crypto::PrivateKey::generate());
    EXPECT_TRUE(disk.make_folder("/out", 0755));
  }

  crypto::Envelope signed_by_first() const { return sign_statement(statement, {keys.data(), 1}).value(); }
  static std::string refusal(const crypto::Envelope& sidecar) {
    auto read = parse_sidecar(write_sidecar_text(sidecar), "s.json");
    return read ? "accepted" : to_string(read.error());
  }

  const Statement statement{.bundle = "shop", .version = "1"};
  std::vector<crypto::PrivateKey> keys;
  VolatileDisk disk;
};

TEST_F(SidecarTest, LiesBesideItsArchive) {
  EXPECT_EQ(sidecar_path("/out/shop.sqfs"), "/out/shop.sqfs.sig.json");
  crypto::Envelope sidecar = signed_by_first();
  ASSERT_TRUE(write_sidecar(disk, "/out/shop.sqfs.sig.json", sidecar));
  auto text = read_sidecar(disk, "/out/shop.sqfs.sig.json");
  ASSERT_TRUE(text && *text);
  EXPECT_EQ(**text, crypto::write_envelope(sidecar) + "\n");
  EXPECT_EQ(parse_sidecar(**text).value(), sidecar);
  EXPECT_EQ(sidecar.payload, write_statement(statement).value());
  EXPECT_EQ(disk.stat("/out/shop.sqfs.sig.json", FollowLinks::no)->mode, 0644U);
}

TEST_F(SidecarTest, NoneIsNoError) {
  auto text = read_sidecar(disk, "/out/none.sig.json");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, std::nullopt);
}

TEST_F(SidecarTest, AHugeOneIsNotRead) {
  ASSERT_TRUE(write_atomically(disk, "/out/huge", std::string(kMaxSidecarBytes + 1, ' '), 0644));
  EXPECT_EQ(read_sidecar(disk, "/out/huge").error().code, Code::limit);
  EXPECT_EQ(parse_sidecar(std::string(kMaxSidecarBytes + 1, ' ')).error().message,
            "a sidecar has at most 2097152 bytes");
}

TEST_F(SidecarTest, AnotherSignatureIsAdded) {
  crypto::Envelope sidecar = signed_by_first();
  ASSERT_TRUE(add_signature(sidecar, keys[1]));
  EXPECT_EQ(sidecar, sign_statement(statement, keys).value());
}

TEST_F(SidecarTest, SigningTwiceWithOneKeyMendsItsSignature) {
  crypto::Envelope sidecar = signed_by_first();
  crypto::Envelope broken = sidecar;
  broken.signatures[0].signature[5] ^= 1;
  ASSERT_TRUE(add_signature(broken, keys[0]));
  EXPECT_EQ(broken, sidecar);
}

TEST_F(SidecarTest, HoldsNoMoreThanSixteenSignatures) {
  crypto::Envelope sidecar = signed_by_first();
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(add_signature(sidecar, crypto::PrivateKey::generate()));
  auto added = add_signature(sidecar, keys[1]);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "the sidecar has 16 signatures, and cannot hold more");
  EXPECT_EQ(sidecar.signatures.size(), 16U);
}

TEST_F(SidecarTest, IsRefusedUnlessItSaysWhoSignedWhat) {
  crypto::Envelope sidecar = signed_by_first();
  sidecar.payload_type = "text/plain";
  EXPECT_EQ(refusal(sidecar), "/payloadType: expected application/vnd.in-toto+json, found text/plain");
  for (const char* id : {"", "A0000000000000000000000000000000", "00"}) {
    sidecar = signed_by_first();
    sidecar.signatures[0].key_id = id;
    EXPECT_EQ(refusal(sidecar), "/signatures/0/keyid: expected the key's id, 32 lowercase hex digits");
  }
  EXPECT_EQ(to_string(parse_sidecar("{", "s.json").error()).substr(0, 6), "s.json");
}

TEST_F(SidecarTest, NobodySignsWithoutAKey) { EXPECT_FALSE(sign_statement(statement, {})); }

}  // namespace sidecar_test
}  // namespace sluice::bundle
