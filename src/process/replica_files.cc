// The names of the files, launch.json read and written, and a workload as a request to launch.
#include "process/replica_files.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "process/process_tree.h"

namespace sluice::process {

std::string print_launch(const Launch& launch) { return write(to_json(launch)) + "\n"; }

Result<Launch> parse_launch(std::string_view text) {
  auto document = parse_json(text, "launch.json");
  if (!document) return document.error();
  return read<Launch>(*document);
}

ReplicaFiles::ReplicaFiles(const std::string& folder)
    : lock(folder + "/lock"),
      launch(folder + "/launch.json"),
      state(folder + "/state.json"),
      log(folder + "/log"),
      config(folder + "/config"),
      config_file(config + "/config.json"),
      run(folder + "/run"),
      socket(run + "/socket"),
      messages(folder + "/supervisor.err") {}

LaunchRequest request_in(const ReplicaFiles& files, const Launch& launch, const MadeGroups& groups,
                         const HandedSecrets& secrets, const std::vector<std::string>& argv) {
  const Workload& work = launch.workload;
  LaunchRequest request{.argv = argv,
                        .root = work.root,
                        .environment = work.environment,
                        .groups = groups.folders,
                        .grouped = groups.limits,
                        .limits = work.limits,
                        .user = work.user,
                        .hidden = work.hidden,
                        .read_only = {files.config},
                        .writable = work.writable,
                        .descriptors = secrets.descriptors()};
  request.writable.push_back(files.run);
  request.environment.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  request.environment.emplace("HOME", files.run);
  request.environment["SLUICE_CONFIG"] = files.config_file;
  request.environment[std::string(kMarkVariable)] = launch.mark;
  if (work.port) {
    request.environment["PORT"] = std::to_string(*work.port);
  } else {
    request.environment["SLUICE_SOCKET"] = files.socket;
  }
  for (const auto& [name, value] : secrets.variables()) request.environment[name] = value;
  return request;
}

}  // namespace sluice::process
