// Memory of one session of nghttp2 that can be put away while nothing happens on its connection.
//
// What nghttp2 allocates for a new session, 25 kB, is for the most part zeros and a buffer for the next frame. It lies
// in pages of its own: rest() keeps the words that are not zero, about 1 kB, and gives the pages back to the kernel;
// wake() puts the words back where they were, so all pointers stay good. What a session allocates later is on the heap.
//
// Rules: one thread; a session may rest only if it has nothing to send, as its frame buffer is not kept; nothing may
// touch it until it is awake again.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice::router {

// The pages of all sessions of a thread; it must outlive them.
class SessionPages {
 public:
  static constexpr size_t kBytes = 32'768;  // of one session

  SessionPages() = default;
  ~SessionPages();
  SessionPages(const SessionPages&) = delete;
  SessionPages& operator=(const SessionPages&) = delete;

  // All zero; nothing: there are no more.
  char* take();
  void give(char* pages);

 private:
  std::vector<char*> mapped_;
  std::vector<char*> free_;
};

class SessionMemory {
 public:
  explicit SessionMemory(SessionPages& pages);
  ~SessionMemory();
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  // What a session is made with.
  nghttp2_mem* allocator() { return &allocator_; }
  // It is made: what it allocates from now on is on the heap.
  void made() { making_ = false; }

  void rest();
  void wake() {
    if (rests()) restore();
  }
  bool rests() const { return image_ != nullptr; }

 private:
  struct Callbacks;

  void restore();
  bool has(const void* at) const;
  size_t size_of(const char* block) const;
  void* take(size_t size);

  SessionPages& all_;
  char* const pages_;
  nghttp2_mem allocator_;
  bool making_ = true;
  size_t low_ = 0;                      // what is kept ends here,
  size_t high_ = SessionPages::kBytes;  // and large blocks, which are not, begin here
  std::unique_ptr<uint64_t[]> image_;   // a bit for each word that is not zero, and then these words
};

}  // namespace sluice::router
