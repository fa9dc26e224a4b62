// One attempt's view of the world.
#include "engine/attempt.h"

#include <algorithm>
#include <stdexcept>

#include "engine/journal/journal_search.h"

namespace sluice::engine {

EngineAttempt::EngineAttempt(const AttemptParts& parts, const Ulid& invocation, int64_t number,
                             std::shared_ptr<const std::atomic<bool>> cancelled, lang::Cause cause)
    : parts_(parts),
      invocation_(invocation),
      id_(sluice::to_string(invocation)),
      number_(number),
      cancelled_(std::move(cancelled)),
      cause_(std::move(cause)) {}

std::string EngineAttempt::open(const lang::Sealed& sealed) {
  auto handle = parse_sealed_handle(sealed.handle());
  if (!handle) throw std::runtime_error(handle.error().message);
  if (auto value = parts_.sealed->get(*handle)) return *std::move(value);
  make_again(*handle);
  if (auto value = parts_.sealed->get(*handle)) return *std::move(value);
  throw std::runtime_error("the sealed value " + sealed.handle() + " is gone, and could not be made again");
}

void EngineAttempt::make_again(const SealedHandle& handle) {
  if (handle.number >= kSealedWithCall) {
    throw std::runtime_error("the sealed value " + to_string(handle) + " is gone: it came with a call; call again");
  }
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  auto begun = find_begin(**snapshot, handle.invocation);
  if (!begun) throw UnreadableStore(begun.error());
  if (!*begun || !(*begun)->work) {
    throw std::runtime_error("the sealed value " + to_string(handle) + " is gone, and nothing can make it again");
  }
  const Step& step = **begun;
  size_t slash = step.action.find('/');
  auto owner = std::ranges::find(parts_.concepts, step.action.substr(0, slash), &lang::ConceptBinding::name);
  const lang::ActionBinding* handler =
      owner == parts_.concepts.end() ? nullptr : (*owner)->action(std::string_view(step.action).substr(slash + 1));
  if (handler == nullptr || handler->retry != lang::Retry::safe) {
    throw std::runtime_error("the sealed value " + to_string(handle) + " is gone, and " + step.action +
                             " is not safe to repeat");
  }
  EngineAttempt repeated(parts_, handle.invocation, 1, cancelled_, cause_);
  if (auto result = handler->perform(*step.work, repeated); !result) throw std::runtime_error(result.error().message);
}

lang::Sealed EngineAttempt::seal(std::string value) {
  SealedHandle handle{invocation_, sealed_++};
  parts_.sealed->put(handle, value);
  return lang::Sealed::of_handle(to_string(handle));
}

const lang::Snapshot& EngineAttempt::read() {
  if (!snapshot_) {
    auto snapshot = parts_.store->read();
    if (!snapshot) throw UnreadableStore(snapshot.error());
    snapshot_ =
        std::make_unique<CommittedRows>(*std::move(snapshot), parts_.blobs, parts_.indexed, parts_.clock->wall_ms());
  }
  return *snapshot_;
}

}  // namespace sluice::engine
