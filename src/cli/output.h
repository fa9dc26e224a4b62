// Everything that a command says goes through here: data to stdout in the format that was asked for, narration and
// errors to stderr. So `sluice … -o json | jq` sees data and nothing else. It may be used from many threads.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/terminal.h"
#include "host/narrator.h"

namespace sluice::cli {

namespace json = boost::json;

enum class Format { table, json, yaml };

class Output final : public host::Narrator {
 public:
  struct Settings {
    Format format = Format::table;
    bool quiet = false;
    bool verbose = false;
    Terminal out;  // what stdout is
    Terminal err;  // what stderr is
    Terminal in;   // what stdin is: whether somebody can answer
  };

  Output(Settings settings, std::ostream& out, std::ostream& err) : settings_(settings), out_(out), err_(err) {}

  const Settings& settings() const { return settings_; }

  // Data. The renderer makes the form for people, and is called only when that is wanted; its text ends with a line
  // break.
  void print(const json::value& value, const std::function<std::string(const Terminal&)>& render);

  // What a check has found. For people it belongs beside the narration, on stderr, also with --quiet; in the other
  // formats it is data.
  void report(const json::value& value, const std::function<std::string(const Terminal&)>& render);

  // Data that is text in every format: a script, a formatted file.
  void print_text(std::string_view text);

  void note(std::string_view sentence) override { note(sentence, Style::plain); }  // narration; not with --quiet
  void note(std::string_view sentence, Style style);
  void detail(std::string_view sentence) override;  // narration that only --verbose shows
  void warn(std::string_view sentence) override;    // always
  void last_words(const Error& error) override {
    this->error(error);
    flush();
  }

  // The error and its next step; with --output json one RFC 9457 problem (api/problem.h) on one line.
  void error(const Error& error);

  // Where progress is drawn (base/progress.h), unless settings() say --quiet.
  std::ostream& progress_stream() { return err_; }

  // Whether all data has been taken by stdout. A full disk or a closed pipe must not look like success.
  bool flush();

 private:
  void say(const std::string& line);  // on stderr

  Settings settings_;
  std::mutex mutex_;
  std::ostream& out_;
  std::ostream& err_;
};

}  // namespace sluice::cli
