// Everything but `take` and `forget` happens on the hub's own thread.
#include "host/link/link_hub.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/thread_name.h"
#include "http/socket.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr size_t kLinkPiece = size_t{64} << 10U;
constexpr size_t kMostWaiting = size_t{4} << 20U;  // for one link, before its streams wait
constexpr int kLookAtLinks_ms = 250;
constexpr int64_t kLookAtFiles_ms = 1'000;
constexpr size_t kMostEvents = 256;
constexpr std::string_view kCertificatesOp = R"({"op":"certificates")";

int64_t version_at(const json::object& hello, std::string_view name) {
  const json::value* files = hello.if_contains("files");
  const json::value* value = files != nullptr && files->is_object() ? files->get_object().if_contains(name) : nullptr;
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

}  // namespace

LinkHub::LinkHub(Means means)
    : means_(std::move(means)),
      poll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Result<std::unique_ptr<LinkHub>> LinkHub::start(Means means, const std::vector<JoinedRouter>& joined) {
  std::unique_ptr<LinkHub> hub(new LinkHub(std::move(means)));
  if (hub->poll_ < 0 || hub->wake_ < 0) return error_from(errno, "make", "what waits for routers");
  // A router that has joined is missed, rather than gone, while it is not linked; here and after a takeover.
  for (const JoinedRouter& each : joined) {
    if (auto there = hub->means_.disk.exists(hub->folder_of(each.name) + "/router.json"); there && *there) continue;
    if (auto written = hub->write_record(each, "", ""); !written) return written.error();
  }
  hub->watch(hub->wake_, EPOLLIN, {});
  hub->thread_ = std::thread([&self = *hub] {
    name_this_thread("links");
    self.run();
  });
  return hub;
}

LinkHub::~LinkHub() {
  stopping_ = true;
  if (thread_.joinable()) {
    (void)::eventfd_write(wake_, 1);
    thread_.join();
  }
  for (auto& [name, link] : links_) link->lost = true;
  drop_lost();
  if (poll_ >= 0) ::close(poll_);
  if (wake_ >= 0) ::close(wake_);
}

void LinkHub::take(JoinedRouter router, std::unique_ptr<http::HeldConnection> connection, std::string input) {
  {
    const std::lock_guard guard(mutex_);
    new_.push_back({std::move(router), std::move(connection), std::move(input)});
  }
  (void)::eventfd_write(wake_, 1);
}

void LinkHub::forget(const std::string& name) { take({.name = name}, nullptr, {}); }

std::string LinkHub::folder_of(const std::string& name) const {
  return (means_.home.root() / "router" / name).string();
}

// The lines that are read of a router of this home; where it listens is its own machine's.
Result<void> LinkHub::write_record(const JoinedRouter& router, const std::string& address, const std::string& hello) {
  const std::string folder = folder_of(router.name);
  if (auto routers = means_.home.folder("router"); !routers) return routers.error();
  if (auto made = means_.disk.make_folder(folder, 0700); !made && made.error().code != Code::conflict) return made;
  auto said = parse_json(hello.empty() ? "{}" : hello);
  json::object record{{"schema", "sluice.router-process.v1"},
                      {"name", router.name},
                      {"router", router.router},
                      {"pid", 0},
                      {"listen", json::array()},
                      {"control", folder + "/control.sock"},
                      {"environment", router.environment},
                      {"machine", router.machine},
                      {"address", address},
                      {"joined", said ? said->root : json::value()}};
  return write_atomically(means_.disk, folder + "/router.json", sluice::write(record) + "\n", 0600);
}

// ------------------------------------------------------------------------------------------------------------ the loop

void LinkHub::watch(int fd, uint32_t events, Watched watched) {
  epoll_event event{.events = events, .data = {.fd = fd}};
  ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
  watched_[fd] = watched;
}

void LinkHub::watch_again(int fd, uint32_t events) {
  epoll_event event{.events = events, .data = {.fd = fd}};
  ::epoll_ctl(poll_, EPOLL_CTL_MOD, fd, &event);
}

void LinkHub::unwatch(int fd) {
  ::epoll_ctl(poll_, EPOLL_CTL_DEL, fd, nullptr);
  watched_.erase(fd);
}

void LinkHub::run() {
  std::array<epoll_event, kMostEvents> events;
  while (!stopping_) {
    const int found = ::epoll_wait(poll_, events.data(), events.size(), kLookAtLinks_ms);
    for (int i = 0; i < found; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == wake_) {
        eventfd_t ignored = 0;
        (void)::eventfd_read(wake_, &ignored);
        take_new();
        continue;
      }
      auto known = watched_.find(fd);
      if (known == watched_.end() || known->second.link->lost) continue;
      const Watched what = known->second;
      Link& link = *what.link;
      const uint32_t ready = events[static_cast<size_t>(i)].events;
      if (what.as == Watched::As::connection) {
        if ((ready & EPOLLOUT) != 0) flush(link);
        if ((ready & ~EPOLLOUT) != 0) hear(link);
      } else if (what.as == Watched::As::listener) {
        accept(link);
      } else {
        if ((ready & EPOLLOUT) != 0) write(link, what.stream);
        if ((ready & ~EPOLLOUT) != 0) read(link, what.stream);
      }
    }
    drop_lost();
    look_at_times();
  }
}

void LinkHub::take_new() {
  std::vector<New> fresh;
  {
    const std::lock_guard guard(mutex_);
    fresh.swap(new_);
  }
  for (New& each : fresh) {
    if (auto known = links_.find(each.router.name); known != links_.end()) {
      known->second->lost = true;
      drop_lost();
    }
    if (each.connection) {
      begin(std::move(each.router), std::move(each.connection), std::move(each.input));
    } else {
      (void)means_.disk.remove(folder_of(each.router.name) + "/router.json");
    }
  }
}

void LinkHub::begin(JoinedRouter router, std::unique_ptr<http::HeldConnection> connection, std::string input) {
  auto link = std::make_unique<Link>();
  link->router = std::move(router);
  link->connection = std::move(connection);
  link->reader.input() = std::move(input);
  link->heard_ms = link->said_ms = means_.clock.monotonic_ns() / 1'000'000;
  Link& here = *link;
  links_[here.router.name] = std::move(link);
  watch(here.connection->fd(), EPOLLIN, {.link = &here});
  hear(here);
}

void LinkHub::look_at_times() {
  const int64_t now_ms = means_.clock.monotonic_ns() / 1'000'000;
  if (now_ms - looked_ms_ < kLookAtLinks_ms) return;
  looked_ms_ = now_ms;
  bool changed = false;
  if (!links_.empty() && now_ms - looked_at_files_ms_ >= kLookAtFiles_ms) {
    looked_at_files_ms_ = now_ms;
    changed = files_stamp() != files_stamp_;
  }
  for (auto& [name, link] : links_) {
    if (now_ms - link->heard_ms > kLinkSilence_ms) {
      link->lost = true;
      continue;
    }
    if (link->listening >= 0) send_urls(*link);
    if (link->listening >= 0 && changed) send_files(*link);
    if (now_ms - link->said_ms > kLinkBeat_ms) say(*link, LinkKind::beat, 0, "");
    flush(*link);
  }
  drop_lost();
}

void LinkHub::drop_lost() {
  std::erase_if(links_, [&](auto& each) {
    Link& link = *each.second;
    if (!link.lost) return false;
    unwatch(link.connection->fd());
    while (!link.streams.empty()) close(link, link.streams.begin()->first);
    if (link.listening >= 0) {
      unwatch(link.listening);
      ::close(link.listening);
      (void)means_.disk.remove(folder_of(each.first) + "/control.sock");
      means_.log("the router " + each.first + " is not linked any more");
    }
    return true;
  });
}

// ------------------------------------------------------------------------------------------------- the router's end

void LinkHub::hear(Link& link) {
  const auto got = link.connection->read(link.reader.input());
  if (got == http::HeldConnection::Read::ended) link.lost = true;
  if (got == http::HeldConnection::Read::some) link.heard_ms = means_.clock.monotonic_ns() / 1'000'000;
  while (!link.lost) {
    auto frame = link.reader.take();
    if (!frame) {
      means_.log("the router " + link.router.name + " is cut off: " + frame.error().message);
      link.lost = true;
    } else if (!*frame) {
      break;
    } else {
      obey(link, **std::move(frame));
    }
  }
  if (!link.lost) flush(link);
}

void LinkHub::obey(Link& link, LinkFrame frame) {
  if (frame.kind == LinkKind::hello) return greet(link, frame.bytes);
  auto stream = link.streams.find(frame.stream);
  if (stream == link.streams.end()) return;
  if (frame.kind == LinkKind::end) stream->second.ended = true;
  if (frame.kind == LinkKind::data) stream->second.out += frame.bytes;
  if (frame.kind == LinkKind::data || frame.kind == LinkKind::end) write(link, frame.stream);
}

void LinkHub::greet(Link& link, const std::string& hello) {
  auto said = parse_json(hello, "hello");
  if (link.listening >= 0 || !said || !said->root.is_object()) {
    link.lost = true;
    return;
  }
  // Whatever was sent before, by another clock perhaps, is older than what is sent now.
  const FilesVersion has{.token = version_at(said->root.get_object(), "token"),
                         .version = version_at(said->root.get_object(), "version")};
  if (has.token == means_.token && has.version >= files_version_.version) {
    files_version_.version = has.version;
    files_.clear();
  }
  auto recorded = write_record(link.router, link.connection->address(), hello);
  auto listening = recorded ? http::listen_unix(means_.disk, folder_of(link.router.name) + "/control.sock")
                            : Result<http::Socket>(recorded.error());
  if (!listening) {
    means_.log("the router " + link.router.name + " cannot be linked: " + listening.error().message);
    link.lost = true;
    return;
  }
  link.listening = listening->release();
  watch(link.listening, EPOLLIN, {.link = &link, .as = Watched::As::listener});
  send_urls(link);
  send_files(link);
  means_.log("the router " + link.router.name + " is linked, from " + link.connection->address());
}

void LinkHub::say(Link& link, LinkKind kind, uint32_t stream, std::string_view bytes) {
  link.connection->send(link_frame(kind, stream, bytes));
  link.said_ms = means_.clock.monotonic_ns() / 1'000'000;
}

void LinkHub::flush(Link& link) {
  if (!link.connection->flush()) {
    link.lost = true;
    return;
  }
  const bool writes = link.connection->is_sending();
  if (writes != link.writes) watch_again(link.connection->fd(), writes ? EPOLLIN | EPOLLOUT : EPOLLIN);
  link.writes = writes;
  if (link.connection->waiting() > kMostWaiting) return;
  for (auto& [number, stream] : link.streams) {
    if (!std::exchange(stream.paused, false)) continue;
    watch_again(stream.fd, stream.out.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
  }
}

void LinkHub::send_urls(Link& link) {
  json::array urls;
  for (const std::string& each : means_.urls()) urls.emplace_back(each);
  std::string text = sluice::write(urls);
  if (text == link.urls) return;
  say(link, LinkKind::urls, 0, text);
  link.urls = std::move(text);
}

// Changes with every file that is replaced, added or removed.
std::string LinkHub::files_stamp() const {
  std::string stamp;
  const std::string folder = (means_.home.root() / "tls").string();
  auto add = [&](const std::string& path) {
    auto stat = means_.disk.stat(path, FollowLinks::yes);
    if (stat) stamp += path + " " + std::to_string(stat->mtime_ns) + " " + std::to_string(stat->inode) + "\n";
  };
  if (auto all = means_.disk.list(folder)) {
    for (const FolderEntry& each : *all) {
      for (const char* file : {"/chain.pem", "/key.pem"}) add(folder + "/" + each.name + file);
    }
  }
  if (auto all = means_.disk.list(folder + "/.challenges")) {
    for (const FolderEntry& each : *all) add(folder + "/.challenges/" + each.name);
  }
  return stamp;
}

void LinkHub::send_files(Link& link) {
  std::string stamp = files_stamp();
  if (files_.empty() || stamp != files_stamp_) {
    auto files = read_files(means_.disk, means_.home);
    auto key = files ? means_.key() : Result<crypto::PrivateKey>(files.error());
    if (!key) return means_.log("certificates are not sent to routers: " + key.error().message);
    const int64_t wall_ms = means_.clock.wall_ms();
    files_version_ = {.token = means_.token, .version = std::max(wall_ms, files_version_.version + 1)};
    auto packed = sign_files(*files, files_version_, *key);
    if (!packed) return means_.log("certificates are not sent to routers: " + packed.error().message);
    files_ = *std::move(packed);
    files_stamp_ = std::move(stamp);
  }
  say(link, LinkKind::files, 0, files_);
}

// -------------------------------------------------------------------------------------------- whoever asks a router

void LinkHub::accept(Link& link) {
  while (true) {
    const int fd = ::accept4(link.listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    const uint32_t number = ++link.last_stream;
    link.streams[number].fd = fd;
    watch(fd, EPOLLIN, {.link = &link, .as = Watched::As::stream, .stream = number});
    read(link, number);
  }
}

void LinkHub::read(Link& link, uint32_t number) {
  std::array<char, kLinkPiece> piece;
  while (true) {
    auto found = link.streams.find(number);
    if (found == link.streams.end()) return;
    Stream& stream = found->second;
    if (link.connection->waiting() > kMostWaiting) {
      stream.paused = true;
      watch_again(stream.fd, stream.out.empty() ? 0U : static_cast<uint32_t>(EPOLLOUT));
      break;
    }
    const ssize_t got = ::recv(stream.fd, piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got <= 0) {
      if (stream.asked) say(link, LinkKind::end, number, "");
      close(link, number);
      break;
    }
    const std::string_view bytes(piece.data(), static_cast<size_t>(got));
    stream.asked = true;
    if (bytes.starts_with(kCertificatesOp)) send_files(link);
    say(link, LinkKind::data, number, bytes);
  }
  flush(link);
}

void LinkHub::write(Link& link, uint32_t number) {
  auto found = link.streams.find(number);
  if (found == link.streams.end()) return;
  Stream& stream = found->second;
  size_t sent = 0;
  while (sent < stream.out.size()) {
    const ssize_t put = ::send(stream.fd, stream.out.data() + sent, stream.out.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (put < 0) return close(link, number);
    sent += static_cast<size_t>(put);
  }
  stream.out.erase(0, sent);
  if (stream.out.empty() && stream.ended) return close(link, number);
  const uint32_t reads = stream.paused ? 0U : static_cast<uint32_t>(EPOLLIN);
  watch_again(stream.fd, stream.out.empty() ? reads : reads | EPOLLOUT);
}

void LinkHub::close(Link& link, uint32_t number) {
  auto found = link.streams.find(number);
  if (found == link.streams.end()) return;
  unwatch(found->second.fd);
  ::close(found->second.fd);
  link.streams.erase(found);
}

}  // namespace sluice::host
