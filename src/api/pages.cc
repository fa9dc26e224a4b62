// A look into the table, and the headers that keep other pages away.
#include "api/pages.h"

#include <algorithm>

#include "base/json.h"
#include "host/problem.h"

namespace sluice::api {
namespace {

// Scripts and styles come from here alone, nothing is written into the page, and no other page may frame it.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

http::Response page_problem(int status, const Error& error) {
  json::object problem = host::problem(error);
  problem["status"] = status;
  return {.status = status, .content_type = std::string(host::kProblemType), .body = write(problem)};
}

http::Response go_to(const char* place) {
  return {.status = 302, .content_type = "text/plain", .headers = {{"Location", place}, {"Cache-Control", "no-store"}}};
}

std::string name_in(const http::Request& request) {
  std::string name;
  for (size_t i = 1; i < request.path.size(); ++i) name += (name.empty() ? "" : "/") + request.path[i];
  return name;
}

bool takes_gzip(const http::Request& request) {
  const std::string* given = request.header("Accept-Encoding");
  if (given == nullptr) return false;
  for (std::string_view rest = *given; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const size_t mark = std::min(one.find(';'), one.size());
    const bool refused = one.substr(mark).find("q=0") != std::string_view::npos &&
                         one.substr(mark).find_first_of("123456789") == std::string_view::npos;
    one = one.substr(0, mark);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (!refused && (one == "gzip" || one == "*")) return true;
  }
  return false;
}

}  // namespace

std::optional<http::Response> Pages::answer(const http::Request& request) const {
  const bool whole = request.path.empty();
  if (!whole && request.path[0] != "ui") return std::nullopt;
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  if (table_.empty()) {
    if (whole) return std::nullopt;
    return page_problem(404, {.code = Code::not_found, .message = "this program was built without the console"});
  }
  if (whole || request.path.size() == 1) return go_to("/ui/");
  auto named = [&](std::string_view name) { return std::ranges::find(table_, name, &Page::name); };
  auto page = named(name_in(request));
  const bool inner = request.path.back().find('.') == std::string::npos;
  if (page == table_.end() && inner) page = named("index.html");
  if (page == table_.end()) {
    return page_problem(404, {.code = Code::not_found, .message = "there is nothing at " + request.target});
  }
  if (!takes_gzip(request)) {
    return page_problem(406, {.code = Code::invalid,
                              .message = "pages are kept compressed",
                              .next = "send the header Accept-Encoding: gzip"});
  }
  const std::string tag = "\"" + std::string(page->etag) + "\"";
  http::Response response{
      .content_type = std::string(page->content_type),
      .headers = {{"ETag", tag},
                  {"Cache-Control", page->hashed ? "public, max-age=31536000, immutable" : "no-cache"},
                  {"Vary", "Accept-Encoding"},
                  {"Content-Security-Policy", std::string(kPolicy)},
                  {"X-Frame-Options", "DENY"},
                  {"X-Content-Type-Options", "nosniff"},
                  {"Referrer-Policy", "no-referrer"},
                  {"Cross-Origin-Opener-Policy", "same-origin"},
                  {"Cross-Origin-Resource-Policy", "same-origin"}}};
  const std::string* known = request.header("If-None-Match");
  if (known != nullptr && *known == tag) {
    response.status = 304;
    return response;
  }
  response.headers.push_back({"Content-Encoding", "gzip"});
  response.body = std::string(page->gzip);
  return response;
}

}  // namespace sluice::api
