// One stream is one request: what libgit2 writes is its body, and the answer is read while it arrives, by a thread that
// hands over what it gets through a buffer of limited size.
#include "git/transport.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "base/thread_name.h"

namespace sluice::git {
namespace {

constexpr size_t kMostBuffered = size_t{1} << 20;
constexpr size_t kMostBody = size_t{16} << 20;

struct Stream;

struct Subtransport {
  git_smart_subtransport functions;  // first: libgit2 knows this alone
  Transport* transport;
};

struct Stream {
  git_smart_subtransport_stream functions;  // first, as above
  Transport* transport;
  bool is_list;  // the references that a server has
  std::string body;

  std::thread fetching;
  std::mutex mutex;
  std::condition_variable changed;
  std::string arrived;
  std::optional<Result<http::OutgoingAnswer>> answer;
  bool unwanted = false;

  std::string type() const {
    return is_list ? "application/x-git-upload-pack-advertisement" : "application/x-git-upload-pack-result";
  }

  void begin() {
    http::OutgoingRequest request{.url = transport->url, .timeout_ms = transport->timeout_ms};
    if (is_list) {
      request.url += "/info/refs?service=git-upload-pack";
    } else {
      request.method = "POST";
      request.url += "/git-upload-pack";
      request.headers.push_back({"Content-Type", "application/x-git-upload-pack-request"});
      request.headers.push_back({"Accept", type()});
      request.body = std::move(body);
    }
    if (!transport->authorization.empty()) request.headers.push_back({"Authorization", transport->authorization});
    request.downloads = [](int status) { return status == 200; };
    request.most_bytes = 64 << 10;
    request.download = [this](std::string_view piece) {
      std::unique_lock lock(mutex);
      transport->bytes += piece.size();
      if (transport->bytes > transport->most_bytes) return false;
      while (arrived.size() > kMostBuffered && !unwanted) changed.wait_for(lock, std::chrono::milliseconds(50));
      arrived.append(piece);
      changed.notify_all();
      return !unwanted;
    };
    request.cancelled = [this] { return unwanted || transport->over(); };
    fetching = std::thread([this, request = std::move(request)] {
      name_this_thread("git fetch");
      auto ended = transport->outgoing.send(request);
      std::lock_guard lock(mutex);
      answer = std::move(ended);
      changed.notify_all();
    });
  }

  // Why there is no more; nothing if the answer has ended well.
  std::optional<Error> failure() const {
    if (transport->bytes > transport->most_bytes) {
      return Error{.code = Code::limit,
                   .message = "the repository is larger than " + std::to_string(transport->most_bytes) + " bytes"};
    }
    if (!*answer) {
      if (transport->over()) return Error{.code = Code::timeout, .message = "the repository was not read in time"};
      return answer->error();
    }
    const int status = (*answer)->status;
    const std::string* said = (*answer)->header("content-type");
    auto refused = [&](Code code, const std::string& why, const std::string& next = "") {
      return Error{.code = code, .message = shown() + ": " + why, .next = next};
    };
    if (status == 401 || status == 403) {
      return refused(Code::denied, transport->authorization.empty() ? "the server wants a credential"
                                                                    : "the server refuses the credential");
    }
    if (status >= 300 && status < 400) return refused(Code::denied, "the server redirects, which is not followed");
    if (status == 404) return refused(Code::not_found, "there is no such repository");
    if (status != 200) return refused(Code::unavailable, "the server answers with " + std::to_string(status));
    if (said == nullptr || *said != type()) return refused(Code::unavailable, "this is no server of Git repositories");
    return std::nullopt;
  }

  std::string shown() const {
    auto parsed = http::parse_url(transport->url);
    return parsed ? http::shown_url(*parsed) : transport->url;
  }

  int read(char* into, size_t most, size_t* count) {
    *count = 0;
    if (!fetching.joinable()) begin();
    std::unique_lock lock(mutex);
    while (arrived.empty() && !answer) changed.wait_for(lock, std::chrono::milliseconds(50));
    if (arrived.empty()) {
      auto failed = failure();
      lock.unlock();
      return failed ? transport->fail(*std::move(failed)) : 0;
    }
    *count = std::min(most, arrived.size());
    std::memcpy(into, arrived.data(), *count);
    arrived.erase(0, *count);
    changed.notify_all();
    return 0;
  }

  void end() {
    {
      std::lock_guard lock(mutex);
      unwanted = true;
      changed.notify_all();
    }
    if (fetching.joinable()) fetching.join();
  }
};

int read_stream(git_smart_subtransport_stream* stream, char* into, size_t most, size_t* count) {
  return reinterpret_cast<Stream*>(stream)->read(into, most, count);
}

int write_stream(git_smart_subtransport_stream* stream, const char* bytes, size_t count) {
  auto* self = reinterpret_cast<Stream*>(stream);
  if (self->body.size() + count > kMostBody) {
    return self->transport->fail({.code = Code::limit, .message = "the repository has too many references"});
  }
  self->body.append(bytes, count);
  return 0;
}

void free_stream(git_smart_subtransport_stream* stream) {
  auto* self = reinterpret_cast<Stream*>(stream);
  self->end();
  delete self;
}

int act(git_smart_subtransport_stream** made, git_smart_subtransport* subtransport, const char*,
        git_smart_service_t what) {
  Transport& transport = *reinterpret_cast<Subtransport*>(subtransport)->transport;
  if (what != GIT_SERVICE_UPLOADPACK_LS && what != GIT_SERVICE_UPLOADPACK) {
    return transport.fail({.code = Code::invalid, .message = "repositories are only read"});
  }
  auto* stream = new Stream{.functions = {subtransport, read_stream, write_stream, free_stream},
                            .transport = &transport,
                            .is_list = what == GIT_SERVICE_UPLOADPACK_LS};
  *made = &stream->functions;
  return 0;
}

int close_subtransport(git_smart_subtransport*) { return 0; }

void free_subtransport(git_smart_subtransport* subtransport) { delete reinterpret_cast<Subtransport*>(subtransport); }

int make_subtransport(git_smart_subtransport** made, git_transport*, void* transport) {
  *made = &(new Subtransport{.functions = {act, close_subtransport, free_subtransport},
                             .transport = static_cast<Transport*>(transport)})
               ->functions;
  return 0;
}

}  // namespace

int Transport::fail(Error error) {
  library.error_set_str(GIT_ERROR_NET, error.message.c_str());
  if (!trouble) trouble = std::move(error);
  return -1;
}

int Transport::make(git_transport** made, git_remote* owner, void* payload) {
  git_smart_subtransport_definition definition{.callback = make_subtransport, .rpc = 1, .param = payload};
  return static_cast<Transport*>(payload)->library.transport_smart(made, owner, &definition);
}

}  // namespace sluice::git
