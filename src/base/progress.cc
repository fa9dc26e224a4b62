// "waiting for replicas 3/10 (12s)", redrawn in place.
#include "base/progress.h"

#include <ostream>

#include "base/duration.h"

namespace sluice {
namespace {

constexpr int64_t kPatienceMs = 1000;
constexpr int64_t kRedrawMs = 100;

}  // namespace

Progress::Progress(std::ostream& err, const Terminal& terminal, const Clock& clock, std::string what,
                   int64_t plain_every_ms)
    : err_(err),
      terminal_(terminal),
      clock_(clock),
      what_(std::move(what)),
      plain_every_ms_(plain_every_ms),
      begun_ms_(now_ms()),
      drawn_ms_(begun_ms_) {}

Progress::~Progress() { erase(); }

void Progress::tick() {
  int64_t now = now_ms();
  int64_t elapsed = now - begun_ms_;
  if (elapsed < kPatienceMs) return;
  if (terminal_.tty) {
    if (shown_ && now - drawn_ms_ < kRedrawMs) return;
    // One cell stays free: a full line would wrap on some terminals and could not be erased.
    std::string text = truncate_to_width(line(elapsed), terminal_.width - 1);
    err_ << "\r\x1b[K" << terminal_.paint(Style::faint, text) << std::flush;
    shown_ = true;
  } else {
    if (plain_every_ms_ <= 0 || now - drawn_ms_ < plain_every_ms_) return;
    err_ << line(elapsed) << '\n' << std::flush;
  }
  drawn_ms_ = now;
}

void Progress::update(uint64_t done, std::optional<uint64_t> total) {
  done_ = done;
  total_ = total;
  tick();
}

void Progress::now_doing(std::string what) {
  what_ = std::move(what);
  done_.reset();
  total_.reset();
  tick();
}

void Progress::erase() {
  if (!shown_) return;
  err_ << "\r\x1b[K" << std::flush;
  shown_ = false;
}

int64_t Progress::now_ms() const { return clock_.monotonic_ns() / 1'000'000; }

std::string Progress::line(int64_t elapsed_ms) const {
  std::string text = printable(what_);
  if (done_) text += ' ' + std::to_string(*done_);
  if (done_ && total_) text += '/' + std::to_string(*total_);
  return text + " (" + print_duration(std::chrono::milliseconds(elapsed_ms / 1000 * 1000)) + ")";
}

}  // namespace sluice
