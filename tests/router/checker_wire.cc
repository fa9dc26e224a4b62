// What the load checker and its upstream share.
#include "checker_wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sluice::checker {
namespace {

// Eight bytes of the body `seed`.
uint64_t word_of(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0x9E3779B97F4A7C15 + index * 0xD1B54A32D192ED03 + 0x2545F4914F6CDD1D;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Address address_of(const std::string& endpoint) {
  Address address;
  if (endpoint.starts_with("unix:")) {
    auto& local = reinterpret_cast<sockaddr_un&>(address.storage);
    local.sun_family = AF_UNIX;
    std::string path = endpoint.substr(5);
    if (path.size() >= sizeof local.sun_path) give_up("the socket's path is too long: " + path);
    std::memcpy(local.sun_path, path.c_str(), path.size() + 1);
    address.size = sizeof local;
    return address;
  }
  auto& remote = reinterpret_cast<sockaddr_in&>(address.storage);
  remote.sin_family = AF_INET;
  size_t colon = endpoint.rfind(':');
  if (colon == std::string::npos) give_up("no endpoint: " + endpoint);
  remote.sin_port = htons(static_cast<uint16_t>(std::atoi(endpoint.c_str() + colon + 1)));
  if (::inet_pton(AF_INET, endpoint.substr(0, colon).c_str(), &remote.sin_addr) != 1)
    give_up("no address: " + endpoint);
  address.size = sizeof remote;
  return address;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

void give_up(const std::string& why) {
  std::fprintf(stderr, "router_checker: %s\n", why.c_str());
  std::exit(2);
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void append_bytes(std::string& to, uint64_t seed, uint64_t offset, size_t size) {
  size_t at = to.size();
  to.resize(at + size);
  for (size_t i = 0; i < size;) {
    uint64_t place = offset + i;
    uint64_t word = word_of(seed, place / 8);
    size_t skip = place % 8;
    size_t count = std::min(size - i, 8 - skip);
    word >>= 8 * skip;
    std::memcpy(to.data() + at + i, &word, count);
    i += count;
  }
}

bool bytes_are(std::string_view piece, uint64_t seed, uint64_t offset) {
  for (size_t i = 0; i < piece.size();) {
    uint64_t place = offset + i;
    uint64_t word = word_of(seed, place / 8);
    size_t skip = place % 8;
    size_t count = std::min(piece.size() - i, 8 - skip);
    word >>= 8 * skip;
    if (std::memcmp(piece.data() + i, &word, count) != 0) return false;
    i += count;
  }
  return true;
}

void BodyReader::begin_length(uint64_t length, uint64_t seed) {
  *this = {};
  seed_ = seed;
  left_ = length;
  state_ = length == 0 ? State::kDone : State::kLength;
}

void BodyReader::begin_chunked(uint64_t seed) {
  *this = {};
  seed_ = seed;
  state_ = State::kSize;
}

void BodyReader::take_piece(std::string_view piece) {
  if (!bytes_are(piece, seed_, offset_)) broken_ = "wrong_bytes";
  offset_ += piece.size();
  left_ -= piece.size();
}

size_t BodyReader::take_line(std::string_view stream) {
  size_t end = stream.find('\n');
  size_t taken = end == std::string_view::npos ? stream.size() : end + 1;
  line_ += stream.substr(0, taken);
  if (line_.size() > 65536) broken_ = "bad_chunk";
  if (end != std::string_view::npos) end_line();
  return taken;
}

void BodyReader::end_line() {
  std::string line;
  line.swap(line_);
  if (!line.ends_with("\r\n")) {
    broken_ = "bad_chunk";
    return;
  }
  line.resize(line.size() - 2);
  if (state_ == State::kSize) {
    char* end = nullptr;
    left_ = std::strtoull(line.c_str(), &end, 16);
    if (end == line.c_str() || (*end != '\0' && *end != ';')) broken_ = "bad_chunk";
    state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  } else if (state_ == State::kChunkEnd) {
    if (!line.empty()) broken_ = "bad_chunk";
    state_ = State::kSize;
  } else if (line.empty()) {
    state_ = State::kDone;
  }
}

size_t BodyReader::take(std::string_view stream) {
  size_t taken = 0;
  while (taken < stream.size() && broken_ == nullptr && state_ != State::kDone) {
    std::string_view rest = stream.substr(taken);
    if (state_ == State::kLength || state_ == State::kChunk) {
      size_t count = static_cast<size_t>(std::min<uint64_t>(left_, rest.size()));
      take_piece(rest.substr(0, count));
      taken += count;
      if (left_ == 0) state_ = state_ == State::kLength ? State::kDone : State::kChunkEnd;
    } else {
      taken += take_line(rest);
    }
  }
  return taken;
}

std::string_view Head::first_line() const { return std::string_view(text).substr(0, text.find("\r\n")); }

std::optional<std::string_view> Head::field(std::string_view name) const {
  std::string_view rest = text;
  for (size_t end = rest.find("\r\n"); end != std::string_view::npos; end = rest.find("\r\n")) {
    rest.remove_prefix(end + 2);
    size_t colon = rest.find(':');
    if (colon == std::string_view::npos || rest.starts_with("\r\n")) break;
    if (same(rest.substr(0, colon), name)) return trimmed(rest.substr(colon + 1, rest.find("\r\n") - colon - 1));
  }
  return std::nullopt;
}

bool Head::has_word(std::string_view name, std::string_view word) const {
  std::string_view rest = field(name).value_or("");
  while (!rest.empty()) {
    size_t comma = std::min(rest.find(','), rest.size());
    if (same(trimmed(rest.substr(0, comma)), word)) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

std::optional<Head> take_head(std::string& stream) {
  size_t end = stream.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  Head head{stream.substr(0, end + 4)};
  stream.erase(0, end + 4);
  return head;
}

void append_frame(std::string& to, int opcode, std::string_view payload, bool masked) {
  constexpr std::string_view kMask = "\x11\x22\x33\x44";
  to += static_cast<char>(0x80 | opcode);
  int mask_bit = masked ? 0x80 : 0;
  if (payload.size() < 126) {
    to += static_cast<char>(mask_bit | static_cast<int>(payload.size()));
  } else {
    if (payload.size() > 0xFFFF) give_up("a frame of more than 64 kB");
    to += static_cast<char>(mask_bit | 126);
    to += static_cast<char>(payload.size() >> 8);
    to += static_cast<char>(payload.size() & 0xFF);
  }
  if (!masked) {
    to += payload;
    return;
  }
  to += kMask;
  for (size_t i = 0; i < payload.size(); ++i) to += static_cast<char>(payload[i] ^ kMask[i % 4]);
}

std::optional<Frame> take_frame(std::string& stream) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(stream[i]); };
  if (stream.size() < 2) return std::nullopt;
  size_t size = byte(1) & 0x7F, at = 2;
  bool masked = (byte(1) & 0x80) != 0;
  if (size == 127) give_up("a frame of more than 64 kB");
  if (size == 126) {
    if (stream.size() < 4) return std::nullopt;
    size = static_cast<size_t>(byte(2) << 8 | byte(3));
    at = 4;
  }
  size_t mask_at = at;
  if (masked) at += 4;
  if (stream.size() < at + size) return std::nullopt;
  Frame frame{.opcode = byte(0) & 0x0F, .payload = stream.substr(at, size)};
  if (masked) {
    for (size_t i = 0; i < size; ++i) frame.payload[i] = static_cast<char>(frame.payload[i] ^ stream[mask_at + i % 4]);
  }
  stream.erase(0, at + size);
  return frame;
}

int listen_at(const std::string& endpoint, std::string& bound) {
  Address address = address_of(endpoint);
  int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address.storage), address.size) != 0 ||
      ::listen(fd, 4096) != 0) {
    give_up("cannot listen at " + endpoint + ": " + std::strerror(errno));
  }
  bound = endpoint;
  if (!endpoint.starts_with("unix:")) {
    auto& own = reinterpret_cast<sockaddr_in&>(address.storage);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &address.size);
    bound = endpoint.substr(0, endpoint.rfind(':') + 1) + std::to_string(ntohs(own.sin_port));
  }
  return fd;
}

int connect_to(const std::string& endpoint) {
  Address address = address_of(endpoint);
  int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) give_up(std::string("cannot make a socket: ") + std::strerror(errno));
  if (address.storage.ss_family == AF_INET) {
    int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address.storage), address.size) != 0 && errno != EINPROGRESS) {
    int why = errno;
    ::close(fd);
    errno = why;
    return -1;
  }
  return fd;
}

}  // namespace sluice::checker
