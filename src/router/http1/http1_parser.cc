// One pass over the bytes. Header values, the bulk of a head, are scanned sixteen bytes at a time.
#include "router/http1/http1_parser.h"

#include <algorithm>

#include "base/ascii.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sluice::router {
namespace {

constexpr size_t kMaxEmptyLines = 4;

// The first byte that may not stand in a field value: a control character other than the tab, or DEL.
const char* end_of_value(const char* at, const char* end) {
#ifdef __SSE2__
  const __m128i kSpace = _mm_set1_epi8(0x20), kTab = _mm_set1_epi8('\t'), kDel = _mm_set1_epi8(0x7f);
  const __m128i kSign = _mm_set1_epi8(static_cast<char>(0x80));
  while (end - at >= 16) {
    __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Signed comparison of values moved by 128 is the unsigned one.
    __m128i control = _mm_cmplt_epi8(_mm_xor_si128(bytes, kSign), _mm_xor_si128(kSpace, kSign));
    control = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, kTab), control);
    int found = _mm_movemask_epi8(_mm_or_si128(control, _mm_cmpeq_epi8(bytes, kDel)));
    if (found != 0) return at + __builtin_ctz(static_cast<unsigned>(found));
    at += 16;
  }
#endif
  while (at < end) {
    auto c = static_cast<uint8_t>(*at);
    if ((c < 0x20 && c != '\t') || c == 0x7f) break;
    ++at;
  }
  return at;
}

Parsed bad(const char*& fault, const char* why) {
  fault = why;
  return Parsed::bad;
}

bool read_length(std::string_view text, uint64_t& length) {
  if (text.empty() || text.size() > 18) return false;
  length = 0;
  for (char c : text) {
    if (!is_digit(c)) return false;
    length = length * 10 + static_cast<uint64_t>(c - '0');
  }
  return true;
}

// Notes what a line means for the framing; why it is bad, or nothing.
const char* note_line(const HeaderLine& line, HeaderBlock& headers, Framing& framing) {
  uint32_t bit = uint32_t{1} << static_cast<uint32_t>(line.field);
  bool repeated = (headers.present & bit) != 0;
  headers.present |= bit;
  switch (line.field) {
    case Field::host:
      return repeated ? "several Host lines" : nullptr;
    case Field::content_length:
      if (repeated) return "several Content-Length lines";
      framing.has_length = true;
      return read_length(line.value, framing.length) ? nullptr : "a Content-Length that is no length";
    case Field::transfer_encoding:
      if (repeated) return "several Transfer-Encoding lines";
      framing.chunked = true;
      return equal_ignoring_case(line.value, "chunked") ? nullptr : "a Transfer-Encoding other than chunked";
    case Field::expect:
      return repeated ? "several Expect lines" : nullptr;
    case Field::connection: {
      std::string_view list = line.value, token;
      while (next_element(list, token)) {
        if (!is_token(token)) return "a Connection that names no fields";
        if (equal_ignoring_case(token, "close")) {
          framing.close = true;
        } else if (equal_ignoring_case(token, "keep-alive")) {
          framing.keep_alive = true;
        } else if (equal_ignoring_case(token, "upgrade")) {
          framing.upgrade = true;
        } else {
          framing.names_others = true;
        }
      }
      return nullptr;
    }
    default:
      return nullptr;
  }
}

// The lines from `at` to the empty one. `at` is behind that when it is complete.
Parsed parse_lines(const char*& at, const char* end, HeaderBlock& headers, Framing& framing, const char*& fault) {
  headers.count = 0;
  headers.present = 0;
  while (true) {
    if (at == end) return Parsed::incomplete;
    if (*at == '\r') {
      if (end - at < 2) return Parsed::incomplete;
      if (at[1] != '\n') return bad(fault, "a bare CR");
      at += 2;
      break;
    }
    if (headers.count == kMaxHeaderLines) return bad(fault, "too many header lines");
    HeaderLine& line = headers.lines[headers.count];
    line.at = at;
    const char* name = at;
    while (at < end && is_token_char(*at)) ++at;
    if (at == end) return Parsed::incomplete;
    if (*at != ':')
      return bad(fault, at == name && *at != '\n' ? "a folded line" : "a header line without a name and a colon");
    if (at == name) return bad(fault, "a header line without a name");
    line.name = {name, static_cast<size_t>(at - name)};
    ++at;
    while (at < end && (*at == ' ' || *at == '\t')) ++at;
    const char* value = at;
    at = end_of_value(at, end);
    if (end - at < 2) {
      if (at < end && *at != '\r') return bad(fault, "a control character in a header");
      return Parsed::incomplete;
    }
    if (*at != '\r') return bad(fault, *at == '\n' ? "a bare LF" : "a control character in a header");
    if (at[1] != '\n') return bad(fault, "a bare CR");
    const char* last = at;
    while (last > value && (last[-1] == ' ' || last[-1] == '\t')) --last;
    line.value = {value, static_cast<size_t>(last - value)};
    at += 2;
    line.end = at;
    line.field = field_named(line.name);
    if (line.field != Field::other) {
      if (const char* why = note_line(line, headers, framing)) return bad(fault, why);
    }
    ++headers.count;
  }
  if (framing.chunked && framing.has_length) return bad(fault, "Content-Length beside Transfer-Encoding");
  framing.upgrade = framing.upgrade && headers.has(Field::upgrade);
  return Parsed::complete;
}

bool is_hex_digit(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

// What a segment's dots and encoded dots come to: 0 if there is anything else in it.
size_t dots_in(std::string_view segment) {
  size_t dots = 0;
  while (!segment.empty()) {
    bool encoded = segment.size() >= 3 && segment[0] == '%' && segment[1] == '2' && (segment[2] | 0x20) == 'e';
    if (!encoded && segment[0] != '.') return 0;
    segment.remove_prefix(encoded ? 3 : 1);
    ++dots;
  }
  return dots;
}

// Why a path can be read in two ways, or nothing: by who decodes broken encodings or a NUL in his own way, or by who
// resolves dots, as routes do not.
const char* fault_of_path(std::string_view path) {
  for (size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    if (at + 2 >= path.size() || !is_hex_digit(path[at + 1]) || !is_hex_digit(path[at + 2])) {
      return "a broken percent-encoding";
    }
    if (path[at + 1] == '0' && path[at + 2] == '0') return "an encoded NUL in the path";
  }
  for (size_t at = path.find('/'); at != std::string_view::npos;) {
    size_t next = path.find('/', at + 1);
    char first = at + 1 < path.size() ? path[at + 1] : '/';
    if (first == '.' || first == '%') {
      size_t dots = dots_in(path.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
      if (dots == 1 || dots == 2) return "dots for a segment of the path";
    }
    at = next;
  }
  return nullptr;
}

// Takes the target apart; why it is bad, or nothing.
const char* read_target(std::string_view target, RequestHead& head) {
  head.absolute = false;
  head.needs_slash = false;
  head.authority = {};
  if (target == "*") {
    if (head.method != "OPTIONS") return "a target of * that is not of OPTIONS";
    head.target = target;
    head.path = "/";
    return nullptr;
  }
  if (head.method == "CONNECT") return "CONNECT";
  if (target.front() != '/') {
    size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return "a target that is no path";
    std::string_view name = target.substr(0, scheme);
    if (!equal_ignoring_case(name, "http") && !equal_ignoring_case(name, "https")) return "a target of another scheme";
    std::string_view rest = target.substr(scheme + 3);
    size_t slash = rest.find_first_of("/?");
    head.authority = rest.substr(0, slash);
    head.absolute = true;
    if (head.authority.empty()) return "an absolute target without a host";
    target = slash == std::string_view::npos ? std::string_view("/") : rest.substr(slash);
    head.needs_slash = target.front() == '?';
  }
  head.target = target;
  head.path = head.needs_slash ? std::string_view("/") : target.substr(0, target.find('?'));
  return fault_of_path(head.path);
}

// METHOD SP target SP HTTP/1.x CRLF
Parsed parse_request_line(const char*& at, const char* end, RequestHead& head) {
  const char* method = at;
  while (at < end && is_token_char(*at)) ++at;
  if (static_cast<size_t>(at - method) > kMaxMethodBytes) return bad(head.fault, "a method that is too long");
  if (at == end) return Parsed::incomplete;
  if (*at != ' ' || at == method) return bad(head.fault, "a request line without a method");
  head.method = {method, static_cast<size_t>(at - method)};
  const char* target = ++at;
  while (at<end&& * at> ' ' && *at != 0x7f && *at != '#') ++at;
  if (static_cast<size_t>(at - target) > kMaxTargetBytes) return bad(head.fault, "a target that is too long");
  if (at == end) return Parsed::incomplete;
  if (*at != ' ' || at == target) return bad(head.fault, "a request line without a target");
  std::string_view given(target, static_cast<size_t>(at - target));
  ++at;
  constexpr std::string_view kVersion = "HTTP/1.";
  std::string_view rest(at, static_cast<size_t>(end - at));
  if (rest.substr(0, kVersion.size()) != kVersion.substr(0, rest.size())) return bad(head.fault, "another version");
  if (rest.size() < kVersion.size() + 1) return Parsed::incomplete;
  char minor = rest[kVersion.size()];
  if (minor != '0' && minor != '1') return bad(head.fault, "another version");
  head.minor = static_cast<uint8_t>(minor - '0');
  rest.remove_prefix(kVersion.size() + 1);
  if (rest.empty()) return Parsed::incomplete;
  if (rest[0] != '\r') return bad(head.fault, "a request line that does not end with CRLF");
  if (rest.size() < 2) return Parsed::incomplete;
  if (rest[1] != '\n') return bad(head.fault, "a bare CR");
  at += kVersion.size() + 3;
  if (const char* why = read_target(given, head)) return bad(head.fault, why);
  return Parsed::complete;
}

bool equal_in_any_case(std::string_view one, std::string_view other) {
  auto lower = [](char c) { return is_upper(c) ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

const char* check_host(RequestHead& head) {
  if (head.headers.has(Field::host)) {
    std::string_view given = head.headers.value_of(Field::host);
    if (head.absolute && !equal_in_any_case(given, head.authority)) return "a Host other than that of the target";
    head.authority = given;
  } else if (head.minor == 1) {
    return "no Host";
  }
  if (!read_authority(head.authority, head.host)) return "a Host that is no host";
  return nullptr;
}

}  // namespace

std::string_view HeaderBlock::value_of(Field field) const {
  for (uint32_t i = 0; i < count; ++i) {
    if (lines[i].field == field) return lines[i].value;
  }
  return {};
}

bool read_authority(std::string_view authority, std::string_view& host) {
  host = authority;
  if (authority.empty()) return true;
  size_t colon;
  if (authority.front() == '[') {
    size_t close = authority.find(']');
    if (close == std::string_view::npos || close < 3) return false;
    for (char c : authority.substr(1, close - 1)) {
      if (!is_hex_digit(c) && c != ':' && c != '.') return false;
    }
    colon = close + 1;
  } else {
    colon = 0;
    while (colon < authority.size() &&
           (is_letter(authority[colon]) || is_digit(authority[colon]) || authority[colon] == '.' ||
            authority[colon] == '-' || authority[colon] == '_')) {
      ++colon;
    }
    if (colon == 0 || authority.front() == '.') return false;
  }
  host = authority.substr(0, colon);
  if (host.size() > 1 && host.back() == '.') host.remove_suffix(1);
  if (colon == authority.size()) return true;
  std::string_view port = authority.substr(colon + 1);
  if (authority[colon] != ':' || port.size() > 5) return false;
  unsigned number = 0;
  for (char c : port) {
    if (!is_digit(c)) return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number <= 65'535;
}

Parsed parse_request_head(std::string_view input, RequestHead& head) {
  const char* at = input.data();
  const char* end = at + std::min(input.size(), kMaxHeadBytes);
  bool cut = input.size() > kMaxHeadBytes;
  head.framing = {};
  head.fault = "";
  for (size_t lines = 0; at < end && *at == '\r'; ++lines) {
    if (lines == kMaxEmptyLines) return bad(head.fault, "empty lines");
    if (end - at < 2) return Parsed::incomplete;
    if (at[1] != '\n') return bad(head.fault, "a bare CR");
    at += 2;
  }
  head.skipped = static_cast<size_t>(at - input.data());
  Parsed parsed = parse_request_line(at, end, head);
  if (parsed == Parsed::complete) parsed = parse_lines(at, end, head.headers, head.framing, head.fault);
  if (parsed == Parsed::incomplete && cut) return bad(head.fault, "a head that is too large");
  if (parsed != Parsed::complete) return parsed;
  head.size = static_cast<size_t>(at - input.data());
  if (head.minor == 0 && head.framing.chunked) return bad(head.fault, "Transfer-Encoding in HTTP/1.0");
  if (const char* why = check_host(head)) return bad(head.fault, why);
  return Parsed::complete;
}

Parsed parse_response_head(std::string_view input, ResponseHead& head) {
  const char* at = input.data();
  const char* end = at + std::min(input.size(), kMaxHeadBytes);
  bool cut = input.size() > kMaxHeadBytes;
  head.framing = {};
  head.fault = "";
  // HTTP/1.x SP 3 digits, then SP and a reason, which may be missing with its blank.
  constexpr std::string_view kVersion = "HTTP/1.";
  std::string_view start(at, std::min<size_t>(static_cast<size_t>(end - at), kVersion.size()));
  if (start != kVersion.substr(0, start.size())) return bad(head.fault, "no HTTP/1.1");
  if (end - at < 13) return Parsed::incomplete;
  if ((at[7] != '0' && at[7] != '1') || at[8] != ' ') return bad(head.fault, "another version");
  head.minor = static_cast<uint8_t>(at[7] - '0');
  if (!is_digit(at[9]) || !is_digit(at[10]) || !is_digit(at[11]) || at[9] == '0' || at[9] > '5') {
    return bad(head.fault, "a status that is none");
  }
  head.status = static_cast<uint16_t>((at[9] - '0') * 100 + (at[10] - '0') * 10 + (at[11] - '0'));
  if (at[12] != ' ' && at[12] != '\r') return bad(head.fault, "a status that is none");
  const char* reason = at[12] == ' ' ? at + 13 : at + 12;
  at = end_of_value(reason, end);
  head.reason = {reason, static_cast<size_t>(at - reason)};
  Parsed parsed = Parsed::complete;
  if (end - at < 2) {
    parsed = Parsed::incomplete;
  } else if (at[0] != '\r' || at[1] != '\n') {
    return bad(head.fault, "a status line that does not end with CRLF");
  } else {
    at += 2;
    parsed = parse_lines(at, end, head.headers, head.framing, head.fault);
  }
  if (parsed == Parsed::incomplete && cut) return bad(head.fault, "a head that is too large");
  if (parsed != Parsed::complete) return parsed;
  head.size = static_cast<size_t>(at - input.data());
  if (head.minor == 0 && head.framing.chunked) return bad(head.fault, "Transfer-Encoding in HTTP/1.0");
  return Parsed::complete;
}

}  // namespace sluice::router
