// So much at once that a reader is kept busy, and so little that others have their turn.
#include "api/log_feed.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"

namespace sluice::api {
namespace {

constexpr size_t kBytesAtOnce = size_t{64} << 10U;
constexpr size_t kLinesAtOnce = 4'096;  // those that a search leaves out take time, too

}  // namespace

bool LogFeed::next(std::string& out) {
  if (left_()) return false;
  const size_t enough = out.size() + kBytesAtOnce;
  for (size_t lines = 0; lines < kLinesAtOnce && out.size() < enough; ++lines) {
    auto line = reading_->next();
    if (!line) return false;
    if (!*line) return !reading_->is_over();
    if (search_.empty() || (*line)->text.find(search_) != std::string::npos) out += write(to_json(**line)) + "\n";
  }
  wake_();
  return true;
}

}  // namespace sluice::api
