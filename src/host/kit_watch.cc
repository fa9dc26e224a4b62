// inotify watches folders, not files: editors replace a file by renaming another over it.
#include "host/kit_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

constexpr int kTogether_ms = 50;
constexpr int kLook_ms = 500;
constexpr size_t kMostFolders = 4096;
constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;

bool concerns_kit(std::string_view name) {
  return name.ends_with(".concept") || name.ends_with(".sync") || name.ends_with(".yaml");
}

// Calls visit for every entry below the folder that is not hidden.
template <typename Visit>
void walk(const std::string& folder, const Visit& visit) {
  std::error_code ignored;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, ignored);
  for (size_t count = 0; entries != fs::recursive_directory_iterator() && count < 16 * kMostFolders; ++count) {
    bool hidden = entries->path().filename().string().starts_with('.');
    if (hidden) entries.disable_recursion_pending();
    if (!hidden) visit(*entries);
    entries.increment(ignored);
    if (ignored) break;
  }
}

}  // namespace

KitWatch::KitWatch(const std::vector<std::string>& folders) : folders_(folders) {
  inotify_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  size_t count = 0;
  // The watch's number; none if the folder is not there, or cannot be watched.
  auto add = [&](const std::string& folder) -> std::optional<int> {
    if (inotify_ < 0 || ++count > kMostFolders) return std::nullopt;
    int number = inotify_add_watch(inotify_, folder.c_str(), kEvents);
    if (number >= 0) return number;
    if (errno != ENOENT && errno != ENOTDIR) {
      ::close(inotify_);
      inotify_ = -1;
    }
    return std::nullopt;
  };
  // A folder that is moved away or made anew, by itself or with what holds it, is seen from above. From the top down:
  // what is not there yet is made after its holder is watched, and so is told. One that may not be watched is left out.
  auto add_holders = [&](const std::string& folder) {
    std::error_code ignored;
    fs::path holder;
    for (const fs::path& name : fs::absolute(folder, ignored).lexically_normal()) {
      int number = holder.empty() || name.empty() ? -1 : inotify_add_watch(inotify_, holder.c_str(), kEvents);
      if (number >= 0) holders_[number].insert(name.string());
      holder /= name;
    }
  };
  for (const std::string& folder : folders) {
    if (inotify_ >= 0) add_holders(folder);
    if (auto number = add(folder)) kit_folders_.insert(*number);
    walk(folder, [&](const fs::directory_entry& entry) {
      std::error_code ignored;
      if (!entry.is_directory(ignored)) return;
      if (auto number = add(entry.path().string())) kit_folders_.insert(*number);
    });
  }
  if (inotify_ < 0) seen_ = look();
}

KitWatch::~KitWatch() {
  if (inotify_ >= 0) ::close(inotify_);
}

KitWatch::Snapshot KitWatch::look() const {
  Snapshot found;
  for (const std::string& folder : folders_) {
    walk(folder, [&](const fs::directory_entry& entry) {
      std::error_code ignored;
      if (!concerns_kit(entry.path().string()) || !entry.is_regular_file(ignored)) return;
      int64_t time = entry.last_write_time(ignored).time_since_epoch().count();
      found[entry.path().string()] = {time, entry.file_size(ignored)};
    });
  }
  return found;
}

bool KitWatch::drain() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  bool found = false;
  for (;;) {
    ssize_t size = ::read(inotify_, buffer.data(), buffer.size());
    if (size <= 0) return found;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      std::string_view name = event->len > 0 ? std::string_view(event->name) : std::string_view();
      // A folder that comes or goes may hold files; the changes of a new one are seen by the next watch.
      bool folder = (event->mask & IN_ISDIR) != 0 && !name.starts_with('.');
      bool of_kit = kit_folders_.contains(event->wd) && (folder || concerns_kit(name));
      auto holder = holders_.find(event->wd);
      bool of_holder = holder != holders_.end() && holder->second.contains(name);
      bool lost = (event->mask & IN_Q_OVERFLOW) != 0;
      found = found || of_kit || of_holder || lost;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

Result<bool> KitWatch::wait(int stop) {
  bool changed = false;
  for (;;) {
    std::array<pollfd, 2> waits = {pollfd{stop, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
    nfds_t count = inotify_ >= 0 ? 2 : 1;
    int patience = changed ? kTogether_ms : inotify_ >= 0 ? -1 : kLook_ms;
    int ready = ::poll(waits.data(), count, patience);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Error{.message = std::string("cannot wait for changes: ") + std::strerror(errno)};
    if (waits[0].revents != 0) return false;
    if (inotify_ >= 0) {
      if (ready == 0) return true;  // quiet again after a change
      changed = drain() || changed;
    } else {
      Snapshot now = look();
      if (now == seen_ && changed) return true;
      changed = changed || now != seen_;
      seen_ = std::move(now);
    }
  }
}

bool KitWatch::changed() {
  constexpr int64_t kMs_ns = 1'000'000;
  int64_t now_ns = clock_.monotonic_ns();
  bool fresh = false;
  if (inotify_ >= 0) {
    fresh = drain();
  } else if (now_ns - looked_ns_ >= kLook_ms * kMs_ns) {
    looked_ns_ = now_ns;
    Snapshot found = look();
    fresh = found != seen_;
    seen_ = std::move(found);
  }
  if (fresh) pending_ns_ = now_ns;
  if (!pending_ns_ || now_ns - *pending_ns_ < kTogether_ms * kMs_ns) return false;
  pending_ns_.reset();
  return true;
}

StopSignal::StopSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // The terminal is gone; whoever goes on without one (nohup) has said so.
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool StopSignal::has_come() const {
  pollfd look{.fd = fd_, .events = POLLIN, .revents = 0};
  return ::poll(&look, 1, 0) > 0;
}

int StopSignal::wait() const {
  signalfd_siginfo taken;
  while (::read(fd_, &taken, sizeof taken) != sizeof taken) {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, -1);
  }
  return static_cast<int>(taken.ssi_signo);
}

StopSignal::~StopSignal() {
  const bool outermost = sigismember(&before_, SIGINT) == 0;
  signalfd_siginfo taken;
  while (outermost && fd_ >= 0 && ::read(fd_, &taken, sizeof taken) == sizeof taken) {
  }
  if (fd_ >= 0) ::close(fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace sluice::host
