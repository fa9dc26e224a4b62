// Peers are few, so each turn polls them all.
#include "router/control.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/thread_turns.h"

namespace sluice::router {
namespace {

constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr size_t kPiece = 64 << 10;
constexpr size_t kLargeBytes = size_t{256} << 10;
constexpr int kLargePatience_ms = 5'000;  // for the next piece of them
constexpr size_t kMaxHttpHead = 8 << 10;
constexpr size_t kMaxPeers = 64;  // of each kind
constexpr int64_t kAdminPatience_ms = 10'000;
constexpr int64_t kMaxHold_ms = 30'000;

json::object refusal_json(const Error& error, int64_t generation) {
  return {{"ok", false}, {"code", code_name(error.code)}, {"message", to_string(error)}, {"generation", generation}};
}

std::string text_in(const json::object& request, std::string_view name) {
  const json::value* value = request.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

int64_t number_in(const json::object& request, std::string_view name, int64_t fallback) {
  const json::value* value = request.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : fallback;
}

std::string http_answer(int status, const char* reason, const char* type, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + " " + reason + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

// Whether the other end is the router's own user, or root.
bool is_own_user(int fd) {
  ucred caller{};
  socklen_t size = sizeof caller;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &caller, &size) != 0) return false;
  return caller.uid == 0 || caller.uid == ::geteuid();
}

// Does it on a thread that lets those that serve go first, and waits for that.
template <class Work>
void beside(Work&& work) {
  std::thread([&] {
    let_others_go_first();
    work();
  }).join();
}

// Whether all that is missing has come.
bool read_rest(int fd, std::string& bytes, size_t have) {
  while (have < bytes.size()) {
    pollfd watched{fd, POLLIN, 0};
    int found = ::poll(&watched, 1, kLargePatience_ms);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    give_way();
    ssize_t size = ::recv(fd, bytes.data() + have, std::min(bytes.size() - have, kPiece), 0);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) return false;
    have += static_cast<size_t>(size);
  }
  return true;
}

}  // namespace

Control::Control(int control_fd, int admin_fd, TableKeeper& keeper, const StateFiles& state, const Clock& clock,
                 std::function<Reported()> reported, HandOver hand_over, std::function<json::object()> certificates)
    : control_fd_(control_fd),
      admin_fd_(admin_fd),
      keeper_(keeper),
      state_(state),
      clock_(clock),
      reported_(std::move(reported)),
      hand_over_(std::move(hand_over)),
      certificates_(std::move(certificates)) {}

Control::~Control() {
  for (auto& peer : peers_) ::close(peer->fd);
}

void Control::turn(int timeout_ms, int also) {
  std::vector<pollfd> watched = {
      {control_fd_, POLLIN, 0}, {admin_fd_, POLLIN, 0}, {also, POLLIN, 0}, {reporter_.fd(), POLLIN, 0}};
  const size_t first = watched.size();
  for (const auto& peer : peers_) {
    watched.push_back({peer->fd, static_cast<short>(peer->waits ? 0 : peer->out.empty() ? POLLIN : POLLOUT), 0});
  }
  int found_any = ::poll(watched.data(), watched.size(), timeout_ms);
  int64_t now_ms = clock_.monotonic_ns() / 1'000'000;
  for (auto& peer : peers_) {
    const bool late = peer->admin && !peer->waits && now_ms - peer->since_ms > kAdminPatience_ms;
    peer->ended = peer->ended || late;
  }
  if (found_any <= 0) watched.assign(watched.size(), {-1, 0, 0});
  for (size_t i = 0; i < peers_.size(); ++i) {
    short found = watched[first + i].revents;
    if (found == 0 || peers_[i]->ended) continue;
    Peer& peer = *peers_[i];
    if (peer.waits) {
      peer.ended = true;  // it has gone
      continue;
    }
    if ((found & POLLOUT) != 0) write(peer);
    if ((found & (POLLIN | POLLHUP | POLLERR)) != 0 && !peer.ended && peer.out.empty()) read(peer);
  }
  if (watched[3].revents != 0) hand_out_reports();
  std::erase_if(peers_, [](const auto& peer) {
    if (!peer->ended) return false;
    ::close(peer->fd);
    return true;
  });
  if (watched[0].revents != 0) accept(control_fd_, false);
  if (watched[1].revents != 0) accept(admin_fd_, true);
}

void Control::accept(int listener, bool admin) {
  int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  auto alike = std::ranges::count_if(peers_, [&](const auto& peer) { return peer->admin == admin; });
  if (static_cast<size_t>(alike) >= kMaxPeers || (!admin && !is_own_user(fd))) {
    ::close(fd);
    return;
  }
  auto peer = std::make_unique<Peer>();
  peer->fd = fd;
  peer->admin = admin;
  peer->since_ms = clock_.monotonic_ns() / 1'000'000;
  peer->number = ++last_number_;
  peers_.push_back(std::move(peer));
}

void Control::read(Peer& peer) {
  char bytes[kPiece];
  // All that is there: an order should not wait for another turn.
  for (int i = 0; i < 4; ++i) {
    ssize_t size = ::recv(peer.fd, bytes, sizeof bytes, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size <= 0) {
      peer.ended = true;
      return;
    }
    peer.in.append(bytes, static_cast<size_t>(size));
    if (static_cast<size_t>(size) < sizeof bytes) break;
  }
  if (peer.admin) {
    serve_admin(peer);
  } else {
    serve_control(peer);
  }
  if (!peer.out.empty()) write(peer);
}

void Control::write(Peer& peer) {
  while (!peer.out.empty()) {
    ssize_t size = peer.fds.empty() ? ::send(peer.fd, peer.out.data(), peer.out.size(), MSG_NOSIGNAL)
                                    : send_with_descriptors(peer.fd, peer.out, peer.fds);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size < 0) {
      peer.ended = true;
      return;
    }
    peer.fds.clear();
    if (peer.owned >= 0) ::close(std::exchange(peer.owned, -1));
    peer.out.erase(0, static_cast<size_t>(size));
  }
  if (peer.close_after) peer.ended = true;
}

void Control::report(Peer& peer, std::function<std::string(const Reported&)> make) {
  peer.waits = true;
  reporter_.make(peer.number, [make = std::move(make), frame = reported_()] { return make(frame); });
}

void Control::hand_out_reports() {
  for (auto& [number, text] : reporter_.take()) {
    auto found = std::ranges::find(peers_, number, [](const auto& peer) { return peer->number; });
    if (found == peers_.end() || (*found)->ended) continue;
    Peer& peer = **found;
    peer.waits = false;
    peer.since_ms = clock_.monotonic_ns() / 1'000'000;
    peer.out = std::move(text);
    write(peer);
    if (!peer.admin && !peer.ended) serve_control(peer);
  }
}

void Control::serve_control(Peer& peer) {
  while (peer.out.empty() && !peer.close_after && !peer.waits) {
    if (!peer.request) {
      size_t end = peer.in.find('\n', peer.used);
      if (end == std::string::npos || end - peer.used > kMaxLine) {
        if (peer.in.size() - peer.used > kMaxLine) {
          peer.out =
              sluice::write(refusal_json({.code = Code::limit, .message = "a request is a line of at most 64 kB"},
                                         keeper_.generation())) +
              "\n";
          peer.close_after = true;
        }
        break;
      }
      peer.request = parse_json(std::string_view(peer.in).substr(peer.used, end - peer.used), "", {.max_depth = 8});
      peer.used = end + 1;
      const json::object* request = *peer.request ? (*peer.request)->root.if_object() : nullptr;
      int64_t bytes = request != nullptr ? number_in(*request, "bytes", 0) : 0;
      if (bytes < 0 || static_cast<size_t>(bytes) > kMaxBytes) {
        peer.out = sluice::write(refusal_json({.code = Code::limit, .message = "at most 256 MB go with a request"},
                                              keeper_.generation())) +
                   "\n";
        peer.close_after = true;
        break;
      }
      peer.bytes = static_cast<size_t>(bytes);
    }
    size_t have = std::min(peer.in.size() - peer.used, peer.bytes);
    if (have < peer.bytes && peer.bytes <= kLargeBytes) break;
    std::string bytes = peer.in.substr(peer.used, have);
    if (have < peer.bytes) {
      bool whole = false;
      beside([&] {
        bytes.resize(peer.bytes);
        whole = read_rest(peer.fd, bytes, have);
      });
      if (!whole) {
        peer.ended = true;
        return;
      }
    }
    peer.used += have;
    if (peer.used == peer.in.size()) {
      peer.in.clear();
      if (peer.in.capacity() > kMaxLine) peer.in.shrink_to_fit();
      peer.used = 0;
    }
    const Result<Document> read = *std::exchange(peer.request, std::nullopt);
    const json::object* request = read ? read->root.if_object() : nullptr;
    const std::string op = request != nullptr ? text_in(*request, "op") : "";
    if (op == "stats") {
      report(peer, [deployment = text_in(*request, "deployment")](const Reported& frame) {
        return sluice::write(stats_of(frame, deployment)) + "\n";
      });
      return;
    }
    if (op == "usage") {
      report(peer, [](const Reported& frame) { return sluice::write(usage_of(frame.counters, frame.router)) + "\n"; });
      return;
    }
    peer.out = sluice::write(answer(read, std::move(bytes))) + "\n";
    peer.fds = std::exchange(handed_over_, {});
    peer.owned = std::exchange(owned_, -1);
    write(peer);
  }
}

json::object Control::answer(const Result<Document>& read, std::string bytes) {
  if (!read) return refusal_json(read.error(), keeper_.generation());
  const json::object* request = read->root.if_object();
  std::string op = request != nullptr ? text_in(*request, "op") : "";
  if (op == "load") return obey(OrderOp::load, *request, std::move(bytes));
  if (op == "patch") return obey(OrderOp::patch, *request, std::move(bytes));
  if (op == "counts") return counts_of(reported_(), text_in(*request, "deployment"));
  if (op == "hold") return hold(*request);
  if (op == "release") return release(*request);
  if (op == "drain") return drain(*request);
  if (op == "adopt") return adopt(*request);
  if (op == "certificates" && certificates_) return certificates_();
  return refusal_json(
      {.code = Code::invalid,
       .message = "expected an op: load, patch, stats, counts, usage, hold, release, drain or certificates"},
      keeper_.generation());
}

json::object Control::obey(OrderOp op, const json::object& request, std::string bytes) {
  KeptOrder order{text_in(request, "order"), std::move(bytes)};
  std::optional<Refusal> refused;
  if (op == OrderOp::load) {
    beside([&] { refused = keeper_.obey(op, std::move(order)); });  // a whole table takes its time
  } else {
    refused = keeper_.obey(op, std::move(order));
  }
  if (refused) {
    json::object answer = refusal_json(refused->error, keeper_.generation());
    if (refused->needs_load) answer["needs"] = "load";
    return answer;
  }
  json::object answer{
      {"ok", true}, {"generation", keeper_.generation()}, {"quarantined", quarantined_of(keeper_.table().get())}};
  if (op == OrderOp::patch) answer["wants_load"] = state_.wants_load();
  return answer;
}

json::object Control::hold(const json::object& request) {
  std::string id = text_in(request, "deployment");
  const auto* found = keeper_.table() ? keeper_.table()->named(id) : nullptr;
  int64_t hold_ms = number_in(request, "ms", kMaxHold_ms);
  if (found == nullptr)
    return refusal_json({.code = Code::not_found, .message = "no such deployment"}, keeper_.generation());
  if (hold_ms < 1 || hold_ms > kMaxHold_ms) {
    return refusal_json({.code = Code::invalid, .message = "a hold is of 1 to 30000 ms"}, keeper_.generation());
  }
  (*found)->memory->held_until_ms.store(clock_.monotonic_ns() / 1'000'000 + hold_ms);
  return {{"ok", true}, {"held", true}};
}

json::object Control::release(const json::object& request) {
  std::string id = text_in(request, "deployment");
  const auto* found = keeper_.table() ? keeper_.table()->named(id) : nullptr;
  if (found == nullptr)
    return refusal_json({.code = Code::not_found, .message = "no such deployment"}, keeper_.generation());
  (*found)->memory->held_until_ms.store(0);
  Reported router = reported_();
  for (const auto& thread : router.threads) thread->ask([](Proxy& proxy) { proxy.release_held(); });
  return {{"ok", true}};
}

json::object Control::drain(const json::object& request) {
  std::string deployment = text_in(request, "deployment"), revision = text_in(request, "revision");
  int64_t drain_ms = number_in(request, "ms", 30'000);
  if (drain_ms < 0 || drain_ms > 86'400'000) {
    return refusal_json({.code = Code::invalid, .message = "a drain is of 0 to 86400000 ms"}, keeper_.generation());
  }
  const auto* found = keeper_.table() ? keeper_.table()->named(deployment) : nullptr;
  const Revision* known = found != nullptr ? (*found)->named(revision) : nullptr;
  Reported router = reported_();
  if (known != nullptr && !known->memory->draining.exchange(true)) {
    known->memory->cut.store(0);
    known->memory->cut_at_ms.store(clock_.monotonic_ns() / 1'000'000 + drain_ms);
    for (const auto& thread : router.threads) thread->ask([](Proxy& proxy) { proxy.drain(); });
  }
  // Also of a revision that is in the table no more: something of it may still be under way.
  int64_t under_way = 0, websockets = 0;
  bool seen = known != nullptr;
  for (uint32_t series = 0; series < router.counters.series(); ++series) {
    const SeriesName& name = router.counters.name(series);
    if (name.deployment != deployment || name.revision != revision) continue;
    seen = true;
    under_way += router.counters.in_flight(series);
    websockets += router.counters.websockets(series);
  }
  if (!seen) return refusal_json({.code = Code::not_found, .message = "no such revision"}, keeper_.generation());
  return {{"ok", true},
          {"in_flight", std::max<int64_t>(under_way - websockets, 0)},
          {"websockets", websockets},
          {"cut", known != nullptr ? known->memory->cut.load() : 0},
          {"done", under_way == 0}};
}

json::object Control::adopt(const json::object& request) {
  auto handed = hand_over_(static_cast<int>(number_in(request, "master", 0)));
  if (!handed || handed->fds.size() > kMostHandedOver) {
    return refusal_json({.code = Code::conflict, .message = "the worker hands nothing over"}, keeper_.generation());
  }
  handed_over_ = std::move(handed->fds);
  owned_ = handed->owned;
  return {{"ok", true}, {"worker_pid", ::getpid()}, {"plan", to_json(handed->plan)}};
}

// --------------------------------------------------------------------------------------------------------- admin port

void Control::serve_admin(Peer& peer) {
  size_t end = peer.in.find("\r\n\r\n");
  if (end == std::string::npos && peer.in.size() < kMaxHttpHead) return;
  peer.close_after = true;
  if (end == std::string::npos) {
    peer.out = http_answer(431, "Request Header Fields Too Large", "text/plain", "");
  } else if (auto answer = answer_http(std::string_view(peer.in).substr(0, end))) {
    peer.out = *std::move(answer);
  } else {
    report(peer, [](const Reported& frame) {
      return http_answer(200, "OK", "text/plain; version=0.0.4; charset=utf-8", metrics_of(frame));
    });
  }
}

std::optional<std::string> Control::answer_http(std::string_view head) {
  std::string_view line = head.substr(0, head.find("\r\n"));
  std::string_view method = line.substr(0, line.find(' '));
  std::string_view rest = line.substr(std::min(line.size(), method.size() + 1));
  std::string_view path = rest.substr(0, rest.find_first_of(" ?"));
  if (method != "GET" && method != "HEAD") return http_answer(405, "Method Not Allowed", "text/plain", "GET alone\n");
  if (path == "/healthz") return http_answer(200, "OK", "text/plain", "ok\n");
  if (path == "/readyz") {
    if (keeper_.table()) {
      return http_answer(200, "OK", "text/plain", "generation " + std::to_string(keeper_.generation()) + "\n");
    }
    return http_answer(503, "Service Unavailable", "text/plain", "no table yet\n");
  }
  if (path == "/metrics") return std::nullopt;
  return http_answer(404, "Not Found", "text/plain", "/healthz, /readyz, /metrics\n");
}

}  // namespace sluice::router
