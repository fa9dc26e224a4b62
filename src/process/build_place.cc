// By unshare and mount of util-linux, which every Debian has: they change this process's view and become the command.
#include "process/build_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace sluice::process {
namespace {

// Mounts are kept private as by take_own_mounts (process/system.h), which unshare cannot do in a chroot.
constexpr const char* kScript =
    "{ mount --make-rprivate / 2>/dev/null || ! grep -q ' shared:' /proc/self/mountinfo; } && "
    "mount --bind \"$1\" \"$2\" && cd \"$3\" && shift 3 && exec \"$@\"";
// Who is not root may mount in a user namespace, but only with its capabilities, which starting a program takes away
// unless they are kept; the command itself gets none of them.
constexpr const char* kSetpriv = "/usr/bin/setpriv";
constexpr mode_t kMountPointMode = 0755;

std::string seen_at(const std::string& path, const std::string& work) {
  const bool is_below = path == work || path.starts_with(work + "/");
  return is_below ? kBuildPlace + path.substr(work.size()) : path;
}

}  // namespace

bool has_build_place(Runner& runner, const std::string& work) {
  // Only a place to mount on: nothing is ever written to it. One that is there already is as good.
  (void)::mkdir(kBuildPlace, kMountPointMode);
  RunRequest look{.argv = {"true"}, .folder = work, .environment = {{"PATH", "/usr/bin:/bin:/usr/sbin:/sbin"}}};
  auto ran = runner.run(in_build_place(std::move(look), work), {});
  return ran && ran->good();
}

RunRequest in_build_place(RunRequest request, const std::string& work) {
  std::vector<std::string> argv = {"/usr/bin/unshare", "--mount", "--propagation", "unchanged"};
  const bool is_root = ::geteuid() == 0;
  if (!is_root) argv.insert(argv.end(), {"--user", "--map-current-user", "--keep-caps"});
  argv.insert(argv.end(), {"/bin/sh", "-c", kScript, "sh", work, kBuildPlace, seen_at(request.folder, work)});
  if (!is_root) argv.insert(argv.end(), {kSetpriv, "--inh-caps=-all", "--ambient-caps=-all", "--"});
  argv.insert(argv.end(), request.argv.begin(), request.argv.end());
  request.argv = std::move(argv);
  for (auto& [name, value] : request.environment) value = seen_at(value, work);
  request.folder = work;
  return request;
}

}  // namespace sluice::process
