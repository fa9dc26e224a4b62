// Blocks are taken from both ends of the pages; each has its size before it.
#include "router/http2/session_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace sluice::router {
namespace {

constexpr size_t kSessionsAtOnce = 64;
constexpr size_t kAligned = 16;
constexpr size_t kLarge = 16'000;  // a block of this size is the buffer for frames
constexpr size_t kWordBits = 64;

}  // namespace

// --------------------------------------------------------------------------------------------------------------- pages

SessionPages::~SessionPages() {
  for (char* each : mapped_) ::munmap(each, kSessionsAtOnce * kBytes);
}

char* SessionPages::take() {
  if (free_.empty()) {
    void* made = ::mmap(nullptr, kSessionsAtOnce * kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return nullptr;
    ::madvise(made, kSessionsAtOnce * kBytes, MADV_NOHUGEPAGE);  // a page that is given back is to be free
    mapped_.push_back(static_cast<char*>(made));
    for (size_t i = kSessionsAtOnce; i > 0; --i) free_.push_back(mapped_.back() + (i - 1) * kBytes);
  }
  char* pages = free_.back();
  free_.pop_back();
  return pages;
}

void SessionPages::give(char* pages) {
  ::madvise(pages, kBytes, MADV_DONTNEED);
  free_.push_back(pages);
}

// -------------------------------------------------------------------------------------------------------------- memory

struct SessionMemory::Callbacks {
  static SessionMemory& of(void* user) { return *static_cast<SessionMemory*>(user); }

  static void* allocate(size_t size, void* user) { return of(user).take(size); }
  static void free(void* at, void* user) {
    if (!of(user).has(at)) std::free(at);
  }
  static void* allocate_zero(size_t count, size_t size, void* user) {
    void* at = of(user).take(count * size);
    return at != nullptr ? std::memset(at, 0, count * size) : nullptr;
  }
  static void* reallocate(void* at, size_t size, void* user) {
    if (at == nullptr) return of(user).take(size);
    if (!of(user).has(at)) return std::realloc(at, size);
    void* moved = std::malloc(size);
    if (moved == nullptr) return nullptr;
    return std::memcpy(moved, at, std::min(of(user).size_of(static_cast<const char*>(at)), size));
  }
};

SessionMemory::SessionMemory(SessionPages& pages)
    : all_(pages),
      pages_(pages.take()),
      allocator_{.mem_user_data = this,
                 .malloc = Callbacks::allocate,
                 .free = Callbacks::free,
                 .calloc = Callbacks::allocate_zero,
                 .realloc = Callbacks::reallocate} {}

SessionMemory::~SessionMemory() {
  if (pages_ != nullptr) all_.give(pages_);
}

bool SessionMemory::has(const void* at) const {
  const char* place = static_cast<const char*>(at);
  return pages_ != nullptr && place >= pages_ && place < pages_ + SessionPages::kBytes;
}

// Of a large block more than was asked for, as nothing of it is kept.
size_t SessionMemory::size_of(const char* block) const {
  if (block >= pages_ + high_) return SessionPages::kBytes - high_ - kAligned;
  size_t size = 0;
  std::memcpy(&size, block - kAligned, sizeof size);
  return size;
}

void* SessionMemory::take(size_t size) {
  const size_t whole = kAligned + (size + kAligned - 1) / kAligned * kAligned;
  if (!making_ || pages_ == nullptr || whole > high_ - low_) return std::malloc(size);
  char* block = pages_ + low_;
  if (size >= kLarge) {
    block = pages_ + (high_ -= whole);
  } else {
    low_ += whole;
  }
  std::memcpy(block, &size, sizeof size);
  return block + kAligned;
}

void SessionMemory::rest() {
  if (pages_ == nullptr || rests()) return;
  const auto* words = reinterpret_cast<const uint64_t*>(pages_);
  const size_t count = low_ / sizeof(uint64_t), maps = (count + kWordBits - 1) / kWordBits;
  const auto zeros = static_cast<size_t>(std::count(words, words + count, 0));
  image_.reset(new uint64_t[maps + count - zeros]);
  std::fill_n(image_.get(), maps, 0);
  uint64_t* next = image_.get() + maps;
  for (size_t i = 0; i < count; ++i) {
    if (words[i] == 0) continue;
    image_[i / kWordBits] |= uint64_t{1} << (i % kWordBits);
    *next++ = words[i];
  }
  ::madvise(pages_, SessionPages::kBytes, MADV_DONTNEED);
}

void SessionMemory::restore() {
  auto* words = reinterpret_cast<uint64_t*>(pages_);
  const size_t count = low_ / sizeof(uint64_t), maps = (count + kWordBits - 1) / kWordBits;
  const uint64_t* next = image_.get() + maps;
  for (size_t map = 0; map < maps; ++map) {
    for (uint64_t bits = image_[map]; bits != 0; bits &= bits - 1) {
      words[map * kWordBits + static_cast<size_t>(std::countr_zero(bits))] = *next++;
    }
  }
  image_ = nullptr;
}

}  // namespace sluice::router
