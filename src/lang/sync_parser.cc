// Recursive descent over `.sync`. After an error the parser goes on at the next rule.
#include "lang/sync_parser.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/nearest.h"
#include "lang/cursor.h"
#include "lang/expression_parser.h"
#include "lang/text.h"

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
      if (cursor_.at("sync")) {
        parse_sync();
      } else if (cursor_.at("guard")) {
        parse_guard();
      } else {
        cursor_.fail_here("`sync` or `guard`");
        // A stray brace at the top would stop the recovery where it stands.
        resume();
        while (cursor_.accept("}")) {
        }
      }
      cursor_.skip_separators();
      resume();
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
    while (cursor_.at("[")) parse_annotations(sync);
    check_annotations(sync);
    bool braces = cursor_.accept("{");
    sync.purpose = parse_purpose(sync.purpose_at);
    sync.when_at = cursor_.peek().at;
    cursor_.expect("when", "after the sync's name and purpose");
    parse_when(sync.when);
    sync.where_at = cursor_.peek().at;
    if (cursor_.at("where")) sync.where = parse_where(&sync.when);
    refuse_for_each();
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
      parse_target(pattern.concept_, pattern.action, true);
      pattern.input = parse_bracketed_patterns("the action");
      if (cursor_.at("=>")) {
        cursor_.fail_here("`}`", "a guard runs before its action, which has no outcome yet");
      }
      cursor_.expect("}", "after the action: a guard stands before one action");
      guard.before = std::move(pattern);
    } else if (cursor_.accept("over")) {
      cursor_.expect("{", "after `over`");
      guard.over = parse_query();
      cursor_.expect("}", "after the query: a guard stands over one relation");
    } else {
      cursor_.fail_here("`before { … }` or `over { … }`");
    }
    guard.where_at = cursor_.peek().at;
    if (cursor_.at("where")) guard.where = parse_where(nullptr);
    guard.require_at = cursor_.peek().at;
    cursor_.expect("require", "after `before`, `over` or `where`");
    parse_require(guard.require);
    guard.else_at = cursor_.peek().at;
    cursor_.expect("else", "after `require { … }`");
    parse_refusal(guard);
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

  // ---------------------------------------------------------------------------------------------- patterns

  void parse_when(std::vector<Pattern>& when) {
    cursor_.expect("{", "after `when`");
    cursor_.skip_separators();
    if (cursor_.at("}")) cursor_.fail_here("a pattern");
    while (!cursor_.at("}") && !cursor_.ended()) {
      Pattern pattern;
      pattern.at = cursor_.peek().at;
      if (cursor_.at("caused") && cursor_.after().is("by")) {
        cursor_.take();
        cursor_.take();
        pattern.link = Pattern::Link::caused_by;
      } else if (cursor_.at("latest") && !cursor_.after().is("/")) {
        cursor_.take();
        pattern.link = Pattern::Link::latest;
      }
      if (when.empty() && pattern.link != Pattern::Link::plain) {
        cursor_.fail_here("a plain pattern first", "`caused by` and `latest` speak of the pattern above them");
      }
      parse_pattern(pattern);
      when.push_back(std::move(pattern));
      cursor_.skip_separators();
    }
    cursor_.expect("}", "to close `when`");
  }

  void parse_pattern(Pattern& pattern) {
    parse_target(pattern.concept_, pattern.action, true);
    pattern.input = parse_bracketed_patterns("the action");
    cursor_.expect("=>", "after the action's arguments");
    parse_outcome(pattern);
    if (cursor_.accept("as")) pattern.as = cursor_.expect_variable("a variable after `as`");
  }

  // `Concept/action:`; either may be a variable, whose text keeps its sign.
  void parse_target(Name& concept_name, Name& action, bool variable_action) {
    concept_name = parse_concept_name();
    cursor_.expect("/", "between concept and action");
    if (variable_action && cursor_.at(Token::Kind::variable)) {
      Token token = cursor_.take();
      action = {token.at, "?" + token.text};
    } else {
      action = cursor_.expect_name("an action's name");
    }
    cursor_.expect(":", "after the action's name");
  }

  Name parse_concept_name() {
    if (cursor_.at(Token::Kind::variable)) {
      Token token = cursor_.take();
      return {token.at, "?" + token.text};
    }
    Name name = cursor_.expect_name("a concept's name");
    while (cursor_.accept(".")) name.text += "." + cursor_.expect_name("a name after `.`").text;
    return name;
  }

  std::vector<FieldPattern> parse_bracketed_patterns(std::string_view after) {
    cursor_.expect("[", "after " + std::string(after));
    return parse_field_patterns("]", false);
  }

  // `field: match` items up to `close`, which is taken. In a query a field may be a path and have a second name.
  std::vector<FieldPattern> parse_field_patterns(std::string_view close, bool query) {
    std::vector<FieldPattern> fields;
    cursor_.skip_separators();
    while (!cursor_.at(close) && !cursor_.ended()) {
      FieldPattern field;
      Name name = cursor_.expect_name("a field's name or `" + std::string(close) + "`");
      while (query && cursor_.accept(".")) name.text += "." + cursor_.expect_name("a field's name after `.`").text;
      field.at = name.at;
      field.field = name.text;
      cursor_.expect(":", "after the field's name");
      field.match = parse_match();
      if (query && cursor_.accept("as")) field.as = cursor_.expect_variable("a variable after `as`");
      fields.push_back(std::move(field));
      cursor_.skip_separators();
    }
    cursor_.expect(close, "");
    return fields;
  }

  // A literal, a variable, `_`, or `{ field: match … }`.
  Expr parse_match() {
    Cursor::Nested nested(cursor_);
    Expr match;
    Token here = cursor_.peek();
    match.at = here.at;
    if (here.kind == Token::Kind::string) {
      cursor_.take();
      match.value = json::string(here.text);
      return match;
    }
    if (cursor_.accept("{")) {
      match.op = Expr::Op::record;
      cursor_.skip_separators();
      while (!cursor_.at("}") && !cursor_.ended()) {
        match.keys.push_back(cursor_.expect_name("a field's name or `}`").text);
        cursor_.expect(":", "after the field's name");
        match.args.push_back(parse_match());
        cursor_.skip_separators();
      }
      cursor_.expect("}", "to close the fields");
      return match;
    }
    if (here.is("[") || here.is("(") || here.is("$")) {
      cursor_.fail_here("a variable, a literal, `_` or `{ … }`");
      return match;
    }
    match = parse_value(cursor_, Dialect::sync);
    if (match.op != Expr::Op::literal && match.op != Expr::Op::variable && match.op != Expr::Op::wildcard) {
      cursor_.fail(here, "a pattern matches a variable, a literal, `_` or `{ … }`",
                   "bind a variable here and compare it with filter(…) in `where`");
    }
    return match;
  }

  // requested · engine.fault[…] · ok[…] · ok(…) · ok · […] · [ok] · [ok(…)] · [ok; field: ?v]
  void parse_outcome(Pattern& pattern) {
    if (cursor_.at("[")) {
      cursor_.take();
      bool variant = cursor_.at_word() && !cursor_.after().is(":");
      pattern.outcome = variant ? Pattern::Outcome::variant : Pattern::Outcome::any;
      if (variant) pattern.variant = cursor_.expect_name("a variant");
      if (variant && cursor_.accept("(")) {
        pattern.output = parse_field_patterns(")", false);
        cursor_.expect("]", "after the variant");
      } else {
        pattern.output = parse_field_patterns("]", false);
      }
      return;
    }
    if (cursor_.accept("requested")) {
      pattern.outcome = Pattern::Outcome::requested;
      return;
    }
    pattern.outcome = Pattern::Outcome::variant;
    if (cursor_.at("engine") && cursor_.after().is(".")) {
      cursor_.take();
      cursor_.take();
      pattern.outcome = Pattern::Outcome::engine;
      pattern.variant = cursor_.expect_name("an engine outcome after `engine.`");
    } else {
      pattern.variant = cursor_.expect_name("an outcome: a variant, `requested`, `engine.…` or `[ … ]`");
    }
    if (cursor_.accept("[")) {
      pattern.output = parse_field_patterns("]", false);
    } else if (cursor_.accept("(")) {
      pattern.output = parse_field_patterns(")", false);
    }
  }

  // ------------------------------------------------------------------------------------- where and require

  // `when` takes the action forms; without it they are refused.
  std::vector<Condition> parse_where(std::vector<Pattern>* when) {
    std::vector<Condition> where;
    cursor_.take();
    cursor_.expect("{", "after `where`");
    cursor_.skip_separators();
    while (!cursor_.at("}") && !cursor_.ended()) {
      refuse_bare_condition();
      if (at_action_form()) {
        Pattern pattern;
        pattern.at = cursor_.peek().at;
        pattern.link = Pattern::Link::latest;
        if (when == nullptr) {
          cursor_.fail_here("a query", "a guard sees state and arguments, not what happened");
        }
        parse_pattern(pattern);
        if (when != nullptr) when->push_back(std::move(pattern));
      } else {
        refuse_for_each();
        where.push_back(parse_condition_line());
      }
      cursor_.skip_separators();
    }
    cursor_.expect("}", "to close `where`");
    return where;
  }

  void parse_require(std::vector<Condition>& require) {
    cursor_.expect("{", "after `require`");
    cursor_.skip_separators();
    if (cursor_.at("}")) cursor_.fail_here("what must hold");
    while (!cursor_.at("}") && !cursor_.ended()) {
      Token here = cursor_.peek();
      Condition condition = parse_condition_line();
      if (condition.kind == Condition::Kind::bind || condition.kind == Condition::Kind::each) {
        cursor_.fail(here, "`" + here.text + "` selects; `require` only says what must hold", "write it in `where`");
      }
      require.push_back(std::move(condition));
      cursor_.skip_separators();
    }
    cursor_.expect("}", "to close `require`");
  }

  bool at_action_form() {
    if (cursor_.at(Token::Kind::variable)) return true;
    return cursor_.at_word() && (cursor_.after().is("/") || (cursor_.after().is(".") && dotted_action_form()));
  }

  // `A.b/c` and not `A.b: {`: one dot can be looked past.
  bool dotted_action_form() { return cursor_.third().is("/"); }

  // `?n > 3` where a line is wanted.
  void refuse_bare_condition() {
    Token here = cursor_.peek(), sign = cursor_.after();
    bool compares = sign.is("=") || sign.is("!=") || sign.is("<") || sign.is("<=") || sign.is(">") || sign.is(">=") ||
                    sign.is("in") || sign.is("not");
    if (here.kind != Token::Kind::variable || !compares) return;
    std::string value(sign.is("not") ? "…" : cursor_.second().raw);
    cursor_.fail(here, "a condition stands in `filter(…)`",
                 "write `filter(?" + here.text + " " + std::string(sign.raw) + " " + value + ")`");
  }

  void refuse_for_each() {
    if (cursor_.at("for") && cursor_.after().is("each")) {
      cursor_.fail(cursor_.peek(), "`for each` is not part of the language",
                   "write `each(?list as { field: ?v })` in `where`: `then` runs once for each row", "for-each");
    }
  }

  Condition parse_condition_line() {
    using Kind = Condition::Kind;
    Condition condition;
    Token word = cursor_.peek();
    condition.at = word.at;
    bool call = cursor_.at_word() && cursor_.after().is("(");
    if (call && (word.is("filter") || word.is("guard"))) {
      condition.kind = Kind::filter;
      open_call();
      condition.exprs.push_back(parse_condition(cursor_, Dialect::sync));
    } else if (call && word.is("any")) {
      condition.kind = Kind::any;
      open_call();
      while (!cursor_.at(")") && !cursor_.ended()) {
        condition.exprs.push_back(parse_condition(cursor_, Dialect::sync));
        cursor_.skip_separators();
      }
      if (condition.exprs.empty()) cursor_.fail_here("a condition");
    } else if (call && word.is("bind")) {
      condition.kind = Kind::bind;
      open_call();
      condition.exprs.push_back(parse_value(cursor_, Dialect::sync));
      cursor_.expect("as", "after the value");
      condition.name = cursor_.expect_variable("a variable after `as`").text;
    } else if (call && word.is("each")) {
      condition.kind = Kind::each;
      open_call();
      condition.exprs.push_back(parse_value(cursor_, Dialect::sync));
      cursor_.expect("as", "after the list");
      cursor_.expect("{", "before the fields of an element");
      condition.fields = parse_field_patterns("}", true);
    } else if (call) {
      cursor_.fail(word, "unknown condition `" + word.text + "(…)`",
                   "conditions are filter(…), guard(…), any(…), bind(… as ?x), each(… as { … }) and queries");
    } else {
      condition.kind = cursor_.at("no") && !cursor_.after().is(":") ? Kind::no : Kind::query;
      if (condition.kind == Kind::no) cursor_.take();
      condition.query = parse_query();
      return condition;
    }
    cursor_.expect(")", "to close `" + word.text + "(`");
    return condition;
  }

  void open_call() {
    cursor_.take();
    cursor_.take();
    cursor_.skip_separators();
  }

  Query parse_query() {
    Query query;
    query.at = cursor_.peek().at;
    query.concept_ = cursor_.expect_name("a concept's name");
    if (cursor_.accept(".")) query.relation = cursor_.expect_name("a list or set field after `.`");
    cursor_.expect(":", "after the relation");
    cursor_.expect("{", "before the fields");
    cursor_.skip_separators();
    if (cursor_.at(Token::Kind::variable)) query.key = cursor_.expect_variable("the key");
    query.fields = parse_field_patterns("}", true);
    return query;
  }

  // -------------------------------------------------------------------------------------------------- then

  void parse_then(std::vector<Effect>& then) {
    cursor_.expect("{", "after `then`");
    cursor_.skip_separators();
    if (cursor_.at("}")) cursor_.fail_here("an action or `answer`");
    while (!cursor_.at("}") && !cursor_.ended()) {
      refuse_for_each();
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
      effect.concept_ = parse_concept_name();
      cursor_.take();
      cursor_.expect("{", "before the candidates");
      cursor_.skip_separators();
      while (!cursor_.at("}") && !cursor_.ended()) {
        effect.candidates.push_back(parse_concept_name());
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
      parse_target(effect.concept_, effect.action, false);
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
