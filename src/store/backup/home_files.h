// The files of a home that a backup has besides the rows: keys, secrets, content by digest, kits, packs, certificates,
// signed heads. What belongs to this machine alone is left out: sockets, logs, what runs, other stores.
//
//   auto now = files_of_home(disk, home);                     // by name, from the home on
//   write_file(…, name, key, writer);                         // as frames: 'F', then its parts
//   take_file(disk, home, frame, reader, &key);               // from frames
//
// Parts of keys, secrets and the like are sealed with the backup's key, bound to their name and place.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "crypto/aead.h"
#include "store/backup/frame_file.h"

namespace sluice::store {

// By which a change is noticed.
struct FileMark {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  uint64_t inode = 0;
  uint32_t mode = 0;
  std::string target;  // of a symbolic link

  bool operator==(const FileMark&) const = default;
};
using FileMarks = std::map<std::string, FileMark>;

Result<FileMarks> files_of_home(Disk& disk, const std::string& home);

// Whether a file of this name is sealed in a backup.
bool is_sealed_in_backup(const std::string& name);

// False: it is not there any more, and nothing was written.
Result<bool> write_file(Disk& disk, const std::string& home, const std::string& name, const crypto::Aead& key,
                        Random& random, FrameWriter& to);
Result<void> write_removal(const std::string& name, FrameWriter& to);

// Whether the frame is one of a file; its parts follow it.
bool is_file_frame(std::string_view frame);
// With no home the parts are only looked at, sealed ones without being opened if there is no key either.
// `verification_failed` for parts that are not what was written, and for a name that leads out of the home.
Result<void> take_file(Disk& disk, const std::string& home, std::string_view frame, FrameReader& from,
                       const crypto::Aead* key);

}  // namespace sluice::store
