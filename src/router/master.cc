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
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/lock_file.h"
#include "base/random.h"
#include "base/ulid.h"
#include "router/counters.h"
#include "router/listening.h"
#include "router/table_compile.h"
#include "router/worker.h"
#include "router/worker_process.h"

namespace sluice::router {
namespace {

constexpr int64_t kFirstRestart_ms = 100;
constexpr int64_t kLongestRestart_ms = 5'000;
constexpr int64_t kSoon_ms = 10'000;
constexpr size_t kMaxTable = size_t{256} << 20;

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
  Master(const RouterOptions& options, Disk& disk) : options_(options), disk_(disk) {}
  ~Master() {
    for (ListeningPlace& place : places_) close_place(place);
    close_place(control_);
    close_place(admin_);
  }

  Result<void> open();
  std::string process_line() const;
  // router.json, which says where it is. Tried again until the disk takes it.
  void write_record();
  Result<void> keep_running();

 private:
  Result<int> start();

  const RouterOptions& options_;
  Disk& disk_;
  RealClock clock_;
  WorkerPlan plan_;
  std::vector<ListeningPlace> places_;
  ListeningPlace control_, admin_;
  bool recorded_ = false;
  bool told_ = false;  // that it is not
};

Result<void> Master::open() {
  auto router = identity_in(disk_, options_.folder, clock_);
  if (!router) return router.error();
  plan_ = {.name = options_.name,
           .router = *router,
           .folder = options_.folder,
           .table_file = options_.table_file,
           .access_log = options_.access_log,
           .trusted = options_.trusted,
           .threads = options_.threads != 0 ? options_.threads : usable_cores(),
           .drain_ms = options_.drain_ms,
           .master_pid = ::getpid()};
  // It outlives a worker, so that what a full disk has kept in memory does, too.
  auto spare = Counters::make_spare();
  if (!spare) return spare.error();
  plan_.spare = *spare;
  for (const std::string& text : options_.listen) {
    auto address = parse_address(text);
    if (!address) return address.error();
    auto place = listen_at(*address, plan_.threads);
    if (!place) return place.error();
    places_.push_back(*std::move(place));
  }
  const std::pair<std::string, ListeningPlace*> own[] = {{"unix:" + options_.folder + "/control.sock", &control_},
                                                         {options_.admin, &admin_}};
  for (const auto& [text, place] : own) {
    auto address = parse_address(text);
    if (!address) return address.error();
    auto opened = listen_at(*address, 1);
    if (!opened && place == &control_ && is_read_only(options_.folder)) {
      narrate("it takes no orders: " + opened.error().message);
      control_.fds = {-1};
      continue;
    }
    if (!opened) return opened.error();
    *place = *std::move(opened);
  }
  return {};
}

std::string Master::process_line() const {
  json::array listen;
  for (const ListeningPlace& place : places_) listen.push_back(json::value(to_string(place.address)));
  return write(json::object{{"schema", "sluice.router-process.v1"},
                            {"name", plan_.name},
                            {"router", plan_.router},
                            {"pid", plan_.master_pid},
                            {"listen", std::move(listen)},
                            {"admin", to_string(admin_.address)},
                            {"control", options_.folder + "/control.sock"},
                            {"state", options_.folder},
                            {"threads", static_cast<int64_t>(plan_.threads)},
                            {"kept", options_.kept}});
}

void Master::write_record() {
  auto written = write_atomically(disk_, options_.folder + "/router.json", process_line() + "\n", 0600);
  if (!written && !std::exchange(told_, true)) narrate("nobody is told where it listens: " + written.error().message);
  recorded_ = written.has_value();
}

Result<int> Master::start() {
  return fork_worker([&] { return run_worker(plan_, places_, control_.fds.front(), admin_.fds.front(), disk_); });
}

Result<void> Master::keep_running() {
  int64_t begun_ms = clock_.monotonic_ns() / 1'000'000, pause_ms = 0, due_ms = 0;
  auto worker = start();
  if (!worker) return worker.error();
  int pid = *worker;
  int stops = 0;
  while (true) {
    int64_t now_ms = clock_.monotonic_ns() / 1'000'000;
    if (pid == 0 && stops > 0) return {};
    if (pid == 0 && now_ms >= due_ms) {
      worker = start();
      if (!worker) return worker.error();
      pid = *worker;
      begun_ms = now_ms;
    }
    if (!recorded_) write_record();
    MasterNews news = await_news(pid == 0 ? std::max<int64_t>(due_ms - now_ms, 1) : 1'000);
    if (pid != 0 && has_ended(pid)) {
      pid = 0;
      now_ms = clock_.monotonic_ns() / 1'000'000;
      bool soon = now_ms - begun_ms < kSoon_ms;
      pause_ms = !soon ? 0 : pause_ms == 0 ? kFirstRestart_ms : std::min(pause_ms * 2, kLongestRestart_ms);
      // The first time it is started at once, however soon.
      due_ms = now_ms + (pause_ms == kFirstRestart_ms ? 0 : pause_ms);
      if (stops == 0) narrate("the worker has ended; it is started again");
    }
    if (news == MasterNews::reload && pid != 0) signal_worker(pid, SIGHUP);
    if (news == MasterNews::stop) {
      ++stops;
      for (ListeningPlace& place : places_) close_place(place);
      if (pid != 0) signal_worker(pid, stops == 1 ? SIGTERM : SIGKILL);
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
  Master master(options, disk);
  if (auto opened = master.open(); !opened) return opened.error();
  master.write_record();
  say(master.process_line());
  auto done = master.keep_running();
  (void)disk.remove(options.folder + "/router.json");
  (void)disk.remove(options.folder + "/control.sock");
  return done;
}

}  // namespace sluice::router
