// Secrets in private anonymous mappings. Pages of their own, because mlock and madvise work on whole pages: on the
// heap, unlocking one secret would unlock its neighbour too.
#include "crypto/secret_buffer.h"

#include <openssl/crypto.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace sluice::crypto {

SecretBuffer::SecretBuffer(size_t size) {
  if (size == 0) return;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (size > std::numeric_limits<size_t>::max() - page) throw std::bad_alloc();
  const size_t mapped = (size + page - 1) / page * page;
  void* pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  madvise(pages, mapped, MADV_DONTDUMP);
  locked_ = mlock(pages, mapped) == 0;
  bytes_ = static_cast<uint8_t*>(pages);
  size_ = size;
  mapped_ = mapped;
}

SecretBuffer SecretBuffer::copy_of(std::string_view bytes) {
  SecretBuffer copy(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.bytes_, bytes.data(), bytes.size());
  return copy;
}

SecretBuffer::SecretBuffer(SecretBuffer&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      locked_(std::exchange(other.locked_, false)) {}

SecretBuffer& SecretBuffer::operator=(SecretBuffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  bytes_ = std::exchange(other.bytes_, nullptr);
  size_ = std::exchange(other.size_, 0);
  mapped_ = std::exchange(other.mapped_, 0);
  locked_ = std::exchange(other.locked_, false);
  return *this;
}

SecretBuffer::~SecretBuffer() { release(); }

SecretBuffer SecretBuffer::clone() const { return copy_of(reveal()); }

void SecretBuffer::shrink(size_t size) {
  assert(size <= size_);
  if (size == 0) return release();
  OPENSSL_cleanse(bytes_ + size, size_ - size);
  size_ = size;
}

void SecretBuffer::release() {
  if (bytes_ == nullptr) return;
  OPENSSL_cleanse(bytes_, mapped_);
  munmap(bytes_, mapped_);  // unlocks too
  bytes_ = nullptr;
  size_ = mapped_ = 0;
  locked_ = false;
}

void wipe(std::string& text) {
  OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace sluice::crypto
