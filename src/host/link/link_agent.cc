// What the control plane may ask over the link is what it asks its own routers; nobody takes the router's sockets away
// from elsewhere.
#include "host/link/link_agent.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <iostream>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/lock_file.h"
#include "base/utc_time.h"
#include "base/version.h"
#include "host/exchange.h"
#include "host/link/carried_files.h"
#include "host/link/joined_routers.h"
#include "host/problem.h"
#include "http/parser.h"
#include "router/control_client.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kLinkWord = "router-link";
constexpr std::string_view kLinkOps[] = {"load", "patch", "stats",   "counts",      "usage",
                                         "hold", "drain", "release", "certificates"};
constexpr int64_t kConnectPatience_ms = 3'000;
constexpr int64_t kFirstPause_ms = 200, kLongestPause_ms = 3'000, kCalmLink_ms = 10'000;
constexpr int64_t kLock_ms = 30'000;
constexpr int64_t kLookAtCertificate_ms = 2'000, kRenewAgain_ms = 60'000;
constexpr size_t kAgentPiece = size_t{64} << 10U;
constexpr size_t kMostRequestLine = size_t{64} << 10U;
constexpr size_t kMostStreams = 64;

void narrate_link(const Clock& clock, const std::string& text) {
  std::cerr << utc_text(clock.wall_ms()) + " link: " + text + "\n" << std::flush;
}

std::string text_of_member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Error in_answer(const http::Answer& answer) {
  auto parsed = parse_json(answer.body);
  if (parsed && parsed->root.is_object()) return error_in(parsed->root);
  return {.message = "the control plane answered " + std::to_string(answer.status)};
}

}  // namespace

// --------------------------------------------------------------------------------------------------------- connecting

Result<void> LinkAgent::connect_to_any() {
  std::vector<std::string> urls = urls_of(membership_);
  Error last{.code = Code::unavailable, .message = "no address of the control plane is known"};
  for (size_t i = 0; i < urls.size(); ++i) {
    std::string redirected;
    auto done = connect_at(urls[i], redirected);
    if (done) return done;
    // A replica that follows knows who leads.
    const bool fresh = !redirected.empty() && std::ranges::find(urls, redirected) == urls.end();
    if (fresh && urls.size() < kMostStreams) urls.insert(urls.begin() + static_cast<std::ptrdiff_t>(i) + 1, redirected);
    if (redirected.empty()) last = done.error();
  }
  return last;
}

Result<void> LinkAgent::connect_at(const std::string& url, std::string& redirected) {
  auto where = address_in(url);
  if (!where) return where.error();
  auto identity = link_identity(disk_, home_);
  if (!identity) return identity.error();
  auto connection = http::HeldConnection::connect(
      where->address, where->port,
      {.roots_pem = membership_.ca, .chain_pem = identity->chain_pem, .key_pem = identity->key_pem}, clock_,
      kConnectPatience_ms);
  if (!connection) {
    return Error{.code = connection.error().code, .message = url + ": " + connection.error().message};
  }
  http::Request request{.method = "GET",
                        .target = http::target_of({"v1", "routers", membership_.name, "link"}),
                        .headers = {{"Host", where->address},
                                    {"Connection", "Upgrade"},
                                    {"Upgrade", std::string(kLinkProtocol)},
                                    {std::string(kLinkVersionsHeader),
                                     std::to_string(kLeastLinkVersion) + "-" + std::to_string(kMostLinkVersion)}}};
  (*connection)->send(http::head_of(request));
  std::string input;
  http::AnswerParser parser(http::MessageLimits{});
  const int64_t until_ms = clock_.monotonic_ns() / 1'000'000 + kConnectPatience_ms;
  while (true) {
    if (!(*connection)->flush()) return Error{.code = Code::unavailable, .message = url + " has closed the connection"};
    const auto got = (*connection)->read(input);
    const size_t head = input.find("\r\n\r\n");
    if (input.starts_with("HTTP/1.1 101 ") && head != std::string::npos) {
      reader_ = LinkReader();
      reader_.input() = input.substr(head + 4);
      connection_ = *std::move(connection);
      return {};
    }
    if (!input.starts_with("HTTP/1.1 101 ") && !input.empty()) {
      auto whole = parser.take(input);
      if (!whole) return whole.error();
      if (*whole) break;
    }
    const int64_t left_ms = until_ms - clock_.monotonic_ns() / 1'000'000;
    pollfd ready{(*connection)->fd(), POLLIN, 0};
    if (got == http::HeldConnection::Read::ended || left_ms <= 0) {
      return Error{.code = Code::unavailable, .message = url + " does not answer"};
    }
    ::poll(&ready, 1, static_cast<int>(left_ms));
  }
  const http::Answer answer = parser.answer();
  const std::string* location = answer.header("Location");
  if (answer.status == 307 && location != nullptr) redirected = *location;
  Error refused = in_answer(answer);
  if (answer.status == 404) {
    refused.message = "the control plane is of a version that has no routers on other machines";
  }
  refused.message = url + ": " + refused.message;
  return refused;
}

// ------------------------------------------------------------------------------------------------------------- obeying

Error LinkAgent::serve_once() {
  linked_ms_ = 0;
  auto membership = read_membership(disk_, home_);
  if (!membership) return membership.error();
  if (!*membership) return Error{.code = Code::not_found, .message = "this home has not joined a control plane"};
  membership_ = **std::move(membership);
  auto trusted = trusted_by(membership_);
  if (!trusted) return trusted.error();
  trusted_ = *std::move(trusted);
  // Without a router there is nobody who could obey.
  if (auto router = router::ControlClient::connect(control(), kConnectPatience_ms); !router) return router.error();
  renew_if_due();
  if (auto connected = connect_to_any(); !connected) return connected.error();
  const int64_t begun_ms = clock_.monotonic_ns() / 1'000'000;
  narrate_link(clock_, "linked with " + connection_->address());
  Error why = obey();
  while (!streams_.empty()) close(streams_.begin()->first, false);
  connection_.reset();
  linked_ms_ = clock_.monotonic_ns() / 1'000'000 - begun_ms;
  return why;
}

std::string LinkAgent::hello() const {
  const FilesVersion files = files_taken(disk_, home_);
  auto text = read_file(disk_, (home_.root() / "router" / membership_.name / "router.json").string(), kMostRequestLine);
  auto record = text ? parse_json(*text) : Result<Document>(text.error());
  const json::object* known = record ? record->root.if_object() : nullptr;
  const json::value* listen = known != nullptr ? known->if_contains("listen") : nullptr;
  return write(json::object{{"version", version_number()},
                            {"listen", listen != nullptr ? *listen : json::value(json::array())},
                            {"files", {{"token", files.token}, {"version", files.version}}}});
}

Error LinkAgent::obey() {
  heard_ms_ = said_ms_ = clock_.monotonic_ns() / 1'000'000;
  say(LinkKind::hello, 0, hello());
  while (true) {
    if (auto heard = hear(); !heard) return heard.error();
    const int64_t now_ms = clock_.monotonic_ns() / 1'000'000;
    if (now_ms - heard_ms_ > kLinkSilence_ms) {
      return Error{.code = Code::timeout, .message = "the control plane has said nothing for five seconds"};
    }
    if (now_ms - said_ms_ > kLinkBeat_ms) say(LinkKind::beat, 0, "");
    renew_if_due();
    if (!connection_->flush()) return Error{.code = Code::unavailable, .message = "the connection has broken"};
    std::vector<pollfd> ready = {
        {connection_->fd(), static_cast<short>(connection_->is_sending() ? POLLIN | POLLOUT : POLLIN), 0}};
    std::vector<uint32_t> numbers;
    for (const auto& [number, stream] : streams_) {
      ready.push_back({stream.fd, static_cast<short>(stream.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
      numbers.push_back(number);
    }
    ::poll(ready.data(), ready.size(), static_cast<int>(kLinkBeat_ms / 3));
    for (size_t i = 0; i < numbers.size(); ++i) {
      if ((ready[i + 1].revents & POLLOUT) != 0) flush(numbers[i]);
      if ((ready[i + 1].revents & ~POLLOUT) != 0) answer(numbers[i]);
    }
  }
}

Result<void> LinkAgent::hear() {
  const auto got = connection_->read(reader_.input());
  if (got == http::HeldConnection::Read::some) heard_ms_ = clock_.monotonic_ns() / 1'000'000;
  while (true) {
    auto frame = reader_.take();
    if (!frame) return frame.error();
    if (!*frame) break;
    if (auto obeyed = obey(**std::move(frame)); !obeyed) return obeyed;
  }
  if (got != http::HeldConnection::Read::ended) return {};
  return Error{.code = Code::unavailable, .message = "the control plane has closed the connection"};
}

Result<void> LinkAgent::obey(LinkFrame frame) {
  if (frame.kind == LinkKind::files) keep_files_of(frame.bytes);
  if (frame.kind == LinkKind::urls) {
    auto urls = parse_json(frame.bytes);
    auto read = urls ? sluice::read<std::vector<std::string>>(*urls) : Result<std::vector<std::string>>(urls.error());
    if (read && *read != membership_.urls) {
      membership_.urls = *std::move(read);
      (void)write_membership(disk_, home_, membership_);
    }
  }
  if (frame.kind == LinkKind::data && (streams_.contains(frame.stream) || open(frame.stream))) {
    take(streams_.at(frame.stream), frame.bytes);
    flush(frame.stream);
  }
  if (frame.kind == LinkKind::end) close(frame.stream, false);
  return {};
}

bool LinkAgent::open(uint32_t number) {
  auto socket =
      streams_.size() < kMostStreams ? http::connect_unix(control()) : Result<http::Socket>(Error{.code = Code::limit});
  if (!socket) {
    say(LinkKind::end, number, "");
    return false;
  }
  streams_[number].fd = socket->release();
  return true;
}

// Whole lines go on, each with the bytes that belong to it.
void LinkAgent::take(Stream& stream, std::string_view bytes) {
  stream.in += bytes;
  while (!stream.in.empty() && !stream.ended) {
    if (stream.bytes_left > 0) {
      const size_t size = std::min(stream.bytes_left, stream.in.size());
      stream.out += stream.in.substr(0, size);
      stream.in.erase(0, size);
      stream.bytes_left -= size;
      continue;
    }
    const size_t end = stream.in.find('\n');
    if (end == std::string::npos && stream.in.size() <= kMostRequestLine) return;
    auto request = parse_json(std::string_view(stream.in).substr(0, end), "", {.max_depth = 8});
    const json::object* asked = request ? request->root.if_object() : nullptr;
    const std::string op = asked != nullptr ? text_of_member(*asked, "op") : "";
    if (std::ranges::find(kLinkOps, op) == std::end(kLinkOps)) {
      stream.ended = true;  // what it has asked before is answered
      return;
    }
    const json::value* size = asked->if_contains("bytes");
    stream.bytes_left =
        size != nullptr && size->is_int64() && size->get_int64() > 0 ? static_cast<size_t>(size->get_int64()) : 0;
    stream.certificates = op == "certificates";
    stream.out += stream.in.substr(0, end + 1);
    stream.in.erase(0, end + 1);
  }
}

void LinkAgent::flush(uint32_t number) {
  auto found = streams_.find(number);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  size_t sent = 0;
  while (sent < stream.out.size()) {
    const ssize_t put = ::send(stream.fd, stream.out.data() + sent, stream.out.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (put < 0) return close(number, true);
    sent += static_cast<size_t>(put);
  }
  stream.out.erase(0, sent);
  if (stream.ended && stream.out.empty()) close(number, true);
}

// The router's folder stands for the control plane's: certificates come from there.
std::string LinkAgent::in_words_of_control_plane(const std::string& answer) const {
  auto parsed = parse_json(answer);
  json::object* said = parsed ? parsed->root.if_object() : nullptr;
  if (said == nullptr || folder_there_.empty()) return answer;
  const std::string here = (home_.root() / "tls").string();
  if (text_of_member(*said, "folder") == here) (*said)["folder"] = folder_there_;
  if (text_of_member(*said, "challenges_folder") == here + "/.challenges") {
    (*said)["challenges_folder"] = folder_there_ + "/.challenges";
  }
  return write(*said) + "\n";
}

void LinkAgent::answer(uint32_t number) {
  auto found = streams_.find(number);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  std::array<char, kAgentPiece> piece;
  const ssize_t got = ::recv(stream.fd, piece.data(), piece.size(), 0);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (got <= 0) return close(number, true);
  const std::string_view bytes(piece.data(), static_cast<size_t>(got));
  if (!stream.certificates) return say(LinkKind::data, number, bytes);
  stream.answer += bytes;
  if (!stream.answer.ends_with('\n')) return;
  say(LinkKind::data, number, in_words_of_control_plane(std::exchange(stream.answer, "")));
}

void LinkAgent::close(uint32_t number, bool tell) {
  auto found = streams_.find(number);
  if (found == streams_.end()) return;
  ::close(found->second.fd);
  streams_.erase(found);
  if (tell) say(LinkKind::end, number, "");
}

void LinkAgent::say(LinkKind kind, uint32_t stream, std::string_view bytes) {
  connection_->send(link_frame(kind, stream, bytes));
  said_ms_ = clock_.monotonic_ns() / 1'000'000;
}

void LinkAgent::keep_files_of(const std::string& carried) {
  auto kept = keep_files(disk_, home_, carried, trusted_, clock_.wall_ms());
  if (!kept) return narrate_link(clock_, "certificates are refused: " + kept.error().message);
  folder_there_ = kept->folder;
  for (const std::string& each : kept->left_out) narrate_link(clock_, "a certificate is left out: " + each);
  auto router = router::ControlClient::connect(control(), kConnectPatience_ms);
  if (router) (void)router->ask({{"op", "certificates"}});
}

void LinkAgent::renew_if_due() {
  const int64_t now_ms = clock_.monotonic_ns() / 1'000'000;
  if (now_ms < renew_at_ms_) return;
  renew_at_ms_ = now_ms + kLookAtCertificate_ms;
  auto identity = link_identity(disk_, home_);
  if (!identity) return;
  const int64_t left_ms = identity->until_ms - clock_.wall_ms();
  if (left_ms > kRouterCertificate_ms * 2 / 3) return;
  auto renewed = renew_membership(disk_, home_, clock_, membership_, kConnectPatience_ms);
  // Without one that holds nothing is linked, so it is tried again soon.
  if (left_ms > 0) renew_at_ms_ = now_ms + kRenewAgain_ms;
  narrate_link(clock_, renewed ? "the router's certificate was renewed"
                               : "the router's certificate, which holds until " + utc_text(identity->until_ms) +
                                     ", was not renewed: " + renewed.error().message);
}

// ------------------------------------------------------------------------------------------------------- the process

std::vector<std::string> link_process_words(const Home& home) { return {std::string(kLinkWord), home.root().string()}; }

std::optional<int> serve_as_link(int count, char** words, Disk& disk) {
  if (count != 3 || words[1] != kLinkWord) return std::nullopt;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  RealClock clock;
  const Home home(disk, words[2]);
  auto folder = home.folder("router");
  auto lock = folder ? LockFile::acquire(disk, clock, (*folder / "link.lock").string(), kLock_ms)
                     : Result<LockFile>(folder.error());
  if (!lock) {
    narrate_link(clock, lock.error().message);
    return 1;
  }
  LinkAgent agent(disk, home, clock);
  std::string told;
  int64_t pause_ms = 0;
  while (true) {
    const Error why = agent.serve_once();
    if (why.message != told || agent.linked_ms() > 0) {
      narrate_link(clock, "not linked, the router serves what it has: " + why.message);
    }
    told = why.message;
    const bool calm = agent.linked_ms() > kCalmLink_ms;
    pause_ms = calm ? kFirstPause_ms : std::clamp(2 * pause_ms, kFirstPause_ms, kLongestPause_ms);
    clock.sleep_ms(pause_ms);
  }
}

}  // namespace sluice::host
