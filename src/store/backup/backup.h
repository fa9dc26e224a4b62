// A backup is a folder with everything that a control plane must not lose, at one position of its journal:
//
//   manifest.json   what it is, signed with the operator's key
//   operator.pub    that key; whoever verifies compares its id with one that they know
//   rows            the store, as frames of batches (frame_file.h)
//   files           keys, secrets, content and so on (home_files.h)
//
// It is the same for every store. Beside it stand segments: files with the batches that were committed afterwards and
// the files that changed, signed as well, so that any moment since can be had (docs/internals/backup.md).
//
//   auto made = write_backup({disk, random, home, key, recipient}, *snapshot, folder, {.id = …, .at_ms = …});
//   auto manifest = read_backup(disk, folder, signer);          // `verification_failed`: not signed by it
//   auto whole = check_backup(disk, folder, *manifest, nullptr);
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "crypto/aead.h"
#include "crypto/ed25519.h"
#include "crypto/recipient.h"
#include "store/backup/frame_file.h"
#include "store/store.h"

namespace sluice::store {

// Rows of meta whose names begin so belong to the archive of this store, and are in no backup.
inline constexpr std::string_view kArchiveMeta = "archive.";
inline constexpr std::string_view kArchiveNewest = "archive.newest";  // the last batch that was archived or is about to
inline constexpr std::string_view kArchiveLine =
    "archive.line";  // the segments that go on behind each other; empty: nothing is archived

inline constexpr std::string_view kArchiveFolder = "archive.folder";  // where its segments go

struct BackupManifest {
  std::string schema = "sluice.backup.v1";
  std::string id;
  std::string line;        // of the segments that follow it; empty: none
  uint64_t batch = 0;      // the last of that line that is in it
  uint64_t position = 0;   // of the journal
  std::string chain = {};  // SHA-256 of its last record, 64 hex digits
  int64_t at_ms = 0;
  int64_t token = 0;  // of the lease under which it was made
  FrameFacts rows = {};
  FrameFacts files = {};
  crypto::SealedKey key = {};
};
BOOST_DESCRIBE_STRUCT(BackupManifest, (), (schema, id, line, batch, position, chain, at_ms, token, rows, files, key))

struct SegmentManifest {
  std::string schema = "sluice.backup-segment.v1";
  std::string line;
  uint64_t from = 0, to = 0;                   // batches
  uint64_t position_before = 0, position = 0;  // of the journal
  int64_t at_ms = 0;                           // of its last batch
  FrameFacts frames = {};
  crypto::SealedKey key = {};
};
BOOST_DESCRIBE_STRUCT(SegmentManifest, (), (schema, line, from, to, position_before, position, at_ms, frames, key))

struct BackupMaker {
  Disk& disk;
  Random& random;
  std::string home;
  const crypto::PrivateKey& signer;
  std::string recipient;
};

// Makes the folder, which must not have a manifest; what an earlier attempt has left there is replaced. Durable when it
// returns. Id, time and token are the caller's; the rest is filled in.
Result<BackupManifest> write_backup(const BackupMaker& maker, Snapshot& snapshot, const std::string& folder,
                                    BackupManifest manifest);

// The digest that a backup of these rows would have as its contents.
Result<std::string> contents_of(Snapshot& snapshot);

// With an empty signer it is taken for what it says.
Result<BackupManifest> read_backup(Disk& disk, const std::string& folder, const std::string& signer);
// The id of the key that its manifest is signed with, whoever has it.
Result<std::string> signer_of(Disk& disk, const std::string& folder);

struct BackupCheck {
  uint64_t records = 0;
  uint64_t rows = 0;
  uint64_t files = 0;
};
// Reads all of it. With a key what is sealed is opened as well.
Result<BackupCheck> check_backup(Disk& disk, const std::string& folder, const BackupManifest& manifest,
                                 const crypto::RecipientKey* key);

Result<crypto::Aead> open_key(const crypto::SealedKey& sealed, const std::string& id, const crypto::RecipientKey& key);

// Puts the files into the home, and the rows into the store, which must be empty.
Result<void> load_files(Disk& disk, const std::string& folder, const BackupManifest& manifest, const std::string& home,
                        const crypto::RecipientKey& key);
Result<void> load_rows(Disk& disk, const std::string& folder, const BackupManifest& manifest, Store& store);

// The backups in the folder, oldest first; a folder that is not there has none. What is not one is passed over, and so
// is one whose manifest cannot be read, unless it must be.
struct KnownBackup {
  std::string folder;
  BackupManifest manifest;
};
Result<std::vector<KnownBackup>> backups_in(Disk& disk, const std::string& folder, bool must_be_read = false);

struct KnownSegment {
  std::string path;  // of its manifest; its frames are at the same without ".json"
  SegmentManifest manifest;
};
// Of one line behind a batch, in order, each signed by the signer. `verification_failed` for one that is not; those
// after a gap are left out. With `unread` gaps are passed over, and it gets the manifests that cannot be believed.
Result<std::vector<KnownSegment>> segments_after(Disk& disk, const std::string& folder, const std::string& line,
                                                 uint64_t batch, const std::string& signer,
                                                 std::vector<std::string>* unread = nullptr);
Result<void> write_segment(const BackupMaker& maker, const std::string& folder, SegmentManifest manifest,
                           const std::function<Result<void>(FrameWriter& to, const crypto::Aead& key)>& fill);
// Removes the segments in a folder of backups that none of its backups goes on from: those of lines without a backup,
// and those that are in the oldest backup of their line. No moment is lost by that, and no revocation: what they
// revoked is in each backup that is left. Says how many there were. An error, and nothing more is removed, if a
// manifest there cannot be read.
Result<uint64_t> prune_segments(Disk& disk, const std::string& folder);
// "segments/LINE" in a folder of backups.
std::string segments_folder(const std::string& folder, const std::string& line);

}  // namespace sluice::store
