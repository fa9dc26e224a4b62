// SQLite's C interface to files, each call a few lines over Disk.
#include "store/sqlite_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace sluice::store {
namespace {

constexpr int kSectorBytes = 4096;
constexpr int kMaxPathBytes = 4096;
constexpr size_t kMaxGatheredBytes = 1 << 20;

struct OpenFile;

// What the connections to one database share. A lock level is one of SQLite's: none, shared, reserved, pending,
// exclusive.
struct Shared {
  std::map<const OpenFile*, int> levels;

  std::vector<std::unique_ptr<char[]>> regions;  // the WAL index; freed when nobody maps it any more
  size_t mappers = 0;
  std::array<int, SQLITE_SHM_NLOCK> sharers{};
  std::array<const OpenFile*, SQLITE_SHM_NLOCK> owner{};
};

struct OpenFile {
  std::string path;
  std::unique_ptr<File> file;
  bool sync_folder = false;  // its name may be new
  Shared* shared = nullptr;  // of the database file alone
  bool maps_index = false;
  int level = SQLITE_LOCK_NONE;

  // SQLite writes its log in small pieces, one after the other. They are gathered and written at the next sync, which
  // stands between them and every other reader; only this connection could ask for them before.
  bool gathers = false;
  uint64_t gathered_at = 0;
  std::string gathered;
};

}  // namespace

struct SqliteVfs::State {
  explicit State(Disk& on) : disk(on) {}

  Disk& disk;
  std::string name;
  sqlite3_vfs vfs{};

  std::atomic<uint64_t> reads = 0, writes = 0, syncs = 0, bytes_read = 0, bytes_written = 0;
  std::atomic<bool> is_broken = false;

  mutable std::mutex mutex;  // of all below
  std::optional<Error> broken;
  std::optional<Error> last_fault;
  std::map<std::string, Shared> shared;  // by the database's path

  // SQLite's code for a failed operation, whose error is kept for last_fault().
  int failed(const Error& error, int code) {
    std::lock_guard guard(mutex);
    last_fault = error;
    return error.code == Code::limit ? SQLITE_FULL : code;
  }

  int sync_failed(const Error& error) {
    std::lock_guard guard(mutex);
    last_fault = error;
    if (!broken) {
      broken =
          Error{.code = Code::failed,
                .message = error.message + "; what is on the disk is not known any more, so nothing further is done",
                .next = "stop this process, look after the disk and start again: what was acknowledged is kept"};
      is_broken = true;
    }
    return SQLITE_IOERR_FSYNC;
  }
};

// The callbacks. SQLite gives the objects' addresses as C structs; `as` turns them back.
class SqliteVfs::Calls {
 public:
  struct Handle {
    sqlite3_file base;
    State* state;
    OpenFile* open;
  };

  static State& as(sqlite3_vfs* vfs) { return *static_cast<State*>(vfs->pAppData); }
  static Handle& as(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }

  // --- the file system ---

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
    State& state = as(vfs);
    Handle& handle = as(file);
    handle.base.pMethods = nullptr;
    if (path == nullptr || state.is_broken) return SQLITE_CANTOPEN;
    bool create = (flags & SQLITE_OPEN_CREATE) != 0;
    auto opened = state.disk.open(path, {.write = (flags & SQLITE_OPEN_READWRITE) != 0,
                                         .create = create,
                                         .exclusive = create && (flags & SQLITE_OPEN_EXCLUSIVE) != 0});
    if (!opened) {
      state.failed(opened.error(), 0);
      return SQLITE_CANTOPEN;
    }
    auto open_file = std::make_unique<OpenFile>();
    open_file->path = path;
    open_file->file = std::move(*opened);
    open_file->sync_folder = create;
    open_file->gathers = (flags & SQLITE_OPEN_WAL) != 0;
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) {
      std::lock_guard guard(state.mutex);
      open_file->shared = &state.shared[path];
    }
    handle.state = &state;
    handle.open = open_file.release();
    handle.base.pMethods = &methods();
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
    State& state = as(vfs);
    if (state.is_broken) return SQLITE_IOERR_DELETE;
    auto removed = state.disk.remove(path);
    if (!removed) {
      if (removed.error().code == Code::not_found) return SQLITE_IOERR_DELETE_NOENT;
      return state.failed(removed.error(), SQLITE_IOERR_DELETE);
    }
    if (sync_folder == 0) return SQLITE_OK;
    auto synced = state.disk.sync_folder(folder_of(path));
    return synced ? SQLITE_OK : state.sync_failed(synced.error());
  }

  static int access(sqlite3_vfs* vfs, const char* path, int, int* result) {
    State& state = as(vfs);
    if (state.is_broken) return SQLITE_IOERR_ACCESS;
    auto exists = state.disk.exists(path);
    if (!exists) return state.failed(exists.error(), SQLITE_IOERR_ACCESS);
    *result = *exists ? 1 : 0;
    return SQLITE_OK;
  }

  // Paths are the Disk's own; no other spelling of one is ever used.
  static int full_path(sqlite3_vfs*, const char* path, int size, char* out) {
    size_t length = std::strlen(path);
    if (length + 1 > static_cast<size_t>(size)) return SQLITE_CANTOPEN;
    std::memcpy(out, path, length + 1);
    return SQLITE_OK;
  }

  static sqlite3_vfs* system() { return sqlite3_vfs_find(nullptr); }
  static int randomness(sqlite3_vfs*, int size, char* out) { return system()->xRandomness(system(), size, out); }
  static int sleep(sqlite3_vfs*, int us) { return system()->xSleep(system(), us); }
  static int current_time(sqlite3_vfs*, double* days) { return system()->xCurrentTime(system(), days); }
  static int current_time_ms(sqlite3_vfs*, sqlite3_int64* ms) { return system()->xCurrentTimeInt64(system(), ms); }
  static int last_error(sqlite3_vfs*, int, char*) { return 0; }

  // --- a file ---

  static int close(sqlite3_file* file) {
    Handle& handle = as(file);
    shm_unmap(file, 0);
    unlock(file, SQLITE_LOCK_NONE);
    delete handle.open;
    handle.open = nullptr;
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
    Handle& handle = as(file);
    if (handle.state->is_broken) return SQLITE_IOERR_READ;
    if (int code = write_gathered(handle); code != SQLITE_OK) return code;
    std::span<char> bytes(static_cast<char*>(into), static_cast<size_t>(size));
    auto got = handle.open->file->read_at(static_cast<uint64_t>(offset), bytes);
    if (!got) return handle.state->failed(got.error(), SQLITE_IOERR_READ);
    handle.state->reads.fetch_add(1, std::memory_order_relaxed);
    handle.state->bytes_read.fetch_add(*got, std::memory_order_relaxed);
    if (*got == bytes.size()) return SQLITE_OK;
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(*got), bytes.end(), '\0');
    return SQLITE_IOERR_SHORT_READ;
  }

  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    Handle& handle = as(file);
    if (handle.state->is_broken) return SQLITE_IOERR_WRITE;
    std::string_view bytes(static_cast<const char*>(from), static_cast<size_t>(size));
    auto at = static_cast<uint64_t>(offset);
    OpenFile& mine = *handle.open;
    if (!mine.gathers) return write_now(handle, bytes, at);
    bool goes_on = at == mine.gathered_at + mine.gathered.size() && mine.gathered.size() < kMaxGatheredBytes;
    if (!goes_on) {
      if (int code = write_gathered(handle); code != SQLITE_OK) return code;
      mine.gathered_at = at;
    }
    mine.gathered.append(bytes);
    return SQLITE_OK;
  }

  static int write_now(Handle& handle, std::string_view bytes, uint64_t at) {
    auto written = handle.open->file->write_at(at, bytes);
    if (!written) return handle.state->failed(written.error(), SQLITE_IOERR_WRITE);
    handle.state->writes.fetch_add(1, std::memory_order_relaxed);
    handle.state->bytes_written.fetch_add(bytes.size(), std::memory_order_relaxed);
    return SQLITE_OK;
  }

  // What cannot be written is dropped: SQLite takes the failure for that of the whole transaction.
  static int write_gathered(Handle& handle) {
    OpenFile& mine = *handle.open;
    if (mine.gathered.empty()) return SQLITE_OK;
    int code = write_now(handle, mine.gathered, mine.gathered_at);
    mine.gathered_at += mine.gathered.size();
    mine.gathered.clear();
    return code;
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    Handle& handle = as(file);
    if (handle.state->is_broken) return SQLITE_IOERR_TRUNCATE;
    if (int code = write_gathered(handle); code != SQLITE_OK) return code;
    auto done = handle.open->file->truncate(static_cast<uint64_t>(size));
    return done ? SQLITE_OK : handle.state->failed(done.error(), SQLITE_IOERR_TRUNCATE);
  }

  static int sync(sqlite3_file* file, int) {
    Handle& handle = as(file);
    if (handle.state->is_broken) return SQLITE_IOERR_FSYNC;
    if (int code = write_gathered(handle); code != SQLITE_OK) return code;
    auto done = handle.open->file->sync(SyncWhat::contents);
    if (!done) return handle.state->sync_failed(done.error());
    handle.state->syncs.fetch_add(1, std::memory_order_relaxed);
    if (!handle.open->sync_folder) return SQLITE_OK;
    auto synced = handle.state->disk.sync_folder(folder_of(handle.open->path));
    if (!synced) return handle.state->sync_failed(synced.error());
    handle.open->sync_folder = false;
    return SQLITE_OK;
  }

  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    Handle& handle = as(file);
    if (handle.state->is_broken) return SQLITE_IOERR_FSTAT;
    if (int code = write_gathered(handle); code != SQLITE_OK) return code;
    auto found = handle.open->file->size();
    if (!found) return handle.state->failed(found.error(), SQLITE_IOERR_FSTAT);
    *size = static_cast<sqlite3_int64>(*found);
    return SQLITE_OK;
  }

  static int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return kSectorBytes; }
  // A torn write damages nothing beside itself, as on every disk that Linux file systems are made for.
  static int device_characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  // --- the database's lock, among the connections of this process ---

  static int lock(sqlite3_file* file, int level) {
    Handle& handle = as(file);
    OpenFile& mine = *handle.open;
    if (mine.shared == nullptr || mine.level >= level) return SQLITE_OK;
    std::lock_guard guard(handle.state->mutex);
    int highest = SQLITE_LOCK_NONE;
    for (const auto& [other, held] : mine.shared->levels) {
      if (other != &mine) highest = std::max(highest, held);
    }
    if (level == SQLITE_LOCK_SHARED && highest >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
    if (level >= SQLITE_LOCK_RESERVED && highest >= SQLITE_LOCK_RESERVED) return SQLITE_BUSY;
    // Who waits for the readers to leave lets no new ones in.
    bool waits = level == SQLITE_LOCK_EXCLUSIVE && highest >= SQLITE_LOCK_SHARED;
    mine.level = waits ? SQLITE_LOCK_PENDING : level;
    mine.shared->levels[&mine] = mine.level;
    return waits ? SQLITE_BUSY : SQLITE_OK;
  }

  static int unlock(sqlite3_file* file, int level) {
    Handle& handle = as(file);
    OpenFile& mine = *handle.open;
    if (mine.shared == nullptr || mine.level <= level) return SQLITE_OK;
    std::lock_guard guard(handle.state->mutex);
    mine.level = level;
    if (level == SQLITE_LOCK_NONE) {
      mine.shared->levels.erase(&mine);
    } else {
      mine.shared->levels[&mine] = level;
    }
    return SQLITE_OK;
  }

  static int check_reserved_lock(sqlite3_file* file, int* result) {
    Handle& handle = as(file);
    *result = 0;
    if (handle.open->shared == nullptr) return SQLITE_OK;
    std::lock_guard guard(handle.state->mutex);
    for (const auto& [other, held] : handle.open->shared->levels) {
      if (held >= SQLITE_LOCK_RESERVED) *result = 1;
    }
    return SQLITE_OK;
  }

  // --- the WAL index ---

  static int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
    Handle& handle = as(file);
    Shared& shared = *handle.open->shared;
    std::lock_guard guard(handle.state->mutex);
    if (!handle.open->maps_index) {
      handle.open->maps_index = true;
      ++shared.mappers;
    }
    size_t wanted = static_cast<size_t>(region) + 1;
    *out = nullptr;
    if (shared.regions.size() < wanted) {
      if (extend == 0) return SQLITE_OK;
      while (shared.regions.size() < wanted) {
        shared.regions.push_back(std::make_unique<char[]>(static_cast<size_t>(size)));
      }
    }
    *out = shared.regions[wanted - 1].get();
    return SQLITE_OK;
  }

  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    Handle& handle = as(file);
    Shared& shared = *handle.open->shared;
    std::lock_guard guard(handle.state->mutex);
    auto first = static_cast<size_t>(offset);
    auto end = first + static_cast<size_t>(count);
    bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      for (size_t i = first; i < end; ++i) {
        if (exclusive) {
          if (shared.owner[i] == handle.open) shared.owner[i] = nullptr;
        } else if (shared.sharers[i] > 0) {
          --shared.sharers[i];
        }
      }
      return SQLITE_OK;
    }
    for (size_t i = first; i < end; ++i) {
      if (shared.owner[i] != nullptr || (exclusive && shared.sharers[i] > 0)) return SQLITE_BUSY;
    }
    for (size_t i = first; i < end; ++i) {
      if (exclusive) {
        shared.owner[i] = handle.open;
      } else {
        ++shared.sharers[i];
      }
    }
    return SQLITE_OK;
  }

  static void shm_barrier(sqlite3_file* file) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::lock_guard guard(as(file).state->mutex);
  }

  static int shm_unmap(sqlite3_file* file, int) {
    Handle& handle = as(file);
    if (!handle.open->maps_index) return SQLITE_OK;
    std::lock_guard guard(handle.state->mutex);
    handle.open->maps_index = false;
    Shared& shared = *handle.open->shared;
    // An index that nobody maps is not kept up to date: the next one to come builds it from the log again.
    if (--shared.mappers == 0) shared.regions.clear();
    return SQLITE_OK;
  }

  static const sqlite3_io_methods& methods() {
    static const sqlite3_io_methods kMethods = {
        .iVersion = 2,
        .xClose = close,
        .xRead = read,
        .xWrite = write,
        .xTruncate = truncate,
        .xSync = sync,
        .xFileSize = file_size,
        .xLock = lock,
        .xUnlock = unlock,
        .xCheckReservedLock = check_reserved_lock,
        .xFileControl = file_control,
        .xSectorSize = sector_size,
        .xDeviceCharacteristics = device_characteristics,
        .xShmMap = shm_map,
        .xShmLock = shm_lock,
        .xShmBarrier = shm_barrier,
        .xShmUnmap = shm_unmap,
        .xFetch = nullptr,
        .xUnfetch = nullptr,
    };
    return kMethods;
  }
};

SqliteVfs::SqliteVfs(Disk& disk) : state_(std::make_unique<State>(disk)) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "sluice-%p", static_cast<void*>(state_.get()));
  state_->name = name.data();
  sqlite3_vfs& vfs = state_->vfs;
  vfs.iVersion = 2;
  vfs.szOsFile = sizeof(Calls::Handle);
  vfs.mxPathname = kMaxPathBytes;
  vfs.zName = state_->name.c_str();
  vfs.pAppData = state_.get();
  vfs.xOpen = Calls::open;
  vfs.xDelete = Calls::remove;
  vfs.xAccess = Calls::access;
  vfs.xFullPathname = Calls::full_path;
  vfs.xRandomness = Calls::randomness;
  vfs.xSleep = Calls::sleep;
  vfs.xCurrentTime = Calls::current_time;
  vfs.xCurrentTimeInt64 = Calls::current_time_ms;
  vfs.xGetLastError = Calls::last_error;
  sqlite3_vfs_register(&vfs, 0);
}

SqliteVfs::~SqliteVfs() { sqlite3_vfs_unregister(&state_->vfs); }

const std::string& SqliteVfs::name() const { return state_->name; }

VfsCounts SqliteVfs::counts() const {
  return {.reads = state_->reads,
          .writes = state_->writes,
          .syncs = state_->syncs,
          .bytes_read = state_->bytes_read,
          .bytes_written = state_->bytes_written};
}

std::optional<Error> SqliteVfs::broken() const {
  if (!state_->is_broken) return std::nullopt;
  std::lock_guard guard(state_->mutex);
  return state_->broken;
}

std::optional<Error> SqliteVfs::last_fault() const {
  std::lock_guard guard(state_->mutex);
  return state_->last_fault;
}

}  // namespace sluice::store
