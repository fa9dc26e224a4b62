// The fields of a head or of trailers as nghttp2 takes them: names in small letters, and no field of a connection. The
// values must stay until the fields are submitted.
#pragma once

#include <nghttp2/nghttp2.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "router/http1/fields.h"

namespace sluice::router {

inline std::string_view view_of(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

inline void require_http2(int result, const char* call) {
  if (result != 0) throw std::runtime_error(std::string("nghttp2 failed in ") + call);
}

class Http2Fields {
 public:
  void add(std::string_view name, std::string_view value) {
    auto& lower = names_.emplace_back(name);
    for (char& c : lower) {
      if (is_upper(c)) c = static_cast<char>(c | 0x20);
    }
    values_.push_back(value);
  }
  // "Name: value", perhaps with CRLF.
  void add_line(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    add(line.substr(0, colon), without_blanks(line.substr(colon + 1, line.find('\r') - colon - 1)));
  }
  void add_lines(std::string_view lines) {
    while (!lines.empty()) {
      const size_t end = lines.find("\r\n");
      add_line(lines.substr(0, end));
      lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 2);
    }
  }
  // To be asked for once all have been added.
  const std::vector<nghttp2_nv>& all() {
    pairs_.clear();
    for (size_t i = 0; i < names_.size(); ++i) pairs_.push_back(pair_of(names_[i], values_[i]));
    return pairs_;
  }

 private:
  static nghttp2_nv pair_of(std::string_view name, std::string_view value) {
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
            NGHTTP2_NV_FLAG_NONE};
  }

  std::vector<std::string> names_;
  std::vector<std::string_view> values_;
  std::vector<nghttp2_nv> pairs_;
};

}  // namespace sluice::router
