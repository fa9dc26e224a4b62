// The tokens. Every character belongs to one or is an error: nothing is skipped but blanks and comments.
#include "lang/syntax/lexer.h"

#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

bool begins_word(char c) { return is_letter(c) || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::array<std::string_view, 5> kDoubleSymbols = {"->", "=>", "!=", "<=", ">="};
constexpr std::string_view kSymbols = "{}[]():;,./=<>|@$-";

// Spellings of other languages, and what to write here.
struct Foreign {
  std::string_view spelling, hint;
};
constexpr std::string_view kNoArithmetic = "there is no arithmetic: a concept keeps its own totals and returns them";
constexpr std::array<Foreign, 9> kForeign = {{
    {"==", "write `=` to compare"},
    {"&&", "write `and`"},
    {"||", "write `or`"},
    {"!", "write `!=` or `not`"},
    {"'", "write strings in double quotes"},
    {"/*", "write comments with `#` or `//`"},
    {"+", kNoArithmetic},
    {"*", kNoArithmetic},
    {"%", kNoArithmetic},
}};

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
}

void Lexer::restore(const Place& place) {
  at_ = place.at;
  mark_ = place.mark;
  first_on_line_ = place.first_on_line;
  depth_ = place.depth;
  brackets_ = place.brackets;
  comments_.resize(place.comments);
  tokens_ = place.tokens;
}

void Lexer::advance() {
  if (text_[at_] == '\n') {
    mark_ = {mark_.line + 1, 1};
    first_on_line_ = true;
    ++at_;
    return;
  }
  at_ += first_code_point(text_.substr(at_)).bytes;
  ++mark_.column;
}

void Lexer::comment(size_t sign) {
  Comment comment{.at = {mark_}, .own_line = first_on_line_, .depth = depth_, .inside = brackets_ > 0};
  size_t before = text_.find_last_not_of(" \t;,", at_ == 0 ? 0 : at_ - 1);
  comment.closed = !first_on_line_ && before != std::string_view::npos && text_[before] == '}';
  size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view text = text_.substr(at_ + sign, end - at_ - sign);
  if (text.starts_with(' ')) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  comment.text = text;
  mark_.column += count_code_points(text_.substr(at_, end - at_));
  at_ = end;
  comments_.push_back(std::move(comment));
}

void Lexer::skip_blanks_and_comments() {
  while (more()) {
    if (is_blank(here())) {
      advance();
    } else if (here() == '#') {
      comment(1);
    } else if (here() == '/' && here(1) == '/') {
      comment(2);
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  size_t comments_before = comments_.size();
  skip_blanks_and_comments();
  Token token;
  bool first = first_on_line_;
  uint32_t depth = depth_;
  Mark mark = mark_;
  size_t begin = at_;
  if (!more()) {
    token.kind = Token::Kind::end;
  } else if (++tokens_ > kMaxTokens) {
    token = bad("the file has more than " + std::to_string(kMaxTokens) + " tokens", "split it into several files");
    at_ = text_.size();
  } else if (begins_word(here())) {
    token = identifier();
  } else if (here() == '?' && begins_word(here(1))) {
    advance();
    token = identifier();
    if (token.kind == Token::Kind::identifier) token.kind = Token::Kind::variable;
    variable_end_ = at_;
  } else if (here() == '?' && at_ == variable_end_) {
    advance();
    token.kind = Token::Kind::symbol;
    token.text = "?";
  } else if (is_digit(here()) || (here() == '-' && is_digit(here(1)))) {
    token = number();
  } else if (here() == '"') {
    token = string();
  } else {
    token = symbol();
  }
  if (at_ > begin) first_on_line_ = false;
  token.at = {mark};
  token.first_on_line = first;
  token.depth = depth;
  token.raw = text_.substr(begin, at_ - begin);
  if (token.kind != Token::Kind::bad) token.length = std::max(1u, count_code_points(token.raw));
  bool closes = token.is("}") || token.kind == Token::Kind::end;
  for (size_t i = comments_before; i < comments_.size(); ++i) comments_[i].closes = closes;
  return token;
}

Token Lexer::bad(std::string text, std::string hint) {
  Token token;
  token.kind = Token::Kind::bad;
  token.text = std::move(text);
  token.hint = std::move(hint);
  return token;
}

Token Lexer::identifier() {
  Token token;
  token.kind = Token::Kind::identifier;
  size_t begin = at_;
  while (begins_word(here()) || is_digit(here())) advance();
  if (at_ - begin > kMaxIdentifier) {
    return bad(
        "a name of " + std::to_string(at_ - begin) + " characters; names may have " + std::to_string(kMaxIdentifier),
        "choose a shorter name");
  }
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

Token Lexer::number() {
  Token token;
  size_t begin = at_;
  if (here() == '-') advance();
  while (is_digit(here())) advance();
  bool floating = false;
  if (here() == '.' && is_digit(here(1))) {
    floating = true;
    advance();
    while (is_digit(here())) advance();
  }
  if ((here() == 'e' || here() == 'E') &&
      (is_digit(here(1)) || ((here(1) == '+' || here(1) == '-') && is_digit(here(2))))) {
    floating = true;
    advance();
    advance();
    while (is_digit(here())) advance();
  }
  std::string_view digits = text_.substr(begin, at_ - begin);
  size_t letters = at_;
  while (begins_word(here()) || is_digit(here())) advance();
  std::string_view unit = text_.substr(letters, at_ - letters);

  if (floating && unit.empty()) {
    double value = 0;
    auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault != std::errc() || !std::isfinite(value))
      return bad("the number is too large", "numbers go up to 1.7e308");
    token.kind = Token::Kind::floating;
    token.value = value;
    return token;
  }
  int64_t value = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (!floating && fault != std::errc()) return bad("the number is too large", "whole numbers have 64 bits");
  if (unit.empty()) {
    token.kind = Token::Kind::integer;
    token.value = value;
    return token;
  }
  int64_t seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86400 : 0;
  if (floating || seconds == 0 || value < 0) {
    return bad("a number may not run into letters", "durations are whole numbers with s, m, h or d: `90s`");
  }
  if (value > INT64_MAX / seconds) return bad("the duration is too large", "durations in seconds have 64 bits");
  token.kind = Token::Kind::duration;
  token.value = value * seconds;
  return token;
}

// After the backslash and the `u`: {1F600}, 00e9, or a pair of surrogates d83d\ude00.
std::optional<uint32_t> Lexer::escaped_code_point() {
  auto four = [&]() -> std::optional<uint32_t> {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      int digit = hex_digit(here());
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<uint32_t>(digit);
      advance();
    }
    return value;
  };
  if (here() == '{') {
    advance();
    uint32_t value = 0;
    int digits = 0;
    for (; hex_digit(here()) >= 0 && digits < 7; ++digits) {
      value = value * 16 + static_cast<uint32_t>(hex_digit(here()));
      advance();
    }
    if (here() != '}' || digits == 0 || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return std::nullopt;
    advance();
    return value;
  }
  auto high = four();
  if (!high || (*high >= 0xDC00 && *high <= 0xDFFF)) return std::nullopt;
  if (*high < 0xD800 || *high > 0xDBFF) return high;
  if (here() != '\\' || here(1) != 'u') return std::nullopt;
  advance();
  advance();
  auto low = four();
  if (!low || *low < 0xDC00 || *low > 0xDFFF) return std::nullopt;
  return 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
}

Token Lexer::string() {
  Token token;
  token.kind = Token::Kind::string;
  auto begin = save();
  advance();
  std::optional<Token> fault;  // the first one; the string is read to its end all the same
  while (more() && here() != '"' && here() != '\n') {
    if (here() != '\\') {
      size_t at = at_;
      advance();
      token.text += text_.substr(at, at_ - at);
      continue;
    }
    advance();
    if (!more() || here() == '\n' || here() == '\r') break;
    std::string_view escape = text_.substr(at_, first_code_point(text_.substr(at_)).bytes);
    advance();
    if (escape == "n") {
      token.text += '\n';
    } else if (escape == "t") {
      token.text += '\t';
    } else if (escape == "r") {
      token.text += '\r';
    } else if (escape == "\"" || escape == "\\" || escape == "{") {
      token.text += escape;
    } else if (escape == "u") {
      if (auto point = escaped_code_point()) {
        append_utf8(token.text, *point);
      } else if (!fault) {
        fault = bad("a malformed \\u escape", "write \\u{1F600} or \\u00e9");
      }
    } else if (!fault) {
      fault = bad("unknown escape \\" + std::string(escape), R"(the escapes are \n \t \r \" \\ \{ and \u{…})");
    }
  }
  if (here() != '"') {
    restore(begin);
    advance();
    return bad("unterminated string", "close it with \" on the same line");
  }
  advance();
  return fault ? *fault : token;
}

Token Lexer::symbol() {
  Token token;
  token.kind = Token::Kind::symbol;
  std::string_view rest = text_.substr(at_);
  for (std::string_view symbol : kDoubleSymbols) {
    if (!rest.starts_with(symbol)) continue;
    token.text = symbol;
    advance();
    advance();
    return token;
  }
  for (const auto& foreign : kForeign) {
    if (!rest.starts_with(foreign.spelling)) continue;
    for (size_t i = 0; i < foreign.spelling.size(); ++i) advance();
    return bad("unexpected `" + std::string(foreign.spelling) + "`", std::string(foreign.hint));
  }
  std::string_view one = rest.substr(0, first_code_point(text_.substr(at_)).bytes);
  advance();
  if (one.size() > 1 || kSymbols.find(one[0]) == std::string_view::npos) {
    char32_t point = first_code_point(one).value;
    return bad("unexpected character `" + (is_invisible(point) ? code_point_name(point) : std::string(one)) + "`",
               one == "?" ? "a variable is `?name`" : "remove it; text stands in double quotes");
  }
  token.text = one;
  if (one == "{") {
    ++depth_;
  } else if (one == "}") {
    if (depth_ > 0) --depth_;
  } else if (one == "[" || one == "(") {
    ++brackets_;
  } else if ((one == "]" || one == ")") && brackets_ > 0) {
    --brackets_;
  }
  return token;
}

std::optional<std::string> Lexer::prose() {
  std::string prose;
  uint32_t open = 1;
  while (more()) {
    char c = here();
    if (is_blank(c)) {
      if (!prose.empty() && prose.back() != ' ') prose += ' ';
      advance();
      continue;
    }
    first_on_line_ = false;
    if (c == '{') ++open;
    if (c == '}' && --open == 0) {
      advance();
      --depth_;
      if (prose.ends_with(' ')) prose.pop_back();
      return prose;
    }
    size_t at = at_;
    advance();
    prose += text_.substr(at, at_ - at);
  }
  return std::nullopt;
}

std::optional<Template> split_template(const Token& string) {
  Template split;
  std::string_view raw = string.raw.substr(1, string.raw.size() - 2);
  std::string part = "\"";
  // The part is a string literal of its own once its quotes stand around it.
  auto end_part = [&] {
    part += '"';
    split.parts.push_back(Lexer(part).next().text);
    part = "\"";
  };
  size_t counted = 0;
  uint32_t column = 1;  // of raw[counted]; the quote before it is 0
  for (size_t at = 0; at < raw.size();) {
    if (raw[at] == '\\') {
      part += raw.substr(at, 2);
      at += 2;
    } else if (raw.substr(at, 2) == "{{") {
      size_t close = raw.find("}}", at);
      if (close == std::string_view::npos) return std::nullopt;
      std::string_view name = raw.substr(at + 2, close - at - 2);
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      if (name.starts_with('?')) name.remove_prefix(1);
      bool begins = true;  // a name, or a name after a dot, begins here
      for (char c : name) {
        if (begins ? !begins_word(c) : !(begins_word(c) || is_digit(c) || c == '.')) return std::nullopt;
        begins = c == '.';
      }
      if (begins || name.size() > kMaxIdentifier) return std::nullopt;
      end_part();
      size_t begin = static_cast<size_t>(name.data() - raw.data());
      column += count_code_points(raw.substr(counted, begin - counted));
      counted = begin;
      split.holes.push_back({std::string(name), column});
      at = close + 2;
    } else {
      part += raw[at++];
    }
  }
  end_part();
  return split;
}

}  // namespace sluice::lang
