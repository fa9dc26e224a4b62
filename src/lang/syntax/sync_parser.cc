// The rules of a `.sync`. After an error the parser goes on at the next rule.
#include "lang/syntax/sync_parser.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/nearest.h"
#include "lang/syntax/cursor.h"
#include "lang/syntax/expression_parser.h"
#include "lang/syntax/next_parser.h"
#include "lang/syntax/pattern_parser.h"
#include "lang/syntax/text.h"
#include "lang/syntax/where_parser.h"

namespace sluice::lang {
namespace {

constexpr std::array<std::string_view, 11> kAnnotations = {"eager",    "eventual",    "loop",     "retry",
                                                           "local",    "idempotent",  "required", "recommended",
                                                           "optional", "integration", "lazy"};
constexpr std::array<std::string_view, 4> kMeaningful = {"eager", "eventual", "loop", "retry"};

class SyncParser {
 public:
  SyncParser(std::string_view text, const std::string& file, Diagnostics& found)
      : found_(found), cursor_(text, file, found) {
    file_.file = file;
  }

  SyncFile parse() {
    resume();
    while (!cursor_.ended()) {
      size_t errors = found_.errors();
      if (cursor_.at("sync")) {
        parse_sync();
      } else if (cursor_.at("guard")) {
        parse_guard();
      } else {
        cursor_.fail_here("`sync` or `guard`");
      }
      cursor_.skip_separators();
      resume();
      // A brace that is left of a rule with errors, or a stray one, would stop the recovery where it stands.
      while (found_.errors() > errors && cursor_.accept("}")) resume();
    }
    file_.comments = cursor_.take_comments();
    lift_comments(file_.comments, outer_braces_);
    return std::move(file_);
  }

 private:
  void resume() { cursor_.recover(0, {"sync", "guard"}); }

  // ------------------------------------------------------------------------------------------------- rules

  void parse_sync() {
    size_t errors = found_.errors();
    Sync sync;
    sync.file = cursor_.file();
    Token word = cursor_.take();
    sync.at = word.at;
    sync.name = cursor_.expect_name("the sync's name");
    // Those that follow from a `provides` are called `Provider.action.variant`; a set that is kept has them as text.
    while (cursor_.accept(".")) sync.name.text += "." + cursor_.expect_name("the rest of the sync's name").text;
    while (cursor_.at("[")) parse_annotations(sync);
    check_annotations(sync);
    bool braces = cursor_.accept("{");
    sync.purpose = parse_purpose(sync.purpose_at);
    sync.when_at = cursor_.peek().at;
    cursor_.expect("when", "after the sync's name and purpose");
    parse_when(cursor_, sync.when);
    sync.where_at = cursor_.peek().at;
    if (cursor_.at("where")) sync.where = parse_where(cursor_, &sync.when);
    refuse_for_each(cursor_);
    sync.then_at = cursor_.peek().at;
    if (!cursor_.at("then")) cursor_.fail_here("`then` after `when` and `where`");
    while (cursor_.accept("then")) parse_then(sync.then);
    if (braces) close_braces(sync.at, "to close the sync");
    check_rule_end("sync");
    if (found_.errors() == errors) file_.rules.emplace_back(std::move(sync));
  }

  void parse_guard() {
    size_t errors = found_.errors();
    Guard guard;
    guard.file = cursor_.file();
    guard.at = cursor_.take().at;
    guard.name = cursor_.expect_name("the guard's name");
    bool braces = cursor_.accept("{");
    guard.purpose = parse_purpose(guard.purpose_at);
    guard.before_at = cursor_.peek().at;
    if (cursor_.accept("before")) {
      cursor_.expect("{", "after `before`");
      Pattern pattern;
      pattern.at = cursor_.peek().at;
      parse_pattern_input(cursor_, pattern);
      if (cursor_.at("=>")) {
        cursor_.fail_here("`}`", "a guard runs before its action, which has no outcome yet");
      }
      cursor_.expect("}", "after the action: a guard stands before one action");
      guard.before = std::move(pattern);
    } else if (cursor_.accept("over")) {
      cursor_.expect("{", "after `over`");
      guard.over = parse_query(cursor_);
      cursor_.expect("}", "after the query: a guard stands over one relation");
    } else {
      cursor_.fail_here("`before { … }` or `over { … }`");
    }
    guard.where_at = cursor_.peek().at;
    if (cursor_.at("where")) guard.where = parse_where(cursor_, nullptr);
    guard.require_at = cursor_.peek().at;
    cursor_.expect("require", "after `before`, `over` or `where`");
    parse_require(cursor_, guard.require);
    guard.else_at = cursor_.peek().at;
    cursor_.expect("else", "after `require { … }`");
    parse_refusal(guard);
    cursor_.skip_separators();
    guard.next = parse_next_steps(cursor_, Dialect::sync);
    if (braces) close_braces(guard.at, "to close the guard");
    check_rule_end("guard");
    if (found_.errors() == errors) file_.rules.emplace_back(std::move(guard));
  }

  void close_braces(Mark begin, std::string_view where) {
    outer_braces_.push_back({begin, cursor_.peek().at});
    cursor_.expect("}", where);
  }

  void check_rule_end(std::string_view what) {
    if (cursor_.ended() || cursor_.at("sync") || cursor_.at("guard")) return;
    cursor_.fail_here("the next rule or the end of the file", "the " + std::string(what) + " ends before this");
  }

  void parse_annotations(Sync& sync) {
    cursor_.take();
    cursor_.skip_separators();
    while (!cursor_.at("]") && !cursor_.ended()) {
      Token word = cursor_.peek();
      Name name = cursor_.expect_name("an annotation");
      if (!cursor_.stopped() && std::ranges::find(kAnnotations, name.text) == kAnnotations.end()) {
        auto near = nearest(name.text, kAnnotations);
        cursor_.fail(word, "unknown annotation `" + name.text + "`",
                     !near ? "the annotations are eager, eventual, retry(…) and loop" : "write `" + *near + "`",
                     "unknown-annotation");
      } else if (name.text == "retry") {
        parse_retry(sync);
      } else {
        sync.annotations.push_back(name);
        sync.eventual |= name.text == "eventual";
        sync.loop |= name.text == "loop";
        if (!cursor_.stopped() && std::ranges::find(kMeaningful, name.text) == kMeaningful.end()) {
          cursor_.report(word, "`" + name.text + "` has no effect",
                         "remove it: effects declare `retry:`, and suites declare tiers", "annotation-without-effect",
                         Diagnostic::Severity::warning);
        }
      }
      cursor_.skip_separators();
    }
    cursor_.expect("]", "after the annotations");
  }

  void parse_retry(Sync& sync) {
    cursor_.expect("(", "after `retry`");
    cursor_.skip_separators();
    if (cursor_.at(")")) cursor_.fail_here("a variant");
    while (!cursor_.at(")") && !cursor_.ended()) {
      sync.retry_variants.push_back(cursor_.expect_name("a variant"));
      cursor_.skip_separators();
    }
    cursor_.expect(")", "after the variants");
  }

  void check_annotations(const Sync& sync) {
    if (cursor_.stopped()) return;
    auto has = [&](std::string_view name) {
      return std::ranges::any_of(sync.annotations, [&](const Name& written) { return written.text == name; });
    };
    Token at;
    at.at = sync.name.at;
    at.length = static_cast<uint32_t>(sync.name.text.size());
    if (has("eager") && has("eventual")) {
      cursor_.report(at, "sync `" + sync.name.text + "` is both eager and eventual", "keep one", "annotation-conflict");
    }
    if (!sync.retry_variants.empty() && !sync.eventual) {
      cursor_.report(at, "`retry(…)` without `eventual`", "write `[eventual retry(…)]`", "annotation-conflict");
    }
  }

  std::string parse_purpose(At& at) {
    at = cursor_.peek().at;
    if (!cursor_.accept("purpose")) return {};
    if (cursor_.at("{")) return cursor_.expect_prose("the purpose");
    cursor_.expect(":", "after `purpose`");
    return cursor_.expect_string("the purpose as a string");
  }

  // -------------------------------------------------------------------------------------------------- then

  void parse_then(std::vector<Effect>& then) {
    cursor_.expect("{", "after `then`");
    cursor_.skip_separators();
    if (cursor_.at("}")) cursor_.fail_here("an action or `answer`");
    while (!cursor_.at("}") && !cursor_.ended()) {
      refuse_for_each(cursor_);
      Effect effect;
      effect.at = cursor_.peek().at;
      if (cursor_.at("answer") && !cursor_.after().is("/")) {
        cursor_.take();
        effect.kind = Effect::Kind::answer;
        effect.request = cursor_.expect_variable("the request's variable after `answer`");
        cursor_.expect("=>", "after the request");
        effect.variant = cursor_.expect_name("a variant");
        effect.arguments = parse_values("the variant");
      } else {
        parse_invocation(effect);
      }
      then.push_back(std::move(effect));
      cursor_.skip_separators();
    }
    cursor_.expect("}", "to close `then`");
  }

  void parse_invocation(Effect& effect) {
    if (cursor_.at(Token::Kind::variable) && cursor_.after().is("in")) {
      effect.concept_ = parse_concept_name(cursor_);
      cursor_.take();
      cursor_.expect("{", "before the candidates");
      cursor_.skip_separators();
      while (!cursor_.at("}") && !cursor_.ended()) {
        effect.candidates.push_back(parse_concept_name(cursor_));
        cursor_.skip_separators();
      }
      if (effect.candidates.empty()) cursor_.fail_here("a concept's name");
      cursor_.expect("}", "after the candidates");
      cursor_.expect("/", "between concept and action");
      effect.action = cursor_.expect_name("an action's name");
      cursor_.expect(":", "after the action's name");
    } else if (cursor_.at(Token::Kind::variable)) {
      Token variable = cursor_.peek();
      cursor_.fail(variable, "a variable as the target needs its candidates",
                   "write `?" + variable.text + " in {A, B}/action: [ … ]`", "target-candidates");
    } else {
      parse_target(cursor_, effect.concept_, effect.action);
    }
    cursor_.expect("[", "before the arguments");
    effect.arguments = parse_arguments(cursor_, Dialect::sync, "]");
    if (cursor_.at("=>")) cursor_.fail_here("the next action or `}`", "an action in `then` has no outcome");
  }

  std::vector<Argument> parse_values(std::string_view after) {
    if (cursor_.accept("(")) return parse_arguments(cursor_, Dialect::sync, ")");
    cursor_.expect("[", "after " + std::string(after));
    return parse_arguments(cursor_, Dialect::sync, "]");
  }

  void parse_refusal(Guard& guard) {
    if (cursor_.at("engine") && cursor_.after().is(".")) {
      cursor_.take();
      cursor_.take();
      guard.engine = true;
      Token outcome = cursor_.peek();
      guard.variant = cursor_.expect_name("`refused` after `engine.`");
      if (!cursor_.stopped() && guard.variant.text != "refused") {
        cursor_.fail(outcome, "a guard cannot end an action in `engine." + guard.variant.text + "`",
                     "write `engine.refused[ message: \"…\" ]` or a declared variant");
      }
    } else {
      guard.variant = cursor_.expect_name("a variant after `else`");
    }
    guard.arguments = parse_values("the variant");
  }

  Diagnostics& found_;
  Cursor cursor_;
  SyncFile file_;
  std::vector<Span> outer_braces_;
};

}  // namespace

SyncFile parse_whole_rules(std::string_view text, const std::string& file, Diagnostics& found) {
  if (!check_source(text, file, found)) return {};
  SyncFile parsed = SyncParser(text, file, found).parse();
  parsed.blank_lines = blank_lines(text);
  return parsed;
}

std::optional<SyncFile> parse_sync(std::string_view text, const std::string& file, Diagnostics& found) {
  size_t before = found.errors();
  SyncFile parsed = parse_whole_rules(text, file, found);
  if (found.errors() > before) return std::nullopt;
  return parsed;
}

std::optional<SyncFile> load_sync(const std::string& path, Diagnostics& found) {
  auto text = read_source(path);
  if (!text) {
    found.add(unreadable(path, text.error()));
    return std::nullopt;
  }
  return parse_sync(*text, path, found);
}

}  // namespace sluice::lang
