// One page, in two shapes.
#include "router/http1/own_answers.h"

namespace sluice::router {

std::string_view status_text(uint16_t status) {
  switch (status) {
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 408:
      return "Request Timeout";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Error";
  }
}

void write_own_answer(const OwnAnswer& answer, std::string& out) {
  std::string status = std::to_string(answer.status) + " " + std::string(status_text(answer.status));
  std::string page, type, reason;
  if (!answer.reason.empty()) reason = ": " + std::string(answer.reason);
  if (answer.paused != nullptr && !answer.paused->paused_page.empty()) {
    page = answer.paused->paused_page;
    type = answer.paused->paused_type;
  } else if (answer.html) {
    type = "text/html; charset=utf-8";
    page = "<!doctype html><title>" + status + "</title><h1>" + status + "</h1><p>Request " +
           std::string(answer.trace) + reason + "</p>\n";
  } else {
    type = "text/plain; charset=utf-8";
    page = status + ", request " + std::string(answer.trace) + reason + "\n";
  }
  out += "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(page.size()) +
         "\r\nCache-Control: no-store\r\n";
  if (answer.paused != nullptr) out += "Retry-After: " + std::to_string(answer.paused->retry_after_s) + "\r\n";
  if (!answer.revision.empty()) {
    out += "X-Sluice-Deployment: " + std::string(answer.deployment) +
           "\r\nX-Sluice-Revision: " + std::string(answer.revision) + "\r\n";
  }
  if (!answer.location.empty()) out += "Location: " + std::string(answer.location) + "\r\n";
  out += answer.hsts;
  if (!answer.keep_alive) {
    out += "Connection: close\r\n";
  } else if (answer.old_client) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  if (!answer.is_head) out += page;
}

}  // namespace sluice::router
