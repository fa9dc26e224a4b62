// Requests and answers of HTTP/1.1 as the control plane sees them: whole, with their targets taken apart.
//
//   if (request.method == "GET" && request.path == std::vector<std::string>{"v1", "status"}) …
//   auto wait = request.parameter("wait");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::http {

struct Header {
  std::string name;
  std::string value;

  bool operator==(const Header&) const = default;
};

// The first of that name, whatever its case.
const std::string* find_header(const std::vector<Header>& headers, std::string_view name);

using Query = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;  // "GET"
  std::string target;  // as it was sent: "/v1/flows?limit=5"
  // The segments of its path, decoded: {"v1", "flows"}. After a slash at its end there is one more, which is empty.
  std::vector<std::string> path;
  Query query;  // its parameters, decoded, in their order
  std::vector<Header> headers;
  std::string body;
  // Of a PUT or PATCH, whose body is not held: the next piece of it, false at its end. An error: it breaks off.
  std::function<Result<bool>(std::string& piece)> more = {};
  bool keep_alive = true;

  const std::string* header(std::string_view name) const { return find_header(headers, name); }
  const std::string* parameter(std::string_view name) const;
};

// Fills in path and query. Refuses what could be read in two ways: a target that is no path, `.` and `..`, empty
// segments but the last, broken percent signs, a parameter twice.
Result<void> take_target_apart(Request& request);

// "%2Fa%20b": everything but letters, digits and - . _ ~.
std::string percent_encoded(std::string_view text);
Result<std::string> percent_decoded(std::string_view text);
// "/v1/flows?limit=5", with what needs it encoded.
std::string target_of(const std::vector<std::string>& path, const Query& query = {});

// Where an answer without an end is written to.
class Stream {
 public:
  virtual ~Stream() = default;
  // False when nobody reads any more or the server stops: nothing more is to be written.
  virtual bool write(std::string_view bytes) = 0;
  // The same without writing anything.
  virtual bool wanted() = 0;
};

// An answer without an end that holds no thread: the server asks it for more when it has been woken, and every now and
// then.
class Feed {
 public:
  virtual ~Feed() = default;
  // From now on `wake` is called, from any thread, whenever there may be more. Called once, before `next`.
  virtual void begin(std::function<void()> wake) = 0;
  // Adds what is to be sent now. False: nothing follows. It must not wait for anything to happen.
  virtual bool next(std::string& out) = 0;
  // After how long it is asked if nobody has woken it.
  virtual int64_t look_ms() const { return 1'000; }
  // Whether `next` reads more than a little, so that other feeds should not wait for it.
  virtual bool takes_time() const { return false; }
};

struct Switched;
class HeldConnection;

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<Header> headers;
  std::string body;
  std::function<void(Stream&)> stream;  // writes the body, chunk by chunk, in place of `body`; it has a thread
  std::shared_ptr<Feed> feed = {};      // has the body, chunk by chunk, in place of `body`
  bool close = false;                   // the connection, after this
  std::string protocol = {};            // that the connection is switched to, which is then `channel`'s, until it ends
  std::function<void(Switched&)> channel = {};
  // Takes the connection, once it is switched, with what has come of it already; then the server knows no more of it.
  std::function<void(std::unique_ptr<HeldConnection>, std::string input)> give_away = {};
};

// "Not Found" for 404.
std::string_view reason_phrase(int status);

// The head with its blank line: of an answer with its length, or in chunks, and of a request with a body.
std::string head_of(const Response& response);
std::string head_of(const Request& request);
std::string head_of(const Request& request, uint64_t body_bytes);

}  // namespace sluice::http
