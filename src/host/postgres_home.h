// A home whose store is in PostgreSQL. What else it must not lose, keys and content, is in the store as well (see
// store/mirrored_disk.h), so another home with the cluster's key can take its place. store/postgresql.json says to
// which store the home belongs, keys/cluster.key opens what is sealed there.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "crypto/secret_buffer.h"
#include "host/home.h"
#include "host/home_store.h"
#include "host/opening.h"

namespace sluice::host {

struct PostgresHome {
  std::string schema = "sluice.postgres-home.v1";
  std::string store;     // its id, in hex
  std::string instance;  // this home's own, in hex
  uint64_t seen = 0;     // the last batch that is known to be committed
};
BOOST_DESCRIBE_STRUCT(PostgresHome, (), (schema, store, instance, seen))

// None: the store is in the home, or there is none yet.
Result<std::optional<PostgresHome>> read_postgres_home(Disk& disk, const Home& home);
Result<void> write_postgres_home(Disk& disk, const Home& home, const PostgresHome& of);

struct OpenedPostgres {
  std::unique_ptr<store::postgres::PostgresStore> store;
  crypto::SecretBuffer key;  // the cluster's
  std::string peer_token;    // by which replicas call each other as the owner
};
// Opens the store that the opening names, to lead or to follow; the clock must outlive it. The first one that leads
// makes the cluster's key.
Result<OpenedPostgres> open_postgres(const Opening& opening, Clock& clock, bool follow,
                                     store::OlderFormat older = store::OlderFormat::refused);
// The same to lead, and brings the home up to it.
Result<void> open_postgres_home(const Opening& opening, Clock& clock, HomeStore& opened, store::OlderFormat older);

// The cluster's key, for a home that joins; empty if this home has none.
Result<crypto::SecretBuffer> cluster_key(Disk& disk, const Home& home);
Result<void> store_cluster_key(Disk& disk, const Home& home, const crypto::SecretBuffer& key);

// By which a store knows that a key is its cluster's.
std::string key_check_of(const crypto::SecretBuffer& key);

// Those that have the store open, for /v1/status: name, url, leads, and for how long nothing was heard of them.
boost::json::array replicas_document(store::postgres::PostgresStore& store);

// What commands are told that find no `sluice serve` in such a home.
Error store_is_elsewhere();
// What `--store` is told in a home that has a store already.
Error has_a_store_of_its_own(const std::string& path);

}  // namespace sluice::host
