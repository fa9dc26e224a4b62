// The first that is there is the guess: what says how to run comes before what is merely runnable.
#include "bundle/manifest/guess.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "base/atomic_file.h"
#include "base/json.h"

namespace sluice::bundle {

namespace {

constexpr size_t kMaxGuessBytes = 1 << 20;

struct Usual {
  std::string_view file;
  std::string_view interpreter;
};
constexpr std::array kUsualFiles = {
    Usual{"main.py", "python3"},   Usual{"app.py", "python3"}, Usual{"server.py", "python3"},
    Usual{"server.js", "node"},    Usual{"index.js", "node"},  Usual{"app.js", "node"},
    Usual{"server.mjs", "node"},   Usual{"index.mjs", "node"}, Usual{"main.rb", "ruby"},
    Usual{"app.rb", "ruby"},       Usual{"main.pl", "perl"},   Usual{"index.php", "php"},
    Usual{"app.jar", "java -jar"},
};
constexpr std::array<std::string_view, 8> kUsualPrograms = {"run.sh", "start.sh", "serve.sh", "serve",
                                                            "run",    "start",    "server",   "app"};

// Letters without their accents; the text as it is if it is none.
std::string without_accents(std::string_view text) {
  utf8proc_uint8_t* mapped = nullptr;
  auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_STABLE |
                                                UTF8PROC_STRIPMARK | UTF8PROC_CASEFOLD);
  utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  return size < 0 ? std::string(text) : std::string(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
}

Name name_like(std::string_view called) {
  std::string text;
  for (char c : without_accents(called)) {
    char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    bool fits = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9');
    if (fits) text += small;
    if (!fits && !text.empty() && text.back() != '-') text += '-';
  }
  text.erase(0, std::min(text.find_first_of("abcdefghijklmnopqrstuvwxyz"), text.size()));
  text = text.substr(0, 63);
  while (text.ends_with('-')) text.pop_back();
  return {text.empty() ? "app" : text};
}

class Guessing {
 public:
  Guessing(Disk& disk, const std::string& folder) : disk_(disk), folder_(folder) {}

  std::vector<std::string> run() {
    if (auto found = of_procfile(); !found.empty()) return found;
    if (text_of("package.json").find("\"start\"") != std::string::npos) return {"npm", "start"};
    for (const Usual& usual : kUsualFiles) {
      if (!is_file(std::string(usual.file), false)) continue;
      auto words = words_of(usual.interpreter);
      words->emplace_back(usual.file);
      return *std::move(words);
    }
    for (const char* place : {"", "bin/"}) {
      for (std::string_view program : kUsualPrograms) {
        std::string path = place + std::string(program);
        if (is_file(path, true)) return {"./" + path};
      }
    }
    return only_program();
  }

  Listen listen(const std::vector<std::string>& run) {
    for (const std::string& word : run) {
      std::string path = word.starts_with("./") ? word.substr(2) : word;
      if (text_of(path).find("SLUICE_SOCKET") != std::string::npos) return Listen::unix;
    }
    return Listen::port;
  }

 private:
  bool is_file(const std::string& path, bool executable) {
    auto stat = disk_.stat(folder_ + "/" + path, FollowLinks::yes);
    return stat && stat->kind == FileKind::file && (!executable || (stat->mode & 0100) != 0);
  }

  // Empty if it cannot be read: then there is nothing to guess from.
  std::string text_of(const std::string& path) {
    auto text = is_file(path, false) ? read_file(disk_, folder_ + "/" + path, kMaxGuessBytes) : Result(std::string());
    return text ? *std::move(text) : "";
  }

  // "web: gunicorn app:app"
  std::vector<std::string> of_procfile() {
    std::string text = "\n" + text_of("Procfile");
    size_t at = text.find("\nweb:");
    if (at == std::string::npos) return {};
    at += 5;
    auto words = words_of(std::string_view(text).substr(at, text.find('\n', at) - at));
    return words ? *std::move(words) : std::vector<std::string>();
  }

  // The one program that lies there.
  std::vector<std::string> only_program() {
    for (const char* place : {"", "bin/"}) {
      auto entries = disk_.list(folder_ + "/" + place);
      std::vector<std::string> programs;
      for (const FolderEntry& entry : entries ? *entries : std::vector<FolderEntry>{}) {
        if (is_file(place + entry.name, true)) programs.push_back(place + entry.name);
      }
      if (programs.size() == 1) return {"./" + programs.front()};
    }
    return {};
  }

  Disk& disk_;
  std::string folder_;
};

}  // namespace

Result<Guess> guess_manifest(Disk& disk, const std::string& folder, std::string_view called) {
  auto stat = disk.stat(folder, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind != FileKind::folder) {
    return Error{
        .code = Code::invalid, .message = folder + " is not a folder", .next = "name the folder that is shipped"};
  }
  Guessing guessing(disk, folder);
  Guess guess{.name = name_like(called), .run = guessing.run()};
  guess.listen = guessing.listen(guess.run);
  return guess;
}

Result<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;  // a word
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    bool blank = quote == 0 && (c == ' ' || c == '\t' || c == '\r' || c == '\n');
    if (blank) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return Error{.code = Code::invalid, .message = "a quote is not closed"};
  return words;
}

}  // namespace sluice::bundle
