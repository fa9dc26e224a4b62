// LogFrames takes the output of a container apart as engines send it: frames of eight bytes (the stream, three of zero,
// the length, highest byte first) and a text, which may come in any pieces.
//
//   LogFrames frames;
//   auto good = frames.take(bytes, [](LogStream stream, std::string_view text) { … });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::container {

enum class LogStream : uint8_t { out = 1, err = 2 };

class LogFrames {
 public:
  using Each = std::function<void(LogStream stream, std::string_view text)>;

  // `invalid` for what is no frame; nothing more can be taken then. A frame is held until it is whole.
  Result<void> take(std::string_view bytes, const Each& each);
  // Whether the output may end here.
  bool is_whole() const { return held_.empty(); }

 private:
  std::string held_;
};

// A line of a log with the time at which the engine heard it, as it is sent when times are asked for: "TIME TEXT".
struct LogLine {
  std::string_view time;  // "2026-11-18T13:26:41.123456789Z"; podman gives whole seconds
  std::string_view text;
};
// Of a text without a time in front of it the time is empty.
LogLine split_time(std::string_view line);

}  // namespace sluice::container
