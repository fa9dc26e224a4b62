// What the plain and the canonical writer of JSON share: a buffer to write into, and the two hard parts, strings with
// their escapes, and doubles as ECMAScript prints them (the shortest digits that read back to the same number).
#pragma once

#include <boost/json/string_view.hpp>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace sluice {

inline std::string_view view(boost::json::string_view text) { return {text.data(), text.size()}; }

// Text that grows at its end. Unlike std::string it lets a writer ask for room once and fill it by pointer, which is
// what makes writing several times faster.
class TextBuffer {
 public:
  size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.get(), size_}; }

  void append(char c) {
    *room(1) = c;
    ++size_;
  }
  void append(std::string_view text) {
    text.copy(room(text.size()), text.size());
    size_ += text.size();
  }
  void append(size_t count, char c) {
    std::memset(room(count), c, count);
    size_ += count;
  }

  // Where at least this many bytes may be written; advance_to says how far that went.
  char* room(size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return bytes_.get() + size_;
  }
  void advance_to(const char* end) { size_ = static_cast<size_t>(end - bytes_.get()); }

 private:
  void grow(size_t bytes);

  // Begins with some room, so that there is always a buffer to point into.
  size_t capacity_ = 1024;
  size_t size_ = 0;
  std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(capacity_);
};

// Appends the string in quotes. Escapes are the fewest that JSON allows: quote, backslash and control characters, in
// their short form where there is one. Bytes that are not UTF-8 become U+FFFD; false says that there were some.
bool append_json_string(TextBuffer& out, std::string_view text);

// Appends a finite double as ECMAScript's Number::toString does: 1e21 is "1e+21", 1.0 is "1", -0.0 is "0".
void append_json_number(TextBuffer& out, double number);

// The string in quotes, for messages.
std::string json_quoted(std::string_view text);

}  // namespace sluice
