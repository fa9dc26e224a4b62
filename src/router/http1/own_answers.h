// What the router itself answers: pages that tell a stranger the status and a number to ask for, and nothing else. The
// operator finds the reason under that number in the access log. Only who has sent a debug token is told what is wrong
// with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "router/table/table.h"

namespace sluice::router {

std::string_view status_text(uint16_t status);

struct OwnAnswer {
  uint16_t status = 500;
  std::string_view trace;
  std::string_view reason;  // for a caller who may know
  bool html = false;
  bool is_head = false;
  bool old_client = false;
  bool keep_alive = false;
  std::string_view deployment;  // and revision: that answered a trusted caller
  std::string_view revision;
  std::string_view hsts;               // a line, or nothing
  std::string_view location;           // where to ask instead
  const Deployment* paused = nullptr;  // with its own page, and when to come again
};

// Appends the whole message.
void write_own_answer(const OwnAnswer& answer, std::string& out);

}  // namespace sluice::router
