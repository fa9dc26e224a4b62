// BlobStore keeps bytes under their SHA-256, one file each: FOLDER/ab/cdef… for the digest abcdef…. Large values, which
// would make the journal and the state slow, are blobs.
//
// A blob is there whole or not at all, is durable when put() returns, and is verified whenever it is read. The same
// bytes are stored once. It may be used from many threads, and by several processes as long as none removes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/sha256.h"

namespace sluice::store {

class BlobStore {
 public:
  // A blob whose bytes come piece by piece. What is not finished leaves nothing; after a crash
  // remove_unfinished_writes() removes its file.
  class Incoming {
   public:
    ~Incoming();
    Incoming(const Incoming&) = delete;
    Incoming& operator=(const Incoming&) = delete;

    Result<void> add(std::string_view piece);
    uint64_t bytes() const { return bytes_; }
    // `verification_failed` unless this is the digest of all that was added.
    Result<void> finish(const crypto::Sha256& digest);

   private:
    friend class BlobStore;
    Incoming(BlobStore& blobs, std::string path, std::unique_ptr<File> file)
        : blobs_(blobs), path_(std::move(path)), file_(std::move(file)) {}

    BlobStore& blobs_;
    std::string path_;
    std::unique_ptr<File> file_;  // none: it has its name
    uint64_t bytes_ = 0;
    crypto::Sha256Stream digest_;
  };

  // The folder is made when the first blob is put; the one that holds it must be there.
  BlobStore(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  Result<std::unique_ptr<Incoming>> begin();

  // Puts a damaged blob right as well.
  Result<crypto::Sha256> put(std::string_view bytes);
  // `not_found` if there is no such blob, `limit` if it is larger than max_bytes, `verification_failed` if it is
  // damaged.
  Result<std::string> get(const crypto::Sha256& digest, size_t max_bytes);
  Result<bool> has(const crypto::Sha256& digest);
  // Removing what is not there is no error.
  Result<void> remove(const crypto::Sha256& digest);
  // All digests in order; false from visit ends it. Files that are not blobs are passed over.
  Result<void> for_each(const std::function<bool(const crypto::Sha256&)>& visit);

  // Where the blob is or would be.
  std::string path_of(const crypto::Sha256& digest) const;

 private:
  Result<void> make_folders(const std::string& shard);

  Disk& disk_;
  std::string folder_;
  std::atomic<uint64_t> incoming_ = 0;  // tells their files apart
};

}  // namespace sluice::store
