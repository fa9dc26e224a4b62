// Two control planes on one PostgreSQL: how long nothing can be committed after the one that leads was killed.
#include <memory>

#include "bench/bench.h"
#include "bench/scale_server.h"

namespace sluice::bench {
namespace {

constexpr int kDeaths = 5;
constexpr double kLease_s = 5;

// A replica: its home, its program, and commands that go to it.
class Replica {
 public:
  Replica(std::string program, std::string home, std::string address, std::string name)
      : program_(std::move(program)), home_(std::move(home)), address_(std::move(address)), name_(std::move(name)) {}
  ~Replica() { kill(); }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  void serve() {
    const std::string port = std::to_string(free_port());
    process_ = ::fork();
    must(process_ >= 0, "cannot fork");
    if (process_ == 0) {
      // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread
      ::setenv("SLUICE_HOME", home_.c_str(), 1);
      ::setenv("SLUICE_STORE", address_.c_str(), 1);
      // NOLINTEND(concurrency-mt-unsafe)
      const std::string log = home_ + ".log";
      if (::freopen(log.c_str(), "a", stderr) == nullptr || ::freopen("/dev/null", "a", stdout) == nullptr)
        ::_exit(126);
      std::vector<std::string> words = {program_,   "serve", "--replica", name_, "--listen", "127.0.0.1:" + port,
                                        "--tls-own"};
      ::execv(program_.c_str(), c_words(words).data());
      ::_exit(127);
    }
    run("status --wait 60s -q");
  }
  void run(const std::string& words) const { shell("SLUICE_HOME=" + home_ + " " + program_ + " " + words); }
  bool runs(const std::string& words) const {
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    return std::system(("SLUICE_HOME=" + home_ + " " + program_ + " " + words + " >/dev/null 2>&1").c_str()) == 0;
  }
  void join(const Replica& by) const {
    shell("made=$(SLUICE_HOME=" + by.home_ + " " + program_ +
          " replicas token -o json | tr -d '\\n'); SLUICE_HOME=" + home_ + " " + program_ +
          " replicas join $(echo \"$made\" | sed 's/.*\"url\": *\"\\([^\"]*\\)\".*/\\1/') --token " +
          "$(echo \"$made\" | sed 's/.*\"token\": *\"\\([^\"]*\\)\".*/\\1/')");
  }
  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  const std::string program_, home_, address_, name_;
  pid_t process_ = 0;
};

}  // namespace

void leader_bench(Report& report, const PostgresServer& server, const std::string& program) {
  DiskFolder folder;
  const std::string address = server.fresh("led");
  auto leads = std::make_unique<Replica>(program, folder.path("east"), address, "east");
  auto follows = std::make_unique<Replica>(program, folder.path("west"), address, "west");
  leads->serve();
  follows->join(*leads);
  follows->serve();
  follows->run("env create prod");
  std::vector<double> times_s;
  for (int death = 0; death < kDeaths; ++death) {
    leads->kill();
    const double from_s = wall_s();
    const std::string change = "do Env/update environment=prod name=n" + std::to_string(death);
    while (!follows->runs(change)) must(wall_s() - from_s < kDeadline_s, "nobody took over");
    times_s.push_back(wall_s() - from_s);
    leads->serve();
    std::swap(leads, follows);
  }
  const double median_s = median_ms(times_s) / 1000;
  report.at_most("leader killed to the next commit", median_s / kLease_s, 1.5, "leases");
  report.note("  the longest of " + std::to_string(kDeaths), *std::ranges::max_element(times_s), "s");
}

}  // namespace sluice::bench
