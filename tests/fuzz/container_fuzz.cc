// What a container engine streams: frames of logs, in pieces as the first byte says, and the lines of a pull.
// covers: src/container/log_frames.cc src/container/engine.cc
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "container/engine.h"
#include "container/log_frames.h"

namespace {

// However the bytes are cut, the same is heard.
std::string heard(std::string_view bytes, size_t piece) {
  sluice::container::LogFrames frames;
  std::string all;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    auto good = frames.take(bytes.substr(at, piece), [&](sluice::container::LogStream stream, std::string_view text) {
      all += static_cast<char>('0' + static_cast<int>(stream));
      all += sluice::container::split_time(text).text;
    });
    if (!good) return all;
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (heard(bytes, size_t{1} + data[0] % 16) != heard(bytes, size)) std::abort();
  sluice::container::PullStream stream;
  if (stream.take(bytes) && stream.progress().layers_done > stream.progress().layers) std::abort();
  return 0;
}
