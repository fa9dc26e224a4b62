// The rules for what callers say.
#include "engine/caller_words.h"

#include <algorithm>

namespace sluice::engine {

Result<void> check_key(const std::string& key) {
  if (key.size() > kMaxKeyBytes) {
    return Error{.code = Code::usage,
                 .message = "an idempotency key has at most 255 bytes; nothing was changed",
                 .next = "use a shorter --idempotency-key"};
  }
  auto plain = [](unsigned char c) { return c >= ' ' && c != 0x7f; };
  if (!std::ranges::all_of(key, plain) || key.starts_with(' ') || key.ends_with(' ')) {
    return Error{.code = Code::usage,
                 .message = "an idempotency key is printable, without blanks at its ends; nothing was changed",
                 .next = "use an --idempotency-key of letters and digits"};
  }
  return {};
}

Result<void> check_caller(const lang::ActionSymbol& action, const std::string& name) {
  if (action.callers == lang::Callers::anyone) return {};
  return Error{.code = Code::denied,
               .message = name + " is called by syncs alone; nothing was changed",
               .next = "sluice kit show"};
}

bool is_filled_in(const lang::Symbols& symbols, const lang::FieldSymbol& param) {
  if (param.name != kCallerArgument && param.name != kCallerKeyArgument) return false;
  const lang::Types& types = symbols.types;
  const lang::TypeId held = types.present(param.type);
  return held != param.type && types[held].kind == lang::Shape::Kind::string;
}

}  // namespace sluice::engine
