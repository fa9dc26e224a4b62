// The file, the proof, and how each database is copied and restored.
#include "migrate/backup.h"

#include <algorithm>

#include "base/ascii.h"
#include "crypto/sha256.h"
#include "migrate/ledger.h"
#include "migrate/scratch.h"
#include "migrate/sql_text.h"

namespace sluice::migrate {
namespace {

constexpr std::string_view kMagic = "sluice.backup.v1\n";
constexpr size_t kPieceBytes = 1 << 20;
constexpr size_t kLengthBytes = 4;
constexpr size_t kMaxSealedBytes = kPieceBytes + crypto::Aead::kNonceBytes + crypto::Aead::kTagBytes;

// ---- the file: pieces that are sealed one by one, each bound to its place and to whether it is the last

std::string place_of(uint64_t number, bool last) { return std::to_string(number) + (last ? " last" : ""); }

Result<void> seal_file(const BackupTools& tools, const std::string& plain, const std::string& file) {
  auto from = tools.disk.open(plain, {});
  if (!from) return from.error();
  auto to = tools.disk.open(file, {.write = true, .create = true, .truncate = true, .mode = 0600});
  if (!to) return to.error();
  auto written = (*to)->write_at(0, kMagic);
  if (!written) return written;
  uint64_t at = kMagic.size();
  std::string piece(kPieceBytes, '\0');
  for (uint64_t number = 0;; ++number) {
    auto read = (*from)->read_at(number * kPieceBytes, piece);
    if (!read) return read.error();
    const bool last = *read < kPieceBytes;
    auto sealed = tools.key.seal(std::string_view(piece).substr(0, *read), place_of(number, last), tools.random);
    if (!sealed) return sealed.error();
    std::string block;
    for (size_t i = 0; i < kLengthBytes; ++i) block += static_cast<char>(sealed->size() >> (8 * i) & 0xff);
    block += *sealed;
    written = (*to)->write_at(at, block);
    if (!written) return written;
    at += block.size();
    if (last) break;
  }
  auto synced = (*to)->sync(SyncWhat::all);
  if (!synced) return synced;
  return tools.disk.sync_folder(folder_of(file));
}

Error damaged(const std::string& file) {
  return {.code = Code::verification_failed, .message = "the backup " + file + " is damaged"};
}

Result<void> open_file(const BackupTools& tools, const std::string& file, const std::string& plain) {
  auto from = tools.disk.open(file, {});
  if (!from) return from.error();
  auto to = tools.disk.open(plain, {.write = true, .create = true, .exclusive = true, .mode = 0600});
  if (!to) return to.error();
  auto size = (*from)->size();
  if (!size) return size.error();
  std::string magic(kMagic.size(), '\0');
  auto read = (*from)->read_at(0, magic);
  if (!read) return read.error();
  if (magic != kMagic) return damaged(file);
  uint64_t at = kMagic.size();
  uint64_t written_bytes = 0;
  for (uint64_t number = 0;; ++number) {
    std::string length(kLengthBytes, '\0');
    read = (*from)->read_at(at, length);
    if (!read) return read.error();
    size_t bytes = 0;
    for (size_t i = 0; i < kLengthBytes; ++i) bytes |= static_cast<size_t>(static_cast<uint8_t>(length[i])) << (8 * i);
    if (*read < kLengthBytes || bytes > kMaxSealedBytes) return damaged(file);
    std::string sealed(bytes, '\0');
    read = (*from)->read_at(at + kLengthBytes, sealed);
    if (!read) return read.error();
    if (*read < bytes) return damaged(file);
    at += kLengthBytes + bytes;
    const bool last = at == *size;
    auto piece = tools.key.open(sealed, place_of(number, last));
    if (!piece) return damaged(file);
    auto written = (*to)->write_at(written_bytes, piece->reveal());
    if (!written) return written;
    written_bytes += piece->size();
    if (last) return {};
  }
}

// ---- what is in a database

void add(crypto::Sha256Stream& stream, const Row& row) {
  for (const Value& each : row) {
    stream.update(each ? std::to_string(each->size()) + ":" : std::string("-"));
    if (each) stream.update(*each);
  }
  stream.update("\n");
}

Result<Sums> sums_of_sqlite(Database& database) {
  auto tables = database.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT "
      "LIKE "
      "'\\_sluice\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name");
  if (!tables) return tables.error();
  Sums sums;
  for (const Row& table : *tables) {
    TableSum sum{.table = quoted_name(*table[0]), .digest = ""};
    crypto::Sha256Stream stream;
    auto read = database.each_row("SELECT * FROM " + sum.table, [&](const Row& row) {
      ++sum.rows;
      add(stream, row);
    });
    if (!read) return read.error();
    sum.digest = crypto::to_string(stream.finish());
    sums.push_back(std::move(sum));
  }
  return sums;
}

// The order of rows is another one in a restored table, so theirs are added up.
Result<Sums> sums_of_postgres(Database& database) {
  auto tables = database.query(
      "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = "
      "c.relnamespace WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'sluice') AND "
      "n.nspname NOT LIKE 'pg\\_%' ORDER BY 1");
  if (!tables) return tables.error();
  Sums sums;
  for (const Row& table : *tables) {
    auto rows = database.query(
        "SELECT count(*), coalesce(sum(('x' || substr(md5(t::text), 1, 15))::bit(60)::bigint), 0)::text FROM ONLY " +
        *table[0] + " t");
    if (!rows) return rows.error();
    sums.push_back({.table = *table[0],
                    .rows = std::atoll(rows->front()[0].value_or("0").c_str()),
                    .digest = rows->front()[1].value_or("")});
  }
  return sums;
}

Result<void> compare(const Sums& then, const Sums& now) {
  if (then == now) return {};
  for (const TableSum& each : then) {
    auto found = std::ranges::find(now, each.table, &TableSum::table);
    if (found != now.end() && *found == each) continue;
    const std::string rows = found == now.end() ? std::string("is not there") : std::to_string(found->rows) + " rows";
    return Error{.code = Code::verification_failed,
                 .message = "the backup does not have what the database had: " + each.table + " had " +
                            std::to_string(each.rows) + " rows, and restored " + rows + " or others"};
  }
  return Error{.code = Code::verification_failed, .message = "the backup has tables that the database had not"};
}

// ---- SQLite

Result<Sums> back_up_sqlite(Database& database, const BackupTools& tools, const std::string& file) {
  Sums then;
  {
    const Scratch plain(tools.disk, file + ".plain");
    auto copied = copy_sqlite(database, plain.path());
    if (!copied) return copied.error();
    auto copy = open_sqlite(plain.path());
    if (!copy) return copy.error();
    auto sums = sums_of(**copy);
    if (!sums) return sums.error();
    then = *std::move(sums);
    auto sealed = seal_file(tools, plain.path(), file);
    if (!sealed) return sealed.error();
  }
  const Scratch restored(tools.disk, file + ".restored");
  auto opened = open_file(tools, file, restored.path());
  if (!opened) return opened.error();
  auto copy = open_sqlite(restored.path());
  if (!copy) return copy.error();
  auto whole = (*copy)->value("PRAGMA integrity_check");
  if (!whole) return whole.error();
  if (*whole != "ok") return damaged(file);
  auto now = sums_of(**copy);
  if (!now) return now.error();
  auto same = compare(then, *now);
  if (!same) return same.error();
  return then;
}

// ---- PostgreSQL

Result<Sums> back_up_postgres(Database& database, const std::string& address, const BackupTools& tools,
                              const std::string& file) {
  auto scratch = ScratchDatabase::make(database, address, tools.random);
  if (!scratch) {
    Error error = scratch.error();
    if (error.code == Code::denied) error.next += ", or set backupBefore: false and make backups yourself";
    return error;
  }
  auto environment = environment_of(address);
  if (!environment) return environment.error();
  Sums then;
  {
    const Scratch plain(tools.disk, file + ".plain");
    auto transaction = Transaction::begin(database);
    if (!transaction) return transaction.error();
    auto still = database.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    if (!still) return still.error();
    auto snapshot = database.value("SELECT pg_export_snapshot()");
    if (!snapshot) return snapshot.error();
    auto sums = sums_of(database);
    if (!sums) return sums.error();
    then = *std::move(sums);
    auto dumped = tools.run({"pg_dump", "--format=custom", "--snapshot=" + snapshot->value_or(""),
                             "--lock-wait-timeout=10s", "--file=" + plain.path()},
                            *environment);
    if (!dumped) return dumped.error();
    auto sealed = seal_file(tools, plain.path(), file);
    if (!sealed) return sealed.error();
  }
  const Scratch restored(tools.disk, file + ".restored");
  auto opened = open_file(tools, file, restored.path());
  if (!opened) return opened.error();
  auto filled = fill_database(tools.run, restored.path(), scratch->address(), scratch->name());
  if (!filled) return filled.error();
  auto copy = open_postgres(scratch->address());
  if (!copy) return copy.error();
  auto now = sums_of(**copy);
  if (!now) return now.error();
  auto same = compare(then, *now);
  if (!same) return same.error();
  return then;
}

}  // namespace

Result<Sums> sums_of(Database& database) {
  return database.engine() == Engine::sqlite ? sums_of_sqlite(database) : sums_of_postgres(database);
}

Result<Sums> back_up(Database& database, const std::string& address, const BackupTools& tools,
                     const std::string& file) {
  auto sums = database.engine() == Engine::sqlite ? back_up_sqlite(database, tools, file)
                                                  : back_up_postgres(database, address, tools, file);
  if (!sums) (void)tools.disk.remove(file);
  return sums;
}

Result<void> restore_sqlite(const BackupTools& tools, const std::string& file, const std::string& into) {
  auto there = tools.disk.exists(into);
  if (!there) return there.error();
  if (*there) {
    return Error{.code = Code::conflict,
                 .message = into + " is there already, and a backup is never restored over a database",
                 .next = "name a file that is not there"};
  }
  const std::string unfinished = into + ".restoring";
  (void)tools.disk.remove(unfinished);  // what a killed attempt has left
  auto opened = open_file(tools, file, unfinished);
  if (!opened) {
    (void)tools.disk.remove(unfinished);
    return opened.error();
  }
  {
    auto restored = open_sqlite(unfinished);
    auto other = restored ? Ledger::make_another(**restored) : Result<void>(restored.error());
    if (!other) return other;
  }
  // Fails if somebody made it meanwhile.
  auto linked = tools.disk.link(unfinished, into);
  (void)tools.disk.remove(unfinished);
  if (!linked) return linked.error();
  return tools.disk.sync_folder(folder_of(into));
}

Result<void> restore_postgres(const BackupTools& tools, const std::string& file, const std::string& address,
                              const std::string& into) {
  const bool is_name = !into.empty() && std::ranges::all_of(into, [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
  });
  if (!is_name)
    return Error{.code = Code::invalid, .message = "a database is named with letters, digits, _ and - here"};
  auto server = open_postgres(address);
  if (!server) return server.error();
  auto there = (*server)->value("SELECT 1 FROM pg_database WHERE datname = $1", {into});
  if (!there) return there.error();
  if (*there) {
    return Error{.code = Code::conflict,
                 .message = "the database " + into + " is there already, and a backup is never restored over one",
                 .next = "name a database that is not there"};
  }
  // It gets its name when it is whole, so a restoration that was killed leaves none that looks like one.
  auto scratch = ScratchDatabase::make(**server, address, tools.random);
  if (!scratch) return scratch.error();
  {
    const Scratch plain(tools.disk, file + ".restoring");
    auto opened = open_file(tools, file, plain.path());
    if (!opened) return opened.error();
    auto filled = fill_database(tools.run, plain.path(), scratch->address(), scratch->name());
    if (!filled) return filled;
    auto restored = open_postgres(scratch->address());
    auto other = restored ? Ledger::make_another(**restored) : Result<void>(restored.error());
    if (!other) return other;
  }
  return (*server)->run("ALTER DATABASE " + quoted_name(scratch->name()) + " RENAME TO " + quoted_name(into));
}

}  // namespace sluice::migrate
