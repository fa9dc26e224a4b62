// The key is made before the store knows it: a home that is killed in between takes the same key the next time.
#include "host/postgres_home.h"

#include <algorithm>
#include <array>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "crypto/aead.h"
#include "crypto/hex.h"
#include "crypto/hmac.h"
#include "store/mirrored_disk.h"
#include "store/postgres_store.h"

namespace sluice::host {
namespace {

constexpr size_t kMostHomeBytes = 4096;
constexpr size_t kInstanceBytes = 16;

std::string postgres_file_in(const Home& home) { return (home.root() / "store" / "postgresql.json").string(); }
std::string key_file_in(const Home& home) { return (home.root() / "keys" / "cluster.key").string(); }

std::string bytes_of_hex(const std::string& hex) {
  auto bytes = crypto::from_hex(hex);
  return bytes ? *bytes : std::string();
}

std::string hex_of(std::string_view bytes) {
  return crypto::to_hex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

// Empty if the home has none.
Result<crypto::SecretBuffer> read_key(Disk& disk, const Home& home) {
  auto text = read_file(disk, key_file_in(home), kMostHomeBytes);
  if (!text && text.error().code == Code::not_found) return crypto::SecretBuffer();
  if (!text) return text.error();
  while (text->ends_with('\n')) text->pop_back();
  std::string bytes = bytes_of_hex(*text);
  auto key = crypto::SecretBuffer::copy_of(bytes);
  crypto::wipe(*text);
  crypto::wipe(bytes);
  if (key.size() == crypto::Aead::kKeyBytes) return key;
  return Error{.code = Code::invalid,
               .message = key_file_in(home) + " is not the key of a cluster",
               .next = "remove it, and join again: sluice replicas join URL --token T"};
}

std::string mac_of(const crypto::SecretBuffer& key, std::string_view of) {
  const crypto::Mac mac = crypto::Hmac(key.reveal()).mac(of);
  return hex_of({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

}  // namespace

std::string key_check_of(const crypto::SecretBuffer& key) { return mac_of(key, "sluice.cluster.v1"); }

Result<std::optional<PostgresHome>> read_postgres_home(Disk& disk, const Home& home) {
  auto text = read_file(disk, postgres_file_in(home), kMostHomeBytes);
  if (!text && text.error().code == Code::not_found) return std::optional<PostgresHome>();
  if (!text) return text.error();
  auto document = parse_json(*text, postgres_file_in(home));
  if (!document) return document.error();
  auto read = sluice::read<PostgresHome>(*document);
  if (!read) return read.error();
  return std::optional(*std::move(read));
}

Result<void> write_postgres_home(Disk& disk, const Home& home, const PostgresHome& of) {
  return write_atomically(disk, postgres_file_in(home), write(::sluice::to_json(of)) + "\n", 0600);
}

Result<crypto::SecretBuffer> cluster_key(Disk& disk, const Home& home) { return read_key(disk, home); }

Result<void> store_cluster_key(Disk& disk, const Home& home, const crypto::SecretBuffer& key) {
  if (auto keys = home.folder("keys"); !keys) return keys.error();
  std::string text = hex_of(key.reveal()) + "\n";
  auto stored = write_atomically(disk, key_file_in(home), text, 0600);
  crypto::wipe(text);
  return stored;
}

Result<OpenedPostgres> open_postgres(const Opening& opening, Clock& clock, bool follow, store::OlderFormat older) {
  auto known = read_postgres_home(opening.disk, opening.home);
  if (!known) return known.error();
  PostgresHome home = known->value_or(PostgresHome());
  if (home.instance.empty()) {
    std::array<uint8_t, kInstanceBytes> random;
    RealRandom().fill(random);
    home.instance = crypto::to_hex(random);
  }
  for (const char* folder : {"keys", "store"}) {
    if (auto made = opening.home.folder(folder); !made) return made.error();
  }
  auto key = read_key(opening.disk, opening.home);
  if (!key) return key.error();
  const auto admit = [&](const std::string& check) -> Result<void> {
    if (!key->empty() && (check.empty() || check == key_check_of(*key))) return {};
    if (!check.empty()) {
      return Error{.code = Code::denied,
                   .message = key->empty() ? "this home does not have the key of the cluster that this store belongs to"
                                           : "this home has the key of another cluster than this store's",
                   .next = "take an empty home and join first: sluice replicas join URL --token T"};
    }
    RealRandom random;
    *key = crypto::Aead::with_new_key(random).key().clone();
    return store_cluster_key(opening.disk, opening.home, *key);
  };
  auto store = store::postgres::PostgresStore::open(clock, opening.store->address,
                                                    {.name = opening.store->replica,
                                                     .instance = bytes_of_hex(home.instance),
                                                     .url = opening.store->url,
                                                     .follow = follow,
                                                     .seen = home.seen,
                                                     .older = older,
                                                     .store_id = bytes_of_hex(home.store),
                                                     .admit = admit});
  if (!store) return store.error();
  home.store = hex_of((*store)->id());
  home.seen = std::max(home.seen, (*store)->batch());
  if (auto written = write_postgres_home(opening.disk, opening.home, home); !written) return written.error();
  std::string peer_token = "slp_" + mac_of(*key, "sluice.replica.v1");
  return OpenedPostgres{*std::move(store), *std::move(key), std::move(peer_token)};
}

Result<void> open_postgres_home(const Opening& opening, Clock& clock, HomeStore& opened, store::OlderFormat older) {
  auto* mirror = opening.concepts.tools.find<store::MirroredDisk>();
  if (mirror == nullptr) {
    return Error{.code = Code::unavailable, .message = "this program keeps its store in the home alone"};
  }
  auto postgres = open_postgres(opening, clock, false, older);
  if (!postgres) return postgres.error();
  auto& store = *postgres->store;
  if (auto set = store.set_key_check(key_check_of(postgres->key)); !set) return set;
  if (auto attached = mirror->attach(store, opening.home.root().string(), postgres->key); !attached) return attached;
  opened.postgres = &store;
  opened.format = &store;
  opened.store = std::move(postgres->store);
  opened.peer_token = std::move(postgres->peer_token);
  opened.mirrored = std::make_unique<Mirrored>(*mirror);
  return {};
}

boost::json::array replicas_document(store::postgres::PostgresStore& store) {
  boost::json::array all;
  auto rows = store.replicas();
  if (!rows) return all;
  for (const auto& each : *rows) {
    all.push_back(boost::json::object{
        {"name", each.name}, {"url", each.url}, {"leads", each.leads}, {"silentMs", each.silent_ms}});
  }
  return all;
}

Error store_is_elsewhere() {
  return {.code = Code::unavailable,
          .message = "the store of this home is in PostgreSQL, and no sluice serve of this home answers",
          .next = "sluice serve --store postgresql://USER@HOST/DATABASE"};
}

Error has_a_store_of_its_own(const std::string& path) {
  return {.code = Code::conflict,
          .message = "this home has a store of its own already, " + path + "; nothing was opened",
          .next = "take an empty home: export SLUICE_HOME=/another/folder"};
}

}  // namespace sluice::host
