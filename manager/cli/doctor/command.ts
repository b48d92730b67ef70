import { text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { REDIS_FLAGS, redisConfigOf } from '../../config/redis-flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...FORM_FLAG,
  ...REDIS_FLAGS,
  'manager-namespace': { value: 'NAME', fallback: 'switchyard', about: 'namespace in which the manager is installed', parse: text },
} satisfies FlagTable;

export const DOCTOR = command({
  words: 'doctor',
  summary: 'look for what is wrong with an installation, and say what to do about it',
  about:
    'Reads, and changes nothing: version and clock of the manager cluster, releases of Helm that ended half way, Deployments and why their pods are not ready, the manager’s election and its rights, the definitions, webhooks and policies and what they cover, queues, worker clusters and their conditions, Jobs that no webhook has ' +
    'seen, that nobody manages or that wait too long, and when certificates and tokens end; and, where flags or variables say where it is, the Redis that carries submissions: whether it ' +
    'takes a write (a key of the manager’s that lasts a minute), as whom, its role and version, what it does when its memory runs short, whether it keeps what it took, how full it is. What is wrong names its alert, and so its runbook (docs/runbooks); what you may not read is said, and is no failure.',
  flags: FLAGS,
  exitCodes: { 1: 'something is wrong' },
  examples: ['doctor', 'doctor --redis-url redis://redis:6379', 'doctor -o json'],
  configOf: (values) => ({ ...values, redis: redisConfigOf(values) }),
  load: async () => (await import('./run.ts')).runDoctor,
});
