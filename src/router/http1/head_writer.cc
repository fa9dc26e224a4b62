// A run is a stretch of lines that all stay: one copy for each run, and in most requests there are one or two.
#include "router/http1/head_writer.h"

#include <charconv>
#include <cstring>

#include "base/ascii.h"

namespace sluice::router {
namespace {

// Copies to a place that has room.
class Writer {
 public:
  explicit Writer(char* at) : begin_(at), at_(at) {}

  Writer& operator<<(std::string_view text) {
    if (!text.empty()) std::memcpy(at_, text.data(), text.size());  // an empty view may lead nowhere
    at_ += text.size();
    return *this;
  }
  Writer& operator<<(unsigned number) {
    at_ = std::to_chars(at_, at_ + 10, number).ptr;
    return *this;
  }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }

 private:
  char* begin_;
  char* at_;
};

bool is_named_by_connection(const HeaderBlock& headers, std::string_view name) {
  for (uint32_t i = 0; i < headers.count; ++i) {
    if (headers.lines[i].field != Field::connection) continue;
    std::string_view list = headers.lines[i].value, token;
    while (next_element(list, token)) {
      if (token.size() != name.size()) continue;
      bool same = true;
      for (size_t at = 0; at < name.size() && same; ++at) same = ((token[at] ^ name[at]) | 0x20) == 0x20;
      if (same) return true;
    }
  }
  return false;
}

template <class Stays>
void copy_runs(const HeaderBlock& headers, Writer& out, Stays&& stays) {
  const char* begin = nullptr;
  const char* end = nullptr;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const HeaderLine& line = headers.lines[i];
    if (stays(line)) {
      if (begin == nullptr) begin = line.at;
      end = line.end;
    } else if (begin != nullptr) {
      out << std::string_view(begin, static_cast<size_t>(end - begin));
      begin = nullptr;
    }
  }
  if (begin != nullptr) out << std::string_view(begin, static_cast<size_t>(end - begin));
}

bool stays_in_request(const RequestHead& head, const Forwarding& forwarding, const HeaderLine& line) {
  switch (line.field) {
    case Field::tracestate:  // says more of a trace, and nothing of the one that begins here
      if (!forwarding.trace.empty()) return false;
      [[fallthrough]];
    case Field::accept:
    case Field::content_type:
    case Field::strict_transport_security:
      return !head.framing.names_others || !is_named_by_connection(head.headers, line.name);
    case Field::other:
      // CGI and what descends from it cannot tell X_Forwarded_For from X-Forwarded-For.
      if (line.name.find('_') != std::string_view::npos) return false;
      return !head.framing.names_others || !is_named_by_connection(head.headers, line.name);
    case Field::content_length:
    case Field::transfer_encoding:
    case Field::cookie:
      return true;
    case Field::host:
      return !head.absolute;
    case Field::expect:
      return head.minor == 1;
    case Field::traceparent:
      return forwarding.trace.empty();
    case Field::x_forwarded_proto:
    case Field::x_forwarded_host:
    case Field::x_forwarded_port:
    case Field::x_real_ip:
      return forwarding.trusted;
    default:
      return false;
  }
}

// The values of all lines of a field, with a comma behind each.
void write_values(const HeaderBlock& headers, Field field, Writer& out) {
  if (!headers.has(field)) return;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const HeaderLine& line = headers.lines[i];
    if (line.field == field && !line.value.empty()) out << line.value << ", ";
  }
}

// A peer at a Unix socket has no address; the standard has a word for that.
void write_forwarded(const RequestHead& head, const Forwarding& forwarding, Writer& out) {
  out << "Forwarded: ";
  if (forwarding.trusted) write_values(head.headers, Field::forwarded, out);
  if (forwarding.peer.empty()) {
    out << "for=unknown";
  } else if (forwarding.peer.find(':') != std::string_view::npos) {
    out << "for=\"[" << forwarding.peer << "]\"";
  } else {
    out << "for=" << forwarding.peer;
  }
  if (!head.authority.empty()) out << ";host=\"" << head.authority << "\"";
  out << (forwarding.secure ? ";proto=https\r\n" : ";proto=http\r\n");
}

}  // namespace

size_t request_head_room(const RequestHead& head, const Forwarding& forwarding) {
  return head.size + 3 * forwarding.peer.size() + 3 * head.authority.size() + forwarding.client_id.size() + 512;
}

void write_request_head(const RequestHead& head, const Forwarding& forwarding, Buffer& buffer) {
  Writer out(buffer.bytes() + buffer.end);
  std::string_view target = head.target.substr(forwarding.strip);
  // What is left of /api//host/ would be the address of another host to some.
  while (forwarding.strip > 0 && target.starts_with("//")) target.remove_prefix(1);
  const bool needs_slash = head.needs_slash || (forwarding.strip > 0 && !target.starts_with('/'));
  out << head.method << (needs_slash ? " /" : " ") << target << " HTTP/1.1\r\n";
  if (head.absolute || !head.headers.has(Field::host)) out << "Host: " << head.authority << "\r\n";
  copy_runs(head.headers, out, [&](const HeaderLine& line) { return stays_in_request(head, forwarding, line); });
  if (!forwarding.peer.empty() || forwarding.trusted) {
    out << "X-Forwarded-For: ";
    if (forwarding.trusted) write_values(head.headers, Field::x_forwarded_for, out);
    out << (forwarding.peer.empty() ? std::string_view("unknown") : forwarding.peer) << "\r\n";
  }
  bool keeps = forwarding.trusted;
  if (!forwarding.peer.empty() && (!keeps || !head.headers.has(Field::x_real_ip))) {
    out << "X-Real-IP: " << forwarding.peer << "\r\n";
  }
  if (!keeps || !head.headers.has(Field::x_forwarded_proto)) {
    out << (forwarding.secure ? "X-Forwarded-Proto: https\r\n" : "X-Forwarded-Proto: http\r\n");
  }
  if (!keeps || !head.headers.has(Field::x_forwarded_host)) out << "X-Forwarded-Host: " << head.authority << "\r\n";
  if (!keeps || !head.headers.has(Field::x_forwarded_port)) {
    out << "X-Forwarded-Port: " << static_cast<unsigned>(forwarding.port) << "\r\n";
  }
  write_forwarded(head, forwarding, out);
  if (!forwarding.client_id.empty()) out << "X-Sluice-Client-Id: " << forwarding.client_id << "\r\n";
  if (!forwarding.trace.empty()) out << "traceparent: 00-" << forwarding.trace << "-" << forwarding.span << "-01\r\n";
  if (forwarding.upgrade) {
    out << "Connection: upgrade\r\nUpgrade: " << head.headers.value_of(Field::upgrade) << "\r\n";
  }
  out << "\r\n";
  buffer.end += static_cast<uint32_t>(out.size());
}

size_t response_head_room(const ResponseHead& head, const Answering& answering) {
  return head.size + answering.set_cookie.size() + answering.hsts.size() + answering.deployment.size() +
         answering.revision.size() + 192;
}

bool stays_in_answer(const ResponseHead& head, const Answering& answering, const HeaderLine& line) {
  // A length of what cannot have a body would be believed by whoever does not know that (RFC 9110, 8.6).
  const bool has_length = head.status >= 200 && head.status != 204;
  switch (line.field) {
    case Field::connection:
    case Field::hop_by_hop:
      return false;
    case Field::upgrade:
      return answering.upgrade;
    case Field::sluice_deployment:
    case Field::sluice_revision:
      return answering.revision.empty();
    case Field::content_length:
      return has_length;
    case Field::transfer_encoding:
      return has_length && !answering.old_client;
    case Field::other:
    case Field::accept:
    case Field::tracestate:
      return !head.framing.names_others || !is_named_by_connection(head.headers, line.name);
    default:
      return true;
  }
}

size_t write_response_head(const ResponseHead& head, const Answering& answering, char* at) {
  Writer out(at);
  out << "HTTP/1.1 " << static_cast<unsigned>(head.status) << " " << head.reason << "\r\n";
  copy_runs(head.headers, out, [&](const HeaderLine& line) { return stays_in_answer(head, answering, line); });
  out << answering.set_cookie;
  if (!answering.hsts.empty() && !head.headers.has(Field::strict_transport_security)) out << answering.hsts;
  if (!answering.revision.empty()) {
    out << "X-Sluice-Deployment: " << answering.deployment << "\r\nX-Sluice-Revision: " << answering.revision << "\r\n";
  }
  if (answering.upgrade) {
    out << "Connection: upgrade\r\n";
  } else if (!answering.keep_alive) {
    out << "Connection: close\r\n";
  } else if (answering.old_client) {
    out << "Connection: keep-alive\r\n";
  }
  out << "\r\n";
  return out.size();
}

std::string_view trace_of(const RequestHead& head) {
  if (!head.headers.has(Field::traceparent)) return {};
  std::string_view found;
  for (uint32_t i = 0; i < head.headers.count; ++i) {
    if (head.headers.lines[i].field != Field::traceparent) continue;
    if (!found.empty()) return {};
    found = head.headers.lines[i].value;
  }
  // version 2, trace 32, parent 16, flags 2, all in small hex digits; only a later version may be longer.
  constexpr size_t kSize = 55;
  if (found.size() < kSize || found.size() > 512 || found.starts_with("ff")) return {};
  if (found.size() > kSize && (found.starts_with("00") || found[kSize] != '-')) return {};
  for (size_t at = 0; at < kSize; ++at) {
    bool dash = at == 2 || at == 35 || at == 52;
    char c = found[at];
    if (dash ? c != '-' : !is_digit(c) && (c < 'a' || c > 'f')) return {};
  }
  std::string_view trace = found.substr(3, 32), parent = found.substr(36, 16);
  if (trace.find_first_not_of('0') == std::string_view::npos) return {};
  if (parent.find_first_not_of('0') == std::string_view::npos) return {};
  return trace;
}

}  // namespace sluice::router
