/**
 * Goal: what each account of the charts may do is written down here, with the default values and with others, so that a new right is a
 * visible change; and an API server grants the accounts this and nothing else.
 */
import { describe, expect, test } from 'vitest';
import { NAMESPACES } from '../../../shared/api/resources.ts';
import { userMay } from '../../../shared/kube/access-reviews.ts';
import { changesOf, grantsOf, rightsOf } from '../../support/chart-rights.ts';
import { startCluster } from '../../support/embedded-cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { renderChart, type Chart } from '../../support/helm.ts';
import { applyAccess, userOf } from '../../support/worker-under-rbac.ts';

const MANAGER = 'test-switchyard-manager';
const CERTIFICATES = 'test-switchyard-manager-certificates';
const WORKER = 'test-switchyard-worker';
const MANAGER_ON_WORKER = 'test-switchyard-worker-manager-access';

test('the manager', () => {
  expect(rightsOf(MANAGER, renderChart('manager'))).toMatchInlineSnapshot(`
    [
      "*: batch/jobs get,list,watch,patch,delete",
      "*: batch/jobs/status patch",
      "*: switchyard.dev/workerclusters list,watch",
      "*: switchyard.dev/resourceflavors list,watch",
      "*: switchyard.dev/clusterqueues list,watch",
      "*: switchyard.dev/localqueues list,watch",
      "*: switchyard.dev/cohorts list,watch",
      "*: switchyard.dev/workloadpriorityclasses list,watch",
      "*: switchyard.dev/submissionqueues list,watch",
      "*: switchyard.dev/workkinds list,watch",
      "*: switchyard.dev/workerclusters patch",
      "*: switchyard.dev/workerclusters/status patch",
      "*: switchyard.dev/clusterqueues/status patch",
      "*: switchyard.dev/cohorts/status patch",
      "*: switchyard.dev/localqueues/status patch",
      "*: switchyard.dev/submissionqueues/status patch",
      "*: switchyard.dev/workkinds/status patch",
      "*: scheduling.k8s.io/priorityclasses list,watch",
      "*: limitranges list,watch",
      "*: node.k8s.io/runtimeclasses list,watch",
      "*: namespaces get,list,watch",
      "*: events create,patch",
      "*: serviceaccounts[switchyard-submitter] impersonate",
      "*: authentication.k8s.io/userextras/submission-queue.switchyard.dev impersonate",
      "*: authentication.k8s.io/tokenreviews create",
      "*: authorization.k8s.io/subjectaccessreviews create",
      "*: admissionregistration.k8s.io/mutatingwebhookconfigurations[test-switchyard-manager] list,watch",
      "*: admissionregistration.k8s.io/validatingwebhookconfigurations[test-switchyard-manager] list,watch",
      "switchyard: secrets get,patch",
      "switchyard: configmaps get,list,create,patch,delete",
      "switchyard: coordination.k8s.io/leases get,create,update",
      "switchyard: secrets[test-switchyard-manager-record-key] create,get,patch",
      "switchyard: secrets[test-switchyard-manager-webhook-tls] list,watch",
    ]
  `);
});

test('the account that makes the certificate of the webhook, which the manager may not act as', () => {
  expect(rightsOf(CERTIFICATES, renderChart('manager'))).toMatchInlineSnapshot(`
    [
      "*: admissionregistration.k8s.io/mutatingwebhookconfigurations[test-switchyard-manager] list,watch,patch",
      "*: admissionregistration.k8s.io/validatingwebhookconfigurations[test-switchyard-manager] list,watch,patch",
      "switchyard: secrets create",
      "switchyard: secrets[test-switchyard-manager-webhook-tls] list,watch,patch",
    ]
  `);
  for (const values of [['webhook.tls.certManager.enabled=true'], ['webhook.tls.existingSecret=mine', 'webhook.tls.caBundle=Y2E=']])
    expect(rightsOf(CERTIFICATES, renderChart('manager', ...values))).toEqual([]);
});

test('the manager creates Jobs where its shared queue and its canaries lead, and nowhere else', () => {
  const creating = (...values: string[]): string[] =>
    rightsOf(MANAGER, renderChart('manager', ...values)).filter((right) => / \S*create/.test(right) && right.includes('/jobs '));
  expect(creating()).toEqual([]);
  expect(creating('config.submissionQueue=jobs', 'config.submissionNamespaces={a,b}')).toEqual([
    'a: batch/jobs create',
    'b: batch/jobs create',
  ]);
  expect(creating('canary.queue=ops/main')).toEqual([]);
  expect(creating('canary.queue=ops/main', 'canary.interval=5m')).toEqual(['ops: batch/jobs create']);
  expect(creating('config.submissionQueue=jobs', 'config.submissionNamespaces={*}')).toEqual(['*: batch/jobs create']);
  expect(creating('config.allowManagerIdentity=true')).toEqual(['*: batch/jobs create']);
  expect(creating('localWorker.enabled=true', 'localWorker.users={worker}')).toEqual(['*: batch/jobs create']);
});

test('it creates objects of the kinds that the chart describes where it creates Jobs', () => {
  const creating = (...values: string[]): string[] =>
    rightsOf(MANAGER, renderChart('manager', 'kinds={JobSet}', ...values)).filter(
      (right) => / \S*create/.test(right) && right.includes('/jobsets '),
    );
  expect(creating()).toEqual([]);
  expect(creating('config.submissionQueue=jobs', 'config.submissionNamespaces={a}')).toEqual(['a: jobset.x-k8s.io/jobsets create']);
  expect(creating('config.allowManagerIdentity=true', 'localWorker.enabled=true', 'localWorker.users={worker}')[0]).toMatch(
    /^\*: jobset.x-k8s.io\/jobsets .*create/,
  );
});

test('the worker', () => {
  expect(rightsOf(WORKER, renderChart('worker'))).toMatchInlineSnapshot(`
    [
      "*: batch/jobs get,list,watch",
      "*: batch/jobs/status update",
      "*: batch/jobs/finalizers update",
      "*: pods list,watch,create,patch,delete",
      "*: events create,patch",
      "*: pods/log get",
      "*: coordination.k8s.io/leases list",
      "*: authentication.k8s.io/tokenreviews create",
      "*: authorization.k8s.io/subjectaccessreviews create",
      "switchyard: coordination.k8s.io/leases create",
      "switchyard: coordination.k8s.io/leases[test-switchyard-worker] get,update",
      "switchyard-system: coordination.k8s.io/leases get,list,watch,create",
      "switchyard-system: coordination.k8s.io/leases[switchyard-worker] update",
      "switchyard-system: configmaps list,create,patch,delete",
    ]
  `);
});

test('the manager on a worker cluster', () => {
  expect(rightsOf(MANAGER_ON_WORKER, renderChart('worker'))).toMatchInlineSnapshot(`
    [
      "*: namespaces[kube-system] get",
      "*: batch/jobs get,list,watch,create,patch,delete",
      "*: batch/jobs/status patch",
      "*: pods list",
      "*: events list",
      "*: persistentvolumeclaims get",
      "*: serviceaccounts get",
      "*: nodes list,watch",
      "*: scheduling.k8s.io/priorityclasses list,watch",
      "*: node.k8s.io/runtimeclasses list,watch",
      "switchyard-system: coordination.k8s.io/leases get,list,watch,create,update",
      "switchyard-system: configmaps get",
      "switchyard: serviceaccounts/token[test-switchyard-worker-manager-access] create",
    ]
  `);
});

describe('what the manager may do with other values', () => {
  test('config.submissionQueue=jobs config.submissionNamespaces={a,b}', () => {
    expect(changesOf('manager', MANAGER, ['config.submissionQueue=jobs', 'config.submissionNamespaces={a,b}'])).toMatchInlineSnapshot(`
      [
        "+ a: batch/jobs create",
        "+ b: batch/jobs create",
      ]
    `);
  });
  test('localWorker.enabled=true localWorker.users={worker}', () => {
    expect(changesOf('manager', MANAGER, ['kinds={JobSet}'])).toMatchInlineSnapshot(`
      [
        "+ *: jobset.x-k8s.io/jobsets get,list,watch,patch,delete",
        "+ *: jobset.x-k8s.io/jobsets/status patch",
      ]
    `);
    expect(changesOf('manager', MANAGER, ['localWorker.enabled=true', 'localWorker.users={worker}'])).toMatchInlineSnapshot(`
      [
        "+ *: batch/jobs create",
        "+ *: nodes list,watch",
        "+ *: events list",
        "+ *: pods list",
        "+ *: persistentvolumeclaims get",
        "+ *: serviceaccounts get",
        "+ switchyard-system: coordination.k8s.io/leases get,list,watch,create,update",
        "+ switchyard-system: configmaps get",
      ]
    `);
  });
  test('dashboard.enabled=true', () => {
    expect(changesOf('manager', MANAGER, ['dashboard.enabled=true'])).toMatchInlineSnapshot(`
      [
        "+ *: events list",
      ]
    `);
  });
  test('localWorker.enabled=true localWorker.users={worker} dashboard.enabled=true dashboard.liveLogs=true', () => {
    expect(
      changesOf('manager', MANAGER, [
        'localWorker.enabled=true',
        'localWorker.users={worker}',
        'dashboard.enabled=true',
        'dashboard.liveLogs=true',
      ]),
    ).toMatchInlineSnapshot(`
      [
        "+ *: batch/jobs create",
        "+ *: nodes list,watch",
        "+ *: events list",
        "+ *: pods list",
        "+ *: persistentvolumeclaims get",
        "+ *: serviceaccounts get",
        "+ *: events list",
        "+ *: pods list",
        "+ *: pods/log get",
        "+ switchyard-system: coordination.k8s.io/leases get,list,watch,create,update",
        "+ switchyard-system: configmaps get",
      ]
    `);
  });
  test('submissions.impersonate:=[]', () => {
    expect(changesOf('manager', MANAGER, ['submissions.impersonate:=[]'])).toMatchInlineSnapshot(`
      [
        "- *: serviceaccounts[switchyard-submitter] impersonate",
        "- *: authentication.k8s.io/userextras/submission-queue.switchyard.dev impersonate",
      ]
    `);
  });
  test('submissions.impersonate={*}', () => {
    expect(changesOf('manager', MANAGER, ['submissions.impersonate={*}'])).toMatchInlineSnapshot(`
      [
        "- *: serviceaccounts[switchyard-submitter] impersonate",
        "+ *: serviceaccounts impersonate",
      ]
    `);
  });
  test('clusterSecrets.namespace=clusters', () => {
    expect(changesOf('manager', MANAGER, ['clusterSecrets.namespace=clusters'])).toMatchInlineSnapshot(`
      [
        "- switchyard: secrets get,patch",
        "+ clusters: secrets get,patch",
      ]
    `);
  });
  test('webhook.tls.certManager.enabled=true', () => {
    expect(changesOf('manager', MANAGER, ['webhook.tls.certManager.enabled=true'])).toMatchInlineSnapshot(`
      [
        "- *: admissionregistration.k8s.io/mutatingwebhookconfigurations[test-switchyard-manager] list,watch",
        "- *: admissionregistration.k8s.io/validatingwebhookconfigurations[test-switchyard-manager] list,watch",
        "- switchyard: secrets[test-switchyard-manager-webhook-tls] list,watch",
      ]
    `);
  });
  test('metrics.authentication.enabled=false', () => {
    expect(changesOf('manager', MANAGER, ['metrics.authentication.enabled=false'])).toMatchInlineSnapshot(`
      [
        "- *: authentication.k8s.io/tokenreviews create",
        "- *: authorization.k8s.io/subjectaccessreviews create",
      ]
    `);
  });
});

test('the manager of objects of described kinds, as of Jobs', () => {
  expect(changesOf('manager', MANAGER, ['kinds={JobSet}', 'ownKinds={crews.example.com}'])).toMatchInlineSnapshot(`
    [
      "+ *: jobset.x-k8s.io/jobsets get,list,watch,patch,delete",
      "+ *: jobset.x-k8s.io/jobsets/status patch",
      "+ *: example.com/crews get,list,watch,patch,delete",
      "+ *: example.com/crews/status patch",
    ]
  `);
});

describe('what the worker may do with other values', () => {
  test('config.namespaces={a,b}', () => {
    expect(changesOf('worker', WORKER, ['config.namespaces={a,b}'])).toMatchInlineSnapshot(`
      [
        "- *: batch/jobs get,list,watch",
        "- *: batch/jobs/status update",
        "- *: batch/jobs/finalizers update",
        "- *: pods list,watch,create,patch,delete",
        "- *: events create,patch",
        "- *: pods/log get",
        "+ a: batch/jobs get,list,watch",
        "+ a: batch/jobs/status update",
        "+ a: batch/jobs/finalizers update",
        "+ a: pods list,watch,create,patch,delete",
        "+ a: events create,patch",
        "+ a: pods/log get",
        "+ b: batch/jobs get,list,watch",
        "+ b: batch/jobs/status update",
        "+ b: batch/jobs/finalizers update",
        "+ b: pods list,watch,create,patch,delete",
        "+ b: events create,patch",
        "+ b: pods/log get",
      ]
    `);
  });
  test('config.keepLogs=None', () => {
    expect(changesOf('worker', WORKER, ['config.keepLogs=None'])).toMatchInlineSnapshot(`
      [
        "- *: pods/log get",
        "- switchyard-system: configmaps list,create,patch,delete",
      ]
    `);
  });
  test('config.controllers={job,ttl-after-finished}', () => {
    expect(changesOf('worker', WORKER, ['config.controllers={job,ttl-after-finished}'])).toMatchInlineSnapshot(`
      [
        "- *: batch/jobs get,list,watch",
        "+ *: batch/jobs get,list,watch,delete",
      ]
    `);
  });
  test('config.controllerName=kubernetes.io/job-controller', () => {
    expect(changesOf('worker', WORKER, ['config.controllerName=kubernetes.io/job-controller'])).toMatchInlineSnapshot(`
      [
        "- switchyard-system: coordination.k8s.io/leases[switchyard-worker] update",
        "+ switchyard-system: coordination.k8s.io/leases[switchyard-worker-d14fdf87] update",
      ]
    `);
  });
  test('config.fenceAfter=0', () => {
    expect(changesOf('worker', WORKER, ['config.fenceAfter=0'])).toMatchInlineSnapshot(`[]`);
  });
  test('config.leaseNamespace=leases', () => {
    expect(changesOf('worker', WORKER, ['config.leaseNamespace=leases'])).toMatchInlineSnapshot(`
      [
        "- switchyard-system: coordination.k8s.io/leases get,list,watch,create",
        "- switchyard-system: coordination.k8s.io/leases[switchyard-worker] update",
        "- switchyard-system: configmaps list,create,patch,delete",
        "+ leases: coordination.k8s.io/leases get,list,watch,create",
        "+ leases: coordination.k8s.io/leases[switchyard-worker] update",
        "+ leases: configmaps list,create,patch,delete",
      ]
    `);
  });
  test('config.formerLeaseNamespace=kube-system', () => {
    expect(changesOf('worker', WORKER, ['config.formerLeaseNamespace=kube-system'])).toMatchInlineSnapshot(`
      [
        "+ *: configmaps create,patch",
        "+ kube-system: coordination.k8s.io/leases get,list,watch,create",
        "+ kube-system: coordination.k8s.io/leases[switchyard-worker] update",
      ]
    `);
  });
  test('metrics.authentication.enabled=false', () => {
    expect(changesOf('worker', WORKER, ['metrics.authentication.enabled=false'])).toMatchInlineSnapshot(`
      [
        "- *: authentication.k8s.io/tokenreviews create",
        "- *: authorization.k8s.io/subjectaccessreviews create",
      ]
    `);
  });
});

describe('what the manager may do on a worker cluster with other values', () => {
  test('config.leaseNamespace=leases', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['config.leaseNamespace=leases'])).toMatchInlineSnapshot(`
      [
        "- switchyard-system: coordination.k8s.io/leases get,list,watch,create,update",
        "- switchyard-system: configmaps get",
        "+ leases: coordination.k8s.io/leases get,list,watch,create,update",
        "+ leases: configmaps get",
      ]
    `);
  });
  test('config.namespaces={a,b}', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['config.namespaces={a,b}'])).toMatchInlineSnapshot(`
      [
        "- *: batch/jobs get,list,watch,create,patch,delete",
        "- *: batch/jobs/status patch",
        "- *: pods list",
        "- *: events list",
        "- *: persistentvolumeclaims get",
        "- *: serviceaccounts get",
        "+ a: batch/jobs get,list,watch,create,patch,delete",
        "+ a: batch/jobs/status patch",
        "+ a: pods list",
        "+ a: events list",
        "+ a: persistentvolumeclaims get",
        "+ a: serviceaccounts get",
        "+ b: batch/jobs get,list,watch,create,patch,delete",
        "+ b: batch/jobs/status patch",
        "+ b: pods list",
        "+ b: events list",
        "+ b: persistentvolumeclaims get",
        "+ b: serviceaccounts get",
      ]
    `);
  });
  test('config.namespaces={a,b} managerAccess.namespaces={a}', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['config.namespaces={a,b}', 'managerAccess.namespaces={a}'])).toMatchInlineSnapshot(`
      [
        "- *: batch/jobs get,list,watch,create,patch,delete",
        "- *: batch/jobs/status patch",
        "- *: pods list",
        "- *: events list",
        "- *: persistentvolumeclaims get",
        "- *: serviceaccounts get",
        "+ a: batch/jobs get,list,watch,create,patch,delete",
        "+ a: batch/jobs/status patch",
        "+ a: pods list",
        "+ a: events list",
        "+ a: persistentvolumeclaims get",
        "+ a: serviceaccounts get",
      ]
    `);
  });
  test('managerAccess.createNamespaces=true', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['managerAccess.createNamespaces=true'])).toMatchInlineSnapshot(`
      [
        "+ *: namespaces create",
      ]
    `);
  });
  test('managerAccess.nodes=false', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['managerAccess.nodes=false'])).toMatchInlineSnapshot(`
      [
        "- *: nodes list,watch",
      ]
    `);
  });
  test('managerAccess.startTroubles=false', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['managerAccess.startTroubles=false'])).toMatchInlineSnapshot(`
      [
        "- *: events list",
      ]
    `);
  });
  test('managerAccess.logs=false', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['managerAccess.logs=false'])).toMatchInlineSnapshot(`
      [
        "- switchyard-system: configmaps get",
      ]
    `);
  });
  test('managerAccess.liveLogs=true', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['managerAccess.liveLogs=true'])).toMatchInlineSnapshot(`
      [
        "+ *: pods/log get",
      ]
    `);
  });
  test('config.formerLeaseNamespace=kube-system', () => {
    expect(changesOf('worker', MANAGER_ON_WORKER, ['config.formerLeaseNamespace=kube-system'])).toMatchInlineSnapshot(`
      [
        "+ *: configmaps get",
        "+ kube-system: coordination.k8s.io/leases get,list,watch,create,update",
      ]
    `);
  });
});

describe('an API server grants what stands here, and nothing else', () => {
  const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate', 'bind', 'escalate'];
  /** Beside what is granted somewhere: what a thief would ask for first. */
  const COVETED = [
    'secrets',
    'nodes',
    'pods/exec',
    'pods/ephemeralcontainers',
    'pods/eviction',
    'serviceaccounts',
    'serviceaccounts/token',
    'users',
    'rbac.authorization.k8s.io/roles',
    'rbac.authorization.k8s.io/rolebindings',
    'rbac.authorization.k8s.io/clusterrolebindings',
    ...['validatingadmissionpolicies', 'mutatingwebhookconfigurations'].map((each) => `admissionregistration.k8s.io/${each}`),
  ];
  const everyRight = { manager: [MANAGER, CERTIFICATES], worker: [WORKER, MANAGER_ON_WORKER] } as const;

  test.each<[Chart, readonly string[]]>([
    ['manager', []],
    ['manager', ['config.submissionQueue=jobs', 'config.submissionNamespaces={a,b}', 'clusterSecrets.namespace=clusters']],
    ['worker', []],
    ['worker', ['config.namespaces={a,b}', 'managerAccess.namespaces={a}', 'managerAccess.liveLogs=true']],
  ])('to the accounts of the %s with %j', { timeout: 60_000 }, async (chart, values) => {
    const rendered = renderChart(chart, ...values);
    const { plane, client } = await startCluster(new FakeClock());
    for (const name of ['switchyard', 'switchyard-system', 'clusters', 'a', 'b']) await client.create(NAMESPACES, { metadata: { name } });
    await applyAccess(client, rendered);
    const { signal } = new AbortController();
    for (const account of everyRight[chart]) {
      const grants = grantsOf(account, rendered);
      const { name: username, groups } = userOf(account);
      const isGranted = (namespace: string, resource: string, verb: string, name: string): boolean =>
        grants.some(
          (grant) =>
            (grant.namespace === '*' || grant.namespace === namespace) &&
            grant.resource === resource &&
            grant.verbs.includes(verb) &&
            (grant.names === undefined || grant.names.includes(name)),
        );
      const wrong: string[] = [];
      let granted = 0;
      for (const path of new Set([...grants.map(({ resource }) => resource), ...COVETED])) {
        const names = new Set(['', ...grants.flatMap((grant) => (grant.resource === path ? (grant.names ?? []) : []))]);
        const [, group = '', resource = '', subresource] = /^(?:([^/]+\.[^/]+|batch)\/)?([^/]+)(?:\/(.+))?$/.exec(path) ?? [];
        for (const namespace of ['', 'switchyard', 'switchyard-system', 'clusters', 'kube-system', 'a', 'b']) {
          for (const verb of VERBS) {
            for (const name of names) {
              const attributes = { namespace, verb, group, resource, name, ...(subresource === undefined ? {} : { subresource }) };
              const may = await userMay(client, { username, groups }, { resourceAttributes: attributes }, signal);
              if (may) granted += 1;
              if (may !== isGranted(namespace, path, verb, name))
                wrong.push(`${namespace || '*'}: ${path}[${name}] ${verb}: ${may ? 'granted' : 'refused'}`);
            }
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(granted).toBeGreaterThan(grants.length);
    }
    await plane.close();
  });
});
