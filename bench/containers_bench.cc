// Containers, on a podman of the bench's own: how long a deploy takes beside a bare client of the engine's API, and an
// `up` beside `docker-compose up -d`, both from an image that is there to the first answer; what a push and a pull of
// 200 MB cost beside `skopeo copy`; and how much memory a container's supervisor takes beside a process's. Needs root,
// and the repository's folder. `containers_bench 3` makes three rounds.
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/programs.h"
#include "container/engine.h"

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using container::Engine;

constexpr size_t kPushedBytes = 200'000'000;
constexpr int kTransfers = 5;
constexpr uint16_t kInnerPort = 8080;

// The engine's ports and rules are nobody else's.
void enter_own_network() {
  must(::unshare(CLONE_NEWNET) == 0, "no network namespace is to be had: run the bench as root");
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq loopback{};
  std::snprintf(loopback.ifr_name, sizeof loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP;
  must(::ioctl(socket, SIOCSIFFLAGS, &loopback) == 0, "the loopback cannot be set up");
  ::close(socket);
}

void done(const Result<void>& result) { must(result.has_value(), result ? "" : to_string(result.error())); }

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

double run(const std::vector<std::string>& words, const std::vector<std::string>& variables = {}) {
  const double began_s = wall_s();
  must(ended(start(words, variables)) == 0, words[0] + " " + words[1] + " failed");
  return wall_s() - began_s;
}

std::string output_of(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
  const Started program = start(words, variables);
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = ::read(program.said, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<size_t>(got));
  must(ended(program) == 0, words[0] + " " + words[1] + " failed");
  return text;
}

class Podman {
 public:
  explicit Podman(const Folder& folder)
      : socket_(folder.path("sock")), engine_(socket_, clock_), root_(folder.path("root")) {
    write_text(folder.path("containers.conf"),
               "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1000:1000\"]\n"
               "[engine]\nruntime = \"runc\"\nevents_logger = \"file\"\n");
    service_ = start({"podman", "--root", root_, "--runroot", folder.path("run"), "--tmpdir", folder.path("tmp"),
                      "--network-config-dir", folder.path("net"), "--cgroup-manager", "cgroupfs", "--storage-driver",
                      "vfs", "system", "service", "--time", "0", "unix://" + socket_},
                     {"CONTAINERS_CONF=" + folder.path("containers.conf"), "HOME=" + folder.path("")});
    for (const double end_s = wall_s() + kDeadline_s; !engine_.version(); ::usleep(10'000))
      must(wall_s() < end_s, "podman does not answer");
  }
  ~Podman() {
    if (auto all = engine_.list({})) {
      for (const auto& each : *all) (void)engine_.remove(each.id);
    }
    ::kill(service_.pid, SIGTERM);
    ended(service_);
    ::umount2(root_.c_str(), MNT_DETACH);
  }

  const Engine& engine() const { return engine_; }
  std::string variable() const { return "DOCKER_HOST=unix://" + socket_; }

 private:
  RealClock clock_;
  std::string socket_;
  Engine engine_;
  std::string root_;
  Started service_;
};

// examples/hello-image with its image made, so that an `up` finds it as it is.
std::string make_bundle(const Folder& folder) {
  const std::string place = folder.path("hello-image");
  fs::copy("examples/hello-image", place, fs::copy_options::recursive);
  run({"sh", "-c", "cd " + place + " && python3 build.py"});
  return place;
}

void give_version(const std::string& bundle, int number) {
  write_text(bundle + "/bundle.yaml", "name: hello-image\nversion: \"1.0." + std::to_string(number) +
                                          "\"\nimage: ./image\ninclude: [image/**]\ncontainer: {port: 8080}\n");
}

constexpr const char* kTook = R"(
import datetime, json, subprocess, sys
def read(*words):
    return json.loads(subprocess.run([sys.argv[1], *words, "-o", "json"], check=True, capture_output=True).stdout)
up = [each["flow"] for each in read("audit", "list") if each.get("action") == "Deployment/up"][-1]
for each in read("flow", "trace", up)["invocations"]:
    if each["action"] == sys.argv[2]:
        began, ended = (datetime.datetime.fromisoformat(each[k].replace("Z", "+00:00")) for k in ("askedAt", "endedAt"))
        print((ended - began).total_seconds())
)";

class Home {
 public:
  Home(std::string sluice, const std::string& place, std::vector<std::string> variables)
      : sluice_(std::move(sluice)), place_(place), variables_(std::move(variables)) {
    variables_.push_back("SLUICE_HOME=" + place);
  }
  ~Home() { ended(start({sluice_, "stop"}, variables_)); }

  // To the first answer.
  double up_s(const std::string& bundle) const {
    const double began_s = wall_s();
    const Started up = start({sluice_, "up", bundle, "--detach"}, variables_);
    await_200(static_cast<uint16_t>(std::atoi(said_after(up, "http://127.0.0.1:").c_str())));
    const double took_s = wall_s() - began_s;
    must(ended(up) == 0, "sluice up failed");
    return took_s;
  }

  // How long an action took in the newest `up`, from its request to its end.
  double took_s(const std::string& action) const {
    return std::stod(output_of({"python3", "-c", kTook, sluice_, action}, variables_));
  }

  // Of all supervisors, and what they have forked of themselves.
  double supervisors_bytes() const {
    double bytes = 0;
    for (const auto& each : fs::directory_iterator(place_ + "/runtime/replicas")) {
      const auto state = json::parse(text_of(each.path() / "state.json"));
      const auto pid = std::to_string(state.at("supervisor").at("pid").as_int64());
      bytes += private_bytes(pid);
      std::istringstream children(text_of("/proc/" + pid + "/task/" + pid + "/children"));
      for (std::string child; children >> child;) {
        if (fs::read_symlink("/proc/" + child + "/exe") == fs::read_symlink("/proc/" + pid + "/exe"))
          bytes += private_bytes(child);
      }
    }
    return bytes;
  }

 private:
  // What it alone has, and its share of what it has with its fork. The program's own pages are those of every process
  // of Sluice.
  static double private_bytes(const std::string& pid) {
    std::istringstream lines(text_of("/proc/" + pid + "/smaps_rollup"));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("Pss_Anon:")) return std::stod(line.substr(9)) * 1024;
    }
    must(false, "the memory of process " + pid + " is not told");
    return 0;
  }

  std::string sluice_, place_;
  std::vector<std::string> variables_;
};

double bare_deploy_s(const Engine& engine, const std::string& image, const std::string& name) {
  const uint16_t port = free_port();
  const double began_s = wall_s();
  const std::string id = must(engine.create(name, {.image = image,
                                                   .environment = {{"PORT", std::to_string(kInnerPort)}},
                                                   .user = "65532:65532",
                                                   .network = "bare",
                                                   .port = {{.inner = kInnerPort, .outer = port}},
                                                   .memory_folders = {{"/tmp", 64 << 20}},
                                                   .memory_bytes = 256 << 20,
                                                   .processes = 100,
                                                   .files = 1024,
                                                   .user_processes = 1000}));
  done(engine.start(id));
  await_200(port);
  return wall_s() - began_s;
}

void measure_starts(Report& report, const Folder& folder, const std::string& sluice, int rounds) {
  Podman podman(folder);
  const Engine& engine = podman.engine();
  const std::string bundle = make_bundle(folder);
  give_version(bundle, 0);
  const Home home(sluice, folder.path("home"), {podman.variable()});
  home.up_s(bundle);  // the image is there from now on
  const double container_bytes = home.supervisors_bytes();
  const std::string image = must(engine.list({})).front().image;
  done(engine.create_network("bare", {}));
  bare_deploy_s(engine, image, "bare-first");  // a network is set up with its first container

  std::vector<double> bare, deploy, up, compose;
  for (int round = 0; round <= rounds; ++round) {
    bare.push_back(bare_deploy_s(engine, image, "bare-second"));
    done(engine.remove(must(engine.inspect("bare-second")).id));
    give_version(bundle, round + 1);
    home.up_s(bundle);
    deploy.push_back(home.took_s("Runtime/deploy"));
  }

  done(engine.tag(image, "sluice.local/bench", "1"));
  for (int round = 0; round <= rounds; ++round) {
    const uint16_t port = free_port();
    write_text(folder.path("docker-compose.yml"),
               "version: '2.4'\nservices:\n  app:\n    image: sluice.local/bench:1\n    environment: {PORT: '8080'}\n"
               "    ports: ['127.0.0.1:" +
                   std::to_string(port) + ":8080']\n");
    const std::vector<std::string> words = {"docker-compose", "-p", "bench", "-f", folder.path("docker-compose.yml")};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), words.begin(), words.end());
      return more;
    };
    const double began_s = wall_s();
    run(with({"up", "-d"}), {podman.variable(), "HOME=" + folder.path("")});
    await_200(port);
    compose.push_back(wall_s() - began_s);
    run(with({"down"}), {podman.variable(), "HOME=" + folder.path("")});
    const Home fresh(sluice, folder.path("fresh" + std::to_string(round)), {podman.variable()});
    up.push_back(fresh.up_s(bundle));
    run({sluice, "down", "hello-image", "--yes"},
        {podman.variable(), "SLUICE_HOME=" + folder.path("fresh" + std::to_string(round))});
  }
  for (auto* each : {&bare, &deploy, &up, &compose}) each->erase(each->begin());  // a first round warms up
  report.note("a bare client of the engine, to the first 200", median_ms(bare), "ms");
  report.note("Runtime/deploy", median_ms(deploy), "ms");
  report.at_most("Runtime/deploy beside the bare client", median_ms(deploy) / median_ms(bare), 1.25, "×");
  report.note("docker-compose up -d, to the first 200", median_ms(compose), "ms");
  report.note("sluice up in an empty home, to the first 200", median_ms(up), "ms");
  report.at_most("sluice up beside docker-compose up -d", median_ms(up) / median_ms(compose), 0.4, "×");

  const Home processes(sluice, folder.path("processes"), {});
  processes.up_s("examples/hello");
  const double process_bytes = processes.supervisors_bytes();
  report.note("memory of a process's supervisor", process_bytes / 1e6, "MB");
  report.note("memory of a container's supervisor", container_bytes / 1e6, "MB");
  report.at_most("a container's supervisor beside a process's", container_bytes / process_bytes, 1.2, "×");
}

// A registry with nothing in it.
class Registry {
 public:
  explicit Registry(const std::string& place) : place_(place) {
    fs::create_directories(place);
    const uint16_t port = free_port();
    host_ = "127.0.0.1:" + std::to_string(port);
    write_text(place + "/config.yml",
               "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
               "storage: {filesystem: {rootdirectory: " +
                   place +
                   "/data}}\n"
                   "http: {addr: '" +
                   host_ + "'}\n");
    server_ = start({"docker-registry", "serve", place + "/config.yml"}, {});
    await_200(port);
  }
  ~Registry() {
    ::kill(server_.pid, SIGKILL);
    ended(server_);
    fs::remove_all(place_);
  }
  const std::string& host() const { return host_; }

 private:
  std::string place_, host_;
  Started server_;
};

struct Cost {
  std::vector<double> wall, cpu;
};

void measure(Cost& cost, const std::vector<std::string>& words, const std::vector<std::string>& variables) {
  const Started program = start(words, variables);
  const double began_s = wall_s();
  int status = 0;
  rusage used{};
  must(::wait4(program.pid, &status, 0, &used) > 0 && status == 0, words[0] + " " + words[1] + " failed");
  ::close(program.said);
  cost.wall.push_back(wall_s() - began_s);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  cost.cpu.push_back(seconds(used.ru_utime) + seconds(used.ru_stime));
}

void measure_transfers(Report& report, const Folder& folder, const std::string& sluice) {
  const std::string bundle = folder.path("large"), archive = folder.path("large.bundle");
  fs::create_directories(bundle);
  write_text(bundle + "/bundle.yaml", "name: large\nversion: \"1.0.0\"\nrun: [./large]\n");
  run({"sh", "-c",
       "head -c " + std::to_string(kPushedBytes) + " /dev/urandom > " + bundle + "/large && chmod 755 " + bundle +
           "/large"});
  const std::vector<std::string> variables = {"SLUICE_HOME=" + folder.path("pusher"), "HOME=" + folder.path("")};
  run({sluice, "bundles", "build", bundle, "--out", archive}, variables);
  Cost push, pull, skopeo_push, skopeo_pull;
  for (int round = 0; round <= kTransfers; ++round) {
    const Registry registry(folder.path("registry"));
    const std::string pulled = folder.path("pulled.bundle"), layout = folder.path("layout");
    for (const std::string& each : {pulled, pulled + ".sig", layout}) fs::remove_all(each);
    measure(push, {sluice, "bundles", "push", archive, "oci://" + registry.host() + "/ours/large:1"}, variables);
    measure(pull, {sluice, "bundles", "pull", "oci://" + registry.host() + "/ours/large:1", "--out", pulled},
            variables);
    measure(skopeo_pull,
            {"skopeo", "copy", "--quiet", "--src-tls-verify=false", "docker://" + registry.host() + "/ours/large:1",
             "oci:" + layout + ":1"},
            variables);
    const Registry second(folder.path("second"));
    measure(skopeo_push,
            {"skopeo", "copy", "--quiet", "--dest-tls-verify=false", "oci:" + layout + ":1",
             "docker://" + second.host() + "/theirs/large:1"},
            variables);
  }
  const auto told = [&](const std::string& what, Cost& ours, Cost& theirs) {
    for (auto* each : {&ours.wall, &ours.cpu, &theirs.wall, &theirs.cpu}) each->erase(each->begin());
    report.note(what + " of 200 MB", median_ms(ours.wall), "ms");
    report.note("the same by skopeo copy", median_ms(theirs.wall), "ms");
    report.at_most(what + " beside skopeo copy, time", median_ms(ours.wall) / median_ms(theirs.wall), 1.1, "×");
    report.at_most(what + " beside skopeo copy, CPU", median_ms(ours.cpu) / median_ms(theirs.cpu), 1.1, "×");
  };
  told("push", push, skopeo_push);
  told("pull", pull, skopeo_pull);
}

void containers_bench(Report& report, int rounds) {
  const std::string sluice = fs::read_symlink("/proc/self/exe").parent_path() / "sluice";
  enter_own_network();
  {
    const Folder folder("/tmp");
    measure_starts(report, folder, sluice, rounds);
  }
  const DiskFolder folder;
  measure_transfers(report, folder, sluice);
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  using namespace sluice::bench;
  Report report;
  try {  // so that what was started ends
    containers_bench(report, count > 1 ? std::max(std::atoi(words[1]), 1) : kRounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return report.print();
}
