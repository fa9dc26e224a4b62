"""Every hint of the kit is a command that works in the state that produced it: each is run as it was printed. A hint is known
by who gives it: a guard, a variant of an action, or a source of the kit with what it says; the last test knows them all."""

import re
import shlex
from pathlib import Path

# What no person can be told: only syncs ask for it, or the state cannot come about through a door.
NOT_TOLD = {
    "ForgottenConfigIsOfNoEnvironment", "AbsorbedConfigIsOfNoEnvironment",  # only syncs forget and absorb
    "Revision/fail/wrongState", "Deployment/checkRoutes/ambiguous",  # only syncs ask
    "ClusterHasItsEnvironment",  # commands make sure of the environment first
    "Revision/archive/wrongState",  # whatever can be named is archived, or has been
    "PipelineIsNotStopped",  # the answers of pins pass on what it says alone
    "certificate Certificate/import",  # with files that only a person has
}


class Hints:
    def __init__(self, home):
        self.home = home

    def run(self, *words, **more):
        return self.home.run(*words, **more)

    def follow(self, giver, *words, code=None):
        """Runs what `giver` refuses, then what it says to do next; of several ways the last. What that way was."""
        refused = self.home.run(*words, code=None)
        assert refused.returncode != 0 and (code is None or refused.returncode == code), f"{giver}: {refused}"
        hint = next((line for line in refused.stderr.splitlines() if line.startswith("next:")), "")
        hint = hint.removeprefix("next:").strip().rsplit(", or: ", 1)[-1]
        line = shlex.split(hint)
        assert line[:1] == ["sluice"], f"{giver}: {refused.stderr}"
        # Where something is lost a person would be asked.
        done = self.home.run(*line[1:], *(["--yes"] if {"clear", "archive", "destroy", "remove"} & set(line) else []), code=None)
        # A status of what does not run has an exit code of its own.
        assert done.returncode == 0 or line[1:] == ["status"], f"{giver}: {hint}: {done.stderr}"
        return hint

    def cure(self, giver, what, environment="local"):
        """Runs what the doctor says to do about a finding, after which it is gone; what that was."""
        lines = self.home.run("env", "doctor", environment, code=1).stderr.splitlines()
        at = next((i for i, line in enumerate(lines) if what in line), None)
        assert at is not None, f"{giver}: {lines}"
        hint = lines[at + 1].strip().removeprefix("next:").strip()
        line = shlex.split(hint)
        assert line[:1] == ["sluice"], f"{giver}: {hint}"
        done = self.home.run(*line[1:], code=None)
        assert done.returncode == 0, f"{giver}: {hint}: {done.stderr}"
        assert what not in self.home.run("env", "doctor", environment, code=None).stderr, giver
        return hint

    def archive(self):
        archive = self.home.folder / "hello.bundle"
        if not archive.exists():
            self.run("bundles", "build", self.home.copy("hello", "app"), "--out", archive)
        return archive

    def deployed(self, environment="local"):
        """A bundle with a staged revision: the ids of both."""
        self.run("bundles", "add", environment, self.archive(), *([] if environment == "local" else ["--customer-id", "acme"]))
        return (self.home.data("bundles", "list", environment)[0]["deployment_id"],
                self.home.data("revisions", "list", environment)[0]["revision_id"])


def test_FirstWeek13_hints_about_revisions_and_traffic(home):
    hints = Hints(home)
    deployment, revision = hints.deployed()
    weights = ["traffic", "set", "local", "hello@1=100%"]
    assert hints.follow("OnlyReadyRevisionsGetTraffic", *weights) == f"sluice revisions warm local {revision}"
    hints.run(*weights)
    assert hints.follow("RoutedRevisionIsNotDrained", "revisions", "drain", "local", "hello@1") == \
        f"sluice traffic clear local --deployment {deployment}"
    hints.run("revisions", "drain", "local", "hello@1")
    assert hints.follow("OnlyReadyRevisionsGetTraffic", *weights) == f"sluice revisions retry local {revision}"
    hints.run("revisions", "warm", "local", "hello@1")
    assert hints.follow("Revision/retry/wrongState", "revisions", "retry", "local", "hello@1") == "sluice revisions list local"
    hints.run("do", "Deployment/pause", f"deployment={deployment}")
    assert hints.follow("OnlyActiveDeploymentsGetTraffic", *weights) == \
        f"sluice do Deployment/resume deployment={deployment}"
    hints.run(*weights)
    assert hints.follow("RoutedRevisionStays", "revisions", "archive", "local", "hello@1", "--yes") == \
        f"sluice traffic clear local --deployment {deployment}"
    hints.run(*weights)
    assert hints.follow("RemovedDeploymentHasNoSplit", "bundles", "remove", "local", "--bundle", "hello", "--yes") == \
        f"sluice traffic clear local --deployment {deployment}"
    assert hints.follow("RemovedDeploymentRunsNothing", "bundles", "remove", "local", "--bundle", "hello", "--yes") == \
        f"sluice revisions archive local {revision}"
    hints.run("bundles", "remove", "local", "--bundle", "hello", "--yes")


def test_FirstWeek13_hints_about_lifecycles(home):
    hints = Hints(home)
    _, revision = hints.deployed()
    drain, warm = ["revisions", "drain", "local", "hello@1"], ["revisions", "warm", "local", "hello@1"]
    assert hints.follow("Revision/drain/wrongState", *drain) == f"sluice revisions warm local {revision}"
    hints.run(*drain)
    assert hints.follow("Revision/warm/wrongState", *warm) == f"sluice revisions retry local {revision}"
    assert hints.follow("RolloutIsOfAReadyRevision", "rollout", "start", "local", "hello@1") == \
        f"sluice revisions warm local {revision}"
    hints.run(*drain)
    assert hints.follow("RolloutIsOfAReadyRevision", "rollout", "start", "local", "hello@1") == \
        f"sluice revisions retry local {revision}"
    hints.run("revisions", "archive", "local", "hello@1", "--yes")
    gone = hints.run("revisions", "warm", "local", "hello@1", code=6).stderr
    assert "next:  stage its bundle again" in gone, gone
    hints.run("revisions", "stage", "local", hints.archive())


def test_FirstWeek13_hints_about_what_runs(home):
    hints = Hints(home)
    deployment, revision = hints.deployed()
    provision = ["do", "Runtime/provision", f"concept={revision}", "runtimeType=local", "config={}"]
    assert hints.follow("RevisionIsStartedByWarming", *provision) == f"sluice do Revision/warm revision={revision}"
    instance = home.data("runtime", "list")[0]["instance"]
    hints.run("traffic", "set", "local", "hello@1=100%")
    home.change(home.folder / "app", "2.0.0")
    home.up(home.folder / "app")
    assert hints.follow("RevisionHasNoVersionBefore", "do", "Runtime/rollback", f"instance={instance}") == \
        f"sluice do Deployment/rollBack deployment={deployment} steps=1"
    second, = (each["instance"] for each in home.data("runtime", "list") if each["instance"] != instance)
    newer, = (each["revision_id"] for each in home.data("revisions", "list", "local") if each["revision_id"] != revision)
    assert hints.follow("ReadyRevisionIsDrainedFirst", "do", "Runtime/destroy", f"instance={second}") == \
        f"sluice do Revision/drain revision={newer}"


def test_FirstWeek13_hints_about_deployments(home):
    hints = Hints(home)
    deployment, revision = hints.deployed()
    hints.run("revisions", "warm", "local", "hello@1")
    hints.run("traffic", "set", "local", "hello@1=100%")
    archive = ["bundles", "update", "local", "--status", "archived", "--yes"]
    assert hints.follow("ArchivedDeploymentHasNoSplit", *archive) == f"sluice traffic clear local --deployment {deployment}"
    hints.run("revisions", "archive", "local", "hello@1", "--yes")
    resume = ["do", "Deployment/resume", f"deployment={deployment}"]
    assert hints.follow("Deployment/resume/wrongStatus", *resume) == "sluice status"
    hints.run("do", "Deployment/pause", f"deployment={deployment}")
    assert hints.follow("Deployment/pause/wrongStatus", "do", "Deployment/pause", f"deployment={deployment}") == "sluice status"
    for direction, giver in (("rollback", "OnlyActiveDeploymentsRollBack"), ("forward", "OnlyActiveDeploymentsGoForward")):
        assert hints.follow(giver, "do", f"Traffic/{direction}", f"deployment={deployment}", "steps=1") == \
            f"sluice do Deployment/resume deployment={deployment}"
        hints.run("do", "Deployment/pause", f"deployment={deployment}")
    hints.run(*archive)
    assert hints.follow("Deployment/archive/wrongStatus", "do", "Deployment/archive", f"deployment={deployment}") == \
        f"sluice down {deployment}"
    deployment, _ = hints.deployed()
    hints.run(*archive)
    stage = ["revisions", "stage", "local", hints.archive()]
    assert hints.follow("ArchivedDeploymentStagesNothing", *stage) == f"sluice down {deployment}"
    hints.run("bundles", "add", "local", hints.archive(), "--customer-id", "one", "--host", "one.example")
    again = ["bundles", "add", "local", hints.archive(), "--customer-id", "two", "--host", "one.example"]
    assert hints.follow("Deployment/add/ambiguous", *again) == "sluice bundles list local"
    hints.run("bundles", "add", "local", hints.archive(), "--customer-id", "two", "--host", "two.example")
    update = ["bundles", "update", "local", "--customer-id", "two", "--host", "one.example"]
    assert hints.follow("Deployment/update/ambiguous", *update) == "sluice bundles list local"


def test_FirstWeek13_hints_about_environments(home):
    hints = Hints(home)
    hints.run("env", "create", "staging")
    assert hints.follow("Env/create/exists", "env", "create", "staging") == "sluice env show staging"
    assert hints.follow("Env/create/noBase", "do", "Env/create", "environment=x", "extends=nowhere") == "sluice env list"
    assert hints.follow("views/names", "env", "show", "nowhere", code=5) == "sluice env list"
    assert hints.follow("views/names", "revisions", "warm", "staging", "hello@7", code=5) == "sluice revisions list staging"
    assert hints.follow("views/names", "traffic", "show", "staging", "--bundle", "hello", code=5) == "sluice bundles list staging"
    hints.run("env", "create", "child", "--extends", "staging")
    assert hints.follow("BaseStays", "env", "destroy", "staging", "--yes") == "sluice env list"
    assert hints.follow("AbsorbedBaseStays", "do", "Env/absorb", "environment=local", "other=staging") == "sluice env list"
    hints.run("env", "destroy", "child", "--yes")
    hints.run("trust", "bootstrap", "--env", "staging")
    deployment, _ = hints.deployed("staging")
    warm = ["revisions", "warm", "staging", "hello@1"]
    assert hints.follow("SomethingStartsWhatIsWarmed", *warm) == \
        "sluice env-packs add staging sluice.deployer.local-process@1.0.0 --slot deployer"
    assert hints.follow("EnvironmentIsEmpty", "env", "destroy", "staging", "--yes") == f"sluice down {deployment} --env staging"
    deployment, _ = hints.deployed("staging")
    absorb = ["do", "Env/absorb", "environment=local", "other=staging"]
    absorbed = hints.run(*absorb, code=6).stderr
    assert f"next:  sluice down {deployment}" in absorbed, "AbsorbedEnvironmentIsEmpty"
    hints.run("down", deployment, "--env", "staging")
    hints.run("env", "destroy", "staging", "--yes")
    add = ["do", "Deployment/add", "environment=later", "bundle=hello", "customer=acme", "hosts=[]", "pathPrefixes=[]",
           "tenant=", "team=", "parties=[]"]
    assert hints.follow("EnvironmentExists", *add) == "sluice do Env/create environment=later"


def test_FirstWeek13_hints_about_a_sick_environment(home):
    hints = Hints(home)
    hints.deployed()
    hints.run("env", "update", "local", "--require-revocation-list", "true")
    hints.run("env", "doctor", "local", code=1)
    hints.run("env", "update", "local", "--require-revocation-list", "false")
    assert hints.follow("SickEnvironmentWarmsNothing", "revisions", "warm", "local", "hello@1") == "sluice env doctor local"
    hints.run("revisions", "warm", "local", "hello@1")


def test_FirstWeek13_hints_about_packs(home):
    hints = Hints(home)
    hints.run("env-packs", "install", home.root / "examples/packs/telemetry-file")
    hints.run("env-packs", "update", "local", "acme.telemetry.file@1.0.0")
    uninstall = ["env-packs", "uninstall", "acme.telemetry.file@1.0.0"]
    assert hints.follow("UsedPackStays", *uninstall) == "sluice env-packs remove local telemetry"
    hints.run(*uninstall)


def test_FirstWeek13_hints_of_views(home):
    hints = Hints(home)
    deployment, revision = hints.deployed()
    assert hints.follow("instances view instances", "runtime", "show", "nothing", code=5) == "sluice runtime list"
    assert hints.follow("instances view status", "runtime", "show", "hello", code=5) == "sluice status"
    assert hints.follow("names view environments", "env", "show", "nowhere", code=5) == "sluice env list"
    assert hints.follow("names view deployments", "revisions", "list", "local", "--bundle", "nothing", code=5) == \
        "sluice bundles list local"
    assert hints.follow("names view revisions", "revisions", "warm", "local", "hello@99", code=5) == \
        "sluice revisions list local"
    assert hints.follow("plans view plans", "deploy", "show", "dp-none", code=5) == "sluice deploy list"
    assert hints.follow("rollouts view rollouts", "rollout", "status", "nothing", code=5) == "sluice rollout list"
    assert hints.follow("secrets view secrets", "secrets", "get", "local", "hello/NONE", code=5) == "sluice secrets list local"
    assert hints.follow("bundle_settings view deployments", "config", "set", "local", "--bundle", "nothing", code=5) == \
        "sluice bundles list local"


def test_FirstWeek13_hints_of_the_doctor(home):
    hints = Hints(home)
    hints.run("env", "list")
    hints.run("env", "create", "staging", "--extends", "local")  # what local lacks is brought back by itself
    hints.run("env-packs", "remove", "staging", "state", "--yes")
    assert hints.cure("doctor Env/bind", "nothing serves the slot state", "staging") == \
        "sluice env-packs add staging sluice.state.memory@1.0.0 --slot state"
    hints.run("do", "Env/rebind", "environment=staging", "slot=state", "kind=acme.state.gone@1.0.0")
    assert hints.cure("doctor Env/rebind", "this program has no pack acme.state.gone@1.0.0", "staging") == \
        "sluice env-packs update staging sluice.state.memory@1.0.0 --slot state"
    broken = home.copy("hello", "broken")
    (broken / "app.py").write_text("raise SystemExit(1)\n")
    hints.run("up", broken, "--detach", code=7)
    assert hints.cure("doctor Revision/retry", "hello@1 failed").startswith("sluice revisions retry local ")


def given():
    """Who gives which hints that are not sentences: guards by name, variants by concept, action and variant."""
    root = Path(__file__).resolve().parents[2] / "src/deploy"
    for file in sorted(root.rglob("*.sync")):
        guard = ""
        for line in file.read_text().splitlines():
            guard = match.group(1) if (match := re.match(r"(?:guard|sync) (\w+)", line)) else guard
            if re.match(r'\s+next: [^"]', line):
                yield guard
    for file in sorted(root.rglob("*.concept")):
        concept = action = variant = ""
        for line in file.read_text().splitlines():
            concept = match.group(1) if (match := re.match(r"concept (\w+)", line)) else concept
            action = match.group(1) if (match := re.match(r"    action (\w+)", line)) else action
            variant = match.group(1) if (match := re.match(r"      -> (\w+)", line)) else variant
            if re.match(r'      next: [^"]', line):
                yield f"{concept}/{action}/{variant}"
    for file in sorted(root.rglob("*.cc")):
        if not file.name.endswith("_test.cc") and not file.name.startswith("testing_"):
            for hint in re.findall(r'"(view [a-z-]+|[A-Z]\w+/\w+ (?=\w+=))', file.read_text()):
                yield f"{file.stem} {hint.strip()}"


def test_FirstWeek13_every_hint_of_the_kit_is_followed():
    own = Path(__file__).read_text()
    followed = set(re.findall(r'(?:follow|cure)\("([\w/ -]+)"', own)) | set(re.findall(r', "([A-Z]\w+)"\)[,)]', own)) | \
        set(re.findall(r'in (?:gone|absorbed), "([\w/]+)"', own))
    tests = Path(__file__).resolve().parents[1]
    packs = (tests / "packs/test_packs.py").read_text()
    elsewhere = {"OnlyAdmittedPacksServe": "sluice do EnvPack/admit", "WarmedWithGoodCredentials": "sluice do Credentials/requirements",
                 "doctor Credentials/requirements": "sluice do Credentials/requirements",
                 "doctor Credentials/rotate": "sluice do Credentials/rotate", "doctor Env/rollback": "sluice env-packs rollback"}
    assert all(hint in packs for hint in elsewhere.values())
    applied = {"env_apply Env/create": "sluice do Env/create", "env_apply Secret/put": "sluice secrets put"}
    asked = (Path(__file__).parent / "test_first_week_07.py").read_text()
    assert all(hint in asked for hint in applied.values())
    elsewhere |= applied
    for giver, file, hint in [("doctor Secret/noticed", "secrets/test_secrets.py", "sluice do Secret/noticed"),
                              ("certificate Certificate/renew", "up/test_up_tls.py", "sluice tls renew local"),
                              ("ContractionLeavesNobodyWithout", "migrate/test_deployed.py", "sluice revisions drain local"),
                              ("UndoneMigrationLeavesNobodyWithout", "migrate/test_deployed.py", "sluice revisions drain local")]:
        assert hint in (tests / file).read_text()
        elsewhere[giver] = hint
    assert set(given()) - NOT_TOLD - set(elsewhere) - followed == set()
