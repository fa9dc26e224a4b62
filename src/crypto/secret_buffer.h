// SecretBuffer holds bytes that must not leak: keys, passwords, opened secrets. It has whole pages to itself, kept
// out of swap and core dumps as far as the system allows, and wiped when the buffer dies, is assigned to or is moved
// from. It cannot be copied by accident (clone() is the copy), streamed, formatted as JSON or compared with ==.
//
//   SecretBuffer password = SecretBuffer::copy_of(text);
//   if (!equal_constant_time(password.reveal(), given)) …
//
// A buffer costs a page (4 KiB) however short it is: for secrets at rest in memory, not for bulk.
#pragma once

#include <boost/json/value_from.hpp>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace sluice::crypto {

class SecretBuffer {
 public:
  SecretBuffer() = default;
  explicit SecretBuffer(size_t size);  // that many zero bytes
  static SecretBuffer copy_of(std::string_view bytes);

  SecretBuffer(const SecretBuffer&) = delete;
  SecretBuffer& operator=(const SecretBuffer&) = delete;
  SecretBuffer(SecretBuffer&& other) noexcept;  // other is left empty
  SecretBuffer& operator=(SecretBuffer&& other) noexcept;
  ~SecretBuffer();

  SecretBuffer clone() const;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The bytes in the clear. Every use of this name is a place to look at in a review.
  std::string_view reveal() const { return {reinterpret_cast<const char*>(bytes_), size_}; }
  std::span<uint8_t> writable() { return {bytes_, size_}; }

  // Keeps the first `size` bytes and wipes the rest.
  void shrink(size_t size);

  // Whether the system keeps the bytes out of swap. It may refuse (RLIMIT_MEMLOCK); the buffer works all the same.
  bool locked() const { return locked_; }

 private:
  void release();

  uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;
  bool locked_ = false;
};

std::ostream& operator<<(std::ostream&, const SecretBuffer&) = delete;
void tag_invoke(const boost::json::value_from_tag&, boost::json::value&, const SecretBuffer&) = delete;
bool operator==(const SecretBuffer&, const SecretBuffer&) = delete;

// Overwrites a secret that had to pass through a plain string.
void wipe(std::string& text);

// Takes the same time whichever byte differs; only the lengths may show.
bool equal_constant_time(std::string_view a, std::string_view b);

}  // namespace sluice::crypto
