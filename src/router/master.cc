// Opens, forks, waits; starts again what has ended without being told to. A disk that takes nothing keeps it from
// nothing but leaving a record: it says so, and serves.
#include "router/master.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/lock_file.h"
#include "base/random.h"
#include "base/ulid.h"
#include "router/adoption.h"
#include "router/channel.h"
#include "router/counters.h"
#include "router/listening.h"
#include "router/table/table_compile.h"
#include "router/worker.h"
#include "router/worker_order.h"
#include "router/worker_process.h"

namespace sluice::router {
namespace {

constexpr int64_t kFirstRestart_ms = 100;
constexpr int64_t kLongestRestart_ms = 5'000;
constexpr int64_t kSoon_ms = 10'000;
constexpr int64_t kBesideAgain_ms = 1'000;
constexpr size_t kMaxTable = size_t{256} << 20;
constexpr size_t kMaxUpgradeOrder = 64 << 10;
constexpr int64_t kYield_ms = 10'000;
constexpr int64_t kServing_ms = 30'000;

size_t usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<size_t>(std::clamp(CPU_COUNT(&cores), 1, static_cast<int>(Counters::kLanes)));
}

void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

// Whether a table could be obeyed at all, before anything is begun.
Result<void> check_table(Disk& disk, const std::string& file) {
  auto text = read_file(disk, file, kMaxTable);
  if (!text) return text.error();
  auto read = read_table(*text, file);
  if (!read) return read.error();
  RealRandom random;
  TableCompiler compiler(random, [](const SeriesName&) { return 0u; });
  auto table = compiler.load(*std::move(read), nullptr);
  if (!table) return table.error();
  return {};
}

bool is_read_only(const std::string& folder) { return ::access(folder.c_str(), W_OK) != 0 && errno == EROFS; }

Result<std::string> identity_in(Disk& disk, const std::string& folder, const Clock& clock) {
  std::string path = folder + "/identity";
  if (auto known = read_file(disk, path, 100)) {
    std::string text = known->substr(0, Ulid::kTextLength);
    if (Ulid::parse(text)) return text;
  } else if (known.error().code != Code::not_found) {
    return known.error();
  }
  RealRandom random;
  UlidSource ids(clock, random);
  std::string made = to_string(ids.next());
  if (auto written = write_atomically(disk, path, made + "\n", 0600); !written) {
    narrate("its identity is for this run alone: " + written.error().message);
  }
  return made;
}

class Master {
 public:
  Master(const RouterOptions& options, Disk& disk, std::optional<LockFile> lock)
      : options_(options), disk_(disk), lock_(std::move(lock)) {}
  ~Master() {
    close_places();
    if (channel_ >= 0) ::close(channel_);
  }

  // Takes up the worker that a killed master has left, if it does what is asked; else opens what is listened at.
  Result<void> open();
  std::string process_line() const;
  // router.json, which says where it is. Tried again until the disk takes it.
  void write_record();
  Result<void> keep_running();

 private:
  ServedPlan asked() const;
  Result<void> adopt(LeftWorker left);
  void end_left(const LeftWorker& left);
  Result<void> open_places();
  Result<WorkerProcess> start();
  // Another program, as upgrade.json orders, takes the place of the worker; what came of it is in upgraded.json.
  void upgrade();
  Result<int> replace_worker(const UpgradeOrder& order);
  std::optional<Heard> await_answer(std::string_view word);
  void give_back(const std::string& reason);
  void bury_retired();
  void keep_beside(int64_t now_ms);
  void close_places() {
    for (ListeningPlace& place : places_.listen) close_place(place);
    close_place(places_.control);
    close_place(places_.admin);
  }

  const RouterOptions& options_;
  Disk& disk_;
  std::optional<LockFile> lock_;
  RealClock clock_;
  WorkerPlan plan_;
  WorkerPlaces places_;
  std::optional<WorkerProcess> worker_;
  std::vector<WorkerProcess> retired_;  // that finish what is under way
  std::optional<WorkerProcess> beside_;
  int64_t beside_due_ms_ = 0;
  int channel_ = -1;    // to the worker
  std::string binary_;  // what the next worker is; empty: this program
  bool recorded_ = false;
  bool told_ = false;  // that it is not
};

ServedPlan Master::asked() const {
  WorkerPlan plan = plan_;
  plan.threads = options_.threads;
  ServedPlan asked = served_plan(plan, {});
  asked.listen = options_.listen;
  asked.admin = options_.admin;
  return asked;
}

Result<void> Master::open() {
  auto router = identity_in(disk_, options_.folder, clock_);
  if (!router) return router.error();
  RealRandom random;
  plan_ = {.name = options_.name,
           .router = *router,
           .folder = options_.folder,
           .table_file = options_.table_file,
           .access_log = options_.access_log,
           .trusted = options_.trusted,
           .bounds_file = options_.bounds_file,
           .bounds_trusted = options_.bounds_trusted,
           .certificates = options_.certificates,
           .challenges = options_.challenges,
           .tickets = TicketSecret::make(random, clock_.wall_ms() / 1'000),
           .hash_key = random_hash_key(random),
           .threads = options_.threads != 0 ? options_.threads : usable_cores(),
           .drain_ms = options_.drain_ms,
           .master_pid = ::getpid()};
  if (auto left = adopt_worker(options_.folder + "/control.sock")) {
    if (does(left->plan, asked())) return adopt(*std::move(left));
    end_left(*left);
  }
  // It outlives a worker, so that what a full disk has kept in memory does, too.
  auto spare = Counters::make_spare();
  if (!spare) return spare.error();
  plan_.spare = *spare;
  auto gauges = Counters::make_gauges();
  if (!gauges) return gauges.error();
  plan_.gauges = *gauges;
  return open_places();
}

Result<void> Master::adopt(LeftWorker left) {
  plan_.threads = static_cast<size_t>(left.plan.threads);
  auto fd = left.fds.begin();
  auto take = [&](const std::string& text, size_t count) -> Result<ListeningPlace> {
    auto at = parse_listen(text);
    if (!at) return at.error();
    ListeningPlace place{.address = at->address,
                         .secure = at->secure,
                         .proxied = at->proxied,
                         .fds = {fd, fd + static_cast<std::ptrdiff_t>(count)}};
    fd += static_cast<std::ptrdiff_t>(count);
    return place;
  };
  for (const std::string& text : left.plan.listen) {
    auto place = take(text, left.sockets());
    if (!place) return place.error();
    places_.listen.push_back(*std::move(place));
  }
  auto control = take("unix:" + options_.folder + "/control.sock", 1);
  if (!control) return control.error();
  places_.control = *std::move(control);
  auto admin = take(left.plan.admin, 1);
  if (!admin) return admin.error();
  places_.admin = *std::move(admin);
  plan_.spare = *fd++;
  if (left.has_channel()) {
    plan_.gauges = *fd++;
    channel_ = *fd++;
  }
  auto worker = WorkerProcess::adopt(left.pid);
  if (!worker) return {};  // it has just ended; the next one is started where it was
  worker_ = *std::move(worker);
  narrate("the worker that was left, pid " + std::to_string(left.pid) + ", serves on");
  return {};
}

// One that does something else makes room: what is under way finishes.
void Master::end_left(const LeftWorker& left) {
  for (int fd : left.fds) ::close(fd);
  auto worker = WorkerProcess::adopt(left.pid);
  if (!worker) return;
  narrate("the worker that was left, pid " + std::to_string(left.pid) + ", serves something else; it is stopped");
  worker->send(SIGTERM);
  while (!worker->has_ended()) {
    if (await_news(1'000, &*worker) == MasterNews::stop) worker->send(SIGKILL);
  }
}

Result<void> Master::open_places() {
  for (const std::string& text : options_.listen) {
    auto at = parse_listen(text);
    if (!at) return at.error();
    auto place = listen_at(at->address, plan_.threads);
    if (!place) return place.error();
    place->secure = at->secure;
    place->proxied = at->proxied;
    places_.listen.push_back(*std::move(place));
  }
  const std::pair<std::string, ListeningPlace*> own[] = {
      {"unix:" + options_.folder + "/control.sock", &places_.control}, {options_.admin, &places_.admin}};
  for (const auto& [text, place] : own) {
    auto address = parse_address(text);
    if (!address) return address.error();
    auto opened = listen_at(*address, 1);
    if (!opened && place == &places_.control && is_read_only(options_.folder)) {
      narrate("it takes no orders: " + opened.error().message);
      places_.control.fds = {-1};
      continue;
    }
    if (!opened) return opened.error();
    *place = *std::move(opened);
  }
  return {};
}

std::string Master::process_line() const {
  json::array listen;
  for (const ListeningPlace& place : places_.listen) listen.push_back(json::value(to_string(place)));
  return write(json::object{{"schema", "sluice.router-process.v1"},
                            {"name", plan_.name},
                            {"router", plan_.router},
                            {"pid", plan_.master_pid},
                            {"listen", std::move(listen)},
                            {"admin", to_string(places_.admin.address)},
                            {"control", options_.folder + "/control.sock"},
                            {"state", options_.folder},
                            {"threads", static_cast<int64_t>(plan_.threads)},
                            {"kept", options_.kept},
                            {"upgrades", true}});
}

void Master::write_record() {
  auto written = write_atomically(disk_, options_.folder + "/router.json", process_line() + "\n", 0600);
  if (!written && !std::exchange(told_, true)) narrate("nobody is told where it listens: " + written.error().message);
  recorded_ = written.has_value();
}

Result<WorkerProcess> Master::start() {
  plan_.tickets.advance_to(clock_.wall_ms() / 1'000);  // of hours that are over nothing is kept
  auto ends = make_channel();
  if (!ends) return ends.error();
  if (channel_ >= 0) ::close(channel_);
  channel_ = ends->first;
  plan_.channel = ends->second;
  plan_.takes_over = false;
  plan_.pins = -1;
  auto begun = WorkerProcess::begin([&] {
    lock_.reset();  // it is the master's alone
    ::close(channel_);
    if (!binary_.empty()) {
      become_worker(binary_, plan_, places_);
      narrate("the program of the last upgrade cannot be run: " + binary_);
    }
    return run_worker(plan_, places_, disk_);
  });
  ::close(std::exchange(plan_.channel, -1));
  return begun;
}

// ------------------------------------------------------------------------------------------------------------- upgrade

// What was said before the question, such as that it serves, is passed over.
std::optional<Heard> Master::await_answer(std::string_view word) {
  const int64_t deadline_ms = clock_.monotonic_ns() / 1'000'000 + kYield_ms;
  while (true) {
    const int64_t left_ms = deadline_ms - clock_.monotonic_ns() / 1'000'000;
    if (left_ms <= 0 || !await_word(channel_, *worker_, left_ms)) return std::nullopt;
    std::optional<Heard> heard = hear(channel_);
    if (!heard) continue;
    if (heard->text == word) return heard;
    if (heard->passed >= 0) ::close(heard->passed);
    if (heard->text.empty()) return std::nullopt;  // its end is closed
  }
}

void Master::give_back(const std::string& reason) {
  tell(channel_, "resume");
  narrate("the upgrade failed, and the worker before serves on: " + reason);
}

// The worker of before stops taking orders, and hands over what it remembers; the new one begins with what is on disk,
// and listens beside it; then the one of before takes no new connections. Whatever goes wrong until then, it serves on.
Result<int> Master::replace_worker(const UpgradeOrder& order) {
  auto failed = [](const std::string& message) { return Error{.code = Code::rolled_back, .message = message}; };
  if (!worker_ || channel_ < 0) {
    return Error{.code = Code::conflict, .message = "the worker that serves was begun by an earlier version"};
  }
  if (!tell(channel_, "yield")) return failed("the worker does not listen to its master");
  std::optional<Heard> yielded = await_answer("yielded");
  if (!yielded) {
    tell(channel_, "resume");
    return failed("the worker does not hand over");
  }
  auto ends = make_channel();
  if (!ends) {
    give_back(ends.error().message);
    return failed(ends.error().message);
  }
  WorkerPlan next = plan_;
  next.tickets.advance_to(clock_.wall_ms() / 1'000);
  next.channel = ends->second;
  next.pins = yielded->passed;
  next.takes_over = true;
  if (order.threads > 0) next.threads = static_cast<size_t>(order.threads);
  auto begun = WorkerProcess::begin([&] {
    lock_.reset();
    ::close(ends->first);
    become_worker(order.binary, next, places_);
    narrate("cannot run " + order.binary);
    return 1;
  });
  ::close(ends->second);
  if (yielded->passed >= 0) ::close(yielded->passed);
  std::optional<Heard> serving;
  if (begun && await_word(ends->first, *begun, kServing_ms)) serving = hear(ends->first);
  if (!serving || serving->text != "serving") {
    std::string reason = !begun ? begun.error().message : "it did not serve within 30 s";
    if (begun && (begun->has_ended() || (serving && serving->text.empty()))) reason = "it ended before it served";
    if (begun) {
      begun->send(SIGKILL);
      while (!begun->has_ended()) await_word(-1, *begun, 100);
    }
    ::close(ends->first);
    give_back(reason);
    return failed(order.binary + " does not take over: " + reason + "; the worker before serves on");
  }
  tell(channel_, "retire");
  tell(ends->first, "go");
  ::close(std::exchange(channel_, ends->first));
  next.channel = next.pins = -1;
  plan_ = next;
  binary_ = order.binary;
  retired_.push_back(*std::exchange(worker_, std::nullopt));
  worker_ = *std::move(begun);
  narrate("pid " + std::to_string(worker_->pid()) + " serves now, and pid " + std::to_string(retired_.back().pid()) +
          " finishes what is under way");
  return worker_->pid();
}

void Master::upgrade() {
  const std::string asked = options_.folder + "/upgrade.json";
  auto text = read_file(disk_, asked, kMaxUpgradeOrder);
  auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
  auto order = parsed ? read<UpgradeOrder>(*parsed) : Result<UpgradeOrder>(parsed.error());
  if (!order) {
    narrate("there is no order to upgrade: " + order.error().message);
    return;
  }
  (void)disk_.remove(asked);
  UpgradeEnd end{.id = order->id, .before = worker_ ? worker_->pid() : 0};
  auto replaced = replace_worker(*order);
  end.code = std::string(code_name(replaced ? Code::ok : replaced.error().code));
  if (replaced) end.worker = *replaced;
  if (!replaced) end.message = replaced.error().message;
  write_record();
  (void)write_atomically(disk_, options_.folder + "/upgraded.json", write(to_json(end)) + "\n", 0600);
}

void Master::bury_retired() {
  std::erase_if(retired_, [](const WorkerProcess& each) { return each.has_ended(); });
}

// It ends with its master; the worker does not.
void Master::keep_beside(int64_t now_ms) {
  if (options_.beside.empty() || now_ms < beside_due_ms_ || (beside_ && !beside_->has_ended())) return;
  beside_due_ms_ = now_ms + kBesideAgain_ms;
  auto begun = WorkerProcess::begin([&] {
    lock_.reset();
    std::vector<char*> words = {const_cast<char*>("sluice")};
    for (const std::string& each : options_.beside) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    ::execv("/proc/self/exe", words.data());
    return 1;
  });
  beside_.reset();
  if (begun) beside_ = *std::move(begun);
}

Result<void> Master::keep_running() {
  int64_t begun_ms = clock_.monotonic_ns() / 1'000'000, pause_ms = 0, due_ms = 0;
  int stops = 0;
  while (true) {
    int64_t now_ms = clock_.monotonic_ns() / 1'000'000;
    bury_retired();
    if (!worker_ && stops > 0 && retired_.empty()) return {};
    if (!worker_ && stops == 0 && now_ms >= due_ms) {
      auto started = start();
      if (!started) return started.error();
      worker_ = *std::move(started);
      begun_ms = now_ms;
    }
    if (!recorded_) write_record();
    if (stops == 0) keep_beside(now_ms);
    MasterNews news =
        await_news(!worker_ ? std::max<int64_t>(due_ms - now_ms, 1) : 1'000, worker_ ? &*worker_ : nullptr);
    if (worker_ && worker_->has_ended()) {
      worker_.reset();
      now_ms = clock_.monotonic_ns() / 1'000'000;
      bool soon = now_ms - begun_ms < kSoon_ms;
      pause_ms = !soon ? 0 : pause_ms == 0 ? kFirstRestart_ms : std::min(pause_ms * 2, kLongestRestart_ms);
      // The first time it is started at once, however soon.
      due_ms = now_ms + (pause_ms == kFirstRestart_ms ? 0 : pause_ms);
      if (stops == 0) narrate("the worker has ended; it is started again");
    }
    if (news == MasterNews::reload && worker_) worker_->send(SIGHUP);
    if (news == MasterNews::upgrade && stops == 0) upgrade();
    if (news == MasterNews::stop) {
      ++stops;
      if (beside_) beside_->send(SIGTERM);
      for (ListeningPlace& place : places_.listen) close_place(place);
      if (worker_) worker_->send(stops == 1 ? SIGTERM : SIGKILL);
      for (const WorkerProcess& each : retired_) each.send(stops == 1 ? SIGTERM : SIGKILL);
    }
  }
}

}  // namespace

Result<void> run_router(const RouterOptions& options, Disk& disk, const std::function<void(const std::string&)>& say) {
  RealClock clock;
  if (!options.table_file.empty()) {
    if (auto sound = check_table(disk, options.table_file); !sound) return sound.error();
  }
  auto lock = LockFile::acquire(disk, clock, options.folder + "/lock", 0);
  if (!lock && lock.error().code == Code::conflict) return lock.error();
  if (!lock) narrate("nothing keeps a second router of this name out: " + lock.error().message);
  block_router_signals();
  raise_file_limit();
  std::optional<LockFile> held;
  if (lock) held.emplace(*std::move(lock));
  Master master(options, disk, std::move(held));
  if (auto opened = master.open(); !opened) return opened.error();
  master.write_record();
  say(master.process_line());
  auto done = master.keep_running();
  (void)disk.remove(options.folder + "/router.json");
  (void)disk.remove(options.folder + "/control.sock");
  return done;
}

}  // namespace sluice::router
