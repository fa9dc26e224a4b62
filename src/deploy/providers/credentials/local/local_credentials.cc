// Each capability is tried, not looked up.
#include "base/atomic_file.h"
#include "deploy/local_means.h"
#include "deploy/providers/credentials/local/local_credentials_work.h"
#include "process/port.h"

namespace sluice::deploy::local_credentials {
namespace {

using Status = LocalCredentialsStatus;

LocalCredentialsCheck home_check(const LocalMeans& means) {
  LocalCredentialsCheck check{.capability = "local-process.home.writable",
                              .description = "files can be written in the home",
                              .status = Status::pass};
  const std::string file = means.home + "/.writable";
  auto written = write_atomically(*means.disk, file, "x", 0600);
  if (written) written = means.disk->remove(file);
  if (written) return check;
  check.status = Status::fail;
  check.reason = written.error().message;
  check.fix = "chmod u+rwx " + means.home + ", or room on its disk";
  return check;
}

LocalCredentialsCheck port_check(const std::optional<views::PortRange>& range, const std::string& environment) {
  LocalCredentialsCheck check{.capability = "local-process.ports.free",
                              .description = "there are free ports for programs",
                              .status = Status::pass};
  if (!range) {
    if (process::free_port()) return check;
    check.reason = "this machine has no free port";
  } else {
    for (uint32_t port = range->first; port <= range->last; ++port) {
      if (!process::is_port_taken(static_cast<uint16_t>(port))) return check;
    }
    check.reason =
        "all ports from " + std::to_string(range->first) + " to " + std::to_string(range->last) + " are taken";
  }
  check.status = Status::fail;
  check.fix = "give the deployer of " + environment + " another port_range";
  return check;
}

LocalCredentialsCheck namespace_check(const LocalMeans& means) {
  LocalCredentialsCheck check{.capability = "local-process.user-namespaces",
                              .description = "builds run in a place of their own",
                              .status = Status::pass};
  if (means.has_user_namespaces && means.has_user_namespaces()) return check;
  check.status = Status::skipped;
  check.reason = "this machine does not allow user namespaces, so builds run without isolation";
  return check;
}

}  // namespace

Inspect::Begun LocalCredentials::begin_inspect(const Inspect& ask, State&) {
  return InspectWork{.environment = ask.environment};
}

Inspect::Performed LocalCredentials::perform_inspect(const InspectWork& work, Effect& effect) {
  const LocalMeans& means = effect.tool<LocalMeans>();
  std::optional<views::PortRange> range;
  if (means.port_range) range = means.port_range(effect.read(), work.environment);
  return Inspect::Ok{.checks = {home_check(means), port_check(range, work.environment), namespace_check(means)}};
}

Inspect::Outcome LocalCredentials::finish_inspect(const Inspect&, const Inspect::Outcome& outcome, State&) {
  return outcome;
}

Advise::Begun LocalCredentials::begin_advise(const Advise& ask, State&) {
  return AdviseWork{.environment = ask.environment};
}

Advise::Performed LocalCredentials::perform_advise(const AdviseWork&, Effect&) {
  return Advise::Ok{.issued = false,
                    .rules = {{.path = "60-sluice.conf",
                               .text = "# Put into /etc/sysctl.d: builds then run in a place of their own.\n"
                                       "user.max_user_namespaces = 15000\n"}}};
}

Advise::Outcome LocalCredentials::finish_advise(const Advise&, const Advise::Outcome& outcome, State&) {
  return outcome;
}

}  // namespace sluice::deploy::local_credentials
