// git_reader URL REF PATH --folder F [--roots FILE] [--token HOST=TOKEN] [--public 1] [--most-bytes N] [--most-kept N]
// [--timeout-ms N] prints a commit and its files as JSON, or the code and the message of an error.
#include <boost/json.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/clock.h"
#include "base/real_disk.h"
#include "git/repositories.h"

int main(int count, char** words) {
  using namespace sluice;
  std::vector<std::string> plain;
  git::Repositories::Settings settings;
  git::Wanted wanted;
  for (int index = 1; index < count; ++index) {
    const std::string word = words[index];
    if (!word.starts_with("--")) {
      plain.push_back(word);
      continue;
    }
    const std::string value = words[++index];
    if (word == "--folder") settings.folder = value;
    if (word == "--roots") {
      std::ostringstream text;
      text << std::ifstream(value).rdbuf();
      settings.network.tls.roots_pem = text.str();
    }
    if (word == "--token") {
      const size_t equals = value.find('=');
      wanted.credentials.push_back({.host = value.substr(0, equals), .token = value.substr(equals + 1)});
    }
    if (word == "--public") wanted.only_public = true;
    if (word == "--most-bytes") settings.limits.most_bytes = std::stoull(value);
    if (word == "--most-kept") settings.limits.most_kept_bytes = std::stoull(value);
    if (word == "--timeout-ms") settings.limits.timeout_ms = std::stoll(value);
  }
  RealDisk disk;
  RealClock clock;
  git::Repositories repositories(std::move(settings), disk, clock);
  wanted.url = plain.at(0);
  wanted.ref = plain.at(1);
  wanted.path = plain.at(2);
  auto read = repositories.read(wanted);
  boost::json::object said;
  if (read) {
    said["commit"] = read->id;
    boost::json::object& files = (said["files"] = boost::json::object()).as_object();
    for (const git::File& each : read->files) files[each.path] = each.text;
  } else {
    said["error"] = code_name(read.error().code);
    said["message"] = read.error().message;
  }
  std::cout << boost::json::serialize(said) << "\n";
  return read ? 0 : 1;
}
