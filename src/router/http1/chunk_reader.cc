// Content is passed over in one step; the few bytes between are looked at one by one.
#include "router/http1/chunk_reader.h"

#include <algorithm>

#include "base/ascii.h"
#include "router/http1/fields.h"

namespace sluice::router {
namespace {

constexpr uint16_t kMaxSizeLine = 256;
constexpr uint16_t kMaxTrailers = 8'000;
constexpr uint8_t kMaxDigits = 15;

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_value_char(char c) {
  auto byte = static_cast<uint8_t>(c);
  return byte >= 0x20 ? byte != 0x7f : c == '\t';
}

}  // namespace

size_t ChunkReader::take(std::string_view bytes, std::string_view& content) {
  content = {};
  size_t at = 0;
  while (at < bytes.size() && state_ < State::done) {
    if (state_ == State::content) {
      size_t size = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - at));
      content = bytes.substr(at, size);
      left_ -= size;
      at += size;
      if (left_ == 0) state_ = State::content_cr;
      return at;
    }
    const State before = state_;
    state_ = framing(bytes[at]);
    if (state_ == State::bad) return at;
    if (kept_ != nullptr && before >= State::trailer && before <= State::trailer_lf && state_ != State::last_lf) {
      *kept_ += bytes[at];
    }
    ++at;
  }
  return at;
}

ChunkReader::State ChunkReader::framing(char c) {
  switch (state_) {
    case State::size:
      digits_ = 0;
      line_ = 0;
      left_ = 0;
      quoted_ = escaped_ = false;
      [[fallthrough]];
    case State::more_size: {
      if (int value = hex_value(c); value >= 0) {
        if (++digits_ > kMaxDigits) return State::bad;
        left_ = left_ * 16 + static_cast<uint64_t>(value);
        return State::more_size;
      }
      if (digits_ == 0) return State::bad;
      if (c == ';') return State::extension;
      return c == '\r' ? State::size_lf : State::bad;
    }
    case State::extension:
      // Who reads quoted strings would go on behind the line's end.
      if (c == '\r') return quoted_ ? State::bad : State::size_lf;
      if (c == '"' && !escaped_) quoted_ = !quoted_;
      escaped_ = quoted_ && c == '\\' && !escaped_;
      return is_value_char(c) && ++line_ <= kMaxSizeLine ? State::extension : State::bad;
    case State::size_lf:
      if (c != '\n') return State::bad;
      return left_ == 0 ? State::trailer : State::content;
    case State::content_cr:
      return c == '\r' ? State::content_lf : State::bad;
    case State::content_lf:
      return c == '\n' ? State::size : State::bad;
    case State::trailer:
      return first_of_trailer(c);
    case State::trailer_name:
      if (++trailers_ > kMaxTrailers) return State::bad;
      if (c == ':') return trailer_named();
      if (!is_token_char(c)) return State::bad;
      if (name_size_ < name_.size()) name_[name_size_] = c;
      if (name_size_ < 255) ++name_size_;
      return State::trailer_name;
    case State::trailer_value:
      if (++trailers_ > kMaxTrailers) return State::bad;
      if (c == '\r') return State::trailer_lf;
      return is_value_char(c) ? State::trailer_value : State::bad;
    case State::trailer_lf:
      return c == '\n' ? State::trailer : State::bad;
    case State::last_lf:
      return c == '\n' ? State::done : State::bad;
    default:
      return State::bad;
  }
}

ChunkReader::State ChunkReader::first_of_trailer(char c) {
  if (c == '\r') return State::last_lf;
  if (!is_token_char(c)) return State::bad;
  name_[0] = c;
  name_size_ = 1;
  return State::trailer_name;
}

// Whatever would change the meaning of the message, or where it goes, cannot come after it.
ChunkReader::State ChunkReader::trailer_named() {
  if (name_size_ > name_.size()) return State::trailer_value;
  switch (field_named({name_.data(), name_size_})) {
    case Field::other:
    case Field::accept:
      return State::trailer_value;
    default:
      return State::bad;
  }
}

}  // namespace sluice::router
