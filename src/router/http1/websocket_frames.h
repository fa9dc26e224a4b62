// Follows the frames of a WebSocket (RFC 6455) in one direction, just as far as to know where one ends: there, and only
// there, a frame of the router's own can be put in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::router {

// Close frames that say 1012, "service restart": to a client, and, with a mask of zeros, to a server.
inline constexpr std::string_view kCloseToClient{"\x88\x02\x03\xf4", 4};
inline constexpr std::string_view kCloseToServer{"\x88\x82\x00\x00\x00\x00\x03\xf4", 8};

class WebsocketFrames {
 public:
  // Takes bytes up to the end of a frame, or all, and says how many.
  size_t take(std::string_view bytes);

  bool between_frames() const { return header_size_ == 0 && left_ == 0; }

 private:
  uint64_t left_ = 0;  // of the frame's payload
  uint8_t header_size_ = 0;
  std::array<uint8_t, 10> header_{};  // as far as it is needed to know the length
};

}  // namespace sluice::router
