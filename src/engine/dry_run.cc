// The order is that of a step of the machine: guards before, the handler, guards over what it wrote.
#include "engine/dry_run.h"

#include <algorithm>
#include <boost/json.hpp>

#include "engine/caller_words.h"
#include "engine/outcome_code.h"
#include "engine/rules/guard_set.h"
#include "engine/rules/next_steps.h"

namespace sluice::engine {
namespace {

End end_of_refusal(const Refusal& refusal, const lang::ActionSymbol& action) {
  return {refusal.variant ? action.variants[*refusal.variant].name : "engine.refused", refusal.fields, false,
          refusal.next};
}

Result<End> tried(const lang::ActionBinding& handler, const lang::ActionSymbol& action, lang::ActionRef ref,
                  const json::object& input, const GuardSet& guards, Transaction& state) {
  if (auto refusal = guards.before(ref, input, state)) return end_of_refusal(*refusal, action);
  End end{.variant = "ok", .fields = {}, .maybe_done = false};
  if (handler.act) {
    auto done = handler.act(input, state.rows());
    if (!done) return done.error();
    end = {done->variant, done->fields, false};
  } else if (handler.begin) {
    auto begun = handler.begin(input, state.rows());
    if (!begun) return begun.error();
    if (const auto* done = std::get_if<lang::Completion>(&*begun)) end = {done->variant, done->fields, false};
  }
  if (auto refusal = guards.over(ref, state.changed(), state)) return end_of_refusal(*refusal, action);
  return end;
}

}  // namespace

Result<DryEnd> dry_run(DryRunParts parts, const std::string& action, const json::object& input) {
  const Error missing{.code = Code::not_found, .message = "there is no action " + action, .next = "sluice kit show"};
  const lang::Symbols& symbols = parts.kit->symbols();
  auto ref = symbols.find_action(action);
  if (!ref) return missing;
  auto binding = std::ranges::find(parts.concepts, symbols.concepts[ref->concept_].name, &lang::ConceptBinding::name);
  const lang::ActionBinding* handler =
      binding == parts.concepts.end() ? nullptr : (*binding)->action(symbols.action(*ref).name);
  if (handler == nullptr) return missing;
  if (auto may = check_caller(symbols.action(*ref), action); !may) return may.error();
  if (handler->check) {
    if (auto fits = handler->check(input); !fits) return fits.error();
  }
  auto guards = GuardSet::compile(parts.kit);
  if (!guards) return guards.error();
  Transaction state(parts.store, parts.blobs, std::move(parts.indexed));
  try {
    state.begin_step(Ulid(), 1, parts.now_ms);
    auto end = tried(*handler, symbols.action(*ref), *ref, input, **guards, state);
    if (!end) return end.error();
    state.drop_step();
    const auto& variants = symbols.action(*ref).variants;
    auto variant = std::ranges::find(variants, end->variant, &lang::VariantSymbol::name);
    if (end->next.empty() && variant != variants.end()) {
      const auto number = static_cast<size_t>(variant - variants.begin());
      end->next = NextSteps(*parts.kit).of(*ref, number, input, end->fields, parts.now_ms);
    }
    Code code = code_of(symbols.action(*ref), end->variant);
    return DryEnd{*std::move(end), code};
  } catch (const UnreadableStore& unreadable) {
    return unreadable.error;
  } catch (const std::exception& error) {
    return Error{.code = Code::failed, .message = action + ": " + error.what()};
  }
}

}  // namespace sluice::engine
