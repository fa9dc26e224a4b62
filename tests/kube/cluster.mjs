// Drives a cluster with the official client: apply, conflict, force, watch, finalizers. Prints what it saw as one JSON object.
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const core = config.makeApiClient(k8s.CoreV1Api);
const saw = { events: [] };

const settings = (data, more = {}) => ({
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'default', ...more }, data,
});
const apply = (manager, object, force) =>
  objects.patch(object, undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);

const first = await apply('one', settings({ a: '1' }, { finalizers: ['sluice.dev/hold'] }));
saw.managers = first.metadata.managedFields.map((each) => [each.manager, each.operation]);

const gone = new Promise((resolve, reject) => {
  new k8s.Watch(config).watch('/api/v1/namespaces/default/configmaps',
    { fieldSelector: 'metadata.name=settings', resourceVersion: first.metadata.resourceVersion },
    (what, object) => {
      saw.events.push([what, object.data?.a, Boolean(object.metadata.deletionTimestamp)]);
      if (what === 'DELETED') resolve();
    }, (fault) => fault && reject(fault));
});

try {
  await apply('two', settings({ a: '2' }));
} catch (refusal) {
  const status = JSON.parse(refusal.body);
  saw.conflict = [refusal.code, status.details.causes];
}
saw.forced = (await apply('two', settings({ a: '2' }), true)).data;
await core.deleteNamespacedConfigMap({ name: 'settings', namespace: 'default' });
saw.held = Boolean((await core.readNamespacedConfigMap({ name: 'settings', namespace: 'default' })).metadata.deletionTimestamp);
await apply('one', settings(undefined));
await gone;
try {
  await core.readNamespacedConfigMap({ name: 'settings', namespace: 'default' });
} catch (refusal) {
  saw.after = refusal.code;
}
console.log(JSON.stringify(saw));
process.exit(0);
