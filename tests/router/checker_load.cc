// The load of the checker: one thread and epoll.
#include "checker_load.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "checker_wire.h"

namespace sluice::checker {
namespace {

constexpr double kPatience_s = 30;

volatile sig_atomic_t told_to_end = 0;

struct Client {
  bool socket = false;
  int fd = -1;
  bool connecting = false;
  bool waits_to_write = false;
  int served = 0;
  bool asked = false;  // an answer is awaited
  bool in_body = false;
  bool open = false;  // the WebSocket is
  bool last = false;
  double since_s = 0;
  uint64_t seed = 0, size = 0;
  std::string in, out, cookie, revision;
  Head head;
  BodyReader body;
};

template <class Key>
std::string as_json(const std::map<Key, uint64_t>& counts) {
  std::string text = "{";
  for (const auto& [name, count] : counts) {
    std::string key;
    if constexpr (std::is_same_v<Key, int>) {
      key = std::to_string(name);
    } else {
      key = name;
    }
    text += (text.size() > 1 ? ", \"" : "\"") + key + "\": " + std::to_string(count);
  }
  return text + "}";
}

class Run {
 public:
  explicit Run(const Load& load) : load_(load), poll_(::epoll_create1(0)) {
    for (int i = 0; i < load.connections + load.sockets; ++i) {
      clients_.push_back(std::make_unique<Client>());
      clients_.back()->socket = i >= load.connections;
    }
  }

  int to_the_end() {
    start_s_ = now_s();
    for (auto& client : clients_) open(*client);
    double told_s = start_s_;
    std::vector<epoll_event> events(1024);
    while (!ended()) {
      int count = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), resting_.empty() ? 10 : 1);
      for (int i = 0; i < count; ++i) {
        auto& event = events[static_cast<size_t>(i)];
        auto* client = static_cast<Client*>(event.data.ptr);
        if (client->fd >= 0) go_on(*client, event.events);
      }
      wake_resting();
      if (double now = now_s(); now - told_s >= 0.1) {
        told_s = now;
        look_for_timeouts(now);
        tell(false);
      }
    }
    tell(true);
    return counts_.failed == 0 ? 0 : 1;
  }

 private:
  // Ends in order: nothing new is asked, and what was asked is waited for.
  bool ended() {
    bool enough = told_to_end != 0 || (load_.seconds > 0 && now_s() - start_s_ >= load_.seconds) ||
                  (load_.requests > 0 && begun_ >= load_.requests);
    if (enough) ending_ = true;
    return ending_ && std::none_of(clients_.begin(), clients_.end(),
                                   [](const auto& client) { return client->asked || client->connecting; });
  }

  void watch(Client& client, int how) {
    epoll_event event{.events = EPOLLIN | (client.waits_to_write ? static_cast<uint32_t>(EPOLLOUT) : 0u),
                      .data = {.ptr = &client}};
    ::epoll_ctl(poll_, how, client.fd, &event);
  }

  void open(Client& client) {
    if (ending_) return;
    client.in.clear();
    client.out.clear();
    client.served = 0;
    client.asked = client.in_body = client.open = client.last = false;
    client.fd = connect_to(load_.endpoint);
    if (client.fd < 0) {
      fail(client, "connect");
      return;
    }
    client.connecting = client.waits_to_write = true;
    client.since_s = now_s();
    watch(client, EPOLL_CTL_ADD);
  }

  void shut(Client& client) {
    if (client.fd >= 0) ::close(client.fd);
    client.fd = -1;
    client.connecting = client.asked = client.open = false;
  }

  // A failure ends its connection; the next is a new one, after a pause, as a refusal would be met again at once.
  void fail(Client& client, const char* why) {
    ++counts_.requests;
    ++counts_.failed;
    ++counts_.failures[why];
    shut(client);
    client.since_s = now_s() + 0.02;
    resting_.push_back(&client);
  }

  void wake_resting() {
    double now = now_s();
    std::vector<Client*> due;
    due.swap(resting_);
    for (Client* client : due) {
      if (client->since_s > now) {
        resting_.push_back(client);
      } else if (client->fd < 0) {
        open(*client);
      } else {
        ask(*client);
      }
    }
  }

  void look_for_timeouts(double now) {
    for (auto& client : clients_) {
      if ((client->asked || client->connecting) && now - client->since_s > kPatience_s) fail(*client, "timeout");
    }
  }

  void go_on(Client& client, uint32_t events) {
    if (client.connecting) {
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(client.fd, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return fail(client, "connect");
      client.connecting = false;
      return ask(client);
    }
    if ((events & EPOLLOUT) != 0 && !flush(client)) return;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    std::array<char, 65536> piece{};
    ssize_t got = ::read(client.fd, piece.data(), piece.size());
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return lost(client);
    client.in.append(piece.data(), static_cast<size_t>(got));
    while (client.fd >= 0 && (client.open ? take_echo(client) : take_answer(client))) {
    }
  }

  // The other end has closed, or the connection broke.
  void lost(Client& client) {
    if (client.socket && client.open) return fail(client, "socket");
    if (client.in_body || !client.in.empty()) return fail(client, "cut");
    if (client.asked) return fail(client, client.served == 0 ? "fresh" : "reused");
    // Nothing was under way: a connection may be closed between two requests.
    shut(client);
    if (!(client.socket && client.last && !load_.reopen_sockets)) open(client);
  }

  bool flush(Client& client) {
    size_t sent = 0;
    while (sent < client.out.size()) {
      ssize_t put = ::send(client.fd, client.out.data() + sent, client.out.size() - sent, MSG_NOSIGNAL);
      if (put < 0 && errno == EAGAIN) break;
      if (put < 0) {
        // What was answered before the end is still to be read.
        client.out.clear();
        sent = 0;
        break;
      }
      sent += static_cast<size_t>(put);
    }
    client.out.erase(0, sent);
    if (client.waits_to_write != !client.out.empty()) {
      client.waits_to_write = !client.out.empty();
      watch(client, EPOLL_CTL_MOD);
    }
    return true;
  }

  void ask(Client& client) {
    if (ending_) return shut(client);
    if (client.socket) return ask_socket(client);
    if (load_.rate > 0 && static_cast<double>(begun_) > (now_s() - start_s_) * load_.rate) {
      client.since_s = 0;
      if (client.waits_to_write) flush(client);
      resting_.push_back(&client);
      return;
    }
    ++begun_;
    client.seed = random_();
    client.size = load_.sizes[random_() % load_.sizes.size()];
    client.asked = true;
    client.since_s = now_s();
    bool post = static_cast<int>(random_() % 100) < load_.post_pct;
    bool chunked = random_() % 2 == 0;
    client.last = load_.churn > 0 && client.served + 1 >= load_.churn;
    client.out += std::string(post ? "POST" : "GET") + (random_() % 2 == 0 ? " /b/" : " /c/") +
                  std::to_string(client.seed) + "/" + std::to_string(client.size) + " HTTP/1.1\r\nHost: " + load_.host +
                  "\r\n";
    if (load_.sessions) client.out += "X-Session: " + std::to_string(client.seed) + "\r\n";
    if (!client.cookie.empty()) client.out += "Cookie: " + client.cookie + "\r\n";
    if (client.last) client.out += "Connection: close\r\n";
    if (post && chunked) {
      client.out += "Transfer-Encoding: chunked\r\n\r\n";
      for (uint64_t at = 0; at < client.size; at += 3000) {
        uint64_t count = std::min<uint64_t>(3000, client.size - at);
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%llx\r\n", static_cast<unsigned long long>(count));
        client.out += text.data();
        append_bytes(client.out, client.seed + 1, at, count);
        client.out += "\r\n";
      }
      client.out += "0\r\n\r\n";
    } else if (post) {
      client.out += "Content-Length: " + std::to_string(client.size) + "\r\n\r\n";
      append_bytes(client.out, client.seed + 1, 0, client.size);
    } else {
      client.out += "\r\n";
    }
    flush(client);
  }

  void ask_socket(Client& client) {
    client.asked = true;
    client.since_s = now_s();
    client.out += "GET /socket HTTP/1.1\r\nHost: " + load_.host +
                  "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    if (!client.cookie.empty()) client.out += "Cookie: " + client.cookie + "\r\n";
    client.out += "\r\n";
    flush(client);
  }

  bool take_answer(Client& client) {
    if (!client.in_body) {
      auto head = take_head(client.in);
      if (!head) {
        if (client.in.size() > 65536) fail(client, "framing");
        return false;
      }
      client.head = *std::move(head);
      std::string_view line = client.head.first_line();
      if (!line.starts_with("HTTP/1.1 ") || !client.asked) return fail(client, "framing"), false;
      if (line.substr(9, 3) == "100") return true;
      if (client.socket && line.substr(9, 3) == "101") return begin_socket(client);
      if (line.substr(9, 3) != "200" || client.socket) return fail(client, "status"), false;
      auto length = client.head.field("Content-Length");
      if (client.head.has_word("Transfer-Encoding", "chunked") && !length) {
        client.body.begin_chunked(client.seed);
      } else if (length) {
        client.body.begin_length(std::strtoull(std::string(*length).c_str(), nullptr, 10), client.seed);
      } else {
        return fail(client, "framing"), false;
      }
      client.in_body = true;
    }
    client.in.erase(0, client.body.take(client.in));
    if (client.body.broken() != nullptr) {
      return fail(client, std::string_view(client.body.broken()) == "wrong_bytes" ? "bytes" : "framing"), false;
    }
    if (!client.body.done()) return false;
    return end_answer(client);
  }

  bool end_answer(Client& client) {
    client.in_body = false;
    if (client.body.length() != client.size) return fail(client, "length"), false;
    if (!client.in.empty()) return fail(client, "framing"), false;
    if (!note_revision(client, counts_.revisions)) return fail(client, "moved"), false;
    ++counts_.requests;
    ++counts_.ok;
    ++client.served;
    counts_.latencies_ms.push_back(static_cast<float>((now_s() - client.since_s) * 1000));
    client.asked = false;
    if (client.last || client.head.has_word("Connection", "close")) {
      shut(client);
      open(client);
    } else {
      ask(client);
    }
    return false;
  }

  // Counts the revision that answered; false if a sticky client has met another.
  bool note_revision(Client& client, std::map<std::string, uint64_t>& counts) {
    std::string revision(client.head.field("X-Revision").value_or("none"));
    ++counts[revision];
    bool stays = !load_.sticky || load_.may_move || client.revision.empty() || client.revision == revision;
    client.revision = revision;
    if (auto cookie = client.head.field("Set-Cookie"); cookie && load_.sticky) {
      client.cookie = std::string(cookie->substr(0, cookie->find(';')));
    }
    return stays;
  }

  bool begin_socket(Client& client) {
    client.open = true;
    client.asked = client.last = false;
    ++counts_.sockets_opened;
    note_revision(client, counts_.socket_revisions);
    send_frame(client);
    return true;
  }

  void send_frame(Client& client) {
    client.seed = random_();
    client.size = random_() % 1500;
    client.since_s = now_s();
    std::string payload;
    append_bytes(payload, client.seed, 0, client.size);
    append_frame(client.out, kBinaryFrame, payload, true);
    flush(client);
  }

  bool take_echo(Client& client) {
    auto frame = take_frame(client.in);
    if (!frame) return false;
    if (frame->opcode == kCloseFrame) {
      int code =
          frame->payload.size() < 2
              ? 1005
              : (static_cast<unsigned char>(frame->payload[0]) << 8 | static_cast<unsigned char>(frame->payload[1]));
      ++counts_.socket_closes[code];
      append_frame(client.out, kCloseFrame, frame->payload, true);
      client.open = false;
      client.last = true;  // the other end closes the connection, which is seen as `lost`
      client.in.clear();
      flush(client);
      return false;
    }
    if (frame->opcode != kBinaryFrame || frame->payload.size() != client.size ||
        !bytes_are(frame->payload, client.seed, 0)) {
      return fail(client, "socket"), false;
    }
    ++counts_.frames;
    if (ending_) {
      shut(client);
    } else {
      send_frame(client);
    }
    return true;
  }

  void tell(bool done) {
    auto& all = counts_.latencies_ms;
    std::string latency;
    if (done && !all.empty()) {
      std::sort(all.begin(), all.end());
      std::array<char, 128> text{};
      std::snprintf(text.data(), text.size(), ", \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f",
                    static_cast<double>(all[all.size() / 2]), static_cast<double>(all[all.size() * 99 / 100]),
                    static_cast<double>(all.back()));
      latency = text.data();
    }
    auto open_sockets =
        std::count_if(clients_.begin(), clients_.end(), [](const auto& client) { return client->open; });
    std::printf(
        "{\"done\": %s, \"seconds\": %.3f, \"requests\": %llu, \"ok\": %llu, \"failed\": %llu, \"frames\": %llu, "
        "\"sockets_opened\": %llu, \"sockets_open\": %ld, \"failures\": %s, \"revisions\": %s, \"socket_revisions\": "
        "%s, "
        "\"socket_closes\": %s%s}\n",
        done ? "true" : "false", now_s() - start_s_, static_cast<unsigned long long>(counts_.requests),
        static_cast<unsigned long long>(counts_.ok), static_cast<unsigned long long>(counts_.failed),
        static_cast<unsigned long long>(counts_.frames), static_cast<unsigned long long>(counts_.sockets_opened),
        static_cast<long>(open_sockets), as_json(counts_.failures).c_str(), as_json(counts_.revisions).c_str(),
        as_json(counts_.socket_revisions).c_str(), as_json(counts_.socket_closes).c_str(), latency.c_str());
    std::fflush(stdout);
  }

  const Load& load_;
  int poll_;
  double start_s_ = 0;
  bool ending_ = false;
  uint64_t begun_ = 0;
  std::mt19937_64 random_{1};
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> resting_;
  Counts counts_;
};

}  // namespace

int run(const Load& load) {
  ::signal(SIGTERM, [](int) { told_to_end = 1; });
  return Run(load).to_the_end();
}

}  // namespace sluice::checker
