// Memory that is a file as far as the disk takes it, and memory alone where it does not. What is stored in the file
// survives a kill -9 at once, though not a power cut; what is in memory lives as long as a process has the memory's
// descriptor. Whoever writes to pages that were held, or that are in memory, waits for no disk to have room.
//
// A disk may fail later, so that writing to a page of the file is SIGBUS. rescue_from_disk_faults moves such a page to
// memory, with what it holds, and the write goes on.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace sluice::router {

inline constexpr size_t kPageBytes = 4'096;

// The descriptor of memory that can stand in for a file of that size; it takes none until it is used.
Result<int> make_spare_memory(size_t size);

// The same memory, opened anew: with locks of its own.
Result<int> open_memory_again(int memory);

class MappedFile {
 public:
  // Maps the file at exactly that size, with mode 0600; if it is not there it is made, filled with zeros, and takes no
  // room on disk until pages are held. Another size is `conflict`. `spare` is such memory, which may have stood in for
  // pages of this file before; they are found there again. -1: its own.
  static Result<MappedFile> open(const std::string& path, size_t size, int spare = -1);
  // All of it in memory.
  static Result<MappedFile> in_memory(size_t size, int spare = -1);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  // Offsets and sizes from here on are of whole pages.
  // Takes room for these pages on disk, and in memory as far as the process may. An error: there is none.
  Result<void> hold(size_t offset, size_t size);
  // These pages are in memory from now on, as they were there before.
  Result<void> use_memory(size_t offset, size_t size);
  // What the file holds, read without touching the pages; zeros where it ends.
  Result<void> read(size_t offset, char* bytes, size_t size) const;
  // The same of what is in memory.
  Result<void> read_memory(size_t offset, char* bytes, size_t size) const;

  // Writes to this file's pages that the disk fails to take go to memory instead. One file of a process; until it ends.
  void rescue_from_disk_faults();
  size_t rescued() const;  // pages

  char* bytes() { return bytes_; }
  size_t size() const { return size_; }
  // The first page of the spare memory, which is nobody's as long as the file's own first page is the file's.
  char* spare_page() { return spare_page_; }

 private:
  MappedFile(int file, int spare, size_t size) : file_(file), spare_(spare), size_(size) {}
  Result<void> map();
  bool rescue(const void* address);
  static void take_fault(int signal, siginfo_t* info, void* context);

  int file_;
  int spare_;
  size_t size_;
  char* bytes_ = nullptr;
  char* spare_page_ = nullptr;
  uint8_t* rescued_ = nullptr;  // by page: whether it is in memory since the disk has failed
};

}  // namespace sluice::router
