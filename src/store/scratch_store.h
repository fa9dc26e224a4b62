// A store for a short time, in a file of its own that is removed at both ends.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/disk.h"
#include "store/sqlite_store.h"

namespace sluice::store {

class ScratchStore {
 public:
  ScratchStore(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) { clear(); }
  ~ScratchStore() {
    store_.reset();
    clear();
  }
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  Result<Store*> open() {
    auto opened = SqliteStore::open(disk_, path_);
    if (!opened) return opened.error();
    store_ = *std::move(opened);
    return store_.get();
  }

 private:
  void clear() {
    for (const char* each : {"", "-wal", ".lock", ".new"}) (void)disk_.remove(path_ + each);
  }

  Disk& disk_;
  std::string path_;
  std::unique_ptr<Store> store_;
};

}  // namespace sluice::store
