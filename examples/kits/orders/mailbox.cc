// A note is there whole or not at all, and durable when put() returns.
#include "mailbox.h"

#include "base/atomic_file.h"

namespace sluice::orders {

Result<void> Mailbox::put(std::string_view id, std::string_view note) {
  if (folder_.empty()) {
    return Error{.code = Code::unavailable, .message = "there is no mailbox: ORDERS_MAILBOX names no folder"};
  }
  auto there = disk_.exists(folder_);
  if (!there) return there.error();
  if (!*there) return Error{.code = Code::unavailable, .message = "there is no mailbox " + folder_};
  return write_atomically(disk_, folder_ + "/" + std::string(id) + ".txt", note, 0644);
}

}  // namespace sluice::orders
