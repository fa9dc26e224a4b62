// What a call from outside says besides its arguments: the idempotency key, and who calls. An action that declares one
// of these arguments, as `option String`, is told by the engine, and by nobody else: a call that gives it is refused.
//
//   action set(deployment: D, …, caller: option String, callerKey: option String)
//
// And whether a call may come from outside at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "lang/check/symbols.h"

namespace sluice::engine {

inline constexpr std::string_view kCallerArgument = "caller";        // who called from outside
inline constexpr std::string_view kCallerKeyArgument = "callerKey";  // under which key; empty: none

inline constexpr size_t kMaxKeyBytes = 255;

// Printable, without blanks at its ends, of at most 255 bytes: it goes through every door, and is shown.
Result<void> check_key(const std::string& key);

// Denied if the concept says of the action that only syncs call it (`callers: syncs`).
Result<void> check_caller(const lang::ActionSymbol& action, const std::string& name);

// Whether the engine fills in this argument.
bool is_filled_in(const lang::Symbols& symbols, const lang::FieldSymbol& param);

}  // namespace sluice::engine
