// Files named by what is in them, in 256 folders by their first byte.
#include "store/blob_store.h"

#include <unistd.h>

#include <limits>

#include "base/atomic_file.h"
#include "crypto/hex.h"

namespace sluice::store {
namespace {

constexpr uint32_t kFolderMode = 0700;
constexpr uint32_t kBlobMode = 0400;
constexpr size_t kShardDigits = 2;

}  // namespace

std::string BlobStore::path_of(const crypto::Sha256& digest) const {
  std::string hex = crypto::to_hex(std::span<const uint8_t>(digest));
  return folder_ + "/" + hex.substr(0, kShardDigits) + "/" + hex.substr(kShardDigits);
}

Result<crypto::Sha256> BlobStore::put(std::string_view bytes) {
  crypto::Sha256 digest = crypto::sha256(bytes);
  std::string path = path_of(digest);
  if (auto made = make_folders(folder_of(path)); !made) return made.error();
  auto found = get(digest, std::numeric_limits<size_t>::max());
  if (found) {
    // It may stand there because an earlier put failed in its last step, the sync of the folder.
    if (auto synced = disk_.sync_folder(folder_of(path)); !synced) return synced.error();
    return digest;
  }
  if (found.error().code != Code::not_found && found.error().code != Code::verification_failed) return found.error();
  if (auto written = write_atomically(disk_, path, bytes, kBlobMode); !written) return written.error();
  return digest;
}

Result<std::unique_ptr<BlobStore::Incoming>> BlobStore::begin() {
  if (auto made = make_folders(folder_); !made) return made.error();
  std::string path =
      folder_ + "/.incoming." + std::to_string(::getpid()) + "." + std::to_string(++incoming_) + ".unfinished";
  auto file = disk_.open(path, {.write = true, .create = true, .truncate = true, .mode = 0600});
  if (!file) return file.error();
  return std::unique_ptr<Incoming>(new Incoming(*this, std::move(path), *std::move(file)));
}

BlobStore::Incoming::~Incoming() {
  if (!file_) return;
  file_.reset();
  (void)blobs_.disk_.remove(path_);  // what stays is removed by the next owner of the folder
}

Result<void> BlobStore::Incoming::add(std::string_view piece) {
  if (auto written = file_->write_at(bytes_, piece); !written) return written;
  digest_.update(piece);
  bytes_ += piece.size();
  return {};
}

Result<void> BlobStore::Incoming::finish(const crypto::Sha256& digest) {
  if (const crypto::Sha256 found = digest_.finish(); found != digest) {
    return Error{.code = Code::verification_failed,
                 .message = "the bytes are " + crypto::to_string(found) + ", not " + crypto::to_string(digest) +
                            "; nothing was kept"};
  }
  if (auto changed = file_->chmod(kBlobMode); !changed) return changed;
  if (auto synced = file_->sync(SyncWhat::all); !synced) return synced;
  const std::string path = blobs_.path_of(digest);
  if (auto made = blobs_.make_folders(folder_of(path)); !made) return made;
  if (auto named = blobs_.disk_.rename(path_, path); !named) return named;
  file_.reset();
  return blobs_.disk_.sync_folder(folder_of(path));
}

Result<std::string> BlobStore::get(const crypto::Sha256& digest, size_t max_bytes) {
  std::string path = path_of(digest);
  auto bytes = read_file(disk_, path, max_bytes);
  if (!bytes) {
    if (bytes.error().code != Code::not_found) return bytes.error();
    return Error{.code = Code::not_found, .message = "no blob " + crypto::to_string(digest)};
  }
  if (crypto::sha256(*bytes) == digest) return bytes;
  return Error{.code = Code::verification_failed,
               .message = "blob " + crypto::to_string(digest) + " is damaged: " + path + " holds other bytes",
               .next = "restore this file from a backup, or store the blob again"};
}

Result<bool> BlobStore::has(const crypto::Sha256& digest) { return disk_.exists(path_of(digest)); }

Result<void> BlobStore::remove(const crypto::Sha256& digest) {
  std::string path = path_of(digest);
  auto removed = disk_.remove(path);
  if (!removed && removed.error().code == Code::not_found) return {};
  if (!removed) return removed;
  return disk_.sync_folder(folder_of(path));
}

Result<void> BlobStore::for_each(const std::function<bool(const crypto::Sha256&)>& visit) {
  auto shards = disk_.list(folder_);
  if (!shards) {
    if (shards.error().code == Code::not_found) return {};
    return shards.error();
  }
  for (const FolderEntry& shard : *shards) {
    if (shard.kind != FileKind::folder || shard.name.size() != kShardDigits) continue;
    auto blobs = disk_.list(folder_ + "/" + shard.name);
    if (!blobs) return blobs.error();
    for (const FolderEntry& blob : *blobs) {
      auto digest = crypto::parse_sha256("sha256:" + shard.name + blob.name);
      if (digest && !visit(*digest)) return {};
    }
  }
  return {};
}

// Both folders' names are synced each time: who finds a folder cannot know whether the one who made it came so far.
Result<void> BlobStore::make_folders(const std::string& shard) {
  for (const std::string& folder : {folder_, shard}) {
    auto exists = disk_.exists(folder);
    if (!exists) return exists.error();
    if (!*exists) {
      auto made = disk_.make_folder(folder, kFolderMode);
      if (!made && made.error().code != Code::conflict) return made;
    }
    if (auto synced = disk_.sync_folder(folder_of(folder)); !synced) return synced;
  }
  return {};
}

}  // namespace sluice::store
