// HOME/secrets/ENV/current names the folder that counts; a rekey makes the next folder beside it, whole, before it
// writes that name. No error here quotes a value or a key.
#include "deploy/providers/secret/store/sealed_store.h"

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <charconv>
#include <vector>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "crypto/hex.h"
#include "crypto/key_file.h"
#include "crypto/sha256.h"

namespace sluice::deploy::secret_store {

constexpr std::string_view kKeysSchema = "sluice.secret-keys.v1";
constexpr std::string_view kValueSchema = "sluice.sealed-secret.v1";

// keys.json: the data key of a folder, sealed with the master key.
struct KeysOnDisk {
  std::string schema = std::string(kKeysSchema);
  std::string environment;
  int64_t number = 0;
  std::string made_by;
  std::string key_file;  // of the master key; empty with key_command: what it prints, else the home's own
  std::string key_command;
  std::string sealed;
};
BOOST_DESCRIBE_STRUCT(KeysOnDisk, (), (schema, environment, number, made_by, key_file, key_command, sealed))

// NAME-HASH.VERSION.json: a value, sealed with the data key.
struct ValueOnDisk {
  std::string schema = std::string(kValueSchema);
  std::string name;
  int64_t version = 0;
  std::string made_by;
  std::string sealed;
};
BOOST_DESCRIBE_STRUCT(ValueOnDisk, (), (schema, name, version, made_by, sealed))

namespace {

constexpr size_t kMaxKeysFile = 64 << 10;
constexpr size_t kMaxValueFile = 2 << 20;
constexpr size_t kMaxCurrentFile = 32;
constexpr size_t kMaxMasterKeyFile = 4 << 10;
constexpr int64_t kKeyCommand_ms = 30'000;
constexpr size_t kMadeUpBytes = 32;

// What a sealed text is bound to, so that none can stand in another's place.
std::string bound_key(const std::string& environment, int64_t number) {
  return "sluice.secret-keys.v1\n" + environment + "\n" + std::to_string(number);
}
std::string bound_value(const std::string& environment, const std::string& name, int64_t version) {
  return "sluice.sealed-secret.v1\n" + environment + "\n" + name + "\n" + std::to_string(version);
}

template <class Struct>
Result<Struct> read_struct(Disk& disk, const std::string& path, size_t most, std::string_view schema) {
  auto text = read_file(disk, path, most);
  if (!text) return text.error();
  const Error damaged{.code = Code::verification_failed,
                      .message = path + " is damaged: it was cut off or changed",
                      .next = "bring it back from a backup, or put the secret again"};
  auto parsed = parse_json(*text, path);
  if (!parsed) return damaged;
  auto read_back = read<Struct>(*parsed);
  if (!read_back || read_back->schema != schema) return damaged;
  return *std::move(read_back);
}

Result<crypto::SecretBuffer> key_of_text(std::string_view text, const std::string& where) {
  if (text.size() == crypto::Aead::kKeyBytes) return crypto::SecretBuffer::copy_of(text);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  if (auto bytes = crypto::from_hex(text); bytes && bytes->size() == crypto::Aead::kKeyBytes) {
    return crypto::SecretBuffer::copy_of(*bytes);
  }
  for (crypto::Base64 alphabet : {crypto::Base64::standard, crypto::Base64::url, crypto::Base64::url_unpadded}) {
    auto bytes = crypto::secret_from_base64(text, alphabet);
    if (bytes && bytes->size() == crypto::Aead::kKeyBytes) return bytes;
  }
  return Error{.code = Code::invalid,
               .message = where + " has no master key: expected 32 bytes, plain, in hex or in base64",
               .next = "openssl rand -base64 32"};
}

// A key that others can read protects nothing.
Result<void> check_private(Disk& disk, const std::string& path) {
  auto stat = disk.stat(path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind != FileKind::file || (stat->mode & 077U) != 0) {
    return Error{.code = Code::invalid,
                 .message = path + " can be read by others, and opens every secret of the environment",
                 .next = "chmod 600 " + path};
  }
  return {};
}

}  // namespace

std::string SealedStore::folder_of(const std::string& environment, int64_t number) const {
  return folder_of(environment) + "/" + std::to_string(number);
}

std::string SealedStore::key_path(const std::string& environment, int64_t number) const {
  return place_.keys + "/secrets-" + environment + "." + std::to_string(number) + ".key";
}

// Names may have letters that a disk does not tell apart.
std::string SealedStore::value_path(const std::string& environment, int64_t number, const std::string& name,
                                    int64_t version) const {
  return folder_of(environment, number) + "/" + crypto::to_hex(crypto::sha256(name)) + "." + std::to_string(version) +
         ".json";
}

std::string SealedStore::make_up() {
  std::array<uint8_t, kMadeUpBytes> bytes{};
  random_.fill(bytes);
  return crypto::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, crypto::Base64::url_unpadded);
}

Result<void> SealedStore::make_folders(const std::string& folder) {
  std::vector<std::string> all = {folder};
  while (all.back() != place_.folder && all.back() != place_.keys && all.back().size() > 1) {
    all.push_back(sluice::folder_of(all.back()));
  }
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    auto made = disk_.make_folder(*each, 0700);
    if (!made && made.error().code != Code::conflict) return made;
    if (made) {
      if (auto synced = disk_.sync_folder(sluice::folder_of(*each)); !synced) return synced;
    }
  }
  return {};
}

Result<void> SealedStore::make_master_key(const std::string& environment, int64_t number) {
  if (auto made = make_folders(place_.keys); !made) return made;
  const std::string path = key_path(environment, number);
  auto there = disk_.exists(path);
  if (!there) return there.error();
  if (*there) return {};
  const crypto::Aead key = crypto::Aead::with_new_key(random_);
  return write_atomically(disk_, path, crypto::to_base64(key.key().reveal()) + "\n", 0600);
}

Result<crypto::Aead> SealedStore::master_key(const std::string& environment, int64_t number, const KeySource& source) {
  if (!source.command.empty()) {
    const std::string what = "the command `" + source.command + "`";
    auto ran = runner_.run({.argv = {"/bin/sh", "-c", source.command},
                            .folder = "/",
                            .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}},
                            .deadline_ms = kKeyCommand_ms,
                            .tail_bytes = kMaxMasterKeyFile},
                           [] { return false; });
    if (!ran) return ran.error();
    if (!ran->good()) {
      return Error{.code = Code::unavailable, .message = what + ", which prints the master key, " + to_string(*ran)};
    }
    auto key = key_of_text(ran->tail, what);
    if (!key) return key.error();
    return crypto::Aead::with_key(*std::move(key));
  }
  const std::string path = source.file.empty() ? key_path(environment, number) : source.file;
  if (auto sound = check_private(disk_, path); !sound) return sound.error();
  auto text = read_file(disk_, path, kMaxMasterKeyFile);
  if (!text) return text.error();
  auto key = key_of_text(*text, path);
  if (!key) return key.error();
  return crypto::Aead::with_key(*std::move(key));
}

Result<SealedStore::Keys> SealedStore::make_keys(const std::string& environment, int64_t number,
                                                 const std::string& made_by, const KeySource& source) {
  if (source.file.empty() && source.command.empty()) {
    if (auto made = make_master_key(environment, number); !made) return made.error();
  }
  auto master = master_key(environment, number, source);
  if (!master) return master.error();
  if (auto made = make_folders(folder_of(environment, number)); !made) return made.error();
  crypto::Aead data = crypto::Aead::with_new_key(random_);
  auto sealed = master->seal(data.key().reveal(), bound_key(environment, number), random_);
  if (!sealed) return sealed.error();
  const KeysOnDisk file{.environment = environment,
                        .number = number,
                        .made_by = made_by,
                        .key_file = source.file,
                        .key_command = source.command,
                        .sealed = crypto::to_base64(*sealed)};
  const std::string path = folder_of(environment, number) + "/keys.json";
  if (auto kept = write_atomically(disk_, path, write(to_json(file)) + "\n", 0600); !kept) return kept.error();
  return Keys{.number = number, .made_by = made_by, .source = source, .data = std::move(data)};
}

Result<SealedStore::Keys> SealedStore::open_keys(const std::string& environment) {
  const std::string current_path = folder_of(environment) + "/current";
  auto current = read_file(disk_, current_path, kMaxCurrentFile);
  if (!current) return current.error();
  int64_t number = 0;
  auto read_number = std::from_chars(current->data(), current->data() + current->size(), number);
  if (read_number.ec != std::errc() || number < 1) {
    return Error{.code = Code::verification_failed,
                 .message = current_path + " is damaged: it names the folder that counts by its number",
                 .next = "write the number of the newest folder beside it into it"};
  }
  const std::string path = folder_of(environment, number) + "/keys.json";
  auto file = read_struct<KeysOnDisk>(disk_, path, kMaxKeysFile, kKeysSchema);
  if (!file) return file.error();
  Keys keys{.number = number,
            .made_by = file->made_by,
            .source = {.file = file->key_file, .command = file->key_command},
            .data = crypto::Aead::with_new_key(random_)};
  auto master = master_key(environment, number, keys.source);
  if (!master) {
    Error error = master.error();
    error.message = "the master key of the secrets of " + environment + " cannot be had: " + error.message;
    // Without its key the store is there, but closed.
    if (error.code == Code::not_found) error.code = Code::failed;
    return error;
  }
  auto sealed = crypto::from_base64(file->sealed);
  auto opened =
      sealed ? master->open(*sealed, bound_key(environment, number)) : Result<crypto::SecretBuffer>(sealed.error());
  if (!opened) {
    const std::string where = !keys.source.command.empty() ? "`" + keys.source.command + "`"
                              : keys.source.file.empty()   ? key_path(environment, number)
                                                           : keys.source.file;
    return Error{.code = Code::verification_failed,
                 .message = "the master key from " + where + " does not open the secrets of " + environment,
                 .next = "bring back the key that they were sealed with"};
  }
  auto data = crypto::Aead::with_key(*std::move(opened));
  if (!data) return data.error();
  keys.data = *std::move(data);
  return keys;
}

Result<void> SealedStore::put(const std::string& environment, const std::string& name, int64_t version,
                              std::string_view value, const std::string& made_by, const KeySource& source) {
  std::lock_guard lock(mutex_);
  auto keys = open_keys(environment);
  if (!keys && keys.error().code != Code::not_found) return keys.error();
  if (!keys) {
    keys = make_keys(environment, 1, made_by, source);
    if (!keys) return keys.error();
    if (auto kept = write_atomically(disk_, folder_of(environment) + "/current", "1\n", 0600); !kept) return kept;
  }
  auto sealed = keys->data.seal(value, bound_value(environment, name, version), random_);
  if (!sealed) return sealed.error();
  const ValueOnDisk file{.name = name, .version = version, .made_by = made_by, .sealed = crypto::to_base64(*sealed)};
  return write_atomically(disk_, value_path(environment, keys->number, name, version), write(to_json(file)) + "\n",
                          0600);
}

Result<bool> SealedStore::has(const std::string& environment, const std::string& name, int64_t version,
                              const std::string& made_by) {
  std::lock_guard lock(mutex_);
  auto keys = open_keys(environment);
  if (!keys && keys.error().code == Code::not_found) return false;
  if (!keys) return keys.error();
  auto file = read_struct<ValueOnDisk>(disk_, value_path(environment, keys->number, name, version), kMaxValueFile,
                                       kValueSchema);
  if (!file && file.error().code == Code::not_found) return false;
  if (!file) return file.error();
  return file->made_by == made_by;
}

Result<crypto::SecretBuffer> SealedStore::open_value(const Keys& keys, const std::string& environment,
                                                     const std::string& path, const std::string& name,
                                                     int64_t version) {
  auto file = read_struct<ValueOnDisk>(disk_, path, kMaxValueFile, kValueSchema);
  if (!file) return file.error();
  auto sealed = crypto::from_base64(file->sealed);
  auto value = sealed ? keys.data.open(*sealed, bound_value(environment, name, version))
                      : Result<crypto::SecretBuffer>(sealed.error());
  if (!value) {
    return Error{.code = Code::verification_failed,
                 .message = path + " is damaged: it is not what was kept as " + name,
                 .next = "bring it back from a backup, or put the secret again"};
  }
  return value;
}

Result<crypto::SecretBuffer> SealedStore::get(const std::string& environment, const std::string& name,
                                              int64_t version) {
  std::lock_guard lock(mutex_);
  auto keys = open_keys(environment);
  if (!keys) return keys.error();
  return open_value(*keys, environment, value_path(environment, keys->number, name, version), name, version);
}

Result<void> SealedStore::remove(const std::string& environment, const std::string& name, int64_t newest) {
  std::lock_guard lock(mutex_);
  auto keys = open_keys(environment);
  if (!keys && keys.error().code == Code::not_found) return {};
  if (!keys) return keys.error();
  for (int64_t version = 1; version <= newest; ++version) {
    auto removed = disk_.remove(value_path(environment, keys->number, name, version));
    if (!removed && removed.error().code != Code::not_found) return removed;
  }
  return disk_.sync_folder(folder_of(environment, keys->number));
}

Result<int64_t> SealedStore::rekey(const std::string& environment, const std::string& made_by,
                                   const KeySource& source) {
  std::lock_guard lock(mutex_);
  auto old = open_keys(environment);
  if (!old) return old.error();
  auto count = [&](int64_t number) -> Result<int64_t> {
    auto entries = disk_.list(folder_of(environment, number));
    if (!entries) return entries.error();
    return static_cast<int64_t>(entries->size()) - 1;  // keys.json
  };
  if (old->made_by == made_by) {
    if (auto forgotten = forget_all_but(environment, old->number); !forgotten) return forgotten.error();
    return count(old->number);
  }
  const int64_t number = old->number + 1;
  // What an attempt that was cut off left is made again.
  auto keys = make_keys(environment, number, made_by, source);
  if (!keys) return keys.error();
  auto entries = disk_.list(folder_of(environment, old->number));
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    if (each.name == "keys.json" || !each.name.ends_with(".json")) continue;
    const std::string path = folder_of(environment, old->number) + "/" + each.name;
    auto file = read_struct<ValueOnDisk>(disk_, path, kMaxValueFile, kValueSchema);
    if (!file) return file.error();
    auto value = open_value(*old, environment, path, file->name, file->version);
    if (!value) return value.error();
    auto sealed = keys->data.seal(value->reveal(), bound_value(environment, file->name, file->version), random_);
    if (!sealed) return sealed.error();
    file->sealed = crypto::to_base64(*sealed);
    auto kept = write_atomically(disk_, value_path(environment, number, file->name, file->version),
                                 write(to_json(*file)) + "\n", 0600);
    if (!kept) return kept.error();
  }
  const std::string current = std::to_string(number) + "\n";
  if (auto kept = write_atomically(disk_, folder_of(environment) + "/current", current, 0600); !kept) {
    return kept.error();
  }
  if (auto forgotten = forget_all_but(environment, number); !forgotten) return forgotten.error();
  return count(number);
}

Result<void> SealedStore::forget_all_but(const std::string& environment, int64_t number) {
  auto folders = disk_.list(folder_of(environment));
  if (!folders) return folders.error();
  const std::string kept = std::to_string(number);
  for (const FolderEntry& each : *folders) {
    if (each.kind != FileKind::folder || each.name == kept) continue;
    const std::string folder = folder_of(environment) + "/" + each.name;
    auto entries = disk_.list(folder);
    if (!entries) return entries.error();
    for (const FolderEntry& entry : *entries) {
      if (auto removed = disk_.remove(folder + "/" + entry.name); !removed) return removed;
    }
    if (auto removed = disk_.remove_folder(folder); !removed) return removed;
  }
  if (auto synced = disk_.sync_folder(folder_of(environment)); !synced) return synced;
  auto keys = disk_.list(place_.keys);
  if (!keys && keys.error().code == Code::not_found) return {};
  if (!keys) return keys.error();
  const std::string own = name_of(key_path(environment, number));
  const std::string prefix = "secrets-" + environment + ".";
  for (const FolderEntry& each : *keys) {
    if (!each.name.starts_with(prefix) || !each.name.ends_with(".key") || each.name == own) continue;
    // That of another environment whose name goes on after this one's.
    const std::string middle = each.name.substr(prefix.size(), each.name.size() - prefix.size() - 4);
    if (!std::ranges::all_of(middle, is_digit)) continue;
    if (auto removed = disk_.remove(place_.keys + "/" + each.name); !removed) return removed;
  }
  return disk_.sync_folder(place_.keys);
}

}  // namespace sluice::deploy::secret_store
