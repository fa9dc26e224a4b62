// A migrator without an engine: what the tests start, kill and start again.
//
//   migrate_tool sqlite:FILE|ADDRESS FOLDER expand|migrate|contract|undo NUMBER   to the end of the phase
//   migrate_tool sqlite:FILE|ADDRESS FOLDER drift
//
// Each step is a line of JSON; an error is one on stderr, with exit code 1.
#include <unistd.h>

#include <iostream>
#include <string>

#include "base/json.h"
#include "base/real_disk.h"
#include "migrate/runner.h"

namespace {

using namespace sluice;

int fail(const Error& error) {
  std::cerr << json::serialize(
                   json::value{{"code", code_name(error.code)}, {"message", to_string(error)}, {"next", error.next}})
            << std::endl;
  return 1;
}

int run(const std::string& address, const std::string& folder, const std::string& verb, int64_t number) {
  RealDisk disk;
  RealClock clock;
  const bool sqlite = address.starts_with("sqlite:");
  auto database = sqlite ? migrate::open_sqlite(address.substr(7)) : migrate::open_postgres(address);
  if (!database) return fail(database.error());
  if (verb == "drift") {
    auto found = migrate::drift(**database);
    if (!found) return fail(found.error());
    for (const auto& each : *found) std::cout << to_line(each) << std::endl;
    return 0;
  }
  auto texts = migrate::read_texts(disk, folder);
  if (!texts) return fail(texts.error());
  auto migrations = migrate::read_migrations((*database)->engine(), *texts);
  if (!migrations) return fail(migrations.error());
  const migrate::Caller caller{
      .sluice = "sluice-1", .process = std::to_string(getpid()), .who = "user:ann", .flow = "f1"};
  while (true) {
    auto runner = migrate::Runner::open(**database, *migrations, caller, clock);
    if (!runner) return fail(runner.error());
    auto progress = verb == "expand"     ? runner->expand(number)
                    : verb == "migrate"  ? runner->migrate(number, 200)
                    : verb == "contract" ? runner->contract(number)
                                         : runner->undo(number);
    if (!progress) return fail(progress.error());
    std::cout << json::serialize(json::value{{"phase", progress->phase},
                                             {"what", progress->what},
                                             {"seen", progress->seen},
                                             {"copied", progress->copied},
                                             {"total", progress->total},
                                             {"failed", progress->failed},
                                             {"errors", json::value_from(progress->errors)}})
              << std::endl;
    if (progress->done) return 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: migrate_tool ADDRESS FOLDER VERB [NUMBER]" << std::endl;
    return 2;
  }
  return run(argv[1], argv[2], argv[3], argc > 4 ? std::stoll(argv[4]) : 0);
}
