import { FORM_FLAG, type Form } from '../cluster-flags.ts';
import { SERVER_FLAGS, type ServerChoice } from '../server/flags.ts';
import { ADMISSION_FLAGS, admissionFlagsOf, type AdmissionFlags } from '../../config/admission-flags.ts';
import { FlagError, text, type FlagTable, type FlagValues, type Program } from '../../../shared/runtime/flags.ts';

export type ExplainConfig = {
  readonly namespace: string;
  readonly name: string;
  /** Absent: where kubectl would look. */
  readonly kubeconfig: string | undefined;
  /** Absent: the current one of the kubeconfig. */
  readonly context: string | undefined;
  readonly output: Form;
  /** Those of the manager. */
  readonly flags: AdmissionFlags;
} & ServerChoice;

const FLAGS = {
  kubeconfig: { value: 'FILE', about: 'kubeconfig of the manager cluster; default: KUBECONFIG, ~/.kube/config', parse: text },
  ...FORM_FLAG,
  ...SERVER_FLAGS,
  ...ADMISSION_FLAGS,
} satisfies FlagTable;

export const EXPLAIN_PROGRAM: Program<typeof FLAGS, ExplainConfig> = {
  name: 'explain',
  usage: 'npm run -s explain --',
  about:
    'Explains why a Job waits, and shows the history of an admitted one. Each change has been tried on a copy of all data that admission decides on.\n' +
    'Lists Jobs, queues, clusters, flavors, cohorts, namespaces, priority classes, limit ranges and runtime classes once each, with your rights.\n' +
    'Where these do not suffice, the manager explains, with the right to get the Job (--server); without a manager the conditions are printed.\n' +
    'Seals of admission records are not checked. The manager does not publish its flags: set --fair-sharing and\n' +
    '--admission-fair-sharing-... to its values, or the same environment variables.',
  flags: FLAGS,
  operands: 'NAMESPACE/NAME',
  configOf,
};

function configOf(
  { kubeconfig, output, server, 'server-ca': ca, 'token-file': token, ...flags }: FlagValues<typeof FLAGS>,
  operands: readonly string[],
): ExplainConfig {
  const [operand, ...rest] = operands;
  const [namespace, name, ...more] = (operand ?? '').split('/');
  if (rest.length > 0 || more.length > 0 || !namespace || !name)
    throw new FlagError('name one Job as NAMESPACE/NAME, such as npm run -s explain -- team/train');
  return {
    namespace,
    name,
    kubeconfig,
    context: undefined,
    output,
    server,
    'server-ca': ca,
    'token-file': token,
    flags: admissionFlagsOf(flags),
  };
}
