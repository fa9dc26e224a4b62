// A frame's length is checked before memory is taken for it.
#include "container/log_frames.h"

namespace sluice::container {
namespace {

constexpr size_t kHead = 8;
constexpr size_t kMostFrame = 16 << 20;  // engines cut lines at 16 kB

Result<size_t> length_of(std::string_view head) {
  const auto stream = static_cast<uint8_t>(head[0]);
  const bool known = stream == static_cast<uint8_t>(LogStream::out) || stream == static_cast<uint8_t>(LogStream::err);
  if (!known || head[1] != 0 || head[2] != 0 || head[3] != 0) {
    return Error{.code = Code::invalid, .message = "the engine sent something else than a frame of a log"};
  }
  size_t length = 0;
  for (size_t i = 4; i < kHead; ++i) length = length << 8U | static_cast<uint8_t>(head[i]);
  if (length > kMostFrame) {
    return Error{.code = Code::limit,
                 .message = "the engine sent a frame of a log with " + std::to_string(length) + " bytes"};
  }
  return length;
}

}  // namespace

Result<void> LogFrames::take(std::string_view bytes, const Each& each) {
  held_.append(bytes);
  size_t at = 0;
  while (held_.size() - at >= kHead) {
    auto length = length_of(std::string_view(held_).substr(at, kHead));
    if (!length) return length.error();
    if (held_.size() - at - kHead < *length) break;
    each(static_cast<LogStream>(held_[at]), std::string_view(held_).substr(at + kHead, *length));
    at += kHead + *length;
  }
  held_.erase(0, at);
  return {};
}

LogLine split_time(std::string_view line) {
  const size_t space = line.find(' ');
  const std::string_view time = line.substr(0, space == std::string_view::npos ? 0 : space);
  const bool is_time = time.size() >= 20 && time[4] == '-' && time[7] == '-' && time[10] == 'T' && time[13] == ':';
  if (!is_time) return {.time = {}, .text = line};
  return {.time = time, .text = line.substr(space + 1)};
}

}  // namespace sluice::container
