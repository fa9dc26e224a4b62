// One connection at a time is enough.
#include "deploy/testing_router.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/real_disk.h"
#include "router/table/order.h"

namespace sluice::deploy {

TestingRouter::TestingRouter(const std::string& folder, const std::string& name, crypto::PublicKey trusted,
                             const std::string& listen)
    : folder_(folder + "/" + name), router_("router-" + name), control_(folder_ + "/control.sock"), trusted_(trusted) {
  std::filesystem::create_directories(folder_);
  std::filesystem::remove(control_);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (control_.size() >= sizeof address.sun_path) throw std::runtime_error("the path is too long");
  std::memcpy(address.sun_path, control_.c_str(), control_.size());
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener_, 16) != 0) {
    throw std::runtime_error("cannot listen at " + control_);
  }
  RealDisk disk;
  const std::string record = write(json::object{{"schema", "sluice.router-process.v1"},
                                                {"name", name},
                                                {"router", router_},
                                                {"pid", ::getpid()},
                                                {"listen", json::array{json::string(listen)}},
                                                {"control", control_}});
  if (!write_atomically(disk, folder_ + "/router.json", record, 0600)) throw std::runtime_error("cannot be written");
  thread_ = std::thread([this] { serve(); });
}

TestingRouter::~TestingRouter() { stop(); }

void TestingRouter::stop(bool in_order) {
  if (listener_ < 0) return;
  ending_ = true;
  thread_.join();
  ::close(listener_);
  listener_ = -1;
  std::filesystem::remove(control_);
  if (in_order) std::filesystem::remove(folder_ + "/router.json");
}

std::vector<std::string> TestingRouter::orders() const {
  std::lock_guard lock(mutex_);
  return orders_;
}

void TestingRouter::set_environment(const std::string& environment) {
  std::lock_guard lock(mutex_);
  environment_ = environment;
}

std::string TestingRouter::last() const {
  std::lock_guard lock(mutex_);
  return last_;
}

void TestingRouter::show(json::object certificates) {
  std::lock_guard lock(mutex_);
  certificates_ = std::move(certificates);
}

void TestingRouter::count_revisions(json::array revisions) {
  std::lock_guard lock(mutex_);
  revisions_ = std::move(revisions);
}

void TestingRouter::count(json::object usage) {
  std::lock_guard lock(mutex_);
  usage_ = std::move(usage);
}

void TestingRouter::serve() {
  while (!ending_) {
    pollfd wait{.fd = listener_, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, 20) <= 0) continue;
    int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    serve_one(fd);
    ::close(fd);
  }
}

void TestingRouter::serve_one(int fd) {
  std::string in;
  char piece[65'536];
  while (true) {
    size_t end = in.find('\n');
    size_t bytes = 0;
    json::object request;
    if (end != std::string::npos) {
      request = parse_json(in.substr(0, end)).value().root.as_object();
      if (const json::value* count = request.if_contains("bytes")) bytes = static_cast<size_t>(count->as_int64());
    }
    if (end != std::string::npos && in.size() >= end + 1 + bytes) {
      std::string line = write(answer(request, in.substr(end + 1, bytes))) + "\n";
      in.erase(0, end + 1 + bytes);
      if (::send(fd, line.data(), line.size(), MSG_NOSIGNAL) < 0) return;
      continue;
    }
    ssize_t size = ::recv(fd, piece, sizeof piece, 0);
    if (size <= 0) return;
    in.append(piece, static_cast<size_t>(size));
  }
}

json::object TestingRouter::answer(const json::object& request, const std::string& bytes) {
  const std::string op(request.at("op").as_string());
  std::lock_guard lock(mutex_);
  if (op == "stats") return {{"environment", environment_}, {"generation", generation_.load()}};
  if (op == "counts") return {{"ok", true}, {"revisions", revisions_}};
  if (op == "usage") return usage_;
  if (op == "certificates") return certificates_;
  if (op == "drain") {
    drains_++;
    const bool busy = busy_ > 0;
    if (busy) busy_--;
    return {{"ok", true}, {"in_flight", busy ? 1 : 0}, {"websockets", 0}, {"done", !busy}};
  }
  return obey(request, bytes);
}

json::object TestingRouter::obey(const json::object& request, const std::string& bytes) {
  auto order = ::sluice::router::read_order(request.at("order").as_string(), bytes, {&trusted_, 1});
  auto refused = [&](const std::string& message) {
    return json::object{{"ok", false}, {"message", message}, {"generation", generation_.load()}};
  };
  if (!order) return refused(order.error().message);
  const bool patch = order->op == ::sluice::router::OrderOp::patch;
  if (patch && order->from != generation_) {
    json::object answer = refused("it does not follow");
    answer["needs"] = "load";
    return answer;
  }
  if (order->generation <= generation_) return refused("it is not newer");
  generation_ = order->generation;
  environment_ = order->environment;
  orders_.push_back((patch ? "patch " : "load ") + std::to_string(order->generation));
  last_ = bytes;
  return {{"ok", true}, {"generation", generation_.load()}, {"quarantined", json::array()}};
}

}  // namespace sluice::deploy
