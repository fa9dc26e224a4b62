// Made by make_types.mjs from GET /v1/openapi.json: what the views answer that pages ask, and what the actions take.
export interface Views {
  "access-can": {
    query: { action: string; environment?: string; labels?: Array<string>; input?: string; as?: string };
    document: { caller: string; action: string; right: string; allowed: boolean; why: string; reason_needed: boolean };
  };
  "audit-report": {
    query: { heads?: string; key?: string; copied?: boolean };
    document: { holds: boolean; records: number; packed: number; heads: number; unsignedHeads: number; provenTo: number; chain: string; rows: number; stateBound: boolean; rowsThatDiffer: Array<{ relation: string; key: string; what: string }>; missingHeads: Array<number>; notProven: Array<string>; torn: boolean; fault?: { seq: number; what: string } };
  };
  "cluster-request": {
    query: { requestId: string; after?: number };
    document: { requestId: string; action: string; environment: string; hostId: string; instanceId: string; clusterId: string; namespace: string; repoUrl: string; ref: string; path: string; status: string; accepted: boolean; ended: boolean; deployerId: string; noop: boolean; manifestHash: string; valuesHash: string; runtimeValuesHash: string; valuesSnapshotId: string; runtimeValuesSnapshotId: string; templateCommitSha: string; snapshotId: string; why: string; message: string; begunAt: string; endedAt: string | null; resources: Array<{ apiVersion: string; kind: string; namespace: string; name: string; action: string; state: string; message: string }>; events: Array<{ id: number; timestamp: string; status: string; message: string; resource: { apiVersion: string; kind: string; namespace: string; name: string; action: string; state: string; message: string } | null }> };
  };
  "mesh-map": {
    query: { mesh: string; initiator?: string; target?: string };
    document: { mesh: string; nodes: Array<{ node: string; vertices: Array<{ name: string; kind: "link" | "mesh" }>; serves: Array<string>; signers: Array<string> }>; links: Array<{ a: { node: string; vertex: string; link: string }; b: { node: string; vertex: string; link: string } }>; pairs_in_all: number; pairs: Array<{ initiator: string; from: string; target: string; to: string; fault: string }>; ways: Array<{ initiator: string; from: string; target: string; there: Array<{ node: string; vertex: string; link: string; label: number }>; back: Array<{ node: string; vertex: string; link: string; label: number }>; to: string; fault: string }> };
  };
  "mesh-plan": {
    query: { files: Array<{ path: string; text: string }> };
    document: { mesh: string; faults: Array<string>; warnings: Array<string>; plan: { gains: Array<{ initiator: string; node: string; target: string }>; loses: Array<{ initiator: string; node: string; target: string }>; links_added: Array<{ node: string; vertex: string; link: string; peer: string }>; links_removed: Array<{ node: string; vertex: string; link: string; peer: string }>; changes: Array<{ node: string; vertex: string; parts: Array<string>; restarts: boolean }>; nodes: Array<string> } };
  };
  "pin-history": {
    query: { pin: string };
    document: Array<{ schema: string; number: number; release: string; identity: string; artifact_digest: string; settings_digest: string; config_digest: string; secrets: Array<{ variable: string; name: string; version: string }>; schema_of_storage: { database: string; version: number; phase: string } | null; rendered_digest: string; objects: unknown; deployment: string; revision: string; by: string; at: string }>;
  };
  "promotion-plan": {
    query: { components?: Array<string>; fromEnv: string; toEnv: string };
    document: Array<{ component: string; release: string; before: string; fault: string; rendered: string; differences: Array<{ object: string; pointer: string; now: unknown; then: unknown }> }>;
  };
  "release-diff": {
    query: { left: string; right: string };
    document: Array<{ part: string; pointer: string; left: unknown; right: unknown }>;
  };
  "traffic-history": {
    query: { environment: string; deployment?: string; bundle?: string; customer?: string };
    document: Array<{ generation: number; place: "ahead" | "current" | "past"; entries: Array<{ revision_id: string; weight_bps: number }>; updated_at: string; updated_by: string | null; why: string; authorization_ref: string | null }>;
  };
  approvals: {
    query: { approval?: string; over?: boolean };
    document: Array<{ approval: string; status: string; requester: string; action: string; input: unknown; part_of: string | null; whole: unknown; reason: string; environment: string | null; needed: number; yes: Array<string>; outcome: string; flow: string; asked_at: string; expires_at: string }>;
  };
  audit: {
    query: { flow?: string; since?: string; from?: number; limit?: number; newest?: boolean };
    document: Array<{ seq: number; at: string; caller: string; token?: string; reason?: string; step: string; environment?: string; about?: string; action?: string; flow?: string; id?: string; input?: unknown; outcome?: string; endedAt?: string; count?: number }>;
  };
  clock: {
    query: Record<string, never>;
    document: { recorded: string; system: string; apart: boolean; corrections: Array<{ seq: number; byMs: number }>; jump?: { at: string; byMs: number; over: boolean; what: string } };
  };
  cluster: {
    query: { environment?: string };
    document: Array<{ environment: string; hostId: string; instanceId: string; namespace: string; requestId: string; action: string; status: string; message: string; snapshotId: string | null; snapshots: Array<string>; objects: number; done: number; since: string }>;
  };
  definitions: {
    query: { kind?: string; name?: string };
    document: Array<{ kind: string; name: string; since: string; document: unknown }>;
  };
  deployment: {
    query: { environment: string; deployment?: string; bundle?: string; customer?: string };
    document: { deployment: { schema: string; deployment_id: string; env_id: string; bundle_id: string; customer_id: string; status: "active" | "paused" | "archived"; generation: number; created_at: string; current_revisions: Array<string>; route_binding: { hosts: Array<string>; path_prefixes: Array<string>; tenant_selector: { tenant: string | null; team: string | null } }; revenue_share: Array<{ party_id: string; basis_points: number }>; revenue_policy_ref: string; usage: { meter_endpoint: string | null }; authorization_ref: string | null; config_overrides: unknown }; warning: string | null; revisions: number; splits: number; policy_versions: number };
  };
  deployments: {
    query: { environment: string };
    document: Array<{ schema: string; deployment_id: string; env_id: string; bundle_id: string; customer_id: string; status: "active" | "paused" | "archived"; generation: number; created_at: string; current_revisions: Array<string>; route_binding: { hosts: Array<string>; path_prefixes: Array<string>; tenant_selector: { tenant: string | null; team: string | null } }; revenue_share: Array<{ party_id: string; basis_points: number }>; revenue_policy_ref: string; usage: { meter_endpoint: string | null }; authorization_ref: string | null; config_overrides: unknown }>;
  };
  environment: {
    query: { environment: string };
    document: { schema: string; environment_id: string; name: string; extends: string | null; generation: number; created_at: string; host_config: Record<string, string>; packs: Array<{ slot: string; kind: string; pack_ref: string; answers_ref: string | null; generation: number; bound_at: string; previous_binding_ref: string | null }>; credentials_ref: string | null; bundles: Array<{ schema: string; deployment_id: string; env_id: string; bundle_id: string; customer_id: string; status: "active" | "paused" | "archived"; generation: number; created_at: string; current_revisions: Array<string>; route_binding: { hosts: Array<string>; path_prefixes: Array<string>; tenant_selector: { tenant: string | null; team: string | null } }; revenue_share: Array<{ party_id: string; basis_points: number }>; revenue_policy_ref: string; usage: { meter_endpoint: string | null }; authorization_ref: string | null; config_overrides: unknown }>; revisions: Array<{ schema: string; revision_id: string; env_id: string; bundle_id: string; deployment_id: string; sequence: number; generation: number; created_at: string; bundle_digest: string | null; bundle_source_uri: string; pack_list: Array<{ pack_id: string; version: string; digest: string; source_uri: string }>; pack_list_lock_ref: string | null; pack_config_refs: Array<string>; config_digest: string | null; signature: string | null; signature_sidecar_ref: string | null; lifecycle: "inactive" | "staged" | "warming" | "ready" | "draining" | "failed" | "archived"; failure: { check: string; message: string } | null; staged_at: string | null; warmed_at: string | null; archived_at: string | null; drain_seconds: number; endpoint: string | null }>; traffic_splits: Array<{ schema: string; env_id: string; deployment_id: string; bundle_id: string; generation: number; entries: Array<{ revision_id: string; weight_bps: number }>; updated_at: string; updated_by: string | null; idempotency_key: string | null; authorization_ref: string | null; previous_split_ref: string | null }>; revocation: { required: boolean; list_ref: string | null }; retention: { archived_max_age_days: number; staged_max_count: number }; health: { last_doctor_status: "pending" | "green" | "yellow" | "red"; message: string | null; last_checked_at: string | null } };
  };
  environments: {
    query: Record<string, never>;
    document: Array<{ environment_id: string; name: string; packs: number; deployments: number; health: "green" | "yellow" | "red"; last_doctor_status: "pending" | "green" | "yellow" | "red"; generation: number }>;
  };
  fleet: {
    query: { environment?: string; text?: string; health?: Array<"healthy" | "changing" | "degraded" | "failed" | "paused" | "idle">; skip?: number; limit?: number };
    document: { deployments: number; found: number; environments: Array<{ environment: string; routers: Array<{ name: string; running: boolean; generation: number; pid: number | null; listen: Array<string> }>; deployments: number; healthy: number; changing: number; degraded: number; failed: number; paused: number; idle: number }>; shown: Array<{ environment: string; deployment: string; bundle: string; customer: string; health: "healthy" | "changing" | "degraded" | "failed" | "paused" | "idle"; said: string; replicas: number; revisions: Array<{ revision: string; name: string; version: string; lifecycle: "inactive" | "staged" | "warming" | "ready" | "draining" | "failed" | "archived"; weight_asked_bps: number }> }>; clock?: { what: string; next: string } };
  };
  flow: {
    query: { flow: string; misses?: boolean; kit?: string };
    document: { flow: string; state: string; stateText: string; action?: string; caller?: string; reason?: string; syncs?: string; kit?: string; follows?: { flow: string; sync: string }; beganAt: string; settledAt?: string; steps: number; failure?: { id: string; action: string; input: unknown; kind?: string; askedBy?: { sync: string; matched: Array<string>; rows: number; firing: number }; undoes?: string; beneath?: string; askedAt?: string; beganAt?: string; endedAt?: string; dueAt?: string; end?: { variant: string; fields: unknown; maybeDone?: boolean }; state?: string; by?: string; answeredBy?: string; note?: string; guards?: Array<string>; attempts?: number; late?: Array<{ end: { variant: string; fields: unknown; maybeDone?: boolean }; by: string; at: string }> }; invocations: Array<{ id: string; action: string; input: unknown; kind?: string; askedBy?: { sync: string; matched: Array<string>; rows: number; firing: number }; undoes?: string; beneath?: string; askedAt?: string; beganAt?: string; endedAt?: string; dueAt?: string; end?: { variant: string; fields: unknown; maybeDone?: boolean }; state?: string; by?: string; answeredBy?: string; note?: string; guards?: Array<string>; attempts?: number; late?: Array<{ end: { variant: string; fields: unknown; maybeDone?: boolean }; by: string; at: string }> }>; firings: Array<{ sync: string; trigger?: string; matched: Array<string>; rows: number; at: string; then: Array<{ invoke?: string; action?: string; answer?: string; variant?: string; followUp?: string; fields?: unknown }>; failure?: string }>; followUps: Array<{ flow: string; state: string }>; waits: Array<{ id: string; text: string; awaitedBy?: Array<{ sync: string; pattern: string }> }>; events: Array<{ event: string; at: string; caller?: string; reason?: string; note?: string; attempt?: number; dueAt?: string; text: string }>; lastLines: Array<string>; didNotFire?: Array<{ sync: string; missing: string }>; notes: Array<string> };
  };
  flows: {
    query: { failed?: boolean; since?: string; limit?: number; before?: string };
    document: Array<{ flow: string; state: string; action: string; caller: string; beganAt: string; settledAt?: string; failure?: string }>;
  };
  instance: {
    query: { name: string; customer?: string };
    document: { instance: string; component: string; name: string; type: string; version: string; status: string; replicas: Array<{ replica: string; label: string; phase: "starting" | "running" | "backing_off" | "stopping" | "stopped" | "failed" | "lost"; healthy: boolean; restarts: number; since: string; message: string; endpoint: string; log: string; limitedBy: string; reason: "none" | "cannot_start" | "port_in_use" | "crash_loop" | "health_timeout" | "out_of_memory" | "no_engine" | null; pid: number | null; instance: string }>; endpoint: string; deployment: string | null; environment: string | null; customer: string | null; ready: boolean; history: Array<{ version: string; artifactHash: string; deployedAt: string }> };
  };
  mesh: {
    query: { mesh?: string };
    document: Array<{ mesh: string; node: string; version: number; ctrl_version: number; held_version: number | null; waits_for: Array<string>; reported_version: number | null; reported_ctrl_version: number | null; state: string; trouble: string; reported_at: string | null }>;
  };
  metrics: {
    query: Record<string, never>;
    document: Array<{ name: string; type: string; help: string; samples: Array<{ labels: Record<string, string>; value: number }> }>;
  };
  pins: {
    query: { component?: string; environment?: string };
    document: Array<{ pin: string; component: string; environment: string; pipeline: string; release: string; state: string; applied_release: string; generation: number; observed_generation: number; ready: boolean; reason: string; message: string; ready_at: string | null; deployment: string; revision: string; held: number | null; rejected: Array<string>; on_drift: string; drift: Array<string> }>;
  };
  pipelines: {
    query: Record<string, never>;
    document: Array<{ pipeline: string; stopped: boolean; reason: string; paths: Array<string>; stages: Array<{ environment: string; root: boolean }>; targets: Array<{ from: string; to: string; soak_seconds: number; approvals: number }> }>;
  };
  plan: {
    query: { plan?: string; environment?: string; started?: boolean };
    document: { plan_id: string; app: string; version: string; environment_id: string; phase: string; created_at: string; created_by: string; ended_at: string | null; done: number; summary: { create: number; change: number; remove: number; keep: number; nodes: number; edges: number; waves: number }; reason: string | null; origin: string; strategy: string; steps: Array<string>; on_failure: string; concurrency: string; estimated_ms: number; started_at: string | null; stale: string | null; waits_for: string | null; warnings: Array<string>; changes: Array<{ sign: "create" | "change" | "remove" | "keep"; component: string; kit: string; fields: Array<{ name: string; before: string; after: string }> }>; nodes: Array<{ place: number; node: string; kind: string; target: string; wave: number; after: Array<number>; status: string; began_at: string | null; over_at: string | null; took_ms: number | null; trouble: string | null; note: string | null; revision: string | null; last_lines: Array<string> }>; deployments: Array<string> };
  };
  plans: {
    query: { environment?: string };
    document: Array<{ plan_id: string; app: string; version: string; environment_id: string; phase: string; created_at: string; created_by: string; ended_at: string | null; done: number; summary: { create: number; change: number; remove: number; keep: number; nodes: number; edges: number; waves: number }; reason: string | null; origin: string }>;
  };
  releases: {
    query: { component?: string; release?: string };
    document: Array<{ release: string; component: string; identity: string; image: string; ready: boolean; message: string; rejected: string; by: string; created_at: string; parts: Array<{ role: string; name: string; digest: string }>; pinned: Array<{ environment: string; applied: boolean; ready: boolean }> }>;
  };
  revisions: {
    query: { environment: string; deployment?: string; bundle?: string; customer?: string; archived?: boolean };
    document: Array<{ schema: string; revision_id: string; env_id: string; bundle_id: string; deployment_id: string; sequence: number; generation: number; created_at: string; bundle_digest: string | null; bundle_source_uri: string; pack_list: Array<{ pack_id: string; version: string; digest: string; source_uri: string }>; pack_list_lock_ref: string | null; pack_config_refs: Array<string>; config_digest: string | null; signature: string | null; signature_sidecar_ref: string | null; lifecycle: "inactive" | "staged" | "warming" | "ready" | "draining" | "failed" | "archived"; failure: { check: string; message: string } | null; staged_at: string | null; warmed_at: string | null; archived_at: string | null; drain_seconds: number; endpoint: string | null }>;
  };
  rollout: {
    query: { rollout?: string; environment?: string };
    document: { rollout: string; environment: string; deployment: string; bundle: string; customer: string; strategy: string; status: "queued" | "due" | "running" | "paused" | "returning" | "watching" | "complete" | "aborted" | "superseded" | "stuck"; reason: string; group: string; attempt: number; step: number; steps: Array<{ weight_bps: number; pause_s: number; manual: boolean; state: "passed" | "current" | "coming" }>; weight_asked_bps: number; weight_obeyed_bps: number | null; weight_actual_bps: number | null; canary: { revision: string; name: string; lifecycle: string; replicas: number; requests_per_s: number; error_share: number | null; p50_ms: number | null; p99_ms: number | null; past_requests_per_s: Array<number>; past_error_shares: Array<number>; past_p99_ms: Array<number> }; baseline: { revision: string; name: string; lifecycle: string; replicas: number; requests_per_s: number; error_share: number | null; p50_ms: number | null; p99_ms: number | null; past_requests_per_s: Array<number>; past_error_shares: Array<number>; past_p99_ms: Array<number> } | null; verdict: { schema: string; verdict: "healthy" | "unhealthy" | "insufficientData"; sentence: string; metric: string; against: number; alpha: number; beta: number; seconds: number; canary_requests: number; canary_failed: number; baseline_requests: number; baseline_failed: number; windows: number; dropped_windows: number; requests_needed?: number; seconds_needed?: number; margin_latency_ratio: number; metrics: Array<{ name: string; over_ms?: number; limit?: number; canary_requests: number; canary_bad: number; baseline_requests: number; baseline_bad: number; seconds: number; against: number; for: number; grouping: number; requests_needed?: number; smallest_noticed?: number }> } | null; waits_for: string; seconds_left: number | null; routers: Array<{ name: string; obeys: boolean; trouble: string }>; started_at: string; stepped_at: string; ended_at: string | null; now: string };
  };
  rollouts: {
    query: { environment?: string; ended?: boolean };
    document: Array<{ rollout: string; environment: string; deployment: string; bundle: string; customer: string; strategy: string; status: "queued" | "due" | "running" | "paused" | "returning" | "watching" | "complete" | "aborted" | "superseded" | "stuck"; reason: string; group: string; attempt: number; step: number; steps: Array<{ weight_bps: number; pause_s: number; manual: boolean; state: "passed" | "current" | "coming" }>; weight_asked_bps: number; weight_obeyed_bps: number | null; weight_actual_bps: number | null; canary: { revision: string; name: string; lifecycle: string; replicas: number; requests_per_s: number; error_share: number | null; p50_ms: number | null; p99_ms: number | null; past_requests_per_s: Array<number>; past_error_shares: Array<number>; past_p99_ms: Array<number> }; baseline: { revision: string; name: string; lifecycle: string; replicas: number; requests_per_s: number; error_share: number | null; p50_ms: number | null; p99_ms: number | null; past_requests_per_s: Array<number>; past_error_shares: Array<number>; past_p99_ms: Array<number> } | null; verdict: { schema: string; verdict: "healthy" | "unhealthy" | "insufficientData"; sentence: string; metric: string; against: number; alpha: number; beta: number; seconds: number; canary_requests: number; canary_failed: number; baseline_requests: number; baseline_failed: number; windows: number; dropped_windows: number; requests_needed?: number; seconds_needed?: number; margin_latency_ratio: number; metrics: Array<{ name: string; over_ms?: number; limit?: number; canary_requests: number; canary_bad: number; baseline_requests: number; baseline_bad: number; seconds: number; against: number; for: number; grouping: number; requests_needed?: number; smallest_noticed?: number }> } | null; waits_for: string; seconds_left: number | null; routers: Array<{ name: string; obeys: boolean; trouble: string }>; started_at: string; stepped_at: string; ended_at: string | null; now: string }>;
  };
  routers: {
    query: { environment: string };
    document: { environment: string; generation: number | null; members: Array<{ name: string; acknowledged: number; obeys: boolean; trouble: string }> };
  };
  secrets: {
    query: { environment: string };
    document: Array<{ name: string; provider: string; version: string | null; wanted: Array<string> }>;
  };
  series: {
    query: { environment: string; deployment?: string; range_s?: number };
    document: { from_s: number; step_s: number; total: { revision: string; name: string; last_minute: number; requests_per_s: Array<number | null>; error_share: Array<number | null>; p50_ms: Array<number | null>; p99_ms: Array<number | null> }; revisions: Array<{ revision: string; name: string; last_minute: number; requests_per_s: Array<number | null>; error_share: Array<number | null>; p50_ms: Array<number | null>; p99_ms: Array<number | null> }> };
  };
  settings: {
    query: { environment: string; deployment?: string; bundle?: string; customer?: string };
    document: Array<{ deployment_id: string; bundle: string; customer: string; revision: string; pending: boolean; staged_as: string | null; problem: string | null; settings: Array<{ name: string; value: unknown; running: unknown; owner: "host" | "setup" | "runtime" | "bundle" | "secrets"; from: string }> }>;
  };
  status: {
    query: { environment?: string; deployment?: string };
    document: { environments?: Array<{ environment: string; routers: Array<{ name: string; running: boolean; generation: number; pid: number | null; listen: Array<string> }>; deployments: Array<{ deployment: string; bundle: string; customer: string; status: string; revisions: Array<{ revision: string; name: string; version: string; lifecycle: "inactive" | "staged" | "warming" | "ready" | "draining" | "failed" | "archived"; weight_asked_bps: number; weight_obeyed_bps: number | null; requests: number; in_flight: number; websockets: number; replicas: Array<{ name: string; address: string; pid: number | null; healthy: boolean; restarts: number }> }> }> }>; clock?: { what: string; next: string } };
  };
  traffic: {
    query: { environment: string; deployment?: string; bundle?: string; customer?: string };
    document: { schema: string; env_id: string; deployment_id: string; bundle_id: string; generation: number; entries: Array<{ revision_id: string; weight_bps: number }>; updated_at: string; updated_by: string | null; idempotency_key: string | null; authorization_ref: string | null; previous_split_ref: string | null } | null;
  };
  usage: {
    query: { by?: Array<"environment" | "deployment" | "bundle" | "revision" | "customer" | "tenant" | "team">; since?: string; until?: string; revenue?: boolean };
    document: Array<{ environment?: string; deployment?: string; bundle?: string; revision?: string; customer?: string; tenant?: string; team?: string; party?: string; requests: number; bytes_in: number; bytes_out: number; warm_seconds: number }>;
  };
  whoami: {
    query: Record<string, never>;
    document: { caller: string; owner: boolean; token: string | null; grants: Array<{ to: Array<string>; role?: "viewer" | "deployer" | "operator" | "admin"; allow?: Array<string>; deny?: Array<string>; environments?: Array<string>; labels?: Array<string> }> };
  };
  why: {
    query: { about: string; rules?: boolean; kit?: string; customer?: string };
    document: { kind: string; id: string; name?: string; flow?: string; state?: string; said: Array<string>; notes: Array<string> };
  };
}

export interface Actions {
  "Access/list": {
    input: Record<string, never>;
    ok: { tokens: Array<{ token: string; name: string; subject: string; environments: Array<string>; role?: string; createdAt: string; createdBy: string; expires?: string; lastUsed?: string; status: string }> };
  };
  "Access/revoke": {
    input: { token: string };
    ok: { token: string; name: string; subject: string };
  };
  "Access/show": {
    input: { version?: number };
    ok: { version: number; policy: string; appliedAt?: string; appliedBy: string };
  };
  "Approval/vote": {
    input: { approval: string; agree: boolean; reason?: string };
    ok: { approval: string; by: Array<string> };
  };
  "Cluster/cancel": {
    input: { operation: string };
    ok: { operation: string };
  };
  "Cluster/diff": {
    input: { environment: string; hostId: string; instanceId: string; clusterId: string; namespace: string; template: { repoUrl: string; ref?: string; path?: string }; requestId?: string; values?: string; runtimeValues?: string; files?: string; valuesHash?: string; runtimeValuesHash?: string };
    ok: { requestId: string; deployerId: string; clusterId: string; namespace: string; manifestHash: string; valuesHash: string; runtimeValuesHash?: string; commit?: string; noop: boolean; resources: Array<{ apiVersion: string; kind: string; namespace: string; name: string; action: string; state: string; message: string }>; added: number; modified: number; unchanged: number; pruned: number; unifiedDiff: string; drift: Array<{ apiVersion: string; kind: string; namespace: string; name: string; field: string; manager: string }>; overrideNeeded?: string };
  };
  "Cluster/rollback": {
    input: { environment: string; hostId: string; instanceId: string; clusterId: string; namespace: string; requestId?: string; rollbackSnapshotId?: string; waitForRollout?: boolean; timeoutSeconds?: number; pruneOverride?: boolean; force?: boolean };
    ok: { requestId: string; status: string; snapshotId: string };
  };
  "Cluster/status": {
    input: { environment: string; hostId: string; instanceId: string; clusterId: string; namespace: string; requestId?: string };
    ok: { requestId: string; deployerId: string; clusterId: string; namespace: string; ready: boolean; manifestHash: string; snapshotId: string; deploying?: string; noop: boolean; resources: Array<{ apiVersion: string; kind: string; namespace: string; name: string; action: string; state: string; message: string }> };
  };
  "Cluster/undeploy": {
    input: { environment: string; hostId: string; instanceId: string; clusterId: string; namespace: string; requestId?: string; waitForRollout?: boolean; timeoutSeconds?: number; pruneOverride?: boolean };
    ok: { requestId: string; status: string };
  };
  "DeployPlan/cancel": {
    input: { plan: string; keep?: boolean };
    ok: { plan: string; phase: string };
  };
  "DeployPlan/execute": {
    input: { plan: string; parallel?: number; skipRollout?: boolean };
    ok: { plan: string; duration: number; nodesDeployed: number };
  };
  "DeployPlan/plan": {
    input: { manifest: string; environment: string; file?: string; bundles?: Array<{ component: string; archive: string; signature: string; specVersion?: number }>; kits?: Array<{ name: string; files: string }>; variables?: Array<{ name: string; value: string }>; only?: Array<string>; from?: string; kit?: string; destroy?: string };
    ok: { plan: string; graph: string; estimatedDuration: number };
  };
  "DeployPlan/rollback": {
    input: { plan: string };
    ok: { plan: string; rolledBack: Array<string> };
  };
  "Deployment/pause": {
    input: { deployment: string };
    ok: { deployment: string; generation: number };
  };
  "Deployment/resume": {
    input: { deployment: string };
    ok: { deployment: string; generation: number };
  };
  "Deployment/rollBack": {
    input: { deployment: string; steps: number; trafficGeneration?: number };
    ok: { deployment: string; generation: number; entries: Array<{ revision: string; weightBps: number }> };
  };
  "Env/doctor": {
    input: { environment: string };
    ok: { environment: string; status: "green" | "yellow" | "red"; findings: Array<{ level: string; what: string; next: string }> };
  };
  "Mesh/revoke": {
    input: { mesh: string; node: string; reason: string };
    ok: { node: string };
  };
  "Pin/promote": {
    input: { components: Array<string>; fromEnv: string; toEnv: string; releases?: Array<string> };
    ok: { pins: Array<{ component: string; environment: string; release: string; revision: string; waits?: string }> };
  };
  "Pin/rollback": {
    input: { pin: string; to?: number };
    ok: { pins: Array<{ component: string; environment: string; release: string; revision: string; waits?: string }> };
  };
  "Pipeline/resume": {
    input: { pipeline: string };
    ok: { pipeline: string };
  };
  "Pipeline/stop": {
    input: { pipeline: string; reason: string };
    ok: { pipeline: string };
  };
  "Release/reject": {
    input: { release: string; reason: string };
    ok: { release: string };
  };
  "Revision/drain": {
    input: { revision: string };
    ok: { revision: string; cut?: number };
  };
  "Rollout/abort": {
    input: { rollout: string; reason?: string };
    ok: { rollout: string; reason: string; step: number; move: string; entries: Array<{ revision: string; weightBps: number }> };
  };
  "Rollout/advance": {
    input: { rollout: string; step?: number; full?: boolean };
    ok: { rollout: string; step: number; newWeight: number; move: string; entries: Array<{ revision: string; weightBps: number }> };
  };
  "Rollout/begin": {
    input: { deployment: string; revision: string; strategy?: string; steps?: Array<string>; criteria?: string; autoRollback?: boolean; after?: number; holdbackBps?: number; scaleDownDelay?: number; progressDeadline?: number; rollbackSeconds?: number; concurrency?: string; group?: string; place?: number; plan?: string; batch?: number; batchPause?: number };
    ok: { rollout: string };
  };
  "Rollout/pause": {
    input: { rollout: string; reason: string };
    ok: { rollout: string };
  };
  "Rollout/resume": {
    input: { rollout: string };
    ok: { rollout: string; step: number; currentWeight: number };
  };
  "Rollout/retry": {
    input: { rollout: string };
    ok: { rollout: string };
  };
  "Session/end": {
    input: { session: string };
    ok: { session: string; subject: string };
  };
  "Session/list": {
    input: Record<string, never>;
    ok: { sessions: Array<{ session: string; subject: string; token?: string; address: string; openedAt: string; expires: string; lastUsed?: string; status: string }> };
  };
  "Traffic/forward": {
    input: { deployment: string; steps: number };
    ok: { deployment: string; generation: number; entries: Array<{ revision: string; weightBps: number }> };
  };
  "Traffic/set": {
    input: { deployment: string; entries: Array<{ revision: string; weightBps: number }> };
    ok: { deployment: string; generation: number; entries: Array<{ revision: string; weightBps: number }> };
  };
}
