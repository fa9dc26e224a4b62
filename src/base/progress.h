// A progress line on stderr for work that takes longer than a second.
//
//   Progress progress(std::cerr, terminal, clock, "waiting for replicas");
//   while (…) progress.update(ready, wanted);        // as often as is convenient
//
// On a terminal the line appears after one second, is redrawn at most ten times a second, and erases itself when the
// work is done. Elsewhere nothing is printed, unless plain lines are asked for: then one every so often, for logs.
// Used from one thread.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/terminal.h"

namespace sluice {

class Progress {
 public:
  // With plain_every_ms above 0, a stream that is not a terminal gets a line each time so much has passed.
  Progress(std::ostream& err, const Terminal& terminal, const Clock& clock, std::string what,
           int64_t plain_every_ms = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void tick();  // time has passed, nothing else
  void update(uint64_t done, std::optional<uint64_t> total = std::nullopt);
  void now_doing(std::string what);  // the work goes on with something else

  // Takes the line away, for instance before a note; the next tick draws it again.
  void erase();

 private:
  int64_t now_ms() const;
  std::string line(int64_t elapsed_ms) const;

  std::ostream& err_;
  Terminal terminal_;
  const Clock& clock_;
  std::string what_;
  int64_t plain_every_ms_;
  int64_t begun_ms_;
  int64_t drawn_ms_;  // when a line was last printed
  std::optional<uint64_t> done_;
  std::optional<uint64_t> total_;
  bool shown_ = false;
};

}  // namespace sluice
