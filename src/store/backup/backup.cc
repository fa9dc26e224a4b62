// The manifest comes last, so a folder without one is no backup.
#include "store/backup/backup.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/dsse.h"
#include "crypto/sha256.h"
#include "store/backup/home_files.h"
#include "store/backup/row_bytes.h"

namespace sluice::store {
namespace {

constexpr std::string_view kBackupType = "application/vnd.sluice.backup+json";
constexpr std::string_view kSegmentType = "application/vnd.sluice.backup-segment+json";
constexpr size_t kMostManifestBytes = 1 << 20;
constexpr size_t kRowsABatch = 1'000;
constexpr size_t kBytesABatch = 1 << 20;
constexpr uint32_t kBackupFolderMode = 0700;

std::string hex_digest(std::string_view bytes) { return crypto::to_string(crypto::sha256(bytes)).substr(7); }

// Batches of a copy, each as soon as it is large enough.
class RowFrames {
 public:
  using Put = std::function<Result<void>(std::string_view frame)>;
  explicit RowFrames(Put put) : put_(std::move(put)) {}

  // To be changed by the caller, who says how much was added.
  Batch batch;

  bool added(size_t bytes) {
    bytes_ += bytes;
    if (++rows_ < kRowsABatch && bytes_ < kBytesABatch) return true;
    return flush();
  }
  bool flush() {
    if (rows_ == 0) return true;
    failed_ = put_(bytes_of(batch));
    batch = {};
    rows_ = bytes_ = 0;
    return failed_.has_value();
  }
  const Result<void>& done() const { return failed_; }

 private:
  Put put_;
  size_t rows_ = 0, bytes_ = 0;
  Result<void> failed_;
};

// Every kind of row by itself, so that frames are the same whatever store they come from.
Result<void> copy_rows(Snapshot& from, RowFrames::Put put, std::string& chain) {
  RowFrames to(std::move(put));
  Result<void> inner;
  const auto after = [&](const Result<void>& read) -> Result<void> {
    if (!read) return read;
    if (!inner) return inner;
    (void)to.flush();
    return to.done();
  };
  auto metas = from.metas([&](const auto& pair) {
    if (pair.first.starts_with(kArchiveMeta)) return true;
    to.batch.meta.push_back(pair);
    return to.added(pair.second.size());
  });
  if (auto done = after(metas); !done) return done;
  auto sets = from.sync_sets([&](const std::string& hash) {
    auto content = from.sync_set(hash);
    if (!content) {
      inner = content.error();
      return false;
    }
    to.batch.sync_sets.emplace_back(hash, content->value_or(""));
    return to.added(to.batch.sync_sets.back().second.size());
  });
  if (auto done = after(sets); !done) return done;
  auto flows = from.flows_oldest_first(std::nullopt, [&](const FlowRow& flow) {
    to.batch.flows.push_back(flow);
    to.batch.flows.back().packed = false;
    if (flow.packed) {
      auto blob = from.packed(flow.id);
      if (!blob) {
        inner = blob.error();
        return false;
      }
      to.batch.packed.emplace_back(flow.id, blob->value_or(""));
      return to.added(flow.summary.size() + to.batch.packed.back().second.size());
    }
    return to.added(flow.summary.size());
  });
  if (auto done = after(flows); !done) return done;
  auto journal = from.journal_from(1, [&](const JournalRow& row) {
    chain = row.record.empty() ? row.packed_hash : "";
    if (chain.empty() && row.seq == from.position()) chain = hex_digest(row.record);
    to.batch.journal.push_back(row);
    return to.added(row.record.size());
  });
  if (auto done = after(journal); !done) return done;
  std::vector<std::string> relations;
  auto named = from.relations([&](const std::string& relation) {
    relations.push_back(relation);
    return true;
  });
  if (!named) return named;
  for (const std::string& relation : relations) {
    auto rows = from.scan(relation, "", [&](const StateRow& row) {
      to.batch.state.push_back({row.rel, row.key, row.generation, row.seq, row.value});
      return to.added(row.value.size());
    });
    if (auto done = after(rows); !done) return done;
  }
  auto lookups = from.lookups([&](const LookupRow& row) {
    to.batch.lookups.push_back({row.rel, row.field, row.value, row.key, true});
    return to.added(row.value.size());
  });
  if (auto done = after(lookups); !done) return done;
  auto timers = from.timers([&](const TimerRow& row) {
    to.batch.timers.push_back(row);
    return to.added(sizeof(TimerRow));
  });
  if (auto done = after(timers); !done) return done;
  auto keys = from.keys([&](const KeyRow& row) {
    to.batch.keys.push_back(row);
    return to.added(row.request_hash.size());
  });
  return after(keys);
}

Result<FrameFacts> write_files(const BackupMaker& maker, const std::string& path, const crypto::Aead& key) {
  auto names = files_of_home(maker.disk, maker.home);
  if (!names) return names.error();
  auto writer = FrameWriter::create(maker.disk, path);
  if (!writer) return writer.error();
  for (const auto& [name, unused] : *names) {
    auto written = write_file(maker.disk, maker.home, name, key, maker.random, **writer);
    if (!written) return written.error();
  }
  return (*writer)->finish();
}

Result<std::string> sign(const BackupMaker& maker, std::string_view type, const json::value& payload) {
  auto envelope = crypto::sign_envelope(type, write(payload), {&maker.signer, 1});
  if (!envelope) return envelope.error();
  return crypto::write_envelope(*envelope) + "\n";
}

Error not_signed(const std::string& path, const std::string& signer) {
  return {.code = Code::verification_failed,
          .message = path + " is not signed by the key " + signer,
          .next = "it was changed, or made by another Sluice; take another backup"};
}

// What the file at `path` says, signed with the key beside it. `public_key` is its PEM file.
template <class Manifest>
Result<Manifest> read_signed(Disk& disk, const std::string& path, std::string_view type, const std::string& public_key,
                             const std::string& signer) {
  auto pem = read_file(disk, public_key, kMostManifestBytes);
  if (!pem) return pem.error();
  auto key = crypto::PublicKey::from_pem(*pem);
  if (!key) return not_signed(path, signer);
  if (!signer.empty() && key->key_id() != signer) return not_signed(path, signer);
  auto text = read_file(disk, path, kMostManifestBytes);
  if (!text) return text.error();
  auto envelope = crypto::parse_envelope(*text, path);
  if (!envelope) return envelope.error();
  const std::array<crypto::PublicKey, 1> trusted{*key};
  if (envelope->payload_type != type || crypto::verified_key_ids(*envelope, trusted).empty()) {
    return not_signed(path, key->key_id());
  }
  auto document = parse_json(envelope->payload, path);
  if (!document) return document.error();
  return read<Manifest>(*document);
}

std::string bound_to(const BackupManifest& manifest) { return "backup " + manifest.id; }
std::string bound_to(const SegmentManifest& manifest) {
  return "segment " + manifest.line + " " + std::to_string(manifest.from);
}

Result<void> make_folder(Disk& disk, const std::string& path) {
  auto made = disk.make_folder(path, kBackupFolderMode);
  return !made && made.error().code != Code::conflict ? made : Result<void>();
}

Result<void> clear_file(Disk& disk, const std::string& path) {
  auto removed = disk.remove(path);
  return !removed && removed.error().code != Code::not_found ? removed : Result<void>();
}

bool is_manifest(std::string_view name) { return name.ends_with(".json"); }

// Those of one line that end with this batch or before; without one the whole line. Manifests go first: frames without
// one are nothing.
Result<uint64_t> prune_line(Disk& disk, const std::string& place, std::optional<uint64_t> batch) {
  auto entries = disk.list(place);
  if (!entries) return entries.error();
  // A segment ends where the next one begins; of the last one nobody knows, so it stays as long as its line is needed.
  uint64_t kept_from = std::numeric_limits<uint64_t>::max();
  if (batch) {
    kept_from = 0;
    for (const FolderEntry& each : *entries) {
      const uint64_t from = std::strtoull(each.name.c_str(), nullptr, 10);
      if (is_manifest(each.name) && from <= *batch + 1) kept_from = std::max(kept_from, from);
    }
  }
  uint64_t removed = 0;
  std::ranges::stable_sort(*entries, {}, [](const FolderEntry& each) { return !is_manifest(each.name); });
  for (const FolderEntry& each : *entries) {
    if (batch && (each.name == "operator.pub" || std::strtoull(each.name.c_str(), nullptr, 10) >= kept_from)) continue;
    if (auto gone = disk.remove(place + "/" + each.name); !gone) return gone.error();
    if (is_manifest(each.name)) ++removed;
  }
  if (batch) return removed;
  if (auto gone = disk.remove_folder(place); !gone) return gone.error();
  return removed;
}

std::string number_of(uint64_t batch) {
  std::array<char, 24> text{};
  const int size = std::snprintf(text.data(), text.size(), "%020llu", static_cast<unsigned long long>(batch));
  return {text.data(), static_cast<size_t>(size)};
}

}  // namespace

std::string segments_folder(const std::string& folder, const std::string& line) { return folder + "/segments/" + line; }

Result<crypto::Aead> open_key(const crypto::SealedKey& sealed, const std::string& id, const crypto::RecipientKey& key) {
  auto opened = key.open(sealed, id);
  if (!opened) return opened.error();
  return crypto::Aead::with_key(*std::move(opened));
}

Result<BackupManifest> write_backup(const BackupMaker& maker, Snapshot& snapshot, const std::string& folder,
                                    BackupManifest manifest) {
  Disk& disk = maker.disk;
  auto there = disk.exists(folder + "/manifest.json");
  if (!there) return there.error();
  if (*there) {
    return Error{.code = Code::conflict,
                 .message = folder + " has a backup already; nothing was written",
                 .next = "choose another folder"};
  }
  if (auto made = make_folder(disk, folder); !made) return made.error();
  for (const char* each : {"/rows", "/files"}) {
    if (auto cleared = clear_file(disk, folder + each); !cleared) return cleared.error();
  }
  const auto key = crypto::Aead::with_new_key(maker.random);
  auto sealed = crypto::seal_to(maker.recipient, key.key(), bound_to(manifest), maker.random);
  if (!sealed) return sealed.error();
  manifest.key = *std::move(sealed);
  manifest.position = snapshot.position();
  for (const auto& [name, to] : {std::pair{kArchiveNewest, 0}, std::pair{kArchiveLine, 1}}) {
    auto meta = snapshot.meta(name);
    if (!meta) return meta.error();
    if (to == 0) manifest.batch = std::strtoull(meta->value_or("0").c_str(), nullptr, 10);
    if (to == 1) manifest.line = meta->value_or("");
  }
  auto rows = FrameWriter::create(disk, folder + "/rows");
  if (!rows) return rows.error();
  auto copied = copy_rows(
      snapshot, [&](std::string_view frame) { return (*rows)->put(frame); }, manifest.chain);
  if (!copied) return copied.error();
  auto facts = (*rows)->finish();
  if (!facts) return facts.error();
  manifest.rows = *facts;
  // After the rows, so that the content that they name is there.
  auto files = write_files(maker, folder + "/files", key);
  if (!files) return files.error();
  manifest.files = *files;
  if (auto put = write_atomically(disk, folder + "/operator.pub", maker.signer.public_key().to_pem(), 0600); !put) {
    return put.error();
  }
  auto text = sign(maker, kBackupType, to_json(manifest));
  if (!text) return text.error();
  if (auto put = write_atomically(disk, folder + "/manifest.json", *text, 0600); !put) return put.error();
  if (auto synced = disk.sync_folder(folder_of(folder)); !synced) return synced.error();
  return manifest;
}

Result<std::string> contents_of(Snapshot& snapshot) {
  crypto::Sha256Stream digest;
  std::string unused;
  auto copied = copy_rows(
      snapshot,
      [&](std::string_view frame) -> Result<void> {
        digest.update(length_of(frame));
        digest.update(frame);
        return {};
      },
      unused);
  if (!copied) return copied.error();
  return crypto::to_string(digest.finish());
}

Result<BackupManifest> read_backup(Disk& disk, const std::string& folder, const std::string& signer) {
  return read_signed<BackupManifest>(disk, folder + "/manifest.json", kBackupType, folder + "/operator.pub", signer);
}

Result<std::string> signer_of(Disk& disk, const std::string& folder) {
  auto pem = read_file(disk, folder + "/operator.pub", kMostManifestBytes);
  if (!pem) return pem.error();
  auto key = crypto::PublicKey::from_pem(*pem);
  if (!key) return key.error();
  return key->key_id();
}

Result<BackupCheck> check_backup(Disk& disk, const std::string& folder, const BackupManifest& manifest,
                                 const crypto::RecipientKey* key) {
  std::optional<crypto::Aead> opened;
  if (key != nullptr) {
    auto made = open_key(manifest.key, bound_to(manifest), *key);
    if (!made) return made.error();
    opened.emplace(*std::move(made));
  }
  for (const auto& [name, facts] : {std::pair{"/rows", &manifest.rows}, std::pair{"/files", &manifest.files}}) {
    if (auto same = check_frames(disk, folder + name, *facts); !same) return same.error();
  }
  BackupCheck found;
  const Error wrong{.code = Code::verification_failed,
                    .message = folder + " does not hold the journal that its manifest names",
                    .next = "take another backup: sluice backup list"};
  auto rows = FrameReader::open(disk, folder + "/rows");
  if (!rows) return rows.error();
  std::string chain;
  while (true) {
    auto frame = (*rows)->next();
    if (!frame) return frame.error();
    if (!*frame) break;
    auto batch = batch_in(**frame);
    if (!batch) return batch.error();
    for (const JournalRow& row : batch->journal) {
      if (row.seq != ++found.records) return wrong;
      if (row.seq == manifest.position) chain = row.record.empty() ? row.packed_hash : hex_digest(row.record);
    }
    found.rows += batch->state.size();
  }
  if (found.records != manifest.position || chain != manifest.chain) return wrong;
  auto files = FrameReader::open(disk, folder + "/files");
  if (!files) return files.error();
  while (true) {
    auto frame = (*files)->next();
    if (!frame) return frame.error();
    if (!*frame) return found;
    if (!is_file_frame(**frame)) return wrong;
    if (auto taken = take_file(disk, "", **frame, **files, opened ? &*opened : nullptr); !taken) return taken.error();
    ++found.files;
  }
}

Result<void> load_files(Disk& disk, const std::string& folder, const BackupManifest& manifest, const std::string& home,
                        const crypto::RecipientKey& key) {
  auto opened = open_key(manifest.key, bound_to(manifest), key);
  if (!opened) return opened.error();
  auto files = FrameReader::open(disk, folder + "/files");
  if (!files) return files.error();
  while (true) {
    auto frame = (*files)->next();
    if (!frame) return frame.error();
    if (!*frame) return {};
    if (auto taken = take_file(disk, home, **frame, **files, &*opened); !taken) return taken;
  }
}

Result<void> load_rows(Disk& disk, const std::string& folder, const BackupManifest&, Store& store) {
  auto rows = FrameReader::open(disk, folder + "/rows");
  if (!rows) return rows.error();
  while (true) {
    auto frame = (*rows)->next();
    if (!frame) return frame.error();
    if (!*frame) return {};
    auto batch = batch_in(**frame);
    if (!batch) return batch.error();
    if (auto done = store.commit(*batch); !done) return done;
  }
}

Result<std::vector<KnownBackup>> backups_in(Disk& disk, const std::string& folder, bool must_be_read) {
  std::vector<KnownBackup> all;
  auto entries = disk.list(folder);
  if (!entries && entries.error().code == Code::not_found) return all;
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    const std::string path = folder + "/" + each.name;
    auto manifest = read_backup(disk, path, "");
    if (manifest) {
      all.push_back({path, *std::move(manifest)});
    } else if (must_be_read && manifest.error().code != Code::not_found) {
      return manifest.error();
    }
  }
  std::ranges::sort(all, {}, [](const KnownBackup& each) { return std::pair(each.manifest.at_ms, each.manifest.id); });
  return all;
}

Result<std::vector<KnownSegment>> segments_after(Disk& disk, const std::string& folder, const std::string& line,
                                                 uint64_t batch, const std::string& signer,
                                                 std::vector<std::string>* unread) {
  std::vector<KnownSegment> all;
  const std::string place = segments_folder(folder, line);
  auto entries = disk.list(place);
  if (line.empty() || (!entries && entries.error().code == Code::not_found)) return all;
  if (!entries) return entries.error();
  uint64_t known = batch;
  // Names begin with the first batch: of those that may have the next one, the last has it.
  std::erase_if(*entries, [](const FolderEntry& each) { return !each.name.ends_with(".json"); });
  const auto first_beyond = std::ranges::find_if(
      *entries, [&](const FolderEntry& each) { return std::strtoull(each.name.c_str(), nullptr, 10) > batch + 1; });
  const auto begin = first_beyond == entries->begin() ? first_beyond : first_beyond - 1;
  for (const FolderEntry& each : std::ranges::subrange(begin, entries->end())) {
    const std::string path = place + "/" + each.name;
    auto manifest = read_signed<SegmentManifest>(disk, path, kSegmentType, place + "/operator.pub", signer);
    if (manifest && manifest->line != line) manifest = not_signed(path, signer);
    if (!manifest && unread != nullptr) {
      unread->push_back(path);
      continue;
    }
    if (!manifest) return manifest.error();
    if (manifest->to <= known) continue;
    if (manifest->from > known + 1 && unread == nullptr) break;
    known = manifest->to;
    all.push_back({path, *std::move(manifest)});
  }
  return all;
}

Result<uint64_t> prune_segments(Disk& disk, const std::string& folder) {
  auto backups = backups_in(disk, folder, true);
  if (!backups) return backups.error();
  std::map<std::string, uint64_t> oldest;  // by line: the batch that its oldest backup ends with
  for (const KnownBackup& each : *backups) {
    auto [at, is_new] = oldest.emplace(each.manifest.line, each.manifest.batch);
    if (!is_new) at->second = std::min(at->second, each.manifest.batch);
  }
  auto lines = disk.list(folder + "/segments");
  if (!lines && lines.error().code == Code::not_found) return uint64_t{0};
  if (!lines) return lines.error();
  uint64_t removed = 0;
  for (const FolderEntry& line : *lines) {
    auto base = oldest.find(line.name);
    auto of_line = prune_line(disk, folder + "/segments/" + line.name,
                              base == oldest.end() ? std::nullopt : std::optional(base->second));
    if (!of_line) return of_line.error();
    removed += *of_line;
  }
  return removed;
}

Result<void> write_segment(const BackupMaker& maker, const std::string& folder, SegmentManifest manifest,
                           const std::function<Result<void>(FrameWriter& to, const crypto::Aead& key)>& fill) {
  Disk& disk = maker.disk;
  const std::string place = segments_folder(folder, manifest.line);
  for (const std::string& each : {folder, folder + "/segments", place}) {
    if (auto made = make_folder(disk, each); !made) return made;
  }
  const std::string path = place + "/" + number_of(manifest.from);
  if (auto cleared = clear_file(disk, path); !cleared) return cleared;
  const auto key = crypto::Aead::with_new_key(maker.random);
  auto sealed = crypto::seal_to(maker.recipient, key.key(), bound_to(manifest), maker.random);
  if (!sealed) return sealed.error();
  manifest.key = *std::move(sealed);
  auto writer = FrameWriter::create(disk, path);
  if (!writer) return writer.error();
  if (auto filled = fill(**writer, key); !filled) return filled;
  auto facts = (*writer)->finish();
  if (!facts) return facts.error();
  manifest.frames = *facts;
  if (auto put = write_atomically(disk, place + "/operator.pub", maker.signer.public_key().to_pem(), 0600); !put) {
    return put;
  }
  auto text = sign(maker, kSegmentType, to_json(manifest));
  if (!text) return text.error();
  return write_atomically(disk, path + ".json", *text, 0600);
}

}  // namespace sluice::store
