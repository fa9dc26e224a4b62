// A command that somebody elsewhere types to: its input and output are descriptors of this process, three pipes or a
// terminal of its own. It leads a session, so that closing its terminal, or ending this object, ends all of it.
//
//   auto command = Attached::start(words, TerminalSize{.rows = 24, .columns = 80});   // without a size: pipes
//   … poll command->output() …
//   if (auto code = command->ended()) …
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/system.h"

namespace sluice::process {

struct TerminalSize {
  uint16_t rows = 0;
  uint16_t columns = 0;

  bool operator==(const TerminalSize&) const = default;
};

class Attached {
 public:
  // `words` begins with the file of the program. It gets no environment variables and no other descriptors.
  static Result<Attached> start(const std::vector<std::string>& words, std::optional<TerminalSize> terminal);
  ~Attached();
  Attached(Attached&& other) noexcept;
  Attached& operator=(Attached&&) = delete;

  // None of them waits. Of a terminal, input and output are one, and there are no errors apart (-1).
  int input() const { return terminal_ ? output_.fd() : input_.fd(); }
  int output() const { return output_.fd(); }
  int errors() const { return errors_.fd(); }
  // There will be no more input: a terminal is told so as a person would, with Ctrl-D.
  void end_input();
  // Nothing more comes out of one of them.
  void close(int fd);
  void resize(TerminalSize size) const;

  // Once the command itself has ended: its exit code as shells say it, 128 and the signal if one ended it.
  std::optional<int> ended();

 private:
  Attached() = default;

  pid_t pid_ = -1;  // -1: waited for
  std::optional<int> code_;
  bool terminal_ = false;
  Descriptor input_, output_, errors_;
};

}  // namespace sluice::process
