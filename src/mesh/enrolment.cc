// {"schema", "kdf": {n, r, p, salt}, "sealed"}: AES-256-GCM under the key that scrypt makes of the passphrase, with the
// schema as associated data.
#include "mesh/enrolment.h"

#include <array>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/aead.h"
#include "crypto/base64.h"
#include "crypto/scrypt.h"

namespace sluice::mesh {
namespace enrolment {

constexpr std::string_view kSchema = "sluice.mesh.bundle.v1";

struct Kdf {
  uint64_t n = 0;
  uint32_t r = 0;
  uint32_t p = 0;
  std::string salt;
};
BOOST_DESCRIBE_STRUCT(Kdf, (), (n, r, p, salt))
struct Sealed {
  std::string schema;
  Kdf kdf;
  std::string sealed;
};
BOOST_DESCRIBE_STRUCT(Sealed, (), (schema, kdf, sealed))

}  // namespace enrolment

Result<std::string> seal_enrolment(const Enrolment& enrolled, std::string_view passphrase, Random& random) {
  if (passphrase.size() < 12)
    return Error{.code = Code::invalid,
                 .message = "a passphrase has at least 12 characters",
                 .next = "openssl rand -base64 18 makes a good one"};
  std::array<uint8_t, 16> salt{};
  random.fill(salt);
  const std::string_view salt_bytes(reinterpret_cast<const char*>(salt.data()), salt.size());
  const crypto::ScryptCost cost;
  auto key = crypto::scrypt(passphrase, salt_bytes, cost, crypto::Aead::kKeyBytes);
  if (!key) return key.error();
  auto aead = crypto::Aead::with_key(*std::move(key));
  if (!aead) return aead.error();
  auto sealed = aead->seal(write(to_json(enrolled)), enrolment::kSchema, random);
  if (!sealed) return sealed.error();
  return write_pretty(to_json(enrolment::Sealed{std::string(enrolment::kSchema),
                                                {cost.n, cost.r, cost.p, crypto::to_base64(salt_bytes)},
                                                crypto::to_base64(*sealed)}));
}

Result<Enrolment> open_enrolment(std::string_view bundle, std::string_view passphrase) {
  auto document = parse_json(bundle, "bundle");
  if (!document) return document.error();
  auto outer = read<enrolment::Sealed>(*document);
  if (!outer) return outer.error();
  if (outer->schema != enrolment::kSchema)
    return Error{.code = Code::invalid, .message = "this is not a sluice.mesh.bundle.v1", .path = "/schema"};
  auto salt = crypto::from_base64(outer->kdf.salt);
  if (!salt) return salt.error();
  auto sealed = crypto::from_base64(outer->sealed);
  if (!sealed) return sealed.error();
  auto key = crypto::scrypt(passphrase, *salt, {outer->kdf.n, outer->kdf.r, outer->kdf.p}, crypto::Aead::kKeyBytes);
  if (!key) return key.error();
  auto aead = crypto::Aead::with_key(*std::move(key));
  if (!aead) return aead.error();
  auto opened = aead->open(*sealed, enrolment::kSchema);
  if (!opened)
    return Error{.code = Code::verification_failed,
                 .message = "the bundle does not open: another passphrase, or it was changed",
                 .next = "ask for the passphrase again"};
  auto inner = parse_json(opened->reveal(), "bundle");
  if (!inner) return inner.error();
  return read<Enrolment>(*inner);
}

Result<std::vector<Artifact>> parse_all(const std::vector<json::value>& artifacts) {
  std::vector<Artifact> all;
  for (const json::value& each : artifacts) {
    auto artifact = parse_artifact(write_pretty(each));
    if (!artifact) return artifact.error();
    all.push_back(*std::move(artifact));
  }
  return all;
}

}  // namespace sluice::mesh
