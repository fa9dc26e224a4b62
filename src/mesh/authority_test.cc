// The CA, the signers and the identities of a mesh, in a folder.
#include "mesh/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/base64.h"
#include "mesh/testing_facade.h"

namespace sluice::mesh {
namespace authority_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

TEST(Authority, IsMadeOnceAndVerifies) {
  RealDisk disk;
  TestingFolder folder;
  const Model plan = resolve(direct_facade(), signers_to_be()).model;
  auto made = make_authority(disk, folder.path(), plan, kNow);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(*made, ElementsAre("certs/ca.crt", "keys/ca.key", "certs/management-planes/primary.crt",
                                 "keys/management-planes/primary.key", "certs/control-planes/primary.crt",
                                 "keys/control-planes/primary.key"));
  EXPECT_THAT(make_authority(disk, folder.path(), plan, kNow).value(), ElementsAre());
  Resolved resolved = resolve(direct_facade(), signers_in(disk, folder.path(), "certs/ca.crt", kNow));
  ASSERT_TRUE(resolved.faults.empty()) << to_string(resolved.faults.front());
  auto key = signer_key(disk, folder.path(), "management-plane", "primary");
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(trust_of(resolved.model).mgmt_signers.front().pubkey, crypto::to_base64(key->public_key().raw()));
  EXPECT_FALSE(signer_key(disk, folder.path(), "management-plane", "other"));

  auto identities =
      issue_identities(disk, folder.path(), resolved.model,
                       {SpiffeId("spiffe://acme/node/alpha"), SpiffeId("spiffe://acme/service/alpha/ssh")}, kNow);
  ASSERT_TRUE(identities) << identities.error().message;
  EXPECT_EQ(identities->size(), 5U);
  EXPECT_EQ(crypto::read_certificates(identities->at("certs/service.alpha.ssh.crt"))->front().uris.front(),
            "spiffe://acme/service/alpha/ssh");
  EXPECT_TRUE(crypto::verify_chain(identities->at("certs/node.alpha.crt"), identities->at("ca.crt"), "", kNow));
}

TEST(Authority, ASignersCertificateIsItsOwnAndOfThisCa) {
  RealDisk disk;
  TestingFolder folder;
  TestingFolder other;
  const Model plan = resolve(direct_facade(), signers_to_be()).model;
  ASSERT_TRUE(make_authority(disk, folder.path(), plan, kNow));
  ASSERT_TRUE(make_authority(disk, other.path(), plan, kNow));
  const SpiffeId id("spiffe://acme/management-plane/primary");
  const ReadSigner read = signers_in(disk, folder.path(), "certs/ca.crt", kNow);
  EXPECT_TRUE(read("certs/management-planes/primary.crt", id));
  EXPECT_THAT(read("certs/control-planes/primary.crt", id).error().message,
              HasSubstr("is not of spiffe://acme/management-plane/primary"));
  EXPECT_THAT(read("certs/none.crt", id).error().next, HasSubstr("sluice mesh ca"));
  EXPECT_EQ(signers_in(disk, folder.path(), "certs/ca.crt", kNow + 400LL * 24 * 3600 * 1000)(
                "certs/management-planes/primary.crt", id)
                .error()
                .code,
            Code::verification_failed);
  ASSERT_TRUE(disk.rename(other.path() + "/certs/ca.crt", folder.path() + "/certs/ca.crt"));
  EXPECT_EQ(read("certs/management-planes/primary.crt", id).error().code, Code::verification_failed);
}

}  // namespace authority_test
}  // namespace sluice::mesh
