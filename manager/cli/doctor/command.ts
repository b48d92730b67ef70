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
    about: 'also compare the clusters: where is missing what work of this namespace refers to',
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
    'Reads, and changes nothing. Causes come before their consequences: begin with the first line. Checks the manager cluster, releases of Helm, ' +
    'definitions, Deployments and their pods, election and rights, webhooks and policies, Redis, worker clusters, queues, Jobs and objects of other kinds that wait or that nobody ' +
    'manages, certificates and tokens. Where flags or variables say where Redis is, doctor writes a key that lasts a minute there. Each problem has ' +
    'its remedy and its runbook (docs/runbooks). What you may not read is reported, and is no failure.',
  flags: FLAGS,
  exitCodes: { 1: 'something is wrong' },
  examples: ['doctor', 'doctor --namespace team', 'doctor --redis-url redis://redis:6379', 'doctor -o json'],
  configOf: (values) => ({ ...values, redis: redisConfigOf(values) }),
  load: async () => (await import('./run.ts')).runDoctor,
});
