// A scanner of SQL's tokens, as far as they decide where a statement ends.
#include "migrate/sql_text.h"

#include <algorithm>

#include "base/ascii.h"

namespace sluice::migrate {
namespace {

constexpr size_t kFirstWords = 6;

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$' || (c & 0x80) != 0; }

std::string capitals(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

class Scanner {
 public:
  Scanner(Engine engine, std::string_view text, const std::string& file) : engine_(engine), text_(text), file_(file) {}

  Result<std::vector<Statement>> all() {
    while (at_ < text_.size()) {
      auto taken = token();
      if (!taken) return taken.error();
    }
    end_statement(at_);
    return std::move(statements_);
  }

 private:
  bool postgres() const { return engine_ == Engine::postgres; }
  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void advance(size_t to) {
    for (; at_ < to; ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }

  Error open_ended(std::string_view what, uint32_t line) const {
    return {
        .code = Code::invalid, .message = std::string(what) + " is not closed", .position = Position{file_, line, 1}};
  }

  Result<void> through(std::string_view end, size_t from, std::string_view what) {
    uint32_t line = line_;
    size_t found = text_.find(end, from);
    if (found == std::string_view::npos) return open_ended(what, line);
    advance(found + end.size());
    return {};
  }

  // Inside quotes a doubled quote stands for itself; after E a backslash escapes what follows it.
  Result<void> quoted(char quote, bool escapes) {
    uint32_t line = line_;
    size_t i = at_ + 1;
    for (; i < text_.size(); ++i) {
      if (escapes && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        if (i + 1 >= text_.size() || text_[i + 1] != quote) break;
        ++i;
      }
    }
    if (i >= text_.size()) return open_ended("a quote", line);
    advance(i + 1);
    return {};
  }

  // PostgreSQL's comments nest.
  Result<void> block_comment() {
    if (!postgres()) return through("*/", at_ + 2, "a comment");
    uint32_t line = line_;
    int depth = 0;
    size_t i = at_;
    while (i + 1 < text_.size()) {
      std::string_view two = text_.substr(i, 2);
      if (two == "/*" || two == "*/") {
        depth += two == "/*" ? 1 : -1;
        i += 2;
        if (depth == 0) {
          advance(i);
          return {};
        }
      } else {
        ++i;
      }
    }
    return open_ended("a comment", line);
  }

  Result<void> token() {
    char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      advance(at_ + 1);
      return {};
    }
    if (next_is("--")) {
      size_t end = std::min(text_.find('\n', at_), text_.size());
      if (!begun_) comment_.append(text_.substr(at_, end - at_)).append("\n");
      advance(end);
      return {};
    }
    if (next_is("/*")) return block_comment();
    if (c == ';' && depth_ == 0) {
      end_statement(at_);
      advance(at_ + 1);
      return {};
    }
    begin_statement();
    const size_t from = at_;
    auto taken = piece(c);
    if (taken) tokens_.push_back(token_of(text_.substr(from, at_ - from)));
    return taken;
  }

  static std::string token_of(std::string_view text) {
    if (text.back() == '\'' || text.front() == '$') return "'";
    return is_word(text.front()) ? capitals(text) : std::string(text);
  }

  Result<void> piece(char c) {
    if (c == '\'') return quoted('\'', false);
    if (c == '"') return quoted('"', false);
    if (!postgres() && c == '`') return quoted('`', false);
    if (!postgres() && c == '[') return through("]", at_ + 1, "a name in brackets");
    if (postgres() && c == '$' && !is_word(before())) {
      size_t end = at_ + 1;
      while (end < text_.size() && is_word(text_[end]) && text_[end] != '$') ++end;
      if (end < text_.size() && text_[end] == '$' && !is_digit(text_[at_ + 1])) {
        std::string_view tag = text_.substr(at_, end + 1 - at_);
        return through(tag, end + 1, "a dollar quote");
      }
    }
    if (is_word(c)) return word();
    advance(at_ + 1);
    return {};
  }

  char before() const { return at_ == 0 ? ' ' : text_[at_ - 1]; }

  Result<void> word() {
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    std::string name = capitals(text_.substr(at_, end - at_));
    if (postgres() && name == "E" && end < text_.size() && text_[end] == '\'') {
      at_ = end;
      return quoted('\'', true);
    }
    if (words_ < kFirstWords) {
      if (words_++ > 0) first_ += ' ';
      first_ += name;
    }
    follow_body(name);
    last_word_ = std::move(name);
    advance(end);
    return {};
  }

  // A trigger's body in SQLite, and a function's BEGIN ATOMIC in PostgreSQL, have semicolons of their own.
  void follow_body(const std::string& name) {
    bool opens = postgres() ? name == "ATOMIC" && last_word_ == "BEGIN"
                            : name == "BEGIN" && depth_ == 0 && first_.starts_with("CREATE") &&
                                  first_.find("TRIGGER") != std::string::npos;
    if (opens || (depth_ > 0 && name == "CASE")) {
      ++depth_;
    } else if (depth_ > 0 && name == "END") {
      --depth_;
    }
  }

  void begin_statement() {
    if (begun_) return;
    begun_ = true;
    start_ = at_;
    start_line_ = line_;
    start_column_ = static_cast<uint32_t>(at_ - (at_ == 0 ? 0 : text_.rfind('\n', at_ - 1) + 1) + 1);
  }

  void end_statement(size_t end) {
    if (begun_) {
      std::string_view text = text_.substr(start_, end - start_);
      while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
      statements_.push_back({.text = std::string(text),
                             .line = start_line_,
                             .column = start_column_,
                             .first = first_,
                             .last_comment = comment_,
                             .tokens = std::move(tokens_)});
    }
    begun_ = false;
    first_.clear();
    comment_.clear();
    tokens_.clear();
    last_word_.clear();
    words_ = 0;
    depth_ = 0;
  }

  Engine engine_;
  std::string_view text_;
  const std::string& file_;
  std::vector<Statement> statements_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool begun_ = false;
  size_t start_ = 0;
  uint32_t start_line_ = 1;
  uint32_t start_column_ = 1;
  std::string first_;
  std::string comment_;
  std::string last_word_;
  std::vector<std::string> tokens_;
  size_t words_ = 0;
  int depth_ = 0;
};

std::string in_quotes(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    out += c;
    if (c == quote) out += c;
  }
  return out + quote;
}

}  // namespace

std::string quoted_name(std::string_view name) { return in_quotes(name, '"'); }
std::string quoted_text(std::string_view text) { return in_quotes(text, '\''); }

std::string quoted_name(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : ".").append(quoted_name(part));
  return out;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

Result<std::vector<std::string>> parse_name(Engine engine, std::string_view text) {
  const Error bad{.code = Code::invalid,
                  .message = "\"" + std::string(text) + "\" is no name of SQL",
                  .next = "put a name with other characters than letters, digits and _ in double quotes"};
  std::vector<std::string> parts;
  size_t at = 0;
  while (true) {
    std::string part;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) return bad;
        if (text[at] == '"') {
          if (at + 1 >= text.size() || text[at + 1] != '"') break;
          ++at;
        }
        part += text[at];
      }
      ++at;
    } else {
      while (at < text.size() && is_word(text[at])) part += text[at++];
      if (engine == Engine::postgres) std::ranges::transform(part, part.begin(), to_lower);
    }
    if (part.empty()) return bad;
    parts.push_back(std::move(part));
    if (at == text.size()) return parts;
    if (text[at++] != '.' || parts.size() == 2) return bad;
  }
}

Result<std::vector<Statement>> split_statements(Engine engine, std::string_view text, const std::string& file) {
  return Scanner(engine, text, file).all();
}

}  // namespace sluice::migrate
