// Where frames end, whatever their lengths.
#include "router/http1/websocket_frames.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::router {
namespace websocket_frames_test {

std::string frame(size_t length, bool masked) {
  std::string text = "\x82";
  char mask = static_cast<char>(masked ? 0x80 : 0);
  if (length < 126) {
    text += static_cast<char>(length | static_cast<unsigned char>(mask));
  } else if (length < 65'536) {
    text += static_cast<char>(126 | static_cast<unsigned char>(mask));
    text += static_cast<char>(length >> 8);
    text += static_cast<char>(length);
  } else {
    text += static_cast<char>(127 | static_cast<unsigned char>(mask));
    for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(length >> shift);
  }
  if (masked) text += "mask";
  return text + std::string(length, 'x');
}

TEST(WebsocketFrames, EndWhereTheirLengthsSay) {
  for (bool masked : {false, true}) {
    for (size_t length : {0, 1, 125, 126, 127, 65'535, 65'536, 70'000}) {
      std::string both = frame(length, masked) + frame(3, masked);
      for (size_t piece : {size_t{1}, size_t{5}, both.size()}) {
        WebsocketFrames frames;
        size_t at = 0;
        do {
          at += frames.take(std::string_view(both).substr(at, piece));
        } while (!frames.between_frames());
        EXPECT_EQ(at, frame(length, masked).size()) << length;
      }
    }
  }
}

TEST(WebsocketFrames, AreBetweenTwoAtTheBeginning) { EXPECT_TRUE(WebsocketFrames().between_frames()); }

}  // namespace websocket_frames_test
}  // namespace sluice::router
