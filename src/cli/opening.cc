// Options that a command does not have are as if they were not given.
#include "cli/opening.h"

#include <algorithm>

namespace sluice::cli {
namespace {

bool takes(const Given& given, std::string_view option) {
  return given.command != nullptr &&
         std::ranges::find(given.command->options, option, &Option::name) != given.command->options.end();
}

}  // namespace

Option lock_timeout_option() {
  return {.name = "lock-timeout",
          .value = "TIME",
          .help = "how long to wait for another process that has the store open",
          .kind = Kind::duration,
          .fallback = "10s"};
}

Result<host::Home> home_of(const Context& context) { return host::find_home(context.disk, context.variables); }

const host::LoadedConcepts& concepts_of(const Context& context) {
  static const host::LoadedConcepts kNone;
  return context.concepts != nullptr ? *context.concepts : kNone;
}

Result<host::Opening> opening_of(const Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  const Given& given = context.given;
  return host::Opening{.disk = context.disk,
                       .home = *std::move(home),
                       .narrator = context.output,
                       .concepts = concepts_of(context),
                       .purpose = given.command != nullptr ? given.command->name : "",
                       .reason = takes(given, "reason") ? given.text("reason") : "",
                       .lock_timeout_ms = takes(given, "lock-timeout") ? given.number("lock-timeout").value_or(0) : 0};
}

Result<host::KitPlace> kit_place_of(const Context& context, const std::string& given) {
  return host::place_of_kit(given, home_of(context), context.output);
}

lang::Checked check_kit_at(const Context& context, const host::KitPlace& place, bool strict) {
  return host::check_place(place, strict, context.disk, context.output);
}

}  // namespace sluice::cli
