// Targets, percent signs and heads.
#include "http/message.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sluice::http {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error bad_target(const std::string& why) { return {.code = Code::invalid, .message = "the target " + why}; }

Result<void> read_query(std::string_view text, Query& query) {
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    size_t equals = one.find('=');
    auto name = percent_decoded(one.substr(0, equals));
    if (!name) return name.error();
    auto value = percent_decoded(equals == std::string_view::npos ? "" : one.substr(equals + 1));
    if (!value) return value.error();
    if (name->empty()) return bad_target("has a parameter without a name");
    if (std::ranges::find(query, *name, &Query::value_type::first) != query.end()) {
      return bad_target("has the parameter " + *name + " twice");
    }
    query.emplace_back(*std::move(name), *std::move(value));
  }
  return {};
}

}  // namespace

const std::string* find_header(const std::vector<Header>& headers, std::string_view name) {
  auto found = std::ranges::find_if(headers, [&](const Header& each) { return same_name(each.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

const std::string* Request::parameter(std::string_view name) const {
  auto found = std::ranges::find(query, name, &Query::value_type::first);
  return found == query.end() ? nullptr : &found->second;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (unsigned char c : text) {
    if (std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
      out += static_cast<char>(c);
    } else {
      out += '%';
      out += kDigits[c >> 4U];
      out += kDigits[c & 15U];
    }
  }
  return out;
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) return bad_target("has a percent sign without two hexadecimal digits");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string target_of(const std::vector<std::string>& path, const Query& query) {
  std::string target;
  for (const std::string& segment : path) target += "/" + percent_encoded(segment);
  char before = '?';
  for (const auto& [name, value] : query) {
    target += before + percent_encoded(name) + "=" + percent_encoded(value);
    before = '&';
  }
  return target;
}

Result<void> take_target_apart(Request& request) {
  std::string_view target = request.target;
  if (!target.starts_with('/')) return bad_target("must be a path that begins with a slash");
  if (target.find('#') != std::string_view::npos) return bad_target("has a fragment, which is not sent");
  size_t mark = target.find('?');
  std::string_view path = target.substr(0, mark);
  request.path.clear();
  request.query.clear();
  if (path != "/") {
    for (size_t at = 0; at != std::string_view::npos;) {
      size_t end = path.find('/', at + 1);
      auto segment = percent_decoded(path.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
      if (!segment) return segment.error();
      const bool last = end == std::string_view::npos && at > 0;
      if ((segment->empty() && !last) || *segment == "." || *segment == "..") {
        return bad_target("has a segment that is empty, . or ..");
      }
      request.path.push_back(*std::move(segment));
      at = end;
    }
  }
  return mark == std::string_view::npos ? Result<void>() : read_query(target.substr(mark + 1), request.query);
}

std::string_view reason_phrase(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 26> kPhrases = {{{200, "OK"},
                                                                          {201, "Created"},
                                                                          {202, "Accepted"},
                                                                          {204, "No Content"},
                                                                          {302, "Found"},
                                                                          {303, "See Other"},
                                                                          {304, "Not Modified"},
                                                                          {400, "Bad Request"},
                                                                          {401, "Unauthorized"},
                                                                          {403, "Forbidden"},
                                                                          {404, "Not Found"},
                                                                          {405, "Method Not Allowed"},
                                                                          {406, "Not Acceptable"},
                                                                          {408, "Request Timeout"},
                                                                          {409, "Conflict"},
                                                                          {412, "Precondition Failed"},
                                                                          {413, "Content Too Large"},
                                                                          {415, "Unsupported Media Type"},
                                                                          {422, "Unprocessable Content"},
                                                                          {428, "Precondition Required"},
                                                                          {429, "Too Many Requests"},
                                                                          {431, "Request Header Fields Too Large"},
                                                                          {500, "Internal Server Error"},
                                                                          {503, "Service Unavailable"},
                                                                          {504, "Gateway Timeout"},
                                                                          {505, "HTTP Version Not Supported"}}};
  auto found = std::ranges::find(kPhrases, status, &std::pair<int, std::string_view>::first);
  return found == kPhrases.end() ? "Other" : found->second;
}

namespace {

void append_headers(std::string& head, const std::vector<Header>& headers) {
  for (const Header& each : headers) head += each.name + ": " + each.value + "\r\n";
}

}  // namespace

std::string head_of(const Response& response) {
  if (response.channel || response.give_away) {
    return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + response.protocol + "\r\n\r\n";
  }
  std::string head =
      "HTTP/1.1 " + std::to_string(response.status) + " " + std::string(reason_phrase(response.status)) + "\r\n";
  if (response.status != 204) head += "Content-Type: " + response.content_type + "\r\n";
  append_headers(head, response.headers);
  if (response.close) head += "Connection: close\r\n";
  if (response.stream || response.feed) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (response.status != 204) {
    head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  }
  return head + "\r\n";
}

std::string head_of(const Request& request) { return head_of(request, request.body.size()); }

std::string head_of(const Request& request, uint64_t body_bytes) {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\n";
  append_headers(head, request.headers);
  if (!request.keep_alive) head += "Connection: close\r\n";
  if (body_bytes > 0 || request.method != "GET") {
    head += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
  }
  return head + "\r\n";
}

}  // namespace sluice::http
