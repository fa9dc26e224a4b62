// A header has two bytes, then two or eight of length if the short length says so, then four of mask if there is one.
#include "router/http1/websocket_frames.h"

#include <algorithm>

namespace sluice::router {

size_t WebsocketFrames::take(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    if (left_ > 0) {
      size_t step = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - at));
      left_ -= step;
      at += step;
      if (left_ == 0) return at;
      continue;
    }
    header_[header_size_++] = static_cast<uint8_t>(bytes[at++]);
    if (header_size_ < 2) continue;
    uint8_t short_length = header_[1] & 0x7f;
    uint8_t length_bytes = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
    if (header_size_ < 2 + length_bytes) continue;
    uint64_t length = length_bytes == 0 ? short_length : 0;
    for (uint8_t i = 0; i < length_bytes; ++i) length = length << 8 | header_[static_cast<size_t>(2 + i)];
    // The mask is passed over with the payload. A length that no payload can have never ends.
    left_ = std::min<uint64_t>(length, UINT64_MAX - 8) + ((header_[1] & 0x80) != 0 ? 4 : 0);
    header_size_ = 0;
    if (left_ == 0) return at;
  }
  return at;
}

}  // namespace sluice::router
