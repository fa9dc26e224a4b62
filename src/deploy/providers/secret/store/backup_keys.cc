// Each backup has a key of its own, of which there is one version.
#include "deploy/providers/secret/store/backup_keys.h"

namespace sluice::deploy::secret_store {
namespace {

std::string secret_of(const std::string& backup) { return "migrations/" + backup; }

Result<crypto::Aead> find(SealedStore& store, const std::string& environment, const std::string& backup) {
  auto value = store.get(environment, secret_of(backup), 1);
  if (!value) return value.error();
  return crypto::Aead::with_key(*std::move(value));
}

}  // namespace

MigrateMeans::Keys backup_keys(SealedStore& store, Random& random) {
  return {.make = [&](const MigrateMeans::KeyWish& wish) -> Result<crypto::Aead> {
            auto there = store.has(wish.environment, secret_of(wish.backup), 1, wish.made_by);
            if (!there) return there.error();
            if (!*there) {
              const crypto::Aead key = crypto::Aead::with_new_key(random);
              auto put = store.put(wish.environment, secret_of(wish.backup), 1, key.key().reveal(), wish.made_by,
                                   {.file = wish.key_file, .command = wish.key_command});
              if (!put) return put.error();
            }
            return find(store, wish.environment, wish.backup);
          },
          .find = [&](const std::string& environment,
                      const std::string& backup) { return find(store, environment, backup); }};
}

}  // namespace sluice::deploy::secret_store
