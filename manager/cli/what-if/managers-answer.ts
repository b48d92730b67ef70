import { isOfKind } from '../../../shared/api/resources.ts';
import type { ManagerHttp } from '../server/manager-http.ts';
import { wrapHanging } from '../text-layout.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import type { Change, Target } from './changes.ts';
import { ChangeError } from './validation.ts';

/** The effects of changes as the manager tells them: of the user's Jobs, and of queues that the user may see. */
type Effects = {
  readonly queues: readonly { readonly name: string; readonly effects: Readonly<Record<string, number>> }[];
  readonly jobs: readonly { readonly key: string; readonly kind: string; readonly without?: string; readonly with: string }[];
  /** Further affected Jobs of the user. */
  readonly more: number;
  readonly isSettled: boolean;
};

/** Has the manager try the changes. Throws {@link ChangeError} for those that it does not take. */
export async function managersAnswer(
  manager: ManagerHttp,
  changes: readonly Change[],
  namespace: string,
  session: Session,
): Promise<{ readonly lines: readonly string[]; readonly value: object }> {
  const { body } = await manager.answerTo('POST', '/api/v1/what-if', { body: { namespace, changes: changes.map(asked) } });
  const effects = body as Effects;
  const said = changes.map(inWords);
  const { queues, jobs, more, isSettled } = effects;
  return {
    lines: effectLines(said, effects).flatMap((line) => wrapped(plain(line), Math.min(session.output.width, 80))),
    value: { changes: said, queues, jobs, more, isSettled },
  };
}

const JOB = { group: 'batch', kind: 'Job' };
const OBJECTS: Readonly<Record<string, string>> = {
  clusterqueue: 'ClusterQueue',
  cohort: 'Cohort',
  localqueue: 'LocalQueue',
  cluster: 'WorkerCluster',
  job: 'Job',
};

function asked(change: Change): object {
  switch (change.kind) {
    case 'Edit':
      return { object: objectOf(change.target, change.place), ...nameOf(change.target), edit: change.edit };
    case 'Submit':
      return { manifest: change.manifest, copies: change.copies };
    case 'Apply':
      if (isOfKind(JOB, change.manifest)) return { manifest: change.manifest, copies: 1 };
      throw onlyWithRights(`${change.place}: objects other than Jobs`);
    case 'Remove':
      throw onlyWithRights(change.place);
  }
}

const objectOf = ({ word }: Target, place: string): string => {
  const object = OBJECTS[word];
  if (object === undefined) throw onlyWithRights(place);
  return object;
};

const nameOf = ({ namespace, name }: Target): object => ({ name, ...(namespace === undefined ? {} : { namespace }) });

const onlyWithRights = (what: string): ChangeError =>
  new ChangeError(`${what}: the manager does not try this for others; ask a user who may list Jobs, queues and clusters everywhere`);

function inWords(change: Change): string {
  const { place } = change;
  if (change.kind !== 'Submit') return place.replace(/^--(\S+) /, '$1 ');
  return `${change.copies === 1 ? '1 Job' : `${change.copies} Jobs`} of ${place} were submitted`;
}

/** Longer lines go on below, further in. */
function wrapped(line: string, width: number): string[] {
  const indent = ' '.repeat(line.length - line.trimStart().length);
  return wrapHanging(line.trimStart(), width - indent.length, 4).map((each) => `${indent}${each}`);
}

function effectLines(said: readonly string[], { queues, jobs, more, isSettled }: Effects): string[] {
  const counts = (effects: Readonly<Record<string, number>>): string =>
    Object.entries(effects)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ');
  return [
    'If',
    ...said.map((each) => `  ${each}`),
    'then, once all suspended Jobs have stopped, and if no Job ends and no other Job arrives:',
    '',
    ...(jobs.length === 0
      ? ['No Job of yours is affected.']
      : [
          'Your Jobs:',
          ...jobs.map(
            ({ key, kind, without, with: state }) => `  ${key}: ${kind}: ${state}${without === undefined ? '' : `; without: ${without}`}`,
          ),
        ]),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(queues.length === 0 ? [] : ['Jobs of queues:', ...queues.map(({ name, effects }) => `  ${name}: ${counts(effects)}`)]),
    ...(isSettled ? [] : ['It does not come to rest: this is the last state that was tried.']),
  ];
}
