// string.format(list): %s %d %f %e %b %o %x %X, with a precision for %f and %e.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/ascii.h"
#include "render/cel/library.h"
#include "render/cel/type.h"

namespace sluice::cel {
namespace {

std::string real_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return text_of(number);
}

// As %s shows it; false for what has no text.
bool append(std::string& text, const Value& value) {
  switch (value.kind) {
    case Kind::null:
      text += "null";
      return true;
    case Kind::boolean:
      text += value.boolean ? "true" : "false";
      return true;
    case Kind::integer:
      text += std::to_string(value.integer);
      return true;
    case Kind::unsigned_integer:
      text += std::to_string(value.unsigned_integer);
      return true;
    case Kind::real:
      text += real_text(value.real);
      return true;
    case Kind::string:
    case Kind::bytes:
      text += value.text;
      return true;
    case Kind::timestamp:
      text += text_of(value.instant);
      return true;
    case Kind::duration:
      text += text_of_duration(value.nanos);
      return true;
    case Kind::type:
      text += runtime_name(*value.type);
      return true;
    case Kind::list: {
      text += '[';
      for (const auto& item : value.list->items) {
        if (&item != value.list->items.data()) text += ", ";
        if (!append(text, item)) return false;
      }
      text += ']';
      return true;
    }
    case Kind::map: {
      std::vector<std::pair<std::string, std::string>> entries;
      for (const auto& entry : value.map->entries) {
        auto& made = entries.emplace_back();
        if (!append(made.first, entry.key) || !append(made.second, entry.value)) return false;
      }
      std::sort(entries.begin(), entries.end());
      text += '{';
      for (size_t index = 0; index < entries.size(); ++index) {
        text += (index == 0 ? "" : ", ") + entries[index].first + ": " + entries[index].second;
      }
      text += '}';
      return true;
    }
    default:
      return false;
  }
}

template <class Number>
std::string in_base(Number number, int base) {
  char buffer[72];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, number, base);
  return {buffer, written.ptr};
}

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(each) >> 4];
    text += kDigits[static_cast<unsigned char>(each) & 15];
  }
  return text;
}

class Format {
 public:
  explicit Format(const Call& call) : call_(call), rest_(call[0].text) {}

  Value run() {
    while (!rest_.empty()) {
      const size_t percent = std::min(rest_.find('%'), rest_.size());
      text_ += rest_.substr(0, percent);
      rest_.remove_prefix(percent);
      if (rest_.empty()) break;
      rest_.remove_prefix(1);
      if (rest_.starts_with('%')) {
        text_ += '%';
        rest_.remove_prefix(1);
      } else if (!clause()) {
        return call_.fault(fault_);
      }
      if (!call_.arena.fits(text_.size())) return call_.fault("the text grows too large");
    }
    return call_.string(text_);
  }

 private:
  bool stop(std::string fault) {
    fault_ = std::move(fault);
    return false;
  }

  bool precision(int& digits) {
    digits = 6;
    if (!rest_.starts_with('.')) return true;
    rest_.remove_prefix(1);
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), digits);
    if (read.ec != std::errc{} || digits > 100) return stop("a precision is a number up to 100, as in %.3f");
    rest_.remove_prefix(static_cast<size_t>(read.ptr - rest_.data()));
    return true;
  }

  bool clause() {
    int digits = 0;
    if (!precision(digits)) return false;
    if (rest_.empty()) return stop("the format ends with %");
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    if (std::string_view("sdfeboxX").find(letter) == std::string_view::npos) {
      return stop(std::string("there is no format %") + letter);
    }
    if (next_ == call_[1].list->items.size()) return stop("index " + std::to_string(next_) + " out of range");
    const Value& value = call_[1].list->items[next_++];
    std::string made;
    if (!show(letter, digits, value, made)) {
      return stop(std::string("%") + letter + " cannot show a value of type " + std::string(name_of(value.kind)));
    }
    text_ += made;
    return true;
  }

  static bool show(char letter, int digits, const Value& value, std::string& made) {
    const bool whole = value.is(Kind::integer) || value.is(Kind::unsigned_integer);
    const auto based = [&](int base) {
      return value.is(Kind::integer) ? in_base(value.integer, base) : in_base(value.unsigned_integer, base);
    };
    switch (letter) {
      case 's':
        return append(made, value);
      case 'd':
        if (!whole && !(value.is(Kind::real) && !std::isfinite(value.real))) return false;
        return append(made, value);
      case 'f':
      case 'e': {
        double number = 0;
        if (value.is(Kind::real)) {
          number = value.real;
        } else if (value.is(Kind::integer)) {
          number = static_cast<double>(value.integer);
        } else if (value.is(Kind::unsigned_integer)) {
          number = static_cast<double>(value.unsigned_integer);
        } else {
          return false;
        }
        if (!std::isfinite(number)) {
          made = real_text(number);
          return true;
        }
        char buffer[512];
        std::snprintf(buffer, sizeof buffer, letter == 'f' ? "%.*f" : "%.*e", digits, number);
        made = buffer;
        return true;
      }
      case 'b':
        if (value.is(Kind::boolean)) {
          made = value.boolean ? "1" : "0";
          return true;
        }
        if (whole) made = based(2);
        return whole;
      case 'o':
        if (whole) made = based(8);
        return whole;
      default:
        if (whole) {
          made = based(16);
        } else if (value.is(Kind::string) || value.is(Kind::bytes)) {
          made = hex_of(value.text);
        } else {
          return false;
        }
        if (letter == 'X') {
          for (auto& each : made) each = is_lower(each) ? static_cast<char>(each - 'a' + 'A') : each;
        }
        return true;
    }
  }

  const Call& call_;
  std::string_view rest_;
  std::string text_;
  std::string fault_;
  size_t next_ = 0;
};

Value format(const Call& call) { return Format(call).run(); }

constexpr Declared kFormat[] = {{"(string).format(list(dyn)) -> string", format}};

}  // namespace

std::span<const Declared> format_functions() { return kFormat; }

}  // namespace sluice::cel
