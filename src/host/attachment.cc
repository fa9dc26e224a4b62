// Both sides hold a bounded amount of what the other has not taken yet, and then stop reading: who does not read makes
// the command wait, as with any pipe.
#include "host/attachment.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace sluice::host {
namespace {

constexpr size_t kHead = 5;
constexpr size_t kLongestFrame = size_t{1} << 16U;
constexpr size_t kMostPending = size_t{1} << 18U;
constexpr int kTerminalLook_ms = 250;  // whether the terminal has another size by now
constexpr int kEnded_ms = 50;          // whether the command has ended without closing its output

const Error kBroken{.code = Code::unavailable,
                    .message = "the connection to the server broke, and with it the command",
                    .next = "sluice status"};

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

enum class Got : uint8_t { some, nothing, end };

Got read_into(int fd, std::string& into) {
  into.resize(kLongestFrame);
  const ssize_t got = ::read(fd, into.data(), into.size());
  into.resize(got > 0 ? static_cast<size_t>(got) : 0);
  if (got > 0) return Got::some;
  return got < 0 && would_wait() ? Got::nothing : Got::end;
}

// Writes what can be written now; false: nobody takes it any more.
bool pass_on(int fd, std::string& pending, bool is_socket) {
  while (!pending.empty()) {
    const ssize_t put = is_socket ? ::send(fd, pending.data(), pending.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
                                  : ::write(fd, pending.data(), pending.size());
    if (put < 0) return would_wait();
    pending.erase(0, static_cast<size_t>(put));
  }
  return true;
}

// Of a descriptor that may wait.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && !would_wait()) return false;
    if (put < 0) {
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

std::string two_bytes(uint16_t number) { return {static_cast<char>(number >> 8U), static_cast<char>(number & 0xFFU)}; }

uint16_t number_at(const std::string& bytes, size_t at) {
  return static_cast<uint16_t>(static_cast<unsigned char>(bytes[at]) << 8U | static_cast<unsigned char>(bytes[at + 1]));
}

// A terminal that passes on every key, as long as this is there.
class RawTerminal {
 public:
  explicit RawTerminal(int fd) : fd_(fd) {
    if (::tcgetattr(fd_, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    changed_ = ::tcsetattr(fd_, TCSADRAIN, &raw) == 0;
  }
  ~RawTerminal() {
    if (changed_) ::tcsetattr(fd_, TCSADRAIN, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  int fd_;
  termios before_{};
  bool changed_ = false;
};

// The server's side of one connection.
class CommandServer {
 public:
  CommandServer(process::Attached& command, int connection, std::string input, int stop)
      : command_(command), connection_(connection), stop_(stop), frames_(std::move(input)) {}

  void run() {
    while (hear() && tell()) {
      if (auto code = command_.ended(); code && !any_output()) {
        to_client_ += frame_of('x', std::string(1, static_cast<char>(*code)));
        while (!to_client_.empty() && wait(POLLOUT, false) && pass_on(connection_, to_client_, true)) {
        }
        return;
      }
      if (!wait(to_client_.empty() ? POLLIN : POLLIN | POLLOUT, true)) return;
      if (!receive()) return;
    }
  }

 private:
  // Whether there was some, which is passed on before the command's end is.
  bool any_output() {
    bool any = false;
    for (auto [fd, kind] : {std::pair(command_.output(), 'o'), std::pair(command_.errors(), 'e')}) {
      if (fd < 0) continue;
      std::string bytes;
      const Got got = read_into(fd, bytes);
      if (got == Got::some) to_client_ += frame_of(kind, bytes);
      if (got == Got::end) command_.close(fd);
      any = any || got == Got::some;
    }
    return any;
  }
  // What the client has said.
  bool hear() {
    while (true) {
      auto frame = frames_.next();
      if (!frame) return false;
      if (!*frame) break;
      const std::string& bytes = (*frame)->bytes;
      if ((*frame)->kind == 'i') {
        to_command_ += bytes;
        input_over_ = input_over_ || bytes.empty();
      } else if ((*frame)->kind == 's' && bytes.size() == 4) {
        command_.resize({.rows = number_at(bytes, 0), .columns = number_at(bytes, 2)});
      } else {
        return false;
      }
    }
    // Whoever closes its input does not want more of it; it may have much to say.
    if (command_.input() < 0 || !pass_on(command_.input(), to_command_, false)) to_command_.clear();
    if (input_over_ && to_command_.empty() && !told_end_) {
      told_end_ = true;
      command_.end_input();
    }
    return true;
  }
  bool tell() {
    if (to_client_.size() < kMostPending) (void)any_output();
    return pass_on(connection_, to_client_, true);
  }
  bool receive() {
    if (to_command_.size() >= kMostPending) return true;
    std::string bytes;
    const Got got = read_into(connection_, bytes);
    frames_.add(bytes);
    return got != Got::end;
  }
  // False: it is to end.
  bool wait(int events, bool for_command) {
    const bool full = to_client_.size() >= kMostPending;
    if (to_command_.size() >= kMostPending) events &= ~POLLIN;
    std::array<pollfd, 5> ready = {{{connection_, static_cast<short>(events), 0},
                                    {stop_, POLLIN, 0},
                                    {for_command && !full ? command_.output() : -1, POLLIN, 0},
                                    {for_command && !full ? command_.errors() : -1, POLLIN, 0},
                                    {for_command && !to_command_.empty() ? command_.input() : -1, POLLOUT, 0}}};
    // A terminal is hung up when its last reader has gone; then only the command's end is left to wait for.
    ::poll(ready.data(), ready.size(), kEnded_ms);
    return ready[1].revents == 0 && (ready[0].revents & (POLLERR | POLLNVAL)) == 0;
  }

  process::Attached& command_;
  int connection_, stop_;
  FrameReader frames_;
  std::string to_client_, to_command_;
  bool input_over_ = false, told_end_ = false;
};

}  // namespace

std::string frame_of(char kind, std::string_view bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  return std::string(1, kind) + two_bytes(static_cast<uint16_t>(size >> 16U)) +
         two_bytes(static_cast<uint16_t>(size & 0xFFFFU)) + std::string(bytes);
}

std::string frame_of(process::TerminalSize size) {
  return frame_of('s', two_bytes(size.rows) + two_bytes(size.columns));
}

Result<std::optional<Frame>> FrameReader::next() {
  if (input_.size() < kHead) return std::optional<Frame>();
  const size_t size = size_t{number_at(input_, 1)} << 16U | number_at(input_, 3);
  if (size > kLongestFrame) return Error{.code = Code::invalid, .message = "a frame has too many bytes"};
  if (input_.size() < kHead + size) return std::optional<Frame>();
  Frame frame{.kind = input_[0], .bytes = input_.substr(kHead, size)};
  input_.erase(0, kHead + size);
  return std::optional(std::move(frame));
}

void serve_command(process::Attached& command, int connection, std::string input, int stop) {
  // A command that closes its input is told more of it all the same, and is no reason for this process to end. The
  // thread is that of the connection, which ends with it.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  CommandServer(command, connection, std::move(input), stop).run();
}

std::optional<process::TerminalSize> terminal_at(const ExecEnds& ends) {
  if (::isatty(ends.in) == 0 || ::isatty(ends.out) == 0) return std::nullopt;
  winsize window{};
  if (::ioctl(ends.out, TIOCGWINSZ, &window) != 0) return std::nullopt;
  return process::TerminalSize{.rows = window.ws_row, .columns = window.ws_col};
}

Result<int> attach(int connection, std::string input, const ExecEnds& ends) {
  FrameReader frames(std::move(input));
  auto size = terminal_at(ends);
  std::optional<RawTerminal> raw;
  if (size) raw.emplace(ends.in);
  std::string to_server, bytes;
  bool input_over = false;
  while (true) {
    while (true) {
      auto frame = frames.next();
      if (!frame) return frame.error();
      if (!*frame) break;
      const auto& [kind, said] = **frame;
      if (kind == 'x' && said.size() == 1) return static_cast<unsigned char>(said[0]);
      if (kind != 'o' && kind != 'e') return kBroken;
      if (!write_all(kind == 'o' ? ends.out : ends.err, said)) {
        return Error{.code = Code::failed, .message = "nobody reads the command's output any more"};
      }
    }
    if (auto now = terminal_at(ends); size && now && *now != *size) {
      size = now;
      to_server += frame_of(*size);
    }
    if (!pass_on(connection, to_server, true)) to_server.clear();  // it may have said how it ended
    std::array<pollfd, 2> ready = {{{connection, static_cast<short>(to_server.empty() ? POLLIN : POLLIN | POLLOUT), 0},
                                    {input_over || to_server.size() >= kMostPending ? -1 : ends.in, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), size ? kTerminalLook_ms : -1);
    if (ready[0].revents != 0) {
      const Got got = read_into(connection, bytes);
      frames.add(bytes);
      if (got == Got::end) return kBroken;
    }
    if (ready[1].revents != 0) {
      const Got got = read_into(ends.in, bytes);
      if (got != Got::nothing) to_server += frame_of('i', bytes);
      input_over = got == Got::end;
    }
  }
}

}  // namespace sluice::host
