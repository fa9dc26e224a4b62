// Commands on environments and traffic, each a process of its own, in a home with many revisions. The revisions are put
// into the store as the engine would have written them; the program is the sluice beside this one. A split is also set
// through its `sluice serve`, beside what the disk takes for a sync in the same rounds.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "deployment.gen.h"
#include "host/exchange.h"
#include "revision.gen.h"
#include "store/sqlite_store.h"
#include "traffic.gen.h"

namespace {

using namespace sluice;
using namespace sluice::deploy;

constexpr int kLive = 1000;
constexpr int kArchived = 10'000;
constexpr const char* kShop = "01J0000000000000000000000D";

std::string revision_id(int number) {
  std::string digits = std::to_string(number);
  return "01J" + std::string(23 - digits.size(), '0') + digits;
}

revision::RevisionRecord revision_of(int number, revision::RevisionLifecycle lifecycle) {
  return {.deployment = kShop,
          .environment = "local",
          .bundle = "shop",
          .sequence = number,
          .generation = 3,
          .version = "1.0.0",
          .bundleDigest = "sha256:" + std::string(64, 'a'),
          .lifecycle = lifecycle,
          .endpoint = "http://127.0.0.1:8080"};
}

void fill(const std::string& path) {
  RealDisk disk;
  auto store = bench::must(store::SqliteStore::open(disk, path));
  store::Batch batch;
  auto put = [&](const std::string& relation, const std::string& key, const json::value& value) {
    batch.state.push_back({relation, key, 1, 1, write(value)});
  };
  put("Deployment", kShop,
      to_json(
          deployment::DeploymentRecord{.environment = "local", .bundle = "shop", .customer = "acme", .generation = 1}));
  for (int i = 0; i < kLive + kArchived; ++i) {
    auto lifecycle = i < kLive ? revision::RevisionLifecycle::ready : revision::RevisionLifecycle::archived;
    put("Revision", revision_id(i), to_json(revision_of(i, lifecycle)));
  }
  // Anew, so that the look-ups are made for what was put.
  batch.meta.emplace_back("indexed", "{}");
  bench::must(store->commit(batch).has_value(), "the store cannot be filled");
}

constexpr int kCalls = 20;  // a round

http::Request set_traffic(int number) {
  return api::post(
      {"v1", "actions", "Traffic", "set"},
      {{"input",
        {{"deployment", kShop},
         {"entries", json::array{json::object{{"revision", revision_id(number)}, {"weightBps", 10'000}}}}}}});
}

}  // namespace

int main() {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string sluice = self.substr(0, self.rfind('/')) + "/sluice";
  bench::Folder folder("/var/tmp");
  ::setenv("SLUICE_HOME", folder.path("home").c_str(), 1);  // NOLINT(concurrency-mt-unsafe): before any thread
  auto run = [&](const std::string& words) {
    bench::must(std::system((sluice + " " + words + " > /dev/null").c_str()) == 0,
                "sluice " + words + " failed");  // NOLINT
  };
  run("env list --quiet");
  fill(folder.path("home/store/store.db"));
  run("traffic set local " + revision_id(0) + "=100%");
  std::vector<double> took_s =
      bench::medians_s({[&] { run("--version"); }, [&] { run("traffic show local"); }, [&] { run("env show local"); },
                        [&] { run("traffic set local " + revision_id(1) + "=100%"); }});
  bench::Report report;
  report.note("a process that does nothing", took_s[0] * 1e3, "ms");
  report.at_most("traffic show, 1,000 revisions, cold process", took_s[1] * 1e3, 30, "ms");
  report.at_most("env show, 10,000 archived revisions besides", took_s[2] * 1e3, 100, "ms");
  report.note("traffic set, a process with an engine of its own", took_s[3] * 1e3, "ms");

  bench::must(std::system((sluice + " serve --quiet > /dev/null 2>&1 &").c_str()) == 0, "cannot serve");  // NOLINT
  run("status --wait 30s");
  RealClock clock;
  auto client = bench::must(http::Client::to_unix(folder.path("home/run/sluice.sock"), clock));
  int file = ::open(folder.path("raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string bytes(4096, 'r');
  auto sync = [&] {
    for (int i = 0; i < kCalls; ++i) {
      bench::must(::pwrite(file, bytes.data(), bytes.size(), 0) == 4096 && ::fdatasync(file) == 0, "cannot sync");
    }
  };
  auto set = [&] {
    for (int i = 0; i < kCalls; ++i) bench::keep(bench::must(api::ask(*client, set_traffic(i))));
  };
  std::vector<double> served_s = bench::medians_s({sync, set});
  const double sync_ms = served_s[0] / kCalls * 1e3;
  report.note("one fdatasync of 4 kB", sync_ms, "ms");
  report.at_most("traffic set through serve", served_s[1] / kCalls * 1e3, 2 * sync_ms + 1, "ms");
  ::close(file);
  client.reset();
  run("stop");
  return report.print();
}
