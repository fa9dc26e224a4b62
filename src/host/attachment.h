// What `sluice exec` says over a connection once it has been switched to kExecProtocol: frames, each a letter, the
// length of what follows in four bytes (the highest first), and that.
//
//   to the server    i   input; an empty one says that there will be no more
//                    s   the size of the terminal: rows and columns in two bytes each
//   to the client    o   output
//                    e   errors
//                    x   the exit code in one byte; nothing follows
//
// Whoever breaks the connection, or says something else, ends the command.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/door.h"
#include "process/attached.h"

namespace sluice::host {

inline constexpr std::string_view kExecProtocol = "sluice-exec/1";

struct Frame {
  char kind = 0;
  std::string bytes;
};

std::string frame_of(char kind, std::string_view bytes);
std::string frame_of(process::TerminalSize size);

// Takes frames out of bytes as they come.
class FrameReader {
 public:
  explicit FrameReader(std::string input = {}) : input_(std::move(input)) {}
  void add(std::string_view bytes) { input_ += bytes; }
  // Nothing: more is needed. An error: no frame of these has so many bytes.
  Result<std::optional<Frame>> next();

 private:
  std::string input_;
};

// The server's side: passes on what is said in both directions until the command has ended, the other side is gone, or
// `stop` can be read. `input` is what has come already.
void serve_command(process::Attached& command, int connection, std::string input, int stop);

// The client's side: between the connection and this process's own ends, until the exit code is there. A terminal at
// both ends is made to pass every key on, and is as it was afterwards.
Result<int> attach(int connection, std::string input, const ExecEnds& ends);

// The size of the terminal that both ends lead to; nothing if one of them does not.
std::optional<process::TerminalSize> terminal_at(const ExecEnds& ends);

}  // namespace sluice::host
