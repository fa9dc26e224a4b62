// Everything is bytea, which compares byte by byte and keeps NULs. An index entry holds at most some 2,700 bytes, so
// long values of look-ups are found by their digest.
#include "store/postgres_schema.h"

#include <array>

namespace sluice::store::postgres {
namespace {

// Format 1.
constexpr const char* kCreate = R"sql(
CREATE SCHEMA sluice;
CREATE TABLE sluice.fence (
  format int8 NOT NULL, token int8 NOT NULL, batch int8 NOT NULL, id bytea NOT NULL, key_check bytea NOT NULL DEFAULT '',
  leader bytea NOT NULL DEFAULT '', instance bytea NOT NULL DEFAULT '', url bytea NOT NULL DEFAULT '',
  lease_until timestamptz NOT NULL DEFAULT '-infinity');
INSERT INTO sluice.fence (format, token, batch, id) VALUES (1, 0, 0, uuid_send(gen_random_uuid()));
CREATE TABLE sluice.journal (
  seq int8 PRIMARY KEY, flow bytea NOT NULL, prev int8 NOT NULL, record bytea, packed_hash bytea);
CREATE TABLE sluice.state (
  rel bytea NOT NULL, key bytea NOT NULL, generation int8 NOT NULL, seq int8 NOT NULL, value bytea NOT NULL,
  PRIMARY KEY (rel, key));
CREATE TABLE sluice.lookup (rel bytea NOT NULL, field bytea NOT NULL, value bytea NOT NULL, key bytea NOT NULL);
CREATE UNIQUE INDEX lookup_row ON sluice.lookup (rel, field, sha256(value), sha256(key));
CREATE TABLE sluice.flow (
  id bytea PRIMARY KEY, head int8 NOT NULL, status int8 NOT NULL, sync_set bytea NOT NULL, settled_at_ms int8 NOT NULL,
  summary bytea NOT NULL, packed int8 NOT NULL DEFAULT 0);
CREATE INDEX flow_open ON sluice.flow (id) WHERE status < 3;
CREATE TABLE sluice.packed (flow bytea PRIMARY KEY, blob bytea NOT NULL);
CREATE TABLE sluice.timer (invocation bytea PRIMARY KEY, flow bytea NOT NULL, due_ms int8 NOT NULL);
CREATE INDEX timer_due ON sluice.timer (due_ms, invocation);
CREATE TABLE sluice.idempotency_key (
  caller bytea NOT NULL, key bytea NOT NULL, request_hash bytea NOT NULL, flow bytea NOT NULL, invocation bytea NOT NULL,
  expires_ms int8 NOT NULL, PRIMARY KEY (caller, key));
CREATE INDEX idempotency_key_expires ON sluice.idempotency_key (expires_ms);
CREATE TABLE sluice.sync_set (hash bytea PRIMARY KEY, content bytea NOT NULL);
CREATE TABLE sluice.meta (name bytea PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE sluice.replica (
  name bytea PRIMARY KEY, instance bytea NOT NULL, url bytea NOT NULL, seen timestamptz NOT NULL);
CREATE TABLE sluice.file (
  name bytea PRIMARY KEY, version int8 NOT NULL, mode int8 NOT NULL, size int8 NOT NULL, parts bytea NOT NULL,
  gone bool NOT NULL);
CREATE INDEX file_version ON sluice.file (version);
CREATE TABLE sluice.file_part (
  name bytea NOT NULL, part int8 NOT NULL, digest bytea NOT NULL, bytes bytea NOT NULL,
  PRIMARY KEY (name, part, digest));
ALTER TABLE sluice.file_part ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE FUNCTION sluice.begin_batch(own int8, number int8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sluice.fence SET batch = number WHERE token = own AND batch < number;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another process has opened this store' USING ERRCODE = 'SL001';
  END IF;
END $$;
)sql";

struct Step {
  int to = 0;
  const char* statement = nullptr;
};

// Each leads on from what the one before has left. What a snapshot reads stays readable in each older format, as the
// backup before an upgrade is made from it.
constexpr std::array<Step, 1> kSteps = {{
    {2, "CREATE TABLE sluice.upgrade (format int8 PRIMARY KEY, at_ms int8 NOT NULL, backup bytea NOT NULL)"},
}};

Result<void> make_tables(PostgresConnection& connection) {
  if (auto made = connection.execute(kCreate); !made) return made;
  for (const char* each : postgres_steps_from(1)) {
    if (auto done = connection.execute(each); !done) return done;
  }
  return connection.execute("UPDATE sluice.fence SET format = " + std::to_string(newest_postgres_format()));
}

}  // namespace

int newest_postgres_format() { return kSteps.back().to; }

std::vector<const char*> postgres_steps_from(int format) {
  std::vector<const char*> statements;
  for (const Step& each : kSteps) {
    if (each.to > format) statements.push_back(each.statement);
  }
  return statements;
}

Result<int> prepare_postgres(PostgresConnection& connection, bool make, OlderFormat older) {
  // Two that begin at once make one store.
  if (auto begun = connection.execute("BEGIN; SELECT pg_advisory_xact_lock(7380137)"); !begun) return begun.error();
  auto there = connection.query("SELECT 1 FROM pg_tables WHERE schemaname = 'sluice' AND tablename = 'fence'");
  if (!there) return there.error();
  if (there->size() == 0 && !make) {
    (void)connection.execute("ROLLBACK");
    return Error{.code = Code::not_found, .message = "there is no store at this address", .next = "check the address"};
  }
  if (there->size() == 0) {
    if (auto made = make_tables(connection); !made) {
      (void)connection.execute("ROLLBACK");
      return made.error();
    }
  }
  if (auto ended = connection.execute("COMMIT"); !ended) return ended.error();
  auto rows = connection.query("SELECT format FROM sluice.fence");
  if (!rows) return rows.error();
  const int64_t format = rows->size() == 1 ? rows->integer(0, 0) : 0;
  const int newest = newest_postgres_format();
  if (format == newest || (format >= 1 && format < newest && older == OlderFormat::kept))
    return static_cast<int>(format);
  if (format >= 1 && format < newest) {
    return older_format("the store in PostgreSQL", format, newest, "sluice store upgrade --store URL");
  }
  return Error{.code = Code::invalid,
               .message = "the store in PostgreSQL has a format that this Sluice does not know",
               .next = "use the newer Sluice that wrote it"};
}

}  // namespace sluice::store::postgres
