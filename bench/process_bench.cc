// Replicas: how much later one is healthy than its program alone would be, and how long a hundred take. This program is
// all of it: the controller, its own supervisors, and the program that they run.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "process/replicas.h"
#include "process/spawn.h"
#include "process/supervisor.h"

namespace {

using namespace sluice;
using namespace sluice::process;

constexpr int64_t kDeadline_ms = 60'000;
constexpr int kMany = 100;
constexpr std::string_view kServeWord = "serve";

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

// The program: listens, and answers every connection with its end.
int serve() {
  const char* path = std::getenv("SLUICE_SOCKET");
  sockaddr_un address = address_of(path == nullptr ? "" : path);
  int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 1;
  ::listen(listener, 64);
  for (;;) ::close(::accept(listener, nullptr, nullptr));
}

bool reachable(const std::string& path) {
  sockaddr_un address = address_of(path);
  int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool reached = ::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(client);
  return reached;
}

}  // namespace

int main(int count, char** words) {
  if (auto code = supervise(count, words)) return *code;
  if (count == 2 && words[1] == kServeWord) return serve();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  bench::Folder folder("/tmp");
  const std::string place = folder.path("r");
  RealDisk disk;
  if (!disk.make_folder(place, 0755)) return 1;
  RealClock clock;
  RealRandom random;
  Replicas replicas(disk, clock, random, {.folder = place, .supervisor = {self}});
  Workload workload{.argv = {self, std::string(kServeWord)}, .root = "/usr"};
  workload.health.by = HealthBy::tcp;
  auto start = [&](int number) {
    if (!replicas.start("r" + std::to_string(number), workload, {})) std::abort();
  };
  auto await = [&](int number) {
    auto state = replicas.await("r" + std::to_string(number), is_settled, kDeadline_ms, {});
    if (!state || !state->healthy) std::abort();
  };
  auto stop_all = [&] {
    auto names = replicas.list();
    for (const std::string& name : *names) {
      if (!replicas.remove(name)) std::abort();
    }
  };

  double alone_s = 0, healthy_s = 0;
  std::vector<double> beyond_s;
  for (int round = 0; round <= bench::kRounds; ++round) {
    const std::string socket = folder.path("alone");
    ::unlink(socket.c_str());
    double began_s = bench::wall_s();
    auto child = Child::spawn({.program = self,
                               .argv = {self, std::string(kServeWord)},
                               .folder = "/",
                               .environment = {{"SLUICE_SOCKET", socket}}});
    if (!child) return 1;
    while (!reachable(socket)) ::usleep(100);
    alone_s = bench::wall_s() - began_s;
    child->kill_and_wait();
    began_s = bench::wall_s();
    start(0);
    await(0);
    healthy_s = bench::wall_s() - began_s;
    stop_all();
    if (round > 0) beyond_s.push_back(healthy_s - alone_s);
  }
  std::ranges::sort(beyond_s);

  double began_s = bench::wall_s();
  for (int i = 0; i < kMany; ++i) start(i);
  for (int i = 0; i < kMany; ++i) await(i);
  const double many_s = bench::wall_s() - began_s;
  stop_all();

  bench::Report report;
  report.at_most("start to healthy, beyond the program's own start", beyond_s[beyond_s.size() / 2] * 1000, 20, "ms");
  report.at_most("100 replicas started and healthy", many_s, 2, "s");
  return report.print();
}
