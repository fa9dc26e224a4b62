// Signals come through a descriptor that is looked at between pieces, so that what is half made is removed in order.
#include "cli/nouns/bundles/bundles_reading.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bundle/archive/inspect.h"

namespace sluice::cli {
namespace {

sigset_t ends() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, each);
  return signals;
}

}  // namespace

Interruption::Interruption() {
  const sigset_t signals = ends();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

Interruption::~Interruption() {
  signalfd_siginfo taken;
  while (fd_ >= 0 && ::read(fd_, &taken, sizeof taken) == sizeof taken) {
  }
  if (fd_ >= 0) ::close(fd_);
  const sigset_t signals = ends();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

bool Interruption::stopped() const {
  pollfd look{fd_, POLLIN, 0};
  return ::poll(&look, 1, 0) > 0;
}

Reading::Reading(Context& context) {
  const Output::Settings& settings = context.output.settings();
  if (!settings.quiet) progress_.emplace(context.output.progress_stream(), settings.err, clock_, "reading");
}

bundle::OpenOptions Reading::options() {
  return {.on_bytes =
              [this](uint64_t bytes) {
                bytes_ += bytes;
                if (progress_) progress_->now_doing("reading, " + std::to_string(bytes_ >> 20) + " MB");
                if (progress_) progress_->tick();
              },
          .stopped = [this] { return interruption_.stopped(); }};
}

Result<bool> is_folder(Context& context, const std::string& path) {
  auto stat = context.disk.stat(path, FollowLinks::yes);
  if (!stat) return stat.error();
  return stat->kind == FileKind::folder;
}

Result<bundle::Selection> selection_of(Context& context, const std::string& folder,
                                       const std::optional<bundle::Manifest>& manifest) {
  std::vector<std::string> include = {"**"};
  if (manifest) {
    include.clear();
    for (const bundle::InnerPath& each : manifest->include) include.push_back(each.text);
  }
  return bundle::select(context.disk, folder, include);
}

// Of a folder, if it has one.
Result<std::optional<bundle::Manifest>> manifest_in(Context& context, const std::string& folder) {
  auto there = context.disk.exists(folder + "/" + std::string(bundle::kManifestName));
  if (!there) return there.error();
  if (!*there) return std::optional<bundle::Manifest>();
  auto manifest = bundle::manifest_of_folder(context.disk, folder);
  if (!manifest) return manifest.error();
  return std::optional(*std::move(manifest));
}

}  // namespace sluice::cli
