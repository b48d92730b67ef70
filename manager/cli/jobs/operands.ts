import { FlagError } from '../../../shared/runtime/flags.ts';

/** The Jobs that a command is about, as they were named. `namespace` undefined: that of the flags. */
export type NamedJob = { readonly namespace: string | undefined; readonly name: string };

/**
 * `NAME`, `NAMESPACE/NAME`, or `job/NAME` as kubectl prints it. `KIND/NAME` of another kind is read like the second: `findJob` tells them
 * apart. Throws {@link FlagError}.
 */
export function namedJob(operand: string): NamedJob {
  const [first = '', second, ...more] = operand.split('/');
  if (first === '' || second === '' || more.length > 0)
    throw new FlagError(`JOB: ${JSON.stringify(operand)} is no Job; write NAME or NAMESPACE/NAME`);
  if (second === undefined || KIND_WORDS.includes(first)) return { namespace: undefined, name: second ?? first };
  return { namespace: first, name: second };
}

const KIND_WORDS = ['job', 'jobs', 'job.batch', 'jobs.batch'];

/** Either names or a selector says which Jobs are meant, and never all of them by accident. */
export function chosenJobs(
  operands: readonly string[],
  { selector, 'all-namespaces': everywhere }: { readonly selector: string | undefined; readonly 'all-namespaces': boolean },
): readonly NamedJob[] {
  if (operands.length > 0 && selector !== undefined) throw new FlagError('--selector: names were given, too; write one of them');
  if (operands.length === 0 && selector === undefined) throw new FlagError('JOB: no Job is named; write its name, or --selector LABELS');
  if (operands.length > 0 && everywhere) throw new FlagError('--all-namespaces: a name needs its namespace; write NAMESPACE/NAME');
  return operands.map(namedJob);
}
