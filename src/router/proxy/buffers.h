// Memory for bytes that wait: taken when there are some, given back when they are gone, so that a connection without
// any holds none. Each thread has its own; given-back ones are kept up to a limit, so that a busy thread allocates
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::router {

struct Buffer {
  uint32_t kind = 0;  // which of the sizes
  uint32_t capacity = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  Buffer* next = nullptr;  // of the kept ones

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view view() const { return {reinterpret_cast<const char*>(this + 1) + begin, end - begin}; }
  uint32_t size() const { return end - begin; }
  uint32_t room() const { return capacity - end; }
  void append(std::string_view more);  // there must be room
  void drop(size_t size) { begin += static_cast<uint32_t>(size); }
};

class Buffers {
 public:
  Buffers() = default;
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // With room for at least so many bytes.
  Buffer* take(size_t size);
  void give(Buffer* buffer);
  // Gives back and forgets; nothing is fine.
  void give_up(Buffer*& buffer);

  // Puts more behind what is in `buffer`, which is made, moved to the front or exchanged for a larger one as needed.
  void append(Buffer*& buffer, std::string_view more);

  size_t taken() const { return taken_; }

 private:
  static constexpr std::array<uint32_t, 5> kSizes = {480, 2'016, 8'160, 36'832, 73'696};
  static constexpr std::array<uint32_t, 5> kKept = {512, 256, 64, 32, 16};

  std::array<Buffer*, 5> kept_{};
  std::array<uint32_t, 5> kept_count_{};
  size_t taken_ = 0;
};

}  // namespace sluice::router
