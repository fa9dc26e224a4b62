// A request is sent once.
#include "host/forwarding.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/disk.h"

namespace sluice::host {
namespace {

constexpr int64_t kLongest_ms = 120'000;
constexpr std::string_view kOwnHeaders[] = {
    "host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "te", "trailer"};

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
         });
}

// Without those that are about one connection.
std::vector<http::Header> passed_on(const std::vector<http::Header>& headers) {
  std::vector<http::Header> all;
  for (const http::Header& each : headers) {
    const bool own =
        std::ranges::any_of(kOwnHeaders, [&](std::string_view name) { return same_word(name, each.name); });
    if (!own) all.push_back(each);
  }
  return all;
}

// The body of an upload, as it comes.
class Incoming final : public File {
 public:
  Incoming(const std::function<Result<bool>(std::string&)>& more, uint64_t size) : more_(more), size_(size) {}

  Result<size_t> read_at(uint64_t, std::span<char> into) override {
    while (left_.empty()) {
      auto some = more_(left_);
      if (!some) return some.error();
      if (!*some) return size_t{0};
    }
    const size_t taken = std::min(into.size(), left_.size());
    std::copy_n(left_.begin(), taken, into.begin());
    left_.erase(0, taken);
    return taken;
  }
  Result<void> write_at(uint64_t, std::string_view) override { return refused(); }
  Result<void> truncate(uint64_t) override { return refused(); }
  Result<void> sync(SyncWhat) override { return refused(); }
  Result<FileStat> stat() override { return FileStat{.size = size_}; }
  Result<void> chmod(uint32_t) override { return refused(); }
  Result<bool> lock(FileLock) override { return false; }

 private:
  static Error refused() { return {.code = Code::denied, .message = "an upload is only read"}; }
  const std::function<Result<bool>(std::string&)>& more_;
  uint64_t size_;
  std::string left_;
};

http::Response as_response(int status, const std::vector<http::Header>& headers) {
  http::Response response{.status = status, .headers = passed_on(headers), .body = {}, .stream = {}};
  if (const std::string* type = http::find_header(headers, "Content-Type")) response.content_type = *type;
  std::erase_if(response.headers, [](const http::Header& each) { return same_word(each.name, "content-type"); });
  return response;
}

}  // namespace

Result<http::Response> forward(std::unique_ptr<http::Client> to, http::Request request,
                               const std::function<Result<bool>(std::string& piece)>& more) {
  const bool changes = request.method != "GET" && request.method != "HEAD";
  const auto unheard = [&](const Error& error) -> Error {
    if (!changes) return error;
    return {.code = Code::timeout,
            .message = "it is not known whether this was done: " + error.message,
            .next = "ask again with the same Idempotency-Key; what was done is not done twice"};
  };
  const std::string* length = request.header("Content-Length");
  const uint64_t size = length != nullptr ? std::strtoull(length->c_str(), nullptr, 10) : 0;
  request.headers = passed_on(request.headers);
  if (more) {
    Incoming body(more, size);
    auto answer = to->send(std::move(request), body, kLongest_ms);
    if (!answer) return unheard(answer.error());
    auto response = as_response(answer->status, answer->headers);
    response.body = std::move(answer->body);
    return response;
  }
  auto begun = to->begin(std::move(request), kLongest_ms);
  if (!begun) return unheard(begun.error());
  auto response = as_response(begun->status, begun->headers);
  if (begun->header("Content-Length") == nullptr && begun->status != 204) {
    response.stream = [from = std::shared_ptr<http::Client>(std::move(to))](http::Stream& stream) {
      (void)from->rest([&](std::string_view bytes) { return bytes.empty() ? stream.wanted() : stream.write(bytes); },
                       [&] { return !stream.wanted(); });
    };
    return response;
  }
  auto whole = to->rest(
      [&](std::string_view bytes) {
        response.body += bytes;
        return true;
      },
      [] { return false; });
  if (!whole) return unheard(whole.error());
  return response;
}

}  // namespace sluice::host
