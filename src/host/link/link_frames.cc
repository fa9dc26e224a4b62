// Frames are small pieces: a large table goes as many of them, so that nothing waits long for its turn.
#include "host/link/link_frames.h"

#include <charconv>

namespace sluice::host {
namespace {

constexpr size_t kFrameHead = 9;  // length, kind and stream
constexpr size_t kMostFrameBytes = size_t{32} << 20U;
constexpr size_t kUsedAtMost = size_t{64} << 10U;  // before the rest is moved to the front

void append_number(std::string& out, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xffU);
}

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8U | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

std::optional<int> version_in(std::string_view text) {
  int number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

}  // namespace

std::string link_frame(LinkKind kind, uint32_t stream, std::string_view bytes) {
  std::string frame;
  frame.reserve(kFrameHead + bytes.size());
  append_number(frame, static_cast<uint32_t>(bytes.size() + 5));
  frame += static_cast<char>(kind);
  append_number(frame, stream);
  return frame.append(bytes);
}

Result<std::optional<LinkFrame>> LinkReader::take() {
  const size_t have = input_.size() - used_;
  if (have == 0) {
    input_.clear();
    if (input_.capacity() > kUsedAtMost) input_.shrink_to_fit();
    used_ = 0;
    return std::optional<LinkFrame>();
  }
  if (have < 4) return std::optional<LinkFrame>();
  const size_t length = number_at(input_, used_);
  if (length < 5 || length > kMostFrameBytes) {
    return Error{.code = Code::limit,
                 .message = "a frame of the link says that it has " + std::to_string(length) +
                            " bytes; the connection is closed"};
  }
  if (have < 4 + length) {
    if (used_ > kUsedAtMost) {
      input_.erase(0, used_);
      used_ = 0;
    }
    return std::optional<LinkFrame>();
  }
  LinkFrame frame{.kind = static_cast<LinkKind>(input_[used_ + 4]),
                  .stream = number_at(input_, used_ + 5),
                  .bytes = input_.substr(used_ + kFrameHead, length - 5)};
  used_ += 4 + length;
  return std::optional(std::move(frame));
}

Result<int> common_link_version(std::string_view theirs, std::string_view them) {
  const size_t dash = theirs.find('-');
  const auto least = version_in(theirs.substr(0, dash));
  const auto most = dash == std::string_view::npos ? least : version_in(theirs.substr(dash + 1));
  if (!least || !most || *least > *most) {
    return Error{.code = Code::invalid,
                 .message = std::string(them) + " does not say which versions of the link it speaks"};
  }
  const int common = std::min(*most, kMostLinkVersion);
  if (common >= std::max(*least, kLeastLinkVersion)) return common;
  const bool newer = *least > kMostLinkVersion;
  return Error{
      .code = Code::conflict,
      .message = std::string(them) + " speaks version " + std::string(theirs) + " of the link, which is " +
                 (newer ? "newer" : "older") + " than this end's, " + std::to_string(kLeastLinkVersion) + "-" +
                 std::to_string(kMostLinkVersion),
      .next = newer ? "upgrade this end first: the control plane before its routers" : "upgrade " + std::string(them)};
}

}  // namespace sluice::host
