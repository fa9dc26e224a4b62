// Tokens of `.concept` and `.sync` files. The lexer works on demand, because prose in braces is not made of tokens:
// whoever has just taken the `{` of a prose block calls prose() instead of next().
//
// Line ends separate nothing by themselves; a token only knows whether it is the first on its line. Comments are kept
// aside with what the formatter needs to put them back. The text must have passed check_source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/syntax/ast.h"

namespace sluice::lang {

struct Token {
  enum class Kind {
    end,
    identifier,  // text
    variable,    // ?x: text without the sign
    string,      // text: escapes undone
    integer,     // value
    floating,    // value
    duration,    // 90s 5m 2h 1d: value in seconds
    symbol,      // text
    bad,         // text says what is wrong, hint what to write
  };
  Kind kind = Kind::end;
  At at;
  uint32_t length = 1;  // in code points
  std::string text;
  std::string hint;
  json::value value;
  std::string_view raw;       // as written
  bool first_on_line = true;  // nothing but blanks before it
  uint32_t depth = 0;         // braces open before it

  // The symbol or the word spelled so; never a string.
  bool is(std::string_view spelling) const {
    return (kind == Kind::symbol || kind == Kind::identifier) && text == spelling;
  }
  // Whether `next` follows without a blank.
  bool touches(const Token& next) const { return raw.data() + raw.size() == next.raw.data(); }
};

constexpr size_t kMaxIdentifier = 256;
constexpr size_t kMaxTokens = 2'000'000;

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  Token next();

  // Free text up to the brace that closes the one just taken, blanks joined; the closing brace is taken too. Nothing
  // if the text ends before it.
  std::optional<std::string> prose();

  // A place to come back to, for looking ahead.
  struct Place {
    size_t at;
    Mark mark;
    bool first_on_line;
    uint32_t depth, brackets;
    size_t comments, tokens;
  };
  Place save() const { return {at_, mark_, first_on_line_, depth_, brackets_, comments_.size(), tokens_}; }
  void restore(const Place& place);

  // After an error: the nesting is what the parser says it is.
  void set_depth(uint32_t depth) {
    depth_ = depth;
    brackets_ = 0;
  }

  std::vector<Comment> take_comments() { return std::move(comments_); }

 private:
  bool more() const { return at_ < text_.size(); }
  char here(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void advance();
  void skip_blanks_and_comments();
  void comment(size_t sign);
  Token identifier();
  Token number();
  Token string();
  Token symbol();
  Token bad(std::string text, std::string hint = "");
  std::optional<uint32_t> escaped_code_point();

  std::string_view text_;
  size_t at_ = 0;
  size_t variable_end_ = std::string_view::npos;  // of the last variable: a `?` here belongs to it
  Mark mark_{1, 1};
  bool first_on_line_ = true;
  uint32_t depth_ = 0;     // braces
  uint32_t brackets_ = 0;  // brackets and parentheses
  size_t tokens_ = 0;
  std::vector<Comment> comments_;
};

// The parts of a string token that may hold `{{name}}` or `{{name.path}}`: plain texts and, between them, the names.
// Nothing if a hole is malformed.
struct Template {
  struct Hole {
    std::string name;
    uint32_t column = 0;  // of the name, counted from the string's first quote
  };
  std::vector<std::string> parts;
  std::vector<Hole> holes;
};
std::optional<Template> split_template(const Token& string);

}  // namespace sluice::lang
