// The parser's place, its expectations and its recovery.
#include "lang/syntax/cursor.h"

#include <algorithm>

namespace sluice::lang {

std::string describe(const Token& token) {
  constexpr size_t kShown = 40;
  switch (token.kind) {
    case Token::Kind::end:
      return "the end of the file";
    case Token::Kind::string:
      return "a string";
    case Token::Kind::integer:
    case Token::Kind::floating:
    case Token::Kind::duration:
      return "the number " + std::string(token.raw.substr(0, kShown));
    default:
      return "`" + std::string(token.raw.substr(0, kShown)) + (token.raw.size() > kShown ? "…`" : "`");
  }
}

void lift_comments(std::vector<Comment>& comments, const std::vector<Span>& spans) {
  auto before = [](Mark a, Mark b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); };
  size_t next = 0;  // spans are in order and apart
  for (auto& comment : comments) {
    while (next < spans.size() && before(spans[next].end, comment.at)) ++next;
    if (next < spans.size() && before(spans[next].begin, comment.at) && comment.depth > 0) --comment.depth;
  }
}

Cursor::Cursor(std::string_view text, std::string file, Diagnostics& found)
    : lexer_(text), file_(std::move(file)), found_(found) {
  advance();
}

// A bad token is reported when it comes to stand here, not when it is looked at from afar.
void Cursor::advance() {
  token_ = lexer_.next();
  if (token_.kind == Token::Kind::bad) fail(token_, token_.text, token_.hint, "token");
}

Token Cursor::ahead(int count) {
  if (stopped_) return stop_;
  auto place = lexer_.save();
  Token token;
  for (int i = 0; i < count; ++i) token = lexer_.next();
  lexer_.restore(place);
  return token;
}

Token Cursor::take() {
  if (stopped_) return stop_;
  Token taken = std::move(token_);
  advance();
  return taken;
}

bool Cursor::accept(std::string_view spelling) {
  if (!at(spelling)) return false;
  take();
  return true;
}

void Cursor::skip_separators() {
  while (accept(";") || accept(",")) {
  }
}

void Cursor::expect(std::string_view spelling, std::string_view where) {
  if (accept(spelling)) return;
  std::string expected = "`" + std::string(spelling) + "`";
  if (!where.empty()) expected += " " + std::string(where);
  fail_here(std::move(expected), "write `" + std::string(spelling) + "`");
}

Name Cursor::expect_name(std::string_view what) {
  if (!at_word() || at("_")) {
    fail_here(std::string(what));
    return {};
  }
  Token token = take();
  return {token.at, token.text};
}

Name Cursor::expect_variable(std::string_view what) {
  if (!at(Token::Kind::variable)) {
    fail_here(std::string(what), at_word() ? "write `?" + peek().text + "`" : "");
    return {};
  }
  Token token = take();
  return {token.at, token.text};
}

std::string Cursor::expect_string(std::string_view what) {
  if (!at(Token::Kind::string)) {
    fail_here(std::string(what), at_word() ? "write \"" + peek().text + "\"" : "");
    return {};
  }
  return take().text;
}

std::string Cursor::expect_prose(std::string_view of) {
  if (!at("{")) {
    fail_here("`{` before the text of " + std::string(of));
    return {};
  }
  auto prose = lexer_.prose();
  if (!prose) {
    fail(token_, "the text of " + std::string(of) + " is not closed", "close it with `}`; braces in it must pair");
    return {};
  }
  advance();
  return std::move(*prose);
}

void Cursor::report(const Token& at, std::string text, std::string hint, std::string rule,
                    Diagnostic::Severity severity) {
  found_.add({.severity = severity,
              .file = file_,
              .mark = at.at,
              .length = at.length,
              .text = std::move(text),
              .hint = std::move(hint),
              .rule = std::move(rule)});
}

void Cursor::fail(const Token& at, std::string text, std::string hint, std::string rule) {
  if (stopped_) return;
  report(at, std::move(text), std::move(hint), std::move(rule));
  stopped_ = true;
  stop_ = Token{.at = at.at, .depth = at.depth};
}

void Cursor::fail_here(const std::string& expected, std::string hint, std::string rule) {
  // What was expected is what to write, but for the reason that may follow a colon.
  if (hint.empty())
    hint = expected.starts_with("the end") ? "remove it" : "write " + expected.substr(0, expected.find(": "));
  fail(peek(), "expected " + expected + ", found " + describe(peek()), std::move(hint), std::move(rule));
}

void Cursor::recover(uint32_t depth, std::initializer_list<std::string_view> words) {
  if (!stopped_) return;
  stopped_ = false;
  while (token_.kind != Token::Kind::end) {
    if (token_.is("}") && token_.depth <= depth) return;
    bool word = token_.first_on_line && std::ranges::any_of(words, [&](auto word) { return token_.is(word); });
    // What failed where it was resumed would fail again.
    if (word && token_.raw.data() != resumed_) {
      resumed_ = token_.raw.data();
      lexer_.set_depth(depth);
      return;
    }
    token_ = lexer_.next();
  }
}

}  // namespace sluice::lang
