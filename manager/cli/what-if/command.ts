import { durationMs, FlagError, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { ADMISSION_FLAGS, admissionFlagsOf } from '../../config/admission-flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SERVER_FLAGS } from '../server/flags.ts';
import { CHANGE_FLAGS, changesOf, type Change, type ChangeFlag } from './changes.ts';
import type { ChangeFile, WhatIfConfig } from './config.ts';

const FLAGS = {
  filename: {
    short: 'f',
    value: 'FILE,...',
    about: 'manifests (YAML, - is standard input): each object replaces the one of its name, or is added; a new Job is submitted',
    parse: (given: string): readonly ChangeFile[] => filesOf(given),
  },
  submit: {
    value: 'FILE[=COPIES],...',
    about: 'so many more Jobs of this manifest are submitted',
    parse: (given: string): readonly ChangeFile[] => filesOf(given).map(({ file }) => withCopies(file)),
  },
  ...changeFlags(),
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...ADMISSION_FLAGS,
  'worker-lost-timeout': { value: 'DURATION', fallback: '15m', about: 'as the manager has it', parse: lostTimeout },
  ...FORM_FLAG,
  ...SERVER_FLAGS,
} satisfies FlagTable;

export const WHAT_IF = command({
  words: 'what-if',
  summary: 'show which Jobs a change would admit, evict or delay, without making it',
  about:
    'Makes the changes on a copy of all data that admission decides on, runs the manager’s own scheduling there until nothing changes any more, and reports each ' +
    'Job that is affected. Refuses what the API server would refuse. Lists with your rights what explain lists. Where these do not suffice, the manager tries ' +
    'the changes (--server) for users who may list Jobs in a namespace: of fields of their queues and Jobs and of clusters, and Jobs that are submitted; it names ' +
    'their Jobs alone, and knows its flags. The manager does not publish its flags: set --fair-sharing, --admission-fair-sharing-... and --worker-lost-timeout ' +
    'to its values, or the same environment variables.',
  flags: FLAGS,
  examples: [
    'what-if --quota main:default:cpu=+8',
    'what-if --drain east',
    'what-if --submit train.yaml=20 -n team',
    'what-if -f queues.yaml -o json',
  ],
  configOf(flags): WhatIfConfig {
    const { filename = [], submit = [], kubeconfig, context, namespace, output } = flags;
    const changes = changeFlagNames().flatMap((name) => flags[name] ?? []);
    const files = [...filename, ...submit];
    if (files.filter(({ file }) => file === '-').length > 1)
      throw new FlagError('--filename and --submit: standard input can be read once; name files');
    if (files.length === 0 && changes.length === 0)
      throw new FlagError('no change is named; name one, such as --quota main:default:cpu=+8, --drain east or -f changes.yaml');
    return {
      files,
      changes,
      kubeconfig,
      context,
      namespace,
      output,
      server: flags.server,
      'server-ca': flags['server-ca'],
      'token-file': flags['token-file'],
      flags: { ...admissionFlagsOf(flags), workerLostTimeoutMs: flags['worker-lost-timeout'] },
    };
  },
  load: async () => (await import('./run.ts')).runWhatIf,
});

type ChangeFlagTable = Readonly<
  Record<ChangeFlag, { readonly value: string; readonly about: string; readonly parse: (given: string) => readonly Change[] }>
>;

function changeFlags(): ChangeFlagTable {
  const flag = (name: ChangeFlag) => ({
    ...CHANGE_FLAGS[name],
    value: `${CHANGE_FLAGS[name].value},...`,
    parse: (given: string) => changesOf(name, given),
  });
  const table = Object.fromEntries(changeFlagNames().map((name) => [name, flag(name)]));
  // Built name by name from the table that the type is derived from.
  return table as ChangeFlagTable;
}

function changeFlagNames(): readonly ChangeFlag[] {
  return Object.keys(CHANGE_FLAGS) as ChangeFlag[];
}

function filesOf(given: string): readonly ChangeFile[] {
  return text(given)
    .split(',')
    .map((file) => ({ file: file.trim() }))
    .filter(({ file }) => file !== '');
}

function withCopies(word: string): ChangeFile {
  const [, file = word, copies = '1'] = /^(.+)=(\d{1,5})$/.exec(word) ?? [];
  if (Number(copies) < 1) throw new FlagError(`${JSON.stringify(word)} submits nothing; write FILE=COPIES with a number from 1`);
  return { file, copies: Number(copies) };
}

function lostTimeout(given: string): number {
  return durationMs(given);
}
