import { text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { REDIS_FLAGS, redisConfigOf } from '../../config/redis-flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, WORKER_CLUSTER_FLAGS } from '../cluster-flags.ts';
import { command } from '../command.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...FORM_FLAG,
  ...REDIS_FLAGS,
  namespace: {
    short: 'n',
    value: 'NAME',
    about: 'also compare the clusters: where is missing what Jobs of this namespace refer to',
    parse: text,
  },
  'cluster-kubeconfig': {
    ...WORKER_CLUSTER_FLAGS['cluster-kubeconfig'],
    about: 'kubeconfig with a context of the name of each WorkerCluster, for that comparison; default: the same',
  },
  'manager-namespace': { value: 'NAME', fallback: 'switchyard', about: 'namespace in which the manager is installed', parse: text },
} satisfies FlagTable;

export const DOCTOR = command({
  words: 'doctor',
  summary: 'check an installation, and say how to fix what is wrong',
  about:
    'Reads, and changes nothing. What is wrong comes first, and a cause before its consequences, so that the first line is where to begin: ' +
    'version and clock of the manager cluster, releases of Helm that ended half way, the definitions, Deployments and why their pods are not ready ' +
    '(images, nodes, missing Secrets), the manager’s election and its rights, webhooks and policies and what they cover, Redis, worker clusters and ' +
    'their conditions, queues that admit nothing, Jobs that no webhook has seen, that nobody manages or that wait too long, and when certificates and ' +
    'tokens end. Where flags or variables say where Redis is, doctor asks it, too: whether it takes a write (a key of the manager’s that lasts a ' +
    'minute), as whom, its role and version, what it does when its memory runs short, whether it keeps what it took, how full it is. ' +
    'With --namespace it also compares the clusters: which ConfigMaps, Secrets, ' +
    'PersistentVolumeClaims, ServiceAccounts and RuntimeClasses that Jobs of that namespace refer to are missing where. Each problem has its remedy and ' +
    'names its alert, and so its runbook (docs/runbooks). What you may not read is reported, and is no failure. Where output is not a terminal, each check is one line.',
  flags: FLAGS,
  exitCodes: { 1: 'something is wrong' },
  examples: ['doctor', 'doctor --namespace team', 'doctor --redis-url redis://redis:6379', 'doctor -o json'],
  configOf: (values) => ({ ...values, redis: redisConfigOf(values) }),
  load: async () => (await import('./run.ts')).runDoctor,
});
