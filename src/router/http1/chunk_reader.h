// Follows a chunked body (RFC 9112, 7.1) through whatever pieces it comes in, and stops at the first byte that does
// not belong. The bytes that were taken can be passed on as they are.
//
//   while (!bytes.empty() && !reader.done()) {
//     std::string_view content;
//     size_t taken = reader.take(bytes, content);   // framing up to and with one piece of content
//     if (reader.bad()) …
//     bytes.remove_prefix(taken);
//   }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::router {

class ChunkReader {
 public:
  // Takes bytes up to the end of one piece of content, of the body or of the input, and says how many.
  size_t take(std::string_view bytes, std::string_view& content);

  // Lines of trailers are put there, too, each with its CRLF; before the first byte is taken.
  void keep_trailers(std::string& into) { kept_ = &into; }

  bool done() const { return state_ == State::done; }
  bool bad() const { return state_ == State::bad; }

 private:
  enum class State : uint8_t {
    size,       // the first digit of a size
    more_size,  // further digits, an extension or CR
    extension,
    size_lf,
    content,
    content_cr,
    content_lf,
    trailer,  // the beginning of a trailer line
    trailer_name,
    trailer_value,
    trailer_lf,
    last_lf,
    done,
    bad
  };

  State framing(char c);
  State first_of_trailer(char c);
  State trailer_named();

  uint64_t left_ = 0;      // of the chunk's content
  uint16_t line_ = 0;      // bytes of this size line, with its extension
  uint16_t trailers_ = 0;  // bytes of all trailers
  uint8_t digits_ = 0;
  uint8_t name_size_ = 0;
  bool quoted_ = false;   // within a quoted string of an extension
  bool escaped_ = false;  // behind a backslash in one
  State state_ = State::size;
  std::string* kept_ = nullptr;
  std::array<char, 20> name_{};  // of a trailer, as far as it fits
};

}  // namespace sluice::router
