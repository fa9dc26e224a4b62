// The files come first, then the rows, and the store's own name last: a home in which this was cut short has no store,
// and is refused as one that is in use.
#include "host/restoring.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/sha256.h"
#include "deploy/revocations.h"
#include "engine/journal/audit.h"
#include "engine/journal/record_reader.h"
#include "engine/journal/step.h"
#include "engine/transaction.h"
#include "host/home_store.h"
#include "host/lease_keeper.h"
#include "host/observing.h"
#include "host/postgres_home.h"
#include "store/mirrored_disk.h"
#include "store/scratch_store.h"
#include "store/sqlite_store.h"
#include "store/store_copy.h"

namespace sluice::host {
namespace {

constexpr std::string_view kPendingMeta = "restore.pending";
// Nobody has made so many steps without an archive.
constexpr uint64_t kJump = 1'000'000;
constexpr size_t kMostOpen = 1'000;
constexpr uint64_t kMostCopiedBytes = uint64_t{256} << 20;

// What is to be done once an engine runs on the store.
struct Pending {
  std::string id;  // of this restore
  std::string backup;
  uint64_t position = 0, knownTo = 0;
  std::vector<std::string> open;
  std::vector<json::value> revoke;  // {"action": …, "input": …}
};
BOOST_DESCRIBE_STRUCT(Pending, (), (id, backup, position, knownTo, open, revoke))

// What later records say: what was revoked, and which effects had begun. They are kept in a file as they come, each
// once, from however many places they are read.
class Later {
 public:
  Later(Disk& disk, std::string path, Pending& pending) : disk_(disk), path_(std::move(path)), pending_(pending) {}

  void read(const store::JournalRow& row) {
    last_ = std::max(last_, row.seq);
    if (row.record.empty() || !seen_.insert(crypto::sha256(row.record)).second) return;
    ++records_;
    if (kept_) kept_ = keep(row.record + "\n");
    auto step = engine::read_step(row.record);
    if (!step) return;
    if (step->root && deploy::takes_trust_away(step->action)) inputs_[step->invocation] = step->root->input;
    for (const engine::Fired& fired : step->fired) {
      for (const engine::Planned& each : fired.then) {
        if (deploy::takes_trust_away(each.action)) inputs_[each.id] = each.fields;
      }
    }
    if (step->work && pending_.open.size() < kMostOpen) {
      pending_.open.push_back(step->action + " " + to_string(step->invocation));
    }
    if (!step->end || step->end->variant != "ok" || !deploy::takes_trust_away(step->action)) return;
    auto input = inputs_.find(step->invocation);
    if (input == inputs_.end()) return;
    pending_.revoke.push_back(json::object{{"action", step->action}, {"input", input->second}});
  }

  // Gives the file its name; there is none if there are no records.
  Result<void> finish(const std::string& name) {
    if (!kept_) return kept_;
    if (!file_) return {};
    if (auto synced = file_->sync(SyncWhat::all); !synced) return synced;
    file_.reset();
    if (auto named = disk_.rename(path_, name); !named) return named;
    return disk_.sync_folder(folder_of(name));
  }

  uint64_t records() const { return records_; }
  uint64_t last() const { return last_; }

 private:
  Result<void> keep(const std::string& line) {
    if (!file_) {
      auto opened = disk_.open(path_, {.write = true, .create = true, .truncate = true, .mode = 0600});
      if (!opened) return opened.error();
      file_ = *std::move(opened);
    }
    auto written = file_->write_at(bytes_, line);
    bytes_ += line.size();
    return written;
  }

  Disk& disk_;
  const std::string path_;
  Pending& pending_;
  std::map<Ulid, json::object> inputs_;
  std::set<crypto::Sha256> seen_;
  std::unique_ptr<File> file_;
  Result<void> kept_;
  uint64_t bytes_ = 0, records_ = 0, last_ = 0;
};

Result<void> must_be_empty(Disk& disk, const Home& home) {
  for (const char* each :
       {"store/store.db", "store/restoring.db", "store/postgresql.json", "store/audit.heads", "keys/operator.pem"}) {
    const std::string path = (home.root() / each).string();
    auto there = disk.exists(path);
    if (!there) return there.error();
    if (!*there) continue;
    return Error{.code = Code::conflict,
                 .message = "this home is in use already: there is " + path + "; nothing was restored",
                 .next = "take an empty home: export SLUICE_HOME=/another/folder"};
  }
  return {};
}

// Heads beyond the moment are of a journal that is not there any more.
Result<void> cut_heads(Disk& disk, const std::string& path, uint64_t position) {
  auto heads = engine::read_heads(disk, path);
  if (!heads) return heads.error();
  std::string text;
  for (const engine::SignedHead& each : heads->heads) {
    if (each.head.seq <= position) text += engine::write_head(each);
  }
  if (heads->heads.empty() && text.empty()) return {};
  return write_atomically(disk, path, text, 0600);
}

// The records of another store beyond this position.
Result<void> read_records(store::Store& of, uint64_t position, Later& later) {
  auto snapshot = of.read();
  if (!snapshot) return snapshot.error();
  engine::RecordReader records(**snapshot);
  Result<void> inner;
  auto read = (*snapshot)->journal_from(position + 1, [&](const store::JournalRow& row) {
    store::JournalRow whole = row;
    auto record = records.read(row);
    if (!record) {
      inner = record.error();
      return false;
    }
    whole.record = *record;
    later.read(whole);
    return true;
  });
  return read ? inner : read;
}

// A store whose later records are kept: a file that nothing is written to, or PostgreSQL.
struct History {
  std::unique_ptr<store::OverlayDisk> files;
  std::unique_ptr<store::Store> store;
};

Result<History> open_history(Disk& disk, Clock& clock, const std::string& place) {
  History history;
  if (place.starts_with("postgresql://") || place.starts_with("postgres://")) {
    auto opened = store::postgres::PostgresStore::open(
        clock, place, {.follow = true, .make = false, .older = store::OlderFormat::kept});
    if (!opened) return opened.error();
    history.store = *std::move(opened);
    return history;
  }
  auto there = disk.exists(place);
  if (!there) return there.error();
  if (!*there) {
    return Error{.code = Code::not_found,
                 .message = "there is no store at " + place + "; nothing was restored",
                 .next = "--history-of names a store.db, or postgresql://USER@HOST/DATABASE"};
  }
  auto copy = store::copy_store(disk, place, kMostCopiedBytes);
  if (!copy && copy.error().code != Code::limit) return copy.error();
  // One that is larger is read where it is, so nobody may have it open.
  history.files = copy ? *std::move(copy) : std::make_unique<store::OverlayDisk>(disk);
  store::SqliteOptions options;
  options.older = store::OlderFormat::kept;
  auto opened = store::SqliteStore::open(*history.files, place, options);
  if (!opened) return opened.error();
  history.store = *std::move(opened);
  return history;
}

// From which generation on a store counts, as an earlier restore has left it.
Result<uint64_t> floor_of(store::Store& of) {
  auto snapshot = of.read();
  if (!snapshot) return snapshot.error();
  auto text = (*snapshot)->meta(engine::kGenerationFloorMeta);
  if (!text) return text.error();
  return std::strtoull(text->value_or("0").c_str(), nullptr, 10);
}

// What the folder knows beyond the moment besides the line that was restored: what other lines have archived, and the
// backups behind a gap. Returns the highest floor of them.
Result<uint64_t> read_other_lines(const store::RestoreFrom& from, const store::KnownBackup& chosen,
                                  store::Restored& restored, Later& later) {
  auto backups = store::later_backups(from, chosen, restored);
  if (!backups) return backups.error();
  uint64_t floor = 0;
  for (const store::KnownBackup& each : *backups) {
    store::ScratchStore scratch(from.disk, from.home + "/store/later.db");
    auto store = scratch.open();
    if (!store) return store.error();
    if (!store::check_backup(from.disk, each.folder, each.manifest, nullptr)) {
      restored.unread.push_back(each.folder);
      continue;
    }
    if (auto loaded = store::load_rows(from.disk, each.folder, each.manifest, **store); !loaded) return loaded.error();
    if (auto read = read_records(**store, restored.position, later); !read) return read.error();
    auto own = floor_of(**store);
    if (!own) return own;
    floor = std::max(floor, *own);
    restored.known_to = std::max(restored.known_to, each.manifest.position);
    auto behind = store::read_segments(from, each, restored, [&](const store::JournalRow& row) { later.read(row); });
    if (!behind) return behind.error();
  }
  return floor;
}

// The highest token under which any backup there was made.
int64_t highest_token(Disk& disk, const std::string& folder, int64_t least) {
  auto all = store::backups_in(disk, folder);
  if (!all) return least;
  for (const store::KnownBackup& each : *all) least = std::max(least, each.manifest.token);
  return least;
}

// A store that is led for the time of a restore, and given back.
struct Target {
  std::unique_ptr<store::Store> store;
  store::postgres::PostgresStore* postgres = nullptr;
  crypto::SecretBuffer cluster_key;
  std::unique_ptr<LeaseKeeper> lease;
};

Result<Target> open_target(const Opening& opening, Clock& clock, const std::string& path) {
  Target target;
  if (!opening.store) {
    auto made = store::SqliteStore::open(opening.disk, path);
    if (!made) return made.error();
    target.store = *std::move(made);
    return target;
  }
  auto opened = open_postgres(opening, clock, false);
  if (!opened) return opened.error();
  target.postgres = opened->store.get();
  target.store = std::move(opened->store);
  target.cluster_key = std::move(opened->key);
  target.lease =
      std::make_unique<LeaseKeeper>(leased(*target.postgres), opening.disk, opening.home, [](const Error&) {});
  auto snapshot = target.store->read();
  if (!snapshot) return snapshot.error();
  auto any = false;
  auto metas = (*snapshot)->metas([&](const auto&) {
    any = true;
    return false;
  });
  if (!metas) return metas.error();
  if (!any && (*snapshot)->position() == 0) return target;
  return Error{.code = Code::conflict,
               .message = "the store at this address is not empty; nothing was restored",
               .next = "take an empty database, or drop the schema sluice there"};
}

// What was begun in the home is gone, so that it can be tried again.
void forget_target(Disk& disk, Target& target, const std::string& path) {
  target.store.reset();
  for (const char* each : {"", "-wal", ".lock"}) (void)disk.remove(path + each);
}

Result<void> close_target(const Opening& opening, Target& target, int64_t token, bool moved, const std::string& path) {
  if (target.postgres == nullptr) {
    target.store.reset();
    for (const char* each : {"-wal", ".lock"}) (void)opening.disk.remove(path + each);
    const std::string final = folder_of(path) + "/store.db";
    if (auto named = opening.disk.rename(path, final); !named) return named;
    return opening.disk.sync_folder(folder_of(path));
  }
  auto* mirror = opening.concepts.tools.find<store::MirroredDisk>();
  if (mirror == nullptr) {
    return Error{.code = Code::unavailable, .message = "this program keeps its store in the home alone"};
  }
  if (!moved) {
    if (auto raised = target.postgres->raise_token(token + static_cast<int64_t>(kJump)); !raised) return raised;
  }
  if (auto set = target.postgres->set_key_check(key_check_of(target.cluster_key)); !set) return set;
  auto attached = mirror->attach(*target.postgres, opening.home.root().string(), target.cluster_key);
  mirror->detach();
  if (!attached) return attached;
  target.lease.reset();  // gives the lease back
  return {};
}

}  // namespace

Result<RestoreReport> restore_home(const Opening& opening, Clock& clock, const RestoreOrder& order) {
  Disk& disk = opening.disk;
  if (auto trusted = opening.home.ensure(); !trusted) return trusted.error();
  if (auto empty = must_be_empty(disk, opening.home); !empty) return empty.error();
  auto chosen = store::choose_backup(disk, order.folder, order.signer, order.moment);
  if (!chosen) return chosen.error();
  auto folder = opening.home.folder("store");
  if (!folder) return folder.error();
  const std::string home = opening.home.root().string();
  const std::string path = (*folder / "restoring.db").string();
  std::array<uint8_t, Ulid::kRandomBytes> random;
  RealRandom().fill(random);
  Pending pending{.id = to_string(Ulid::from(clock.wall_ms(), random)), .backup = chosen->manifest.id};
  History history;
  if (!order.history_of.empty()) {
    auto opened_history = open_history(disk, clock, order.history_of);
    if (!opened_history) return opened_history.error();
    history = *std::move(opened_history);
  }
  auto target = open_target(opening, clock, path);
  if (!target) return target.error();
  Later later(disk, (*folder / "history.new").string(), pending);
  const store::RestoreFrom from{disk, order.folder, order.signer, order.key, home};
  auto restored = store::restore(from, *chosen, order.moment, *target->store,
                                 [&](const store::JournalRow& row) { later.read(row); });
  if (!restored) {
    if (target->postgres == nullptr) forget_target(disk, *target, path);
    return restored.error();
  }
  auto floor = order.moved ? Result<uint64_t>(0) : read_other_lines(from, *chosen, *restored, later);
  if (!floor) return floor.error();
  if (auto own = floor_of(*target->store); own) *floor = std::max(*floor, *own);
  if (history.store) {
    if (auto read = read_records(*history.store, restored->position, later); !read) return read.error();
    if (auto own = floor_of(*history.store); own) *floor = std::max(*floor, *own);
  }
  auto contents = [&]() -> Result<std::string> {
    auto snapshot = target->store->read();
    return snapshot ? store::contents_of(**snapshot) : Result<std::string>(snapshot.error());
  }();
  if (!contents) return contents.error();
  pending.position = restored->position;
  pending.knownTo = std::max({restored->known_to, later.last(), restored->position});
  if (auto cut = cut_heads(disk, home + "/store/audit.heads", restored->position); !cut) return cut.error();
  const std::string kept = home + "/store/history-" + std::to_string(restored->position) + ".jsonl";
  if (auto written = later.finish(kept); !written) return written.error();
  store::Batch facts;
  if (!order.moved) {
    facts.meta.emplace_back(engine::kGenerationFloorMeta, std::to_string(*floor + pending.knownTo + kJump));
  }
  facts.meta.emplace_back(kPendingMeta, ::sluice::write(::sluice::to_json(pending)));
  if (auto done = target->store->commit(facts); !done) return done.error();
  const int64_t token = highest_token(disk, order.folder, chosen->manifest.token);
  if (auto closed = close_target(opening, *target, token, order.moved, path); !closed) return closed.error();
  return RestoreReport{.backup = pending.backup,
                       .position = restored->position,
                       .at_ms = restored->at_ms,
                       .contents = *contents,
                       .known_to = pending.knownTo,
                       .history = later.records(),
                       .revoked = pending.revoke.size(),
                       .may_have = pending.open,
                       .unread = restored->unread};
}

Result<void> finish_restore(store::Store& store, engine::Engine& engine) {
  std::string text;
  {
    auto snapshot = store.read();
    if (!snapshot) return snapshot.error();
    auto kept = (*snapshot)->meta(kPendingMeta);
    if (!kept) return kept.error();
    text = kept->value_or("");
  }
  if (text.empty()) return {};
  auto document = parse_json(text, std::string(kPendingMeta));
  if (!document) return document.error();
  auto pending = ::sluice::read<Pending>(*document);
  if (!pending) return pending.error();
  // With a key for each, so that what a crash has cut short is done once.
  size_t number = 0;
  const auto start = [&](const std::string& action, json::object input) -> Result<void> {
    auto begun = engine.start({.action = action,
                               .input = std::move(input),
                               .caller = {.name = std::string(kObserverName), .reason = "restored " + pending->backup},
                               .key = "restore " + pending->id + " " + std::to_string(number++),
                               .of_kit = true});
    return begun ? Result<void>() : Result<void>(begun.error());
  };
  for (const json::value& each : pending->revoke) {
    const json::object& one = each.as_object();
    json::object input = one.at("input").as_object();
    input.erase("caller");  // the engine fills in who asks now
    if (auto done = start(std::string(one.at("action").as_string()), std::move(input)); !done) return done;
  }
  json::array open;
  for (const std::string& each : pending->open) open.push_back(json::value(each));
  auto noted = start("Backup/restored", {{"backup", pending->backup},
                                         {"position", static_cast<int64_t>(pending->position)},
                                         {"knownTo", static_cast<int64_t>(pending->knownTo)},
                                         {"open", std::move(open)}});
  if (!noted) return noted;
  return store.commit({.meta = {{std::string(kPendingMeta), ""}}});
}

}  // namespace sluice::host
