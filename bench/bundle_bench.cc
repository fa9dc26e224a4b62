// bundle_bench: packing, verifying and unpacking 500 MB of the system's shared libraries, with mksquashfs beside it at
// the same level and with the same number of processors.
//
// Rates are megabytes of content, not of archive. Packing and unpacking are measured by the time that passes, verifying
// by processor time, as its goal is for one core. The figures "of one processor" say what the machine would do if
// nothing else ran on it.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bundle/archive/extract.h"
#include "bundle/archive/pack.h"
#include "bundle/archive/unfinished.h"
#include "bundle/secrets/secret_scan.h"
#include "bundle/trust/sidecar.h"
#include "bundle/trust/statement.h"
#include "bundle/trust/trust_root.h"
#include "bundle/trust/verify_archive.h"
#include "crypto/sha256.h"

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kWantedBytes = 500'000'000;
constexpr int kPackRounds = 10;

struct Libraries {
  std::vector<std::string> paths;
  double megabytes = 0;
};

// Copies libraries until there is enough, sorted by name so that every run on a machine takes the same ones.
Libraries gather(const std::string& into) {
  std::vector<fs::path> found;
  for (const auto& entry :
       fs::recursive_directory_iterator("/usr/lib", fs::directory_options::skip_permission_denied)) {
    std::error_code ignored;
    if (entry.is_symlink(ignored) || !entry.is_regular_file(ignored)) continue;
    if (entry.path().filename().string().find(".so") != std::string::npos) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  fs::create_directory(into);
  Libraries libraries;
  uint64_t bytes = 0;
  for (const fs::path& path : found) {
    std::string name = std::to_string(libraries.paths.size()) + "-" + path.filename().string();
    fs::copy_file(path, into + "/" + name);
    bytes += fs::file_size(path);
    libraries.paths.push_back(name);
    if (bytes >= kWantedBytes) break;
  }
  libraries.megabytes = static_cast<double>(bytes) / 1e6;
  return libraries;
}

// Processor time of this process and of the children that it has waited for.
double all_cpu_s() {
  double total = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    struct rusage used {};
    ::getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      total += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
    }
  }
  return total;
}

void run_mksquashfs(const std::string& source, const std::string& out) {
  fs::remove(out);
  std::vector<std::string> words = {"mksquashfs", source,        out, "-comp",      "zstd",   "-Xcompression-level",
                                    "3",          "-processors", "2", "-no-xattrs", "-quiet", "-no-progress"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  must(WIFEXITED(status) && WEXITSTATUS(status) == 0, "mksquashfs failed");
}

int run() {
  Folder folder(fs::temp_directory_path().string());
  RealDisk disk;
  Libraries libraries = gather(folder.path("source"));
  const std::string source = folder.path("source");
  const std::string ours = folder.path("ours");
  std::ofstream(source + "/bundle.yaml") << "name: libraries\nversion: \"1\"\nrun: [./none]\n";
  libraries.paths.push_back("bundle.yaml");
  std::printf("%zu libraries, %.0f MB\n", libraries.paths.size(), libraries.megabytes);
  bundle::Packed packed;
  std::function<void()> pack = [&] { packed = must(bundle::pack(disk, source, libraries.paths, ours)); };
  std::function<void()> pack_and_scan = [&] {
    bundle::SecretScan scan;
    must(bundle::pack(disk, source, libraries.paths, ours, {.watcher = &scan}));
  };
  std::function<void()> theirs = [&] { run_mksquashfs(source, folder.path("theirs")); };
  // As `sluice bundles verify` does it: both digests, and the signature in the sidecar.
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  bundle::TrustRoot root;
  root.keys.push_back({.key = key.public_key(), .label = "bench", .environments = {"local"}, .bundles = {"*"}});
  std::function<void()> sign = [&] {
    bundle::Statement statement{.bundle = "libraries", .version = "1"};
    statement.tree = *crypto::parse_sha256("sha256:" + packed.tree_digest);
    statement.archive = *crypto::parse_sha256("sha256:" + packed.archive_sha256);
    auto sidecar = must(bundle::sign_statement(statement, {&key, 1}));
    must(bundle::write_sidecar(disk, bundle::sidecar_path(ours), sidecar).has_value(), "cannot write the sidecar");
  };
  std::function<void()> verify = [&] {
    auto verdict = must(bundle::verify_archive(disk, ours, root, "local", 0));
    must(std::holds_alternative<bundle::Verified>(verdict), "the archive is not verified");
  };
  std::function<void()> extract = [&] {
    auto archive = must(bundle::open_archive(disk, ours));
    must(bundle::extract(disk, *archive, folder.path("out"), packed.tree_digest));
  };
  std::function<void()> clear = [&] {
    must(bundle::remove_tree(disk, folder.path("out")).has_value(), "cannot remove");
  };

  auto wall = medians_s({pack, theirs, pack_and_scan, extract, clear}, kPackRounds);
  auto cpu = medians_s({pack, theirs, pack_and_scan, sign, verify, extract, clear}, 3, all_cpu_s);
  auto rate = [&](double seconds) { return libraries.megabytes / seconds; };
  Report report;
  report.at_least("pack with the secrets doctor, zstd level 3, two processors", rate(wall[2]), 200, "MB/s");
  report.note("pack without the doctor", rate(wall[0]), "MB/s");
  report.note("mksquashfs, which has none", rate(wall[1]), "MB/s");
  report.note("time of ours without the doctor beside mksquashfs", wall[0] / wall[1], "×");
  report.note("pack, of one processor", rate(cpu[0]), "MB/s");
  report.note("mksquashfs, of one processor", rate(cpu[1]), "MB/s");
  report.note("pack with the secrets doctor, of one processor", rate(cpu[2]), "MB/s");
  report.at_least("verify both digests and the signature, of one processor", rate(cpu[4]), 500, "MB/s");
  report.at_least("unpack", rate(wall[3]), 300, "MB/s");
  report.note("unpack, of one processor", rate(cpu[5]), "MB/s");
  report.note("archive beside mksquashfs's",
              static_cast<double>(packed.archive_bytes) / static_cast<double>(fs::file_size(folder.path("theirs"))),
              "×");
  return report.print();
}

}  // namespace
}  // namespace sluice::bench

int main() {
  try {
    return sluice::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bundle_bench: %s\n", error.what());
    return 1;
  }
}
