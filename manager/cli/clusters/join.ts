import { DEFAULT_LEASE_NAMESPACE } from '../../../shared/api/names.ts';
import { durationMs, FlagError, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { deniedNamespacesFlag } from '../../../shared/runtime/program-flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';

const NAMES = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...FORM_FLAG,
  name: { value: 'NAME', about: 'name of the WorkerCluster; default: CONTEXT', parse: clusterName },
  'worker-kubeconfig': { value: 'FILE', about: 'kubeconfig that has CONTEXT; default: the same', parse: text },
  server: { value: 'URL', about: 'address at which the manager reaches the cluster; default: that of CONTEXT', parse: serverUrl },
  'secret-namespace': {
    value: 'NAME',
    fallback: 'switchyard',
    about: 'namespace here for the Secret with the kubeconfig: that of the manager',
    parse: clusterName,
  },
  'account-namespace': {
    value: 'NAME',
    fallback: 'switchyard',
    about: 'namespace there for the account of the manager; created if missing',
    parse: clusterName,
  },
  'lease-namespace': {
    value: 'NAME',
    fallback: DEFAULT_LEASE_NAMESPACE,
    about: 'namespace there of the Leases of manager and worker; created if missing',
    parse: clusterName,
  },
  'served-namespaces': { value: 'LIST', about: 'the only namespaces there in which it may work, separated by commas', parse: names },
  'denied-namespaces': {
    ...deniedNamespacesFlag(''),
    about: 'namespaces there in which the manager creates no copies, besides kube-*: those of config.deniedNamespaces of the worker chart',
  },
  preference: {
    value: 'N',
    about: 'clusters with a greater preference are filled first (default 0); without this flag, an earlier preference is removed',
    parse: preference,
  },
  'create-namespaces': { about: 'let the manager create namespaces there that Jobs need' },
  'carry-namespaces': {
    value: 'LIST',
    about:
      'existing namespaces there to which Jobs may bring ConfigMaps and Secrets (--carry-namespaces of the manager), separated by commas',
    parse: names,
  },
  kinds: {
    value: 'LIST',
    about: 'kinds beside Job whose copies the manager may create there (jobsets.jobset.x-k8s.io), separated by commas',
    parse: kindNames,
  },
  'live-logs': {
    about: 'let the manager read logs of running pods there (--dashboard-live-logs); without this flag, the right is removed',
  },
  'built-in-controller': {
    about: 'the built-in Job controller runs the copies there, without a fence; or a worker in its place, with one',
  },
  'token-life': {
    value: 'DURATION',
    fallback: '24h',
    about: 'life of the first token, which the manager renews at half of that',
    parse: durationMs,
  },
  timeout: {
    value: 'DURATION',
    fallback: '1m',
    about: 'how long to wait for the manager to reach the cluster; 0s: not at all',
    parse: durationMs,
  },
} satisfies FlagTable;

export const JOIN = command({
  words: 'clusters join',
  summary: 'make a cluster a worker cluster of this manager',
  about:
    'Inspects the cluster of CONTEXT, creates an account with the rights and the admission policy of the chart switchyard-worker and a token that ' +
    'expires, tests each right with it, writes the kubeconfig to a Secret on the manager cluster and a WorkerCluster that names it, and waits until ' +
    'the manager reaches the cluster. Existing objects are updated: the same command joins a cluster again whose token has expired. Nothing is written ' +
    'before all checks have passed. Needs the rights of an administrator on both clusters; your kubeconfig is not stored.',
  operands: [{ usage: '<CONTEXT>', about: 'context of the new cluster' }],
  flags: FLAGS,
  examples: ['clusters join east', 'clusters join kind-east --name east --server https://east:6443'],
  configOf(values, [target = '']) {
    const name = values.name ?? target;
    if (!NAMES.test(name))
      throw new FlagError(
        `--name: a WorkerCluster cannot be called ${JSON.stringify(name)}; write --name with small letters, digits and dashes`,
      );
    if (values['create-namespaces'] && values['served-namespaces'] !== undefined)
      throw new FlagError('--create-namespaces: it may work in --served-namespaces only; make those yourself, and leave this out');
    return { ...values, name, target };
  },
  load: async () => (await import('./join-cluster.ts')).runJoin,
});

function clusterName(given: string): string {
  if (NAMES.test(given)) return given;
  throw new FlagError(`${JSON.stringify(given)} is no name; write small letters, digits and dashes`);
}

const PREFERENCE_MAX = 1_000_000;
function preference(given: string): number {
  if (/^-?\d{1,7}$/.test(given) && Math.abs(Number(given)) <= PREFERENCE_MAX) return Number(given);
  throw new FlagError(`${JSON.stringify(given)} cannot be used; write a whole number from -${PREFERENCE_MAX} to ${PREFERENCE_MAX}`);
}

function serverUrl(given: string): string {
  if (URL.canParse(given) && new URL(given).protocol === 'https:') return given.replace(/\/+$/, '');
  throw new FlagError(`${JSON.stringify(given)} is no https URL; write such as https://192.0.2.1:6443`);
}

const KIND = /^[a-z0-9][-a-z0-9]*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
function kindNames(given: string): readonly string[] {
  return [...new Set(text(given).split(','))].map((name) => {
    if (KIND.test(name)) return name;
    throw new FlagError(`${JSON.stringify(name)} names no kind; write its resource and group, such as jobsets.jobset.x-k8s.io`);
  });
}

function names(given: string): readonly string[] {
  return [...new Set(text(given).split(',').map(clusterName))];
}
