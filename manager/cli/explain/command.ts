import { FlagError, type FlagTable } from '../../../shared/runtime/flags.ts';
import { ADMISSION_FLAGS, admissionFlagsOf } from '../../config/admission-flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SERVER_FLAGS } from '../server/flags.ts';
import { EXPLAIN_PROGRAM } from './program.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...FORM_FLAG,
  ...SERVER_FLAGS,
  ...ADMISSION_FLAGS,
} satisfies FlagTable;

export const EXPLAIN = command({
  words: 'explain',
  summary: 'explain why a Job waits, when it is likely to start, and the smallest changes after which it would run now',
  about: EXPLAIN_PROGRAM.about,
  operands: [{ usage: '<JOB>', about: 'NAME, NAMESPACE/NAME, or KIND/NAME, such as jobset/train' }],
  flags: FLAGS,
  examples: ['explain train -n team', 'explain team/train -o json', 'explain jobset/train -n team'],
  configOf({ kubeconfig, context, namespace, output, server, 'server-ca': ca, 'token-file': token, ...flags }, [job = '']) {
    const [first = '', second, ...more] = job.split('/');
    if (first === '' || second === '' || more.length > 0)
      throw new FlagError(`JOB: ${JSON.stringify(job)} is no Job; write NAME, NAMESPACE/NAME or KIND/NAME`);
    const named = { namespace, name: second ?? first, ...(second === undefined ? {} : { of: first }) };
    return { kubeconfig, context, output, server, 'server-ca': ca, 'token-file': token, ...named, flags: admissionFlagsOf(flags) };
  },
  load: async () => (await import('./run.ts')).runExplain,
});
