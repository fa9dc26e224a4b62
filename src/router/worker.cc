// Puts the parts together, and is the loop of the first thread: control, admin, signals and the access log.
#include "router/worker.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/lock_file.h"
#include "base/process_identity.h"
#include "base/random.h"
#include "base/thread_name.h"
#include "base/thread_turns.h"
#include "base/ulid.h"
#include "crypto/base64.h"
#include "router/control.h"
#include "router/counters.h"
#include "router/table/table_keeper.h"
#include "router/tls/tls_server.h"
#include "router/worker_thread.h"

namespace sluice::router {
namespace {

constexpr int kTurn_ms = 200;
constexpr size_t kMaxTableFile = size_t{256} << 20;
constexpr size_t kSpareFiles = 256;

// Writes what the threads hand over.
class LogWriter {
 public:
  LogWriter(Disk& disk, const std::string& path) : stdout_(path == "-") {
    if (stdout_ || path.empty()) return;
    auto file = disk.open(path, {.write = true, .create = true, .mode = 0600});
    if (!file) {
      narrate("the access log cannot be written: " + file.error().message);
      return;
    }
    file_ = *std::move(file);
    if (auto size = file_->size()) offset_ = *size;
  }

  void write(const std::string& lines) {
    if (lines.empty()) return;
    if (stdout_) {
      [[maybe_unused]] ssize_t size = ::write(STDOUT_FILENO, lines.data(), lines.size());
    } else if (file_ && file_->write_at(offset_, lines)) {
      offset_ += lines.size();
    } else {
      dropped_ += lines.size();
    }
  }
  uint64_t dropped() const { return dropped_; }

 private:
  bool stdout_;
  std::unique_ptr<File> file_;
  uint64_t offset_ = 0;
  uint64_t dropped_ = 0;  // bytes
};

ProcessIdentity identity_of(int pid) {
  auto found = identify_process(pid);
  return found ? *found : ProcessIdentity{.pid = pid};
}

class Worker {
 public:
  Worker(const WorkerPlan& plan, const WorkerPlaces& places, Disk& disk)
      : plan_(plan),
        places_(places),
        disk_(disk),
        master_(identity_of(plan.master_pid)),
        state_(disk, plan.folder),
        log_writer_(disk, plan.access_log) {}

  Result<void> begin();
  void run(int signals);
  bool has_master() const {
    auto runs = is_running(master_);
    return runs && *runs;
  }

 private:
  Reported reported() {
    return {.name = plan_.name,
            .router = plan_.router,
            .master_pid = master_.pid,
            .worker_pid = ::getpid(),
            .uptime_s = (clock_.monotonic_ns() - begun_ns_) / 1'000'000'000,
            .counters = *counters_,
            .table = keeper_->table(),
            .digest = keeper_->digest(),
            .state_error = keeper_->state_error(),
            .patches = state_.patches(),
            .patch_bytes = state_.patch_bytes(),
            .threads = threads_,
            .log_dropped = log_.dropped() + log_writer_.dropped(),
            .bounds = bounds_of(keeper_->bounds()),
            .tls = tls_ ? &*tls_ : nullptr,
            .wall_ms = clock_.wall_ms()};
  }
  void publish(const Table* table) {
    for (auto& thread : threads_) thread->order_table(table);
  }
  std::optional<HandedOver> hand_over(int master_pid);
  void read_table_file();
  void read_certificates();
  void tell_quarantined();
  // Whether the worker is to end.
  bool take_signals(int signals);

  const WorkerPlan& plan_;
  const WorkerPlaces& places_;
  Disk& disk_;
  ProcessIdentity master_;
  RealClock clock_;
  RealRandom random_;
  StateFiles state_;
  LogExchange log_;
  AddressCounts addresses_;
  LogWriter log_writer_;
  std::unique_ptr<Counters> counters_;
  std::optional<TlsServer> tls_;  // only with listeners that speak TLS
  std::optional<TableCompiler> compiler_;
  std::vector<std::unique_ptr<WorkerThread>> threads_;
  std::optional<BoundsKeeper> bounds_;
  std::optional<TableKeeper> keeper_;
  int64_t begun_ns_ = 0;
  bool stopping_ = false;
};

Result<void> Worker::begin() {
  begun_ns_ = clock_.monotonic_ns();
  UlidSource ids(clock_, random_);
  auto counters =
      Counters::open(plan_.folder + "/counters", plan_.router, to_string(ids.next()), plan_.threads, plan_.spare);
  if (!counters) return counters.error();
  counters_ = *std::move(counters);
  counters_->rescue_from_disk_faults();
  if (std::string trouble = counters_->trouble(); !trouble.empty()) {
    narrate("what passes is counted in memory, and lost when the router ends: " + trouble);
  }
  compiler_.emplace(random_, [this](const SeriesName& name) { return counters_->series_of(name); });
  if (!plan_.bounds_file.empty()) {
    bounds_.emplace(disk_, clock_, plan_.bounds_file, plan_.bounds_trusted, plan_.folder);
    if (auto found = bounds_->begin(); !found) return found.error();
    if (!bounds_->trouble().empty())
      narrate("the bounds of before hold, and nothing new is obeyed: " + bounds_->trouble());
  }
  keeper_.emplace(
      plan_.router, plan_.trusted, *compiler_, state_, [this](const Table* table) { publish(table); },
      [this](const Table* table) {
        return std::ranges::any_of(threads_, [&](const auto& thread) { return thread->is_at(table); });
      },
      bounds_ ? &*bounds_ : nullptr);
  if (std::ranges::any_of(places_.listen, &ListeningPlace::secure)) {
    tls_.emplace(plan_.tickets, clock_);
    read_certificates();
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  // Of both sides: a client that is served needs a connection upstream, too.
  size_t most = std::max<size_t>(static_cast<size_t>(files.rlim_cur), kSpareFiles * 2) - kSpareFiles;
  for (size_t i = 0; i < plan_.threads; ++i) {
    std::vector<Listener> listeners;
    for (const ListeningPlace& place : places_.listen) {
      listeners.push_back({place.fds[i],
                           {.port = place.address.port(),
                            .at_unix = place.address.family() == AF_UNIX,
                            .secure = place.secure,
                            .proxied = place.proxied}});
    }
    auto thread = WorkerThread::make(i, std::move(listeners), clock_, random_, *counters_, log_, addresses_,
                                     tls_ ? &*tls_ : nullptr);
    if (!thread) return thread.error();
    (*thread)->limit_connections(most / plan_.threads, most);
    auto secure = std::ranges::find_if(places_.listen, &ListeningPlace::secure);
    if (secure != places_.listen.end()) (*thread)->redirect_to(secure->address.port());
    threads_.push_back(*std::move(thread));
  }
  // Before the threads run: the first request finds a table, and nobody is waited for.
  std::vector<std::unique_ptr<WorkerThread>> waiting;
  waiting.swap(threads_);
  if (!plan_.table_file.empty()) {
    read_table_file();
  } else if (std::string fault = keeper_->begin(); !fault.empty()) {
    narrate("what was kept is not whole: " + fault);
  }
  waiting.swap(threads_);
  for (auto& thread : threads_) {
    thread->order_table(keeper_->table().get());
    thread->start();
  }
  tell_quarantined();
  return {};
}

void Worker::read_certificates() {
  if (!tls_) return;
  std::vector<std::string> faults;
  const auto before = tls_->shown();
  auto certificates = Certificates::read(disk_, plan_.certificates, clock_.wall_ms(), before.get(), faults);
  if (!certificates) {
    narrate("the certificates of before stay: " + to_string(certificates.error()));
    return;
  }
  for (const std::string& fault : faults) narrate(fault);
  tls_->show(*std::move(certificates));
}

void Worker::read_table_file() {
  auto text = read_file(disk_, plan_.table_file, kMaxTableFile);
  auto done = text ? keeper_->load_unsigned(*text, plan_.table_file) : Result<void>(text.error());
  if (!done) narrate("the table is not obeyed: " + to_string(done.error()));
}

void Worker::tell_quarantined() {
  if (!keeper_->table()) return;
  for (const Quarantined& each : keeper_->table()->quarantined) {
    narrate("deployment " + each.deployment + " is left out: " + each.reason);
  }
}

bool Worker::take_signals(int signals) {
  signalfd_siginfo signal{};
  while (::read(signals, &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGHUP) {
      read_certificates();
      if (plan_.table_file.empty()) continue;
      read_table_file();
      tell_quarantined();
      continue;
    }
    int64_t deadline_ms = stopping_ ? 0 : clock_.monotonic_ns() / 1'000'000 + plan_.drain_ms;
    stopping_ = true;
    for (auto& thread : threads_) thread->begin_stop(deadline_ms);
  }
  return stopping_ && std::ranges::all_of(threads_, [](const auto& thread) { return thread->has_ended(); });
}

std::optional<HandedOver> Worker::hand_over(int master_pid) {
  if (stopping_ || has_master()) return std::nullopt;
  master_ = identity_of(master_pid);
  HandedOver handed{.plan = served_plan(plan_, places_)};
  for (const ListeningPlace& place : places_.listen) {
    handed.fds.insert(handed.fds.end(), place.fds.begin(), place.fds.end());
  }
  for (int fd : {places_.control.fds.front(), places_.admin.fds.front(), plan_.spare}) handed.fds.push_back(fd);
  return handed;
}

void Worker::run(int signals) {
  {
    Control control(
        places_.control.fds.front(), places_.admin.fds.front(), *keeper_, state_, clock_, [this] { return reported(); },
        [this](int master_pid) { return hand_over(master_pid); });
    while (!take_signals(signals)) {
      control.turn(stopping_ ? 10 : kTurn_ms, signals);
      log_writer_.write(log_.fetch());
      keeper_->tidy();
    }
  }  // with it goes the thread that makes reports, which asks the others
  threads_.clear();
  log_writer_.write(log_.fetch());
}

}  // namespace

ServedPlan served_plan(const WorkerPlan& plan, const WorkerPlaces& places) {
  ServedPlan served{.admin = to_string(places.admin.address),
                    .table_file = plan.table_file,
                    .access_log = plan.access_log,
                    .threads = static_cast<int64_t>(plan.threads),
                    .drain_ms = plan.drain_ms};
  for (const ListeningPlace& place : places.listen) served.listen.push_back(to_string(place));
  for (const crypto::PublicKey& key : plan.trusted) served.trusted.push_back(crypto::to_base64(key.raw()));
  if (!plan.certificates.empty()) served.certificates = plan.certificates;
  if (!plan.bounds_file.empty()) {
    served.bounds_file = plan.bounds_file;
    served.bounds_trusted.emplace();
    for (const crypto::PublicKey& key : plan.bounds_trusted)
      served.bounds_trusted->push_back(crypto::to_base64(key.raw()));
  }
  return served;
}

void narrate(const std::string& text) {
  std::string line = "router: " + text + "\n";
  [[maybe_unused]] ssize_t size = ::write(STDERR_FILENO, line.data(), line.size());
}

int run_worker(const WorkerPlan& plan, const WorkerPlaces& places, Disk& disk) {
  name_this_thread("router-control");
  sigset_t set;
  ::sigemptyset(&set);
  for (int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, each);
  int signals = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  // By it the worker is found where its master is gone.
  RealClock clock;
  auto lock = LockFile::acquire(disk, clock, plan.folder + "/worker.lock", 0);
  if (!lock && lock.error().code == Code::conflict) {
    narrate("the worker cannot begin: " + to_string(lock.error()));
    return exit_code(lock.error().code);
  }
  Worker worker(plan, places, disk);
  if (auto begun = worker.begin(); !begun) {
    narrate("the worker cannot begin: " + to_string(begun.error()));
    return exit_code(begun.error().code);
  }
  go_first();  // not before: the threads that serve would inherit it
  worker.run(signals);
  if (!worker.has_master()) {
    // Nobody else is there to do it.
    (void)disk.remove(plan.folder + "/router.json");
    (void)disk.remove(plan.folder + "/control.sock");
  }
  return 0;
}

}  // namespace sluice::router
