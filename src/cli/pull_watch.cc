// A thread that looks into the home ten times a second, so that a pull is told of soon after it began.
#include "cli/pull_watch.h"

#include <chrono>

#include "base/thread_name.h"
#include "deploy/pull_progress.h"

namespace sluice::cli {
namespace {

constexpr auto kBetweenPullLooks = std::chrono::milliseconds(100);
constexpr int kLooksANote = 10;

}  // namespace

PullWatch::PullWatch(Context& context, const host::Home& home, std::string revision) {
  const std::string folder = (home.root() / "runtime" / "images").string();
  thread_ = std::thread([this, &context, folder, revision = std::move(revision)] {
    name_this_thread("pull-watch");
    std::string said;
    int since = kLooksANote;
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, kBetweenPullLooks, [this] { return ending_; })) {
      lock.unlock();
      auto told = deploy::pull_of(context.disk, folder, revision);
      const std::string text = told ? deploy::to_text(*told) : "";
      if (++since >= kLooksANote && !text.empty() && text != said) {
        context.output.note(text);
        said = text;
        since = 0;
      }
      lock.lock();
    }
  });
}

PullWatch::~PullWatch() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

}  // namespace sluice::cli
