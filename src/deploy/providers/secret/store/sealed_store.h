// SealedStore keeps secrets in files that nobody can read without the environment's master key: the tool behind
// SecretStore's effects.
//
// Each environment has a data key, which seals the values, and a master key, which seals the data key. The master key
// is in a file of its own outside the store, or wherever its operator says: in another file, or in what a command
// prints. docs/internals/secrets.md has the formats.
//
// Everything is repeatable: who asks says under which name (that of an effect), and what was done under it before is
// found, not done twice. May be used from many threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "crypto/aead.h"
#include "crypto/secret_buffer.h"
#include "process/run.h"

namespace sluice::deploy::secret_store {

inline constexpr size_t kMaxSecretBytes = 1 << 20;

// Where a master key is; with neither it is made, in a file of the home.
struct KeySource {
  std::string file;     // of 32 bytes, plain, in hex or in base64; of mode 0600
  std::string command;  // that prints the same
};

class SealedStore {
 public:
  struct Place {
    std::string folder;  // of the sealed values: HOME/secrets
    std::string keys;    // of the master keys that are made here: HOME/keys
  };

  SealedStore(Disk& disk, Random& random, process::Runner& runner, Place place)
      : disk_(disk), random_(random), runner_(runner), place_(std::move(place)) {}

  // Durable when it returns. The first of an environment makes its keys, from this source.
  Result<void> put(const std::string& environment, const std::string& name, int64_t version, std::string_view value,
                   const std::string& made_by, const KeySource& source);
  // Whether this version was put under that name.
  Result<bool> has(const std::string& environment, const std::string& name, int64_t version,
                   const std::string& made_by);
  // `not_found`: there is none. `verification_failed`: it was changed, or the master key is another.
  Result<crypto::SecretBuffer> get(const std::string& environment, const std::string& name, int64_t version);
  Result<void> remove(const std::string& environment, const std::string& name, int64_t newest);

  // Seals everything of the environment anew, under new keys, and forgets the old ones. Until the new ones are complete
  // the old ones are used; from then on nothing is left that the old ones open. Says how many values there are.
  Result<int64_t> rekey(const std::string& environment, const std::string& made_by, const KeySource& source);

  // Something that nobody can guess, as a text.
  std::string make_up();

 private:
  struct Keys {
    int64_t number = 0;  // of the keys: 1, and one more with each rekey
    std::string made_by;
    KeySource source;
    crypto::Aead data;
  };

  Result<crypto::Aead> master_key(const std::string& environment, int64_t number, const KeySource& source);
  Result<void> make_master_key(const std::string& environment, int64_t number);
  Result<Keys> open_keys(const std::string& environment);
  Result<Keys> make_keys(const std::string& environment, int64_t number, const std::string& made_by,
                         const KeySource& source);
  Result<void> forget_all_but(const std::string& environment, int64_t number);
  Result<void> make_folders(const std::string& folder);
  Result<crypto::SecretBuffer> open_value(const Keys& keys, const std::string& environment, const std::string& path,
                                          const std::string& name, int64_t version);

  std::string folder_of(const std::string& environment) const { return place_.folder + "/" + environment; }
  std::string folder_of(const std::string& environment, int64_t number) const;
  std::string key_path(const std::string& environment, int64_t number) const;
  std::string value_path(const std::string& environment, int64_t number, const std::string& name,
                         int64_t version) const;

  Disk& disk_;
  Random& random_;
  process::Runner& runner_;
  Place place_;
  std::mutex mutex_;
};

}  // namespace sluice::deploy::secret_store
