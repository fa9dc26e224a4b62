// Pages that are part of the program: the console. They are kept compressed, and answered as they are, to anybody: what
// they show, they ask the API for.
//
//   Pages pages(console::files());           // of the library that has them; without it the table is empty
//   if (auto response = pages.answer(request)) …
//
// /ui/NAME is a file of the table. A path under /ui/ without an extension is one that the console knows itself, and
// gets index.html. What is named after its content never changes, and may be kept for ever.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "http/message.h"

namespace sluice::api {

struct Page {
  std::string_view name;          // "index.html", "assets/app-1a2b3c4d.js"
  std::string_view content_type;  // "text/html; charset=utf-8"
  std::string_view etag;          // a hash of its content, without quotes
  std::string_view gzip;
  bool hashed = false;  // its name has the hash of its content
};

class Pages {
 public:
  // The table must outlive it.
  explicit Pages(std::span<const Page> table) : table_(table) {}

  // None: the request is not for a page.
  std::optional<http::Response> answer(const http::Request& request) const;

 private:
  std::span<const Page> table_;
};

}  // namespace sluice::api
