// The loop: wait, take the time, take orders, move what has happened, and what goes on by itself.
#include "router/worker_thread.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <latch>
#include <string>

#include "base/disk.h"
#include "base/thread_name.h"

namespace sluice::router {
namespace {

constexpr int kWait_ms = 100;
constexpr int64_t kLogEvery_ms = 500;
constexpr int kAcceptsInATurn = 64;
constexpr int kQueueRounds = 2;
constexpr int64_t kLastWords_ms = 2'000;  // for those who are told at the end of a retirement to go

}  // namespace

Result<std::unique_ptr<WorkerThread>> WorkerThread::make(size_t lane, std::vector<Listener> listeners,
                                                         const Clock& clock, Random& random, Counters& counters,
                                                         LogExchange& log, AddressCounts& addresses, TlsServer* tls) {
  auto wire = SocketWire::open();
  if (!wire) return wire.error();
  int wakeup = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wakeup < 0) return error_from(errno, "make", "an eventfd");
  return std::unique_ptr<WorkerThread>(new WorkerThread(lane, std::move(listeners), *std::move(wire), wakeup, clock,
                                                        random, counters, log, addresses, tls));
}

WorkerThread::WorkerThread(size_t lane, std::vector<Listener> listeners, std::unique_ptr<SocketWire> wire, int wakeup,
                           const Clock& clock, Random& random, Counters& counters, LogExchange& log,
                           AddressCounts& addresses, TlsServer* tls)
    : lane_(lane),
      clock_(clock),
      wire_(std::move(wire)),
      proxy_(*wire_, random, counters, lane, log, now(), addresses) {
  wire_->use(tls);
  wakeup_.fd = wakeup;
  wakeup_.kind = Endpoint::Kind::wakeup;
  wire_->watch_level(wakeup, wakeup_);
  for (const Listener& each : listeners) {
    auto endpoint = std::make_unique<ListeningEndpoint>();
    endpoint->fd = each.fd;
    endpoint->kind = Endpoint::Kind::listener;
    endpoint->listener = each;
    wire_->watch_level(each.fd, *endpoint);
    listeners_.push_back(std::move(endpoint));
  }
}

WorkerThread::~WorkerThread() {
  if (thread_.joinable()) {
    begin_stop(0);
    thread_.join();
  }
  ::close(wakeup_.fd);
}

Now WorkerThread::now() const { return {clock_.monotonic_ns() / 1'000, clock_.wall_ms()}; }

void WorkerThread::start() {
  thread_ = std::thread([this] { run(); });
}

void WorkerThread::wake() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(wakeup_.fd, &one, sizeof one);
}

void WorkerThread::order_table(const Table* table) {
  proxy_.order_table(table);
  wake();
}

void WorkerThread::ask(const std::function<void(Proxy&)>& task) {
  std::latch done(1);
  {
    std::lock_guard lock(mutex_);
    if (has_ended()) return;
    tasks_.push_back([&] {
      task(proxy_);
      done.count_down();
    });
  }
  wake();
  done.wait();
}

void WorkerThread::begin_stop(int64_t deadline_ms) {
  {
    std::lock_guard lock(mutex_);
    if (has_ended()) return;
    tasks_.push_back([this, deadline_ms] {
      if (!stopping_) close_listeners();
      if (!stopping_ || retire_until_ms_ != 0) proxy_.begin_stop();
      stopping_ = true;
      retire_until_ms_ = 0;
      stop_at_ms_ = deadline_ms;
    });
  }
  wake();
}

void WorkerThread::begin_retire(int64_t deadline_ms) {
  {
    std::lock_guard lock(mutex_);
    if (has_ended()) return;
    tasks_.push_back([this, deadline_ms] {
      if (stopping_) return;
      close_listeners();
      proxy_.begin_retire();
      stopping_ = true;
      retire_until_ms_ = deadline_ms;
      stop_at_ms_ = deadline_ms + kLastWords_ms;
    });
  }
  wake();
}

void WorkerThread::run() {
  name_this_thread(("router-" + std::to_string(lane_)).c_str());
  while (true) {
    turn();
    if (!stopping_) continue;
    if (retire_until_ms_ != 0 && now().monotonic_ms() >= retire_until_ms_) {
      retire_until_ms_ = 0;
      proxy_.begin_stop();
    }
    bool over = now().monotonic_ms() >= stop_at_ms_;
    if (over) proxy_.cut_all();
    if (!over && proxy_.clients() > 0) continue;
    break;
  }
  proxy_.hand_over_log();
  std::lock_guard lock(mutex_);
  for (auto& task : tasks_) task();
  tasks_.clear();
  ended_.store(true, std::memory_order_release);
}

void WorkerThread::turn() {
  int wait_ms = more_ ? 0 : kWait_ms;
  if (int64_t run_us = proxy_.next_run_us(); wait_ms > 0 && run_us != INT64_MAX) {
    wait_ms = static_cast<int>(std::clamp<int64_t>((run_us - now().monotonic_us + 999) / 1'000, 0, kWait_ms));
  }
  size_t count = wire_->wait(wait_ms);
  Now time = now();
  proxy_.set_time(time);
  for (size_t i = 0; i < count; ++i) {
    proxy_.catch_up();
    SocketWire::Event event = wire_->event(i);
    switch (event.endpoint->kind) {
      case Endpoint::Kind::client:
        proxy_.happened(static_cast<Client&>(*event.endpoint), event.what);
        break;
      case Endpoint::Kind::upstream:
        proxy_.happened(static_cast<Upstream&>(*event.endpoint), event.what);
        break;
      case Endpoint::Kind::http2:
        proxy_.happened(static_cast<Http2Connection&>(*event.endpoint), event.what);
        break;
      case Endpoint::Kind::shared:
        proxy_.happened(static_cast<SharedUpstream&>(*event.endpoint), event.what);
        break;
      case Endpoint::Kind::redis:
        proxy_.happened_at_redis(event.what);
        break;
      case Endpoint::Kind::listener:
        accept_from(static_cast<ListeningEndpoint&>(*event.endpoint));
        break;
      case Endpoint::Kind::wakeup: {
        uint64_t ignored;
        [[maybe_unused]] ssize_t size = ::read(wakeup_.fd, &ignored, sizeof ignored);
        std::vector<std::function<void()>> tasks;
        {
          std::lock_guard lock(mutex_);
          tasks.swap(tasks_);
        }
        for (auto& task : tasks) task();
        break;
      }
    }
  }
  proxy_.catch_up();
  more_ = true;
  for (int round = 0; more_ && round < kQueueRounds; ++round) more_ = proxy_.run_queue();
  if (time.monotonic_ms() - timers_ms_ >= kWait_ms) {
    timers_ms_ = time.monotonic_ms();
    proxy_.run_timers();
    for (auto& listener : listeners_) {
      if (listener->waits && listener->fd >= 0) wire_->watch_level(listener->fd, *listener);
      listener->waits = false;
    }
    clients_.store(proxy_.clients(), std::memory_order_relaxed);
    exchanges_.store(proxy_.exchanges(), std::memory_order_relaxed);
    held_.store(proxy_.held(), std::memory_order_relaxed);
  }
  if (time.monotonic_ms() - log_ms_ >= kLogEvery_ms) {
    log_ms_ = time.monotonic_ms();
    proxy_.hand_over_log();
  }
  proxy_.rest();
}

void WorkerThread::accept_from(ListeningEndpoint& listener) {
  for (int i = 0; i < kAcceptsInATurn && listener.fd >= 0; ++i) {
    Address peer;
    peer.size = sizeof peer.storage;
    int fd =
        ::accept4(listener.fd, reinterpret_cast<sockaddr*>(&peer.storage), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
      if (proxy_.evict()) continue;
      wire_->forget(listener.fd);
      listener.waits = true;
    }
    if (fd < 0) return;
    const Arrival& arrival = listener.listener.arrival;
    if (!(arrival.at_unix ? proxy_.admits_unix() : proxy_.admits(peer))) {
      ::close(fd);
      continue;
    }
    if (!arrival.at_unix) {
      int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    Client* client = proxy_.accept(fd, peer, arrival);
    if (!wire_->watch(fd, *client, arrival.at_unix)) proxy_.happened(*client, {.broken = true});
  }
}

void WorkerThread::close_listeners() {
  for (auto& listener : listeners_) {
    wire_->forget(listener->fd);
    ::close(listener->fd);
    listener->fd = -1;
  }
}

}  // namespace sluice::router
