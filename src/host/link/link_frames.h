// What goes over the connection between a control plane and a router on another machine, once it is switched to
// `sluice-router`: frames of either end, of which those of one stream are a connection to the router's control socket.
//
//   4 bytes   length of what follows, big-endian
//   1 byte    kind
//   4 bytes   stream, big-endian; 0 for those that are about the connection
//   …         bytes
//
// The control plane opens streams; the first bytes of a number open it. A kind that is not known is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::host {

inline constexpr std::string_view kLinkProtocol = "sluice-router";
inline constexpr std::string_view kLinkVersionsHeader = "Sluice-Router-Link";  // "1-1": the least and the most
inline constexpr int kLeastLinkVersion = 1, kMostLinkVersion = 1;
// Each end says something at least so often, and takes the other one for lost after so long.
inline constexpr int64_t kLinkBeat_ms = 1'500, kLinkSilence_ms = 5'000;

enum class LinkKind : uint8_t {
  hello = 'h',  // of the router, first: JSON
  data = 'd',
  end = 'e',    // of a stream
  files = 'f',  // of the control plane: certificates with their keys, and challenges
  urls = 'u',   // of the control plane: where it can be reached, as JSON
  beat = 'b',
};

struct LinkFrame {
  LinkKind kind = LinkKind::beat;
  uint32_t stream = 0;
  std::string bytes;
};

std::string link_frame(LinkKind kind, uint32_t stream, std::string_view bytes);

// Takes frames out of bytes as they come.
class LinkReader {
 public:
  std::string& input() { return input_; }
  // Nothing: the next one is not complete. `limit`: it is longer than any may be.
  Result<std::optional<LinkFrame>> take();

 private:
  std::string input_;
  size_t used_ = 0;
};

// The version that both ends speak; an error that names the one to upgrade. `theirs` is the other end's header.
Result<int> common_link_version(std::string_view theirs, std::string_view them);

}  // namespace sluice::host
