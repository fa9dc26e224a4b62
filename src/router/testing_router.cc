// Small sockets that wait, as only tests may.
#include "router/testing_router.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_wait.h"
#include "router/control_client.h"
#include "router/listening.h"
#include "router/worker_process.h"

namespace sluice::router {

TestingServer::TestingServer(std::string body) : body_(std::move(body)) {
  auto place = listen_at(*parse_address("127.0.0.1:0"), 1);
  listener_ = place->fds.front();
  port_ = place->address.port();
  thread_ = std::thread([this] { serve(); });
}

TestingServer::~TestingServer() {
  stop_ = true;
  thread_.join();
  ::close(listener_);
}

std::string TestingServer::address() const { return "tcp:127.0.0.1:" + std::to_string(port_); }

void TestingServer::serve() {
  std::vector<pollfd> watched = {{listener_, POLLIN, 0}};
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body_.size()) + "\r\n\r\n" + body_;
  while (!stop_) {
    ::poll(watched.data(), watched.size(), 20);
    if (watched[0].revents != 0) {
      int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) watched.push_back({fd, POLLIN, 0});
    }
    for (size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      char bytes[65'536];
      if (::recv(watched[i].fd, bytes, sizeof bytes, 0) <= 0) {
        ::close(watched[i].fd);
        watched.erase(watched.begin() + static_cast<std::ptrdiff_t>(i--));
        continue;
      }
      ::send(watched[i].fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }
  for (size_t i = 1; i < watched.size(); ++i) ::close(watched[i].fd);
}

TestingRouter::TestingRouter(const TableDocument* table) {
  RealDisk disk;
  options.folder = folder.path();
  options.listen = {"127.0.0.1:0"};
  options.threads = 2;
  options.trusted = {key.public_key()};
  if (table != nullptr) {
    options.table_file = folder.path("table.json");
    bool written = write_atomically(disk, options.table_file, write(to_json(*table)), 0600).has_value();
    assert(written);
  }
  start();
}

void TestingRouter::start() {
  RealDisk disk;
  auto child = WorkerProcess::begin([this] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    RealDisk own;
    return run_router(options, own, [](const std::string&) {}) ? 0 : 1;
  });
  pid = child->pid();
  std::string record = folder.path("router.json");
  bool listens = eventually([&] { return disk.exists(record).value(); });
  assert(listens);
  auto line = parse_json(*read_file(disk, record, 10'000));
  listen = line->root.at("listen").at(0).as_string();
  admin = line->root.at("admin").as_string();
  control = line->root.at("control").as_string();
}

TestingRouter::~TestingRouter() {
  if (pid != 0) {
    stop();
  } else if (int worker = worker_pid(); worker != 0) {
    ::kill(worker, SIGKILL);
  }
}

void TestingRouter::kill_master() {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  pid = 0;
}

bool TestingRouter::stop() {
  ::kill(pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  pid = 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int TestingRouter::worker_pid() const {
  auto client = ControlClient::connect(control);
  if (!client) return 0;
  auto stats = client->ask({{"op", "stats"}});
  return stats ? static_cast<int>(stats->at("worker_pid").as_int64()) : 0;
}

std::string TestingRouter::fetch_at(const std::string& text, const std::string& request) {
  auto address = parse_address(text);
  int fd = ::socket(address->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string answer;
  if (::connect(fd, address->raw(), address->size) == 0) {
    ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    ::shutdown(fd, SHUT_WR);
    char bytes[65'536];
    for (ssize_t size; (size = ::recv(fd, bytes, sizeof bytes, 0)) > 0;)
      answer.append(bytes, static_cast<size_t>(size));
  }
  ::close(fd);
  return answer;
}

}  // namespace sluice::router
