// What can be derived is: exit codes come from the code table, the home's folders from its layout.
#include "cli/topics.h"

#include "base/code.h"
#include "host/home.h"

namespace sluice::cli {
namespace {

Topic exit_codes() {
  Topic topic{.name = "exit-codes",
              .summary = "what a command's exit code means",
              .text =
                  "Scripts may rely on these numbers. Several codes can share a number; the code itself stands in "
                  "the error that --output json prints.",
              .columns = {"exit", "code", "meaning"}};
  for (const CodeEntry& row : code_table()) {
    topic.rows.push_back({std::to_string(row.exit_code), std::string(row.name), std::string(row.meaning)});
  }
  return topic;
}

Topic output() {
  return {.name = "output",
          .summary = "where a command prints what, and in which format",
          .text =
              "Data goes to stdout, everything else to stderr, so that a pipe carries data and nothing else. "
              "A terminal gets tables that fit its width; a pipe gets them uncut and without color.\n\n"
              "An error is two lines on stderr: what is wrong and where, then the next command to try. With "
              "--output json it is one line of JSON instead, a problem as RFC 9457 describes it.\n\n"
              "What takes longer than a second shows its progress on stderr, if that is a terminal.",
          .columns = {"option", "meaning"},
          .rows = {{"--output table", "for people; may change between versions"},
                   {"--output json", "for programs; members are added, never renamed or removed"},
                   {"--output yaml", "the same members as json"},
                   {"--quiet", "data and errors only"},
                   {"--verbose", "tell more of what is done"},
                   {"--no-color", "no color, as with NO_COLOR=1"}}};
}

Topic home() {
  Topic topic{
      .name = "home",
      .summary = "where Sluice keeps what it writes",
      .text =
          "Sluice writes nowhere but in its home, $SLUICE_HOME or else ~/.sluice, and in the files and folders "
          "that you name on the command line, as for 'kit init' and 'kit fmt'. The home is made, readable by you "
          "alone, when a command first needs it. A home that is a symbolic link, belongs to somebody else or "
          "can be written by others is refused, for reading too, as it holds keys. Kits are read from kits/.",
      .columns = {"folder", "holds"}};
  for (const host::HomeFolder& folder : host::home_layout()) topic.rows.push_back({folder.name + "/", folder.holds});
  return topic;
}

Topic glossary() {
  return {
      .name = "glossary",
      .summary = "the words that Sluice uses, one for each thing",
      .text = "",
      .columns = {"word", "meaning"},
      .rows = {
          {"environment",
           "a deploy target: local, staging, prod-eu. It extends a base, binds packs to slots and holds "
           "config"},
          {"slot",
           "a capability that an environment needs, from a closed list: deployer, secrets, telemetry, sessions, "
           "state, revocation, iac, gitops"},
          {"pack", "a provider bound to a slot, named by an open descriptor: sluice.state.memory@1.0.0"},
          {"bundle", "a folder with bundle.yaml, packed into one content-addressed, signed archive: what a team ships"},
          {"deployment", "a bundle running in an environment for one customer; the key of routing, history and usage"},
          {"revision", "one immutable version of a deployment: a bundle digest plus a config digest"},
          {"traffic split",
           "basis points per revision of one deployment, summing to 10,000; changed atomically, with a "
           "generation"},
          {"settings", "what differs per environment"},
          {"concept", "an independent state machine"},
          {"action", "what a concept can be asked"},
          {"variant", "a named outcome of asking"},
          {"completion", "one finished action: its variant and fields"},
          {"sync", "a rule: when these completions, where this holds, then these actions"},
          {"flow", "everything caused by one outside stimulus"},
          {"kit", "concepts and syncs with a suite.yaml; Sluice's own domain is the kit deploy"},
          {"router", "the data plane process: takes requests, picks a deployment and a revision, proxies"},
          {"snapshot", "what a router obeys: compiled, signed, stamped with a generation"},
      }};
}

Topic environment() {
  return {.name = "environment",
          .summary = "the environment variables that Sluice reads",
          .text =
              "These are variables of the shell. A deploy target, which is also called an environment, is explained "
              "by 'sluice help glossary'.",
          .columns = {"variable", "meaning"},
          .rows = {{"SLUICE_HOME", "the home, an absolute path; without it ~/.sluice (see 'sluice help home')"},
                   {"HOME", "your own folder, in which the home stands"},
                   {"NO_COLOR", "set to anything: no color"},
                   {"TERM", "dumb: no color"},
                   {"COLUMNS", "the width of lines where the terminal does not tell it"},
                   {"PATH", "where external tools are looked for"}}};
}

Topic bundle_yaml() {
  return {
      .name = "bundle-yaml",
      .summary = "the settings of a bundle.yaml, and their defaults",
      .text =
          "A bundle is a folder with a bundle.yaml. 'sluice init' writes one with all settings in it as comments; "
          "'sluice bundles build' reads it. An unknown setting is an error, with its line.\n\nWhat 'include' covers "
          "is packed, less what .sluiceignore names (as .gitignore does), less secrets, version control and "
          "editors' files.",
      .columns = {"setting", "default", "meaning"},
      .rows = {{"name", "required", "small letters, digits and hyphens"},
               {"version", "required", "in quotes: \"1.2.0\""},
               {"run", "required", "the program and its arguments, started in the bundle's folder"},
               {"image", "none", "in place of run: an image in a registry, or ./FOLDER, an OCI layout in the bundle"},
               {"container", "port 8080", "of an image: command, port, writable (its root) and tmp (the size of /tmp)"},
               {"build", "nothing", "a command that is run first, in a clean copy"},
               {"include", "**", "globs of what is packed"},
               {"listen", "port", "port: on $PORT; unix: on the socket at $SLUICE_SOCKET"},
               {"health", "GET /health", "how Sluice knows that it is well: by http, tcp or command"},
               {"routes", "none", "hosts and paths whose requests it gets; with strip it does not see the path"},
               {"stickiness", "session, 1h", "who stays on a revision: mode session, bucket or none, key, ttl"},
               {"paused", "a page of the router's", "what is answered while it is paused: page and retry_after"},
               {"timeouts", "2s, 1m, 1m, 5m", "of the router: connect, first_byte, idle and stream_idle"},
               {"env", "none", "variables for the program"},
               {"config", "none", "questions that are asked when it is set up in an environment"},
               {"secrets", "none", "secrets by name; values come from the environment it runs in"},
               {"secrets_as", "env", "env: as variables; file: as files in memory, as with an image"},
               {"reload", "restart", "what happens when a runtime:// setting changes: restart or signal (SIGHUP)"},
               {"pin_secrets", "false", "a revision keeps the versions of its secrets that it began with"},
               {"storage", "none", "folders that outlive revisions"},
               {"migrations", "none", "the folder of a database's migrations, and where the database is"},
               {"drain", "30s", "how long requests may finish before it is stopped"},
               {"replicas", "1", "how many run"},
               {"resources", "1 cpu, 512MB", "cpu, memory, processes and files"},
               {"user", "65532", "the user id that it runs as; else the image's, unless that is root"},
               {"transport", "http", "what the program speaks: HTTP/1.1; or http2, as gRPC does"},
               {"concept", "none", "the concept that it implements"},
               {"allowed_secrets", "none", "false alarms of the secrets doctor, by hash"}}};
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> kTopics = {glossary(), output(), exit_codes(), home(), environment(), bundle_yaml()};
  return kTopics;
}

const Topic* find_topic(std::string_view name) {
  for (const Topic& topic : topics()) {
    if (topic.name == name) return &topic;
  }
  return nullptr;
}

}  // namespace sluice::cli
