// Puts the parts together, and is the loop of the first thread: control, admin, signals and the access log.
#include "router/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/lock_file.h"
#include "base/process_identity.h"
#include "base/random.h"
#include "base/thread_name.h"
#include "base/thread_turns.h"
#include "base/ulid.h"
#include "crypto/base64.h"
#include "router/channel.h"
#include "router/control.h"
#include "router/counters.h"
#include "router/table/pins_handover.h"
#include "router/table/table_keeper.h"
#include "router/tls/tls_server.h"
#include "router/worker_thread.h"

namespace sluice::router {
namespace {

constexpr int kTurn_ms = 200;
constexpr int kLockAttempts = 10'000;
constexpr size_t kMaxTableFile = size_t{256} << 20;
constexpr size_t kSpareFiles = 256;
constexpr size_t kMaxPins = size_t{256} << 20;

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
  }

  void write(const std::string& lines) {
    if (lines.empty()) return;
    if (stdout_) {
      [[maybe_unused]] ssize_t size = ::write(STDOUT_FILENO, lines.data(), lines.size());
    } else if (!file_ || !append(lines)) {
      dropped_ += lines.size();
    }
  }
  uint64_t dropped() const { return dropped_; }

 private:
  // Behind what is there: another worker may still write what it finishes.
  bool append(const std::string& lines) {
    for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
      if (auto locked = file_->lock(FileLock::exclusive); locked && *locked) break;
      std::this_thread::yield();
    }
    auto size = file_->size();
    const bool written = size && file_->write_at(*size, lines);
    (void)file_->lock(FileLock::none);
    return written;
  }

  bool stdout_;
  std::unique_ptr<File> file_;
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
  bool is_in_charge() const { return in_charge_; }
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
    if (tls_) tls_->demand(table != nullptr ? table->client_rules : nullptr);
    for (auto& thread : threads_) thread->order_table(table);
  }
  std::optional<HandedOver> hand_over(int master_pid);
  // Those of a place that the thread of this number listens at. There may be more sockets than threads, or fewer: those
  // before it had another number of threads.
  std::vector<int> sockets_of(const ListeningPlace& place, size_t thread) const;
  void read_table_file();
  // What is left out of them.
  std::vector<LeftOut> read_certificates();
  json::object certificates_answer();
  void tell_quarantined();
  void take_over_pins();
  // Its pins, in a file of their own; -1: none.
  int pins_to_hand_over() const;
  // Whether the worker is to end.
  bool take_signals(int signals);
  void take_words();
  Result<void> take_lock();

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
  ChallengeBoard challenges_;
  std::optional<TlsServer> tls_;  // only with listeners that speak TLS
  std::optional<TableCompiler> compiler_;
  std::vector<std::unique_ptr<WorkerThread>> threads_;
  std::optional<BoundsKeeper> bounds_;
  std::optional<TableKeeper> keeper_;
  std::optional<LockFile> lock_;  // by it the worker is found where its master is gone
  int channel_ = -1;              // to the master
  bool channel_is_new_ = true;    // it is not watched yet
  int64_t begun_ns_ = 0;
  bool stopping_ = false;
  bool told_to_stop_ = false;  // by a signal
  bool in_charge_ = true;      // it takes orders, and keeps them; another worker does while it retires
};

std::vector<int> Worker::sockets_of(const ListeningPlace& place, size_t thread) const {
  std::vector<int> fds;
  for (size_t i = thread; i < place.fds.size(); i += plan_.threads) fds.push_back(place.fds[i]);
  // A socket that two threads wait at is closed by each.
  if (fds.empty()) fds.push_back(::fcntl(place.fds[thread % place.fds.size()], F_DUPFD_CLOEXEC, 0));
  return fds;
}

Result<void> Worker::take_lock() {
  if (lock_) return {};
  auto lock = LockFile::acquire(disk_, clock_, plan_.folder + "/worker.lock", 0);
  if (lock) {
    lock_.emplace(*std::move(lock));
  } else if (lock.error().code == Code::conflict) {
    return lock.error();
  }
  return {};
}

void Worker::take_over_pins() {
  if (plan_.pins < 0) return;
  std::string saved(kMaxPins, '\0');
  const ssize_t size = ::pread(plan_.pins, saved.data(), saved.size(), 0);
  if (size > 0 && keeper_->table())
    take_pins(*keeper_->table(), std::string_view(saved.data(), static_cast<size_t>(size)));
  ::close(plan_.pins);
}

int Worker::pins_to_hand_over() const {
  if (!keeper_->table()) return -1;
  const std::string saved = saved_pins(*keeper_->table());
  const int fd = static_cast<int>(::memfd_create("router-pins", MFD_CLOEXEC));
  if (fd >= 0 && ::write(fd, saved.data(), saved.size()) == static_cast<ssize_t>(saved.size())) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

Result<void> Worker::begin() {
  begun_ns_ = clock_.monotonic_ns();
  if (auto locked = take_lock(); !locked) return locked;
  UlidSource ids(clock_, random_);
  auto counters = Counters::open(plan_.folder + "/counters", plan_.router, to_string(ids.next()), plan_.threads,
                                 plan_.spare, plan_.gauges);
  if (!counters) return counters.error();
  counters_ = *std::move(counters);
  counters_->rescue_from_disk_faults();
  if (std::string trouble = counters_->trouble(); !trouble.empty()) {
    narrate("what passes is counted in memory, and lost when the router ends: " + trouble);
  }
  compiler_.emplace(plan_.hash_key, [this](const SeriesName& name) { return counters_->series_of(name); });
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
    tls_->prove_by(challenges_);
  }
  read_certificates();
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  // Of both sides: a client that is served needs a connection upstream, too.
  size_t most = std::max<size_t>(static_cast<size_t>(files.rlim_cur), kSpareFiles * 2) - kSpareFiles;
  for (size_t i = 0; i < plan_.threads; ++i) {
    std::vector<Listener> listeners;
    for (const ListeningPlace& place : places_.listen) {
      for (int fd : sockets_of(place, i)) {
        listeners.push_back({fd,
                             {.port = place.address.port(),
                              .at_unix = place.address.family() == AF_UNIX,
                              .secure = place.secure,
                              .proxied = place.proxied}});
      }
    }
    auto thread = WorkerThread::make(counters_->first_lane() + i, std::move(listeners), clock_, random_, *counters_,
                                     log_, addresses_, tls_ ? &*tls_ : nullptr);
    if (!thread) return thread.error();
    (*thread)->limit_connections(most / plan_.threads, most);
    (*thread)->prove_by(&challenges_);
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
  take_over_pins();
  for (auto& thread : threads_) {
    thread->order_table(keeper_->table().get());
    thread->start();
  }
  tell_quarantined();
  return {};
}

std::vector<LeftOut> Worker::read_certificates() {
  std::vector<LeftOut> left;
  challenges_.put(Challenges::read(disk_, plan_.challenges, clock_.wall_ms()));
  if (!tls_) return left;
  const auto before = tls_->shown();
  auto certificates = Certificates::read(disk_, plan_.certificates, clock_.wall_ms(), before.get(), left);
  if (!certificates) {
    narrate("the certificates of before stay: " + to_string(certificates.error()));
    return left;
  }
  for (const LeftOut& each : left) narrate(to_string(each));
  tls_->show(*std::move(certificates));
  return left;
}

json::object Worker::certificates_answer() {
  const std::vector<LeftOut> left = read_certificates();
  json::array all;
  if (const auto shown = tls_ ? tls_->shown() : nullptr) {
    for (const Certificates::Kept& each : shown->all()) {
      auto found = std::ranges::find(left, each.folder, &LeftOut::folder);
      all.push_back(json::object{{"certificate", each.folder},
                                 {"fingerprint", each.identity->facts().fingerprint},
                                 {"error", found != left.end() ? found->why : ""}});
    }
  }
  for (const LeftOut& each : left) {
    if (each.before_stays) continue;
    all.push_back(json::object{{"certificate", each.folder}, {"fingerprint", ""}, {"error", each.why}});
  }
  json::array tokens;
  for (const std::string& each : challenges_.now()->tokens()) tokens.push_back(json::value(each));
  return {{"ok", true},
          {"folder", tls_ ? plan_.certificates : ""},
          {"certificates", std::move(all)},
          {"challenges_folder", plan_.challenges},
          {"challenges", std::move(tokens)}};
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
    int64_t deadline_ms = told_to_stop_ ? 0 : clock_.monotonic_ns() / 1'000'000 + plan_.drain_ms;
    stopping_ = told_to_stop_ = true;
    for (auto& thread : threads_) thread->begin_stop(deadline_ms);
  }
  return stopping_ && std::ranges::all_of(threads_, [](const auto& thread) { return thread->has_ended(); });
}

// What the master says of the worker that is to take its place.
void Worker::take_words() {
  while (auto heard = channel_ >= 0 ? hear(channel_) : std::nullopt) {
    if (heard->passed >= 0) ::close(heard->passed);
    if (heard->text.empty()) {  // the master is gone
      ::close(std::exchange(channel_, -1));
    } else if (heard->text == "yield" && !stopping_) {
      in_charge_ = false;
      lock_.reset();
      const int pins = pins_to_hand_over();
      tell(channel_, "yielded", pins);
      if (pins >= 0) ::close(pins);
    } else if (heard->text == "resume" || heard->text == "go") {
      in_charge_ = true;
      if (auto locked = take_lock(); !locked) narrate("nothing says that the worker runs: " + locked.error().message);
    } else if (heard->text == "retire" && !stopping_) {
      stopping_ = true;
      const int64_t deadline_ms = clock_.monotonic_ns() / 1'000'000 + plan_.drain_ms;
      for (auto& thread : threads_) thread->begin_retire(deadline_ms);
    }
  }
}

std::optional<HandedOver> Worker::hand_over(int master_pid) {
  if (stopping_ || has_master()) return std::nullopt;
  master_ = identity_of(master_pid);
  auto ends = make_channel();
  if (!ends) return std::nullopt;
  if (channel_ >= 0) ::close(channel_);
  channel_ = ends->first;
  channel_is_new_ = true;
  HandedOver handed{.plan = served_plan(plan_, places_)};
  for (const ListeningPlace& place : places_.listen) {
    handed.fds.insert(handed.fds.end(), place.fds.begin(), place.fds.end());
  }
  for (int fd : {places_.control.fds.front(), places_.admin.fds.front(), plan_.spare, plan_.gauges, ends->second}) {
    handed.fds.push_back(fd);
  }
  handed.owned = ends->second;
  return handed;
}

void Worker::run(int signals) {
  channel_ = plan_.channel;
  // One that takes another's place is in charge when its master says so.
  in_charge_ = !plan_.takes_over;
  if (!tell(channel_, "serving") && plan_.takes_over) return;
  const int news = ::epoll_create1(EPOLL_CLOEXEC);
  auto watch = [&](int fd) {
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    if (fd >= 0) ::epoll_ctl(news, EPOLL_CTL_ADD, fd, &wanted);
  };
  watch(signals);
  {
    std::optional<Control> control;
    while (!take_signals(signals)) {
      if (std::exchange(channel_is_new_, false)) watch(channel_);
      if (in_charge_ && !control) {
        control.emplace(
            places_.control.fds.front(), places_.admin.fds.front(), *keeper_, state_, clock_,
            [this] { return reported(); }, [this](int master_pid) { return hand_over(master_pid); },
            [this] { return certificates_answer(); });
      }
      if (!in_charge_) control.reset();
      if (control) {
        control->turn(stopping_ ? 10 : kTurn_ms, news);
      } else {
        pollfd waited{news, POLLIN, 0};
        ::poll(&waited, 1, stopping_ ? 10 : kTurn_ms);
      }
      take_words();
      log_writer_.write(log_.fetch());
      keeper_->tidy();
    }
  }  // with it goes the thread that makes reports, which asks the others
  ::close(news);
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
  if (!places.listen.empty() && places.listen.front().fds.size() != plan.threads) {
    served.sockets = static_cast<int64_t>(places.listen.front().fds.size());
  }
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
  Worker worker(plan, places, disk);
  if (auto begun = worker.begin(); !begun) {
    narrate("the worker cannot begin: " + to_string(begun.error()));
    return exit_code(begun.error().code);
  }
  go_first();  // not before: the threads that serve would inherit it
  worker.run(signals);
  if (worker.is_in_charge() && !worker.has_master()) {
    // Nobody else is there to do it.
    (void)disk.remove(plan.folder + "/router.json");
    (void)disk.remove(plan.folder + "/control.sock");
  }
  return 0;
}

}  // namespace sluice::router
