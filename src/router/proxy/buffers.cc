// Free lists by size. What is larger than the largest is allocated as asked and never kept.
#include "router/proxy/buffers.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace sluice::router {

void Buffer::append(std::string_view more) {
  if (more.empty()) return;
  std::memcpy(bytes() + end, more.data(), more.size());
  end += static_cast<uint32_t>(more.size());
}

Buffers::~Buffers() {
  for (Buffer* list : kept_) {
    while (list != nullptr) {
      Buffer* next = list->next;
      std::free(list);
      list = next;
    }
  }
}

Buffer* Buffers::take(size_t size) {
  uint32_t kind = 0;
  while (kind < kSizes.size() && kSizes[kind] < size) ++kind;
  ++taken_;
  if (kind < kSizes.size() && kept_[kind] != nullptr) {
    Buffer* buffer = kept_[kind];
    kept_[kind] = buffer->next;
    --kept_count_[kind];
    buffer->begin = buffer->end = 0;
    return buffer;
  }
  uint32_t capacity = kind < kSizes.size() ? kSizes[kind] : static_cast<uint32_t>(size);
  void* memory = std::malloc(sizeof(Buffer) + capacity);
  if (memory == nullptr) throw std::bad_alloc();
  return new (memory) Buffer{.kind = kind, .capacity = capacity};
}

void Buffers::give(Buffer* buffer) {
  --taken_;
  uint32_t kind = buffer->kind;
  if (kind >= kSizes.size() || kept_count_[kind] >= kKept[kind]) {
    std::free(buffer);
    return;
  }
  buffer->next = kept_[kind];
  kept_[kind] = buffer;
  ++kept_count_[kind];
}

void Buffers::give_up(Buffer*& buffer) {
  if (buffer != nullptr) give(buffer);
  buffer = nullptr;
}

void Buffers::append(Buffer*& buffer, std::string_view more) {
  if (buffer == nullptr) buffer = take(more.size());
  if (buffer->room() < more.size()) {
    if (buffer->capacity - buffer->size() >= more.size()) {
      uint32_t size = buffer->size();
      std::memmove(buffer->bytes(), buffer->bytes() + buffer->begin, size);
      buffer->begin = 0;
      buffer->end = size;
    } else {
      Buffer* larger = take(buffer->size() + more.size());
      larger->append(buffer->view());
      give(buffer);
      buffer = larger;
    }
  }
  buffer->append(more);
}

}  // namespace sluice::router
