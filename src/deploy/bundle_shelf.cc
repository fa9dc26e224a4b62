// A copy is durable before it has its name.
#include "deploy/bundle_shelf.h"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bundle/archive/inspect.h"
#include "bundle/manifest/paused_page.h"
#include "bundle/trust/sidecar.h"
#include "crypto/sha256.h"
#include "deploy/migration_texts.h"

namespace sluice::deploy {

struct RevokedBundle {
  std::string digest;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(RevokedBundle, (), (digest, reason))

struct LockedPack {
  std::string pack_id;
  std::string path;
  std::string digest;
};
BOOST_DESCRIBE_STRUCT(LockedPack, (), (pack_id, path, digest))

struct PackListLock {
  std::string schema = "sluice.pack-list-lock.v1";
  std::string revision_id;
  std::vector<LockedPack> packs;
};
BOOST_DESCRIBE_STRUCT(PackListLock, (), (schema, revision_id, packs))

struct RevocationList {
  std::string schema;
  std::vector<RevokedBundle> revoked;
};
BOOST_DESCRIBE_STRUCT(RevocationList, (), (schema, revoked))

namespace {

constexpr uint32_t kPrivate = 0700;
constexpr uint32_t kArchiveMode = 0644;  // the program's own user reads it through its folder's mount alone
constexpr size_t kPiece = size_t{1} << 20U;
constexpr size_t kMaxList = size_t{16} << 20U;
constexpr uint32_t kPaperMode = 0644;
constexpr std::string_view kSha256 = "sha256:";
constexpr size_t kDigestDigits = 64;
constexpr std::string_view kArchive = "archive.bundle";
constexpr std::string_view kUnfinished = ".unfinished";
constexpr std::string_view kLock = "pack-list.lock";
constexpr std::string_view kSidecar = "revision.sig";

Result<void> copy_file(Disk& disk, const std::string& from, const std::string& to) {
  auto in = disk.open(from, {});
  if (!in) return in.error();
  auto out = disk.open(to, {.write = true, .create = true, .mode = kArchiveMode});
  if (!out) return out.error();
  if (auto emptied = (*out)->truncate(0); !emptied) return emptied;
  std::string buffer(kPiece, '\0');
  for (uint64_t at = 0;;) {
    auto got = (*in)->read_at(at, buffer);
    if (!got) return got.error();
    if (auto put = (*out)->write_at(at, std::string_view(buffer).substr(0, *got)); !put) return put;
    at += *got;
    if (*got < buffer.size()) break;
  }
  return (*out)->sync(SyncWhat::all);
}

// What is wrong with a copy is wrong with what it was copied from, which is what people know.
Error told_of_source(Error error, const std::string& copy, const std::string& source) {
  if (size_t at = error.message.find(copy); at != std::string::npos) error.message.replace(at, copy.size(), source);
  if (error.position && error.position->file == copy) error.position->file = source;
  return error;
}

// Those of an archive and of its sidecar; none of a path.
std::vector<std::string> digests_in(const std::string& source) {
  std::vector<std::string> digests;
  const size_t comma = std::min(source.find(','), source.size());
  for (const std::string& digest : {source.substr(0, comma), source.substr(std::min(comma + 1, source.size()))}) {
    if (is_blob_digest(digest)) digests.push_back(digest);
  }
  return digests;
}

}  // namespace

bool is_blob_digest(std::string_view text) {
  if (!text.starts_with(kSha256) || text.size() != kSha256.size() + kDigestDigits) return false;
  return std::ranges::all_of(text.substr(kSha256.size()),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string BundleShelf::blob_path(const std::string& digest) const {
  const std::string digits = digest.substr(kSha256.size());
  return uploads_folder() + "/" + digits.substr(0, 2) + "/" + digits.substr(2);
}

std::string BundleShelf::papers_of(const std::string& digest) const { return blob_path(digest) + ".sig"; }

std::string BundleShelf::uploads_folder() const { return folder_.substr(0, folder_.rfind('/') + 1) + "uploads"; }

Result<std::string> BundleShelf::copy_of(const std::string& digest) {
  auto kept = revisions();
  if (!kept) return kept.error();
  for (const std::string& revision : *kept) {
    const std::string path = folder_ + "/" + revision + "/" + std::string(kArchive);
    auto lock = read_file(disk_, lock_beside(path), kMaxList);
    if (lock && lock->find(digest) != std::string::npos) return path;
  }
  return Error{.code = Code::not_found,
               .message = "there is no archive " + digest + " in this home",
               .next = "put its bytes there first"};
}

Result<BundleShelf::Found> BundleShelf::find(const std::string& source) {
  if (source.starts_with('/')) return Found{source, bundle::sidecar_path(source)};
  const size_t comma = source.find(',');
  const std::string archive = source.substr(0, comma),
                    sidecar = comma == std::string::npos ? "" : source.substr(comma + 1);
  if (!is_blob_digest(archive) || (!sidecar.empty() && !is_blob_digest(sidecar))) {
    return Error{.code = Code::invalid, .message = source + " is neither an absolute path nor a digest"};
  }
  Found found{blob_path(archive), sidecar.empty() ? papers_of(archive) : blob_path(sidecar)};
  auto there = disk_.stat(found.archive, FollowLinks::no);
  if (!there && there.error().code != Code::not_found) return there.error();
  auto papers = disk_.exists(found.sidecar);
  if (!there || (sidecar.empty() && papers && !*papers)) {
    auto copy = copy_of(archive);
    if (!copy && !there) return copy.error();
    if (copy && !there) found.archive = *copy;
    if (copy && sidecar.empty()) found.sidecar = sidecar_beside(*copy);
  }
  if (!sidecar.empty()) {
    if (auto papers = disk_.stat(found.sidecar, FollowLinks::no); !papers) {
      return Error{.code = Code::not_found,
                   .message = "there are no signatures " + sidecar + " in this home",
                   .next = "put their bytes there first"};
    }
  }
  return found;
}

Result<SeenBundle> BundleShelf::look(const std::string& source) {
  auto found = find(source);
  if (!found) return found.error();
  auto inspected = bundle::inspect_archive(disk_, found->archive);
  if (!inspected) return told_of_source(inspected.error(), found->archive, source);
  if (source.starts_with(kSha256) && !source.starts_with(std::string(kSha256) + inspected->archive_sha256)) {
    return Error{.code = Code::verification_failed, .message = "the bytes kept as " + source + " are others"};
  }
  auto manifest = bundle::manifest_of(*inspected, source);
  if (!manifest) return manifest.error();
  auto sidecar = bundle::read_sidecar(disk_, found->sidecar);
  if (!sidecar) return sidecar.error();
  return SeenBundle{.manifest = *std::move(manifest),
                    .manifest_text = *inspected->manifest_text,
                    .tree = std::string(kSha256) + inspected->tree.digest(),
                    .sidecar = *std::move(sidecar)};
}

Result<migrate::Migrations> BundleShelf::migrations(const std::string& source, const bundle::Migrations& settings) {
  auto found = find(source);
  if (!found) return found.error();
  return migrations_in(disk_, found->archive, settings);
}

Result<ShelvedBundle> BundleShelf::take(const std::string& source, const std::string& revision) {
  auto found = find(source);
  if (!found) return found.error();
  const std::string own = folder_ + "/" + revision;
  for (const std::string& each : {folder_, own}) {
    if (auto made = disk_.make_folder(each, kPrivate); !made && made.error().code != Code::conflict) {
      return made.error();
    }
  }
  auto give_up = [&](const Error& error) {
    auto removed = remove(revision);  // what is left of it is overwritten, or goes with the revision
    static_cast<void>(removed);
    return error;
  };
  const std::string unfinished = own + "/" + std::string(kUnfinished);
  if (auto copied = copy_file(disk_, found->archive, unfinished); !copied) return give_up(copied.error());
  auto inspected = bundle::inspect_archive(disk_, unfinished);
  if (!inspected) return give_up(told_of_source(inspected.error(), unfinished, source));
  if (is_blob_digest(source.substr(0, source.find(','))) &&
      !source.starts_with(std::string(kSha256) + inspected->archive_sha256)) {
    return give_up({.code = Code::verification_failed, .message = "the bytes kept as " + source + " are others"});
  }
  auto manifest = bundle::manifest_of(*inspected, source);
  if (!manifest) return give_up(manifest.error());
  auto page = bundle::page_of_archive(disk_, *manifest, unfinished);
  if (!page) {
    return give_up(bundle::placed_in_manifest(page.error(), *inspected->manifest_text,
                                              source + "!" + std::string(bundle::kManifestName)));
  }
  auto sidecar = bundle::read_sidecar(disk_, found->sidecar);
  if (!sidecar) return give_up(sidecar.error());
  ShelvedBundle shelved{.path = own + "/" + std::string(kArchive),
                        .archive = std::string(kSha256) + inspected->archive_sha256,
                        .tree = std::string(kSha256) + inspected->tree.digest(),
                        .sidecar = sidecar->value_or(""),
                        .manifest = *std::move(manifest),
                        .paused_page = *std::move(page)};
  const PackListLock lock{
      .revision_id = revision,
      .packs = {{.pack_id = shelved.manifest.name.text, .path = std::string(kArchive), .digest = shelved.archive}}};
  if (auto kept = write_atomically(disk_, lock_beside(shelved.path), write_pretty(to_json(lock)), kPaperMode); !kept) {
    return give_up(kept.error());
  }
  if (!shelved.sidecar.empty()) {
    auto kept = write_atomically(disk_, sidecar_beside(shelved.path), shelved.sidecar, kPaperMode);
    if (!kept) return give_up(kept.error());
  }
  if (auto named = disk_.rename(unfinished, shelved.path); !named) return give_up(named.error());
  for (const std::string& each : {own, folder_}) {
    if (auto synced = disk_.sync_folder(each); !synced) return synced.error();
  }
  return shelved;
}

Result<void> BundleShelf::check(const std::string& path, const std::string& archive) {
  auto file = disk_.open(path, {});
  if (!file) return file.error();
  auto digest = crypto::sha256(**file);
  if (!digest) return digest.error();
  const std::string found = crypto::to_string(*digest);
  if (found == archive) return {};
  return Error{.code = Code::verification_failed,
               .message = path + " is " + found + ", not the archive that was staged"};
}

Result<void> BundleShelf::give_back(const std::string& revision) {
  const std::string own = folder_ + "/" + revision + "/" + std::string(kArchive);
  // Without its papers nobody knows what it is: it was not taken whole, or is given back already.
  auto text = read_file(disk_, lock_beside(own), kMaxList);
  auto document = text ? parse_json(*text) : Result<Document>(text.error());
  auto lock = document ? read<PackListLock>(*document) : Result<PackListLock>(document.error());
  const std::string digest = lock && !lock->packs.empty() ? lock->packs.front().digest : "";
  auto shelved = disk_.exists(own);
  if (!shelved) return shelved.error();
  if (!*shelved || !is_blob_digest(digest)) return remove(revision);
  const std::string blob = blob_path(digest);
  for (const std::string& each : {uploads_folder(), blob.substr(0, blob.rfind('/'))}) {
    if (auto made = disk_.make_folder(each, kPrivate); !made && made.error().code != Code::conflict) return made;
  }
  auto papers = disk_.rename(sidecar_beside(own), papers_of(digest));
  if (!papers && papers.error().code != Code::not_found) return papers;
  auto kept = disk_.exists(blob);
  if (!kept) return kept.error();
  if (auto moved = *kept ? Result<void>() : disk_.rename(own, blob); !moved) return moved;
  renew(digest);
  return remove(revision);
}

Result<void> BundleShelf::remove(const std::string& revision) {
  const std::string own = folder_ + "/" + revision;
  auto entries = disk_.list(own);
  if (!entries && entries.error().code == Code::not_found) return {};
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    auto removed = disk_.remove(own + "/" + each.name);
    if (!removed && removed.error().code != Code::not_found) return removed;
  }
  auto removed = disk_.remove_folder(own);
  if (!removed && removed.error().code != Code::not_found) return removed;
  return {};
}

Result<std::string> BundleShelf::keep(const std::string& by, const std::function<Result<void>(File&)>& fill) {
  const auto make = [&](const std::string& folder) -> Result<void> {
    auto made = disk_.make_folder(folder, kPrivate);
    return !made && made.error().code != Code::conflict ? made : Result<void>();
  };
  for (const std::string& each : {folder_of(uploads_folder()), uploads_folder()}) {
    if (auto made = make(each); !made) return made.error();
  }
  const std::string unfinished = uploads_folder() + "/.incoming." + by + std::string(kUnfinished);
  const auto kept = [&]() -> Result<std::string> {
    auto file = disk_.open(unfinished, {.write = true, .create = true, .truncate = true});
    if (!file) return file.error();
    if (auto filled = fill(**file); !filled) return filled.error();
    if (auto synced = (*file)->sync(SyncWhat::all); !synced) return synced.error();
    auto digest = crypto::sha256(**file);
    if (!digest) return digest.error();
    const std::string path = blob_path(crypto::to_string(*digest));
    if (auto made = make(folder_of(path)); !made) return made.error();
    if (auto named = disk_.rename(unfinished, path); !named) return named.error();
    if (auto synced = disk_.sync_folder(folder_of(path)); !synced) return synced.error();
    return crypto::to_string(*digest);
  }();
  if (!kept) (void)disk_.remove(unfinished);  // what stays is removed when the home is opened
  return kept;
}

void BundleShelf::renew(const std::string& source) {
  for (const std::string& digest : digests_in(source)) {
    std::error_code ignored;  // one that is not there need not stay
    std::filesystem::last_write_time(blob_path(digest), std::filesystem::file_time_type::clock::now(), ignored);
  }
}

Result<void> BundleShelf::drop(const std::string& source) {
  for (const std::string& digest : digests_in(source)) {
    for (const std::string& path : {blob_path(digest), papers_of(digest)}) {
      auto removed = disk_.remove(path);
      if (!removed && removed.error().code != Code::not_found) return removed;
    }
  }
  return {};
}

Result<std::vector<std::string>> BundleShelf::old_uploads(std::chrono::hours age) {
  const auto before = std::filesystem::file_time_type::clock::now() - age;
  std::vector<std::string> digests;
  auto shards = disk_.list(uploads_folder());
  if (!shards && shards.error().code == Code::not_found) return digests;
  if (!shards) return shards.error();
  for (const FolderEntry& shard : *shards) {
    if (shard.kind != FileKind::folder) continue;
    auto files = disk_.list(uploads_folder() + "/" + shard.name);
    if (!files) return files.error();
    for (const FolderEntry& file : *files) {
      const std::string digest = std::string(kSha256) + shard.name + file.name;
      std::error_code failed;
      const auto put = std::filesystem::last_write_time(uploads_folder() + "/" + shard.name + "/" + file.name, failed);
      if (is_blob_digest(digest) && !failed && put < before) digests.push_back(digest);
    }
  }
  return digests;
}

Result<std::vector<std::string>> BundleShelf::revisions() {
  std::vector<std::string> names;
  auto entries = disk_.list(folder_);
  if (!entries && entries.error().code == Code::not_found) return names;
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    if (each.kind == FileKind::folder) names.push_back(each.name);
  }
  std::ranges::sort(names);
  return names;
}

Result<uint64_t> BundleShelf::free_bytes() const {
  std::error_code failed;
  auto space = std::filesystem::space(folder_, failed);
  if (failed) return Error{.message = "cannot see how much room " + folder_ + " has: " + failed.message()};
  return space.available;
}

std::string lock_beside(const std::string& archive_path) {
  return archive_path.substr(0, archive_path.rfind('/') + 1) + std::string(kLock);
}

std::string sidecar_beside(const std::string& archive_path) {
  return archive_path.substr(0, archive_path.rfind('/') + 1) + std::string(kSidecar);
}

Result<std::optional<std::string>> revoked_by(Disk& disk, const std::string& list, const std::string& archive,
                                              const std::string& tree) {
  auto text = read_file(disk, list, kMaxList);
  if (!text) return text.error();
  auto document = parse_json(*text, list);
  if (!document) return document.error();
  auto read_list = read<RevocationList>(*document);
  if (!read_list) return read_list.error();
  if (read_list->schema != "sluice.revocation-list.v1") {
    return Error{.code = Code::invalid, .message = list + " is not a sluice.revocation-list.v1"};
  }
  for (const RevokedBundle& each : read_list->revoked) {
    if (each.digest == archive || each.digest == tree) return std::optional(each.reason);
  }
  return std::optional<std::string>();
}

}  // namespace sluice::deploy
