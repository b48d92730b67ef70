/** Jobs of every kind, small enough that a run ends soon. */
import type { Job, JobSpec, Unsaved } from '../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../shared/api/names.ts';
import type { Dice } from './dice.ts';

export const OTHER_CONTROLLER = 'example.com/other';
/** Exit codes that the policies below know. */
export const IGNORED_EXIT = 42;
export const FATAL_EXIT = 3;
export const INDEX_EXIT = 5;
/** Label of the pods of a Job that selects them by hand. */
export const MANUAL_LABEL = 'simulated-app';

export function randomJob(dice: Dice, namespace: string, name: string): Unsaved<Job> {
  const kind = dice.pick(['plain', 'plain', 'queue', 'indexed', 'indexed', 'per index', 'per index', 'elastic', 'success policy']);
  const spec: JobSpec = {
    ...sizeOf(kind, dice),
    ...limitsOf(kind, dice),
    ...optionsOf(kind, dice),
    template: {
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: dice.pick([0, 1, 30]),
        containers: [{ name: 'main', image: 'busybox' }],
      },
    },
  };
  if (spec.podFailurePolicy === undefined && spec.backoffLimitPerIndex === undefined && dice.chance(0.15)) restartInPlace(spec);
  if (spec.template.spec?.restartPolicy === 'Never' && dice.chance(0.15)) tolerate(spec);
  if (dice.chance(0.1)) selectByHand(spec, name);
  if (dice.chance(0.04)) spec.managedBy = OTHER_CONTROLLER;
  // Every other one is the copy of a Job of some manager, of whose pods the logs are kept.
  const labels = name.endsWith('1') || name.endsWith('3') ? { [ORIGIN_LABEL]: 'some-manager' } : {};
  return { metadata: { namespace, name, labels }, spec };
}

function sizeOf(kind: string, dice: Dice): Pick<JobSpec, 'completions' | 'parallelism' | 'completionMode'> {
  const parallelism = dice.pick([0, 1, 1, 2, 3, 4, 5]);
  if (kind === 'queue') return { parallelism: Math.max(1, parallelism) };
  const completions = dice.pick([0, 1, 1, 2, 3, 4, 5, 6]);
  if (kind === 'plain') return { completions, parallelism };
  if (kind === 'elastic') return { completions: parallelism, parallelism, completionMode: 'Indexed' };
  return { completions, parallelism, completionMode: 'Indexed' };
}

function limitsOf(kind: string, dice: Dice): Partial<JobSpec> {
  if (kind === 'per index') {
    return {
      backoffLimitPerIndex: dice.pick([0, 1, 2]),
      ...(dice.chance(0.4) ? { maxFailedIndexes: dice.int(0, 1) } : {}),
      ...(dice.chance(0.2) ? { backoffLimit: dice.int(1, 6) } : {}),
    };
  }
  return dice.chance(0.6) ? { backoffLimit: dice.pick([0, 0, 1, 2, 4, 20]) } : {};
}

function optionsOf(kind: string, dice: Dice): Partial<JobSpec> {
  const hasPolicy = dice.chance(0.4);
  return {
    ...(dice.chance(0.12) ? { activeDeadlineSeconds: dice.pick([0, 5, 20, 60, 300]) } : {}),
    ...(dice.chance(0.15) ? { suspend: true } : {}),
    ...(hasPolicy ? { podFailurePolicy: randomPolicy(kind, dice) } : {}),
    ...(!hasPolicy && dice.chance(0.3) ? { podReplacementPolicy: dice.pick(['Failed', 'TerminatingOrFailed']) } : {}),
    ...(kind === 'success policy' ? { successPolicy: { rules: [dice.some(SUCCESS_RULES) ?? { succeededCount: 1 }] } } : {}),
  };
}

const SUCCESS_RULES = [{ succeededIndexes: '0' }, { succeededCount: 1 }, { succeededIndexes: '0-1', succeededCount: 1 }];

function randomPolicy(kind: string, dice: Dice): NonNullable<JobSpec['podFailurePolicy']> {
  const onExit = (action: string, value: number) => ({ action, onExitCodes: { operator: 'In', values: [value] } });
  const rules: NonNullable<JobSpec['podFailurePolicy']>['rules'] = [];
  if (dice.chance(0.7)) rules.push(onExit('Ignore', IGNORED_EXIT));
  if (dice.chance(0.3)) rules.push(onExit('FailJob', FATAL_EXIT));
  if (kind === 'per index' && dice.chance(0.6)) rules.push(onExit('FailIndex', INDEX_EXIT));
  if (dice.chance(0.2)) rules.push({ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] });
  return { rules };
}

/** One failure that counts is the end, and those that are ignored are not. */
function tolerate(spec: JobSpec): void {
  delete spec.podReplacementPolicy;
  spec.backoffLimit = 0;
  spec.podFailurePolicy = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1, IGNORED_EXIT] } }] };
}

function restartInPlace(spec: JobSpec): void {
  if (spec.template.spec !== undefined) spec.template.spec.restartPolicy = 'OnFailure';
}

function selectByHand(spec: JobSpec, name: string): void {
  spec.manualSelector = true;
  spec.selector = { matchLabels: { [MANUAL_LABEL]: name } };
  spec.template.metadata = { labels: { [MANUAL_LABEL]: name } };
}
