// What the load checker and its upstream share: bodies that both can compute from a seed, so that each end verifies
// every byte of what it receives; sockets; and as much of HTTP/1.1 and of WebSocket as two honest ends need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::checker {

// The bytes of the body `seed`, from `offset` on. A body is known at any offset, so pieces of it are verified as they
// come.
void append_bytes(std::string& to, uint64_t seed, uint64_t offset, size_t size);
[[nodiscard]] bool bytes_are(std::string_view piece, uint64_t seed, uint64_t offset);

// Takes a body out of a stream: by length, by chunks, or none.
class BodyReader {
 public:
  void begin_length(uint64_t length, uint64_t seed);
  void begin_chunked(uint64_t seed);

  // Takes what it can from the front of `stream` and says how many bytes that were. Done and broken end the body.
  size_t take(std::string_view stream);
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  // Framing that is no framing, or a byte that is not the body's.
  [[nodiscard]] const char* broken() const { return broken_; }
  [[nodiscard]] uint64_t length() const { return offset_; }

 private:
  enum class State { kDone, kLength, kSize, kChunk, kChunkEnd, kTrailer };
  size_t take_line(std::string_view stream);
  void end_line();
  void take_piece(std::string_view piece);

  State state_ = State::kDone;
  const char* broken_ = nullptr;
  uint64_t seed_ = 0;
  uint64_t offset_ = 0;
  uint64_t left_ = 0;
  std::string line_;
};

// A message's head. Names are compared without case; `field` answers the first.
struct Head {
  std::string text;
  [[nodiscard]] std::string_view first_line() const;
  [[nodiscard]] std::optional<std::string_view> field(std::string_view name) const;
  [[nodiscard]] bool has_word(std::string_view name, std::string_view word) const;
};
// The head at the front of a stream, once it is whole; it is taken away.
std::optional<Head> take_head(std::string& stream);

// One frame of a WebSocket; `masked` frames go from client to server.
struct Frame {
  int opcode = 0;
  std::string payload;
};
void append_frame(std::string& to, int opcode, std::string_view payload, bool masked);
std::optional<Frame> take_frame(std::string& stream);
constexpr int kBinaryFrame = 2, kCloseFrame = 8, kPingFrame = 9, kPongFrame = 10;

// Sockets: "unix:PATH" or "HOST:PORT", where the host is an IPv4 address. Ends the program if a listener cannot be
// made.
int listen_at(const std::string& endpoint, std::string& bound);
// A connection that is being made, or -1 and errno.
int connect_to(const std::string& endpoint);

[[noreturn]] void give_up(const std::string& why);
double now_s();

}  // namespace sluice::checker
