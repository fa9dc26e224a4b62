// What a call costs through sluice serve: the real program in a home of its own, asked over its socket, beside what the
// disk takes for a sync in the same rounds. Run from the repository's folder.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <thread>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "host/exchange.h"

namespace sluice::bench {
namespace {

namespace json = boost::json;

constexpr int kCalls = 20;  // a round

std::vector<char*> words_of(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The program beside this one, in a home of its own.
class Program {
 public:
  explicit Program(const std::string& home)
      : program_(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sluice-orders"),
        environment_{"SLUICE_HOME=" + home, "LANG=C.UTF-8"} {}

  pid_t start(std::vector<std::string> words) const {
    words.insert(words.begin(), program_);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    int failed =
        ::posix_spawn(&pid, program_.c_str(), &quiet, nullptr, words_of(words).data(), words_of(environment_).data());
    posix_spawn_file_actions_destroy(&quiet);
    must(failed == 0, "cannot start " + program_);
    return pid;
  }
  void run(const std::vector<std::string>& words) const {
    int status = 0;
    must(::waitpid(start(words), &status, 0) > 0 && status == 0, "a command failed");
  }

 private:
  std::string program_;
  std::vector<std::string> environment_;
};

const std::vector<std::string> kAddWords = {"kit", "run", "examples/kits/orders", "Stock/add", "item=tea", "count=1"};

http::Request add() {
  return api::post({"v1", "actions", "Stock", "add"}, {{"input", {{"item", "tea"}, {"count", 1}}}});
}

void serve_bench(Report& report) {
  DiskFolder folder;
  std::string home = folder.path("home");
  must(::mkdir(home.c_str(), 0700) == 0, "cannot make a home");
  Program program(home);
  program.run(kAddWords);
  double alone_ms = median_s([&] { program.run(kAddWords); }) * 1000;
  pid_t server = program.start({"serve", "examples/kits/orders", "--quiet"});
  program.run({"status", "--wait", "30s"});

  RealClock clock;
  std::string socket = home + "/run/sluice.sock";
  auto client = must(http::Client::to_unix(socket, clock));
  int file = ::open(folder.path("raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  std::string bytes(4096, 'r');
  must(::pwrite(file, bytes.data(), bytes.size(), 0) == 4096 && ::fsync(file) == 0, "cannot write");
  auto sync = [&] {
    for (int i = 0; i < kCalls; ++i) {
      must(::pwrite(file, bytes.data(), bytes.size(), 0) == 4096 && ::fdatasync(file) == 0, "cannot sync");
    }
  };
  auto call = [&] {
    for (int i = 0; i < kCalls; ++i) keep(must(api::ask(*client, add())));
  };
  auto call_anew = [&] {
    for (int i = 0; i < kCalls; ++i) keep(must(api::ask(*must(http::Client::to_unix(socket, clock)), add())));
  };
  auto look = [&] {
    for (int i = 0; i < kCalls; ++i) {
      keep(must(api::ask(*client, api::post({"v1", "actions", "Stock", "look"}, {{"input", {{"item", "tea"}}}}))));
    }
  };
  std::vector<double> took = medians_s({sync, call, call_anew, look});
  double sync_ms = took[0] / kCalls * 1000;
  report.note("one fdatasync of 4 kB", sync_ms, "ms");
  report.at_most("a call of one step", took[1] / kCalls * 1000, 2 * sync_ms + 1, "ms");
  report.at_most("the same over a new connection", took[2] / kCalls * 1000, 2 * sync_ms + 1, "ms");
  report.note("a query", took[3] / kCalls * 1000, "ms");

  constexpr int kClients = 16, kEach = 100;
  double start = wall_s();
  std::vector<std::thread> threads;
  for (int n = 0; n < kClients; ++n) {
    threads.emplace_back([&] {
      auto mine = must(http::Client::to_unix(socket, clock));
      for (int i = 0; i < kEach; ++i) keep(must(api::ask(*mine, add())));
    });
  }
  for (std::thread& thread : threads) thread.join();
  report.note("calls of 16 clients at once", kClients * kEach / (wall_s() - start), "calls/s");
  report.note("a whole command, through serve", median_s([&] { program.run(kAddWords); }) * 1000, "ms");
  report.note("the same without serve", alone_ms, "ms");
  ::kill(server, SIGTERM);
  ::waitpid(server, nullptr, 0);
  ::close(file);
}

}  // namespace
}  // namespace sluice::bench

int main() {
  sluice::bench::Report report;
  sluice::bench::serve_bench(report);
  return report.print();
}
