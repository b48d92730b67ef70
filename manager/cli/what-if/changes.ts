import { FlagError } from '../../../shared/runtime/flags.ts';
import type { Edit } from '../../insight/world/edited-object.ts';

/** One change that somebody asks about, before it is made. */
export type Change =
  /** An object replaces the one of its name, or is added; a Job that there is not is submitted. */
  | { readonly kind: 'Apply'; readonly manifest: object; readonly place: string }
  /** So many Jobs of one manifest are submitted. */
  | { readonly kind: 'Submit'; readonly manifest: object; readonly copies: number; readonly place: string }
  | { readonly kind: 'Remove'; readonly target: Target; readonly place: string }
  /** Some fields of an object are other ones. */
  | { readonly kind: 'Edit'; readonly target: Target; readonly place: string; readonly edit: Edit };

export type Target = { readonly word: string; readonly namespace?: string; readonly name: string };
/** Flags that stand for changes, each a list of them with commas between. */
export const CHANGE_FLAGS = {
  quota: {
    value: 'QUEUE:FLAVOR:RESOURCE=AMOUNT',
    about: 'nominal quota of a ClusterQueue, or of cohort/NAME; +8 and -8 change what there is',
  },
  weight: { value: 'QUEUE=WEIGHT', about: 'weight with fair sharing of a ClusterQueue, or of cohort/NAME' },
  cohort: { value: 'QUEUE=COHORT', about: 'another cohort of a ClusterQueue; nothing behind = takes it out of its cohort' },
  stop: { value: 'QUEUE[=POLICY]', about: 'a ClusterQueue, or NAMESPACE/LOCALQUEUE, is stopped: Hold (the default) or HoldAndDrain' },
  start: { value: 'QUEUE', about: 'a ClusterQueue, or NAMESPACE/LOCALQUEUE, is not stopped any more' },
  drain: { value: 'CLUSTER', about: 'a cluster is drained' },
  cordon: { value: 'CLUSTER', about: 'a cluster takes no new Jobs' },
  uncordon: { value: 'CLUSTER', about: 'a cluster takes Jobs again' },
  lose: { value: 'CLUSTER', about: 'a cluster does not answer, and does not come back' },
  capacity: { value: 'CLUSTER:RESOURCE=AMOUNT', about: 'what Jobs may use on a cluster; +8 and -8 change what there is' },
  priority: { value: 'NAMESPACE/JOB=PRIORITY', about: 'priority of a Job, as its annotation would have it' },
  remove: { value: 'KIND/NAME', about: 'an object is deleted: flavor/spot, clusterqueue/main, cluster/east, job/team/train' },
} as const;
export type ChangeFlag = keyof typeof CHANGE_FLAGS;

/** The changes of one flag. Throws {@link FlagError}. */
export function changesOf(flag: ChangeFlag, given: string): readonly Change[] {
  const words = given.split(',').map((word) => word.trim());
  return words.filter((word) => word !== '').map((word) => changeOf(flag, word));
}

function changeOf(flag: ChangeFlag, word: string): Change {
  const place = `--${flag} ${word}`;
  const [left, right] = halves(word);
  const bad = (): FlagError => new FlagError(`${JSON.stringify(word)} cannot be read; write ${CHANGE_FLAGS[flag].value}`);
  const edit = (target: Target, change: Edit): Change => ({ kind: 'Edit', target, place, edit: change });
  switch (flag) {
    case 'quota': {
      const [queue = '', flavor = '', resource = '', ...more] = left.split(':');
      if (queue === '' || flavor === '' || resource === '' || more.length > 0 || !right) throw bad();
      return edit(queueOrCohort(queue), { field: 'quota', flavor, resource, amount: right });
    }
    case 'capacity': {
      const [cluster = '', resource = '', ...more] = left.split(':');
      if (cluster === '' || resource === '' || more.length > 0 || !right) throw bad();
      return edit({ word: 'cluster', name: cluster }, { field: 'capacity', resource, amount: right });
    }
    case 'weight':
      if (left === '' || !right) throw bad();
      return edit(queueOrCohort(left), { field: 'weight', weight: right });
    case 'cohort':
      if (left === '' || right === undefined) throw bad();
      return edit({ word: 'clusterqueue', name: left }, { field: 'cohortName', cohort: right });
    case 'stop':
    case 'start': {
      const queue = anyQueue(left);
      if (queue === undefined || right === '' || (flag === 'start' && right !== undefined)) throw bad();
      return edit(queue, { field: 'stopPolicy', policy: flag === 'start' ? 'None' : (right ?? 'Hold') });
    }
    case 'drain':
    case 'cordon':
    case 'uncordon':
    case 'lose': {
      if (left === '' || right !== undefined) throw bad();
      const states = { drain: 'Draining', cordon: 'Cordoned', uncordon: 'Active' } as const;
      return edit({ word: 'cluster', name: left }, flag === 'lose' ? { field: 'lost' } : { field: 'state', state: states[flag] });
    }
    case 'priority': {
      const [namespace = '', name = '', ...more] = left.split('/');
      if (namespace === '' || name === '' || more.length > 0 || !right) throw bad();
      return edit({ word: 'job', namespace, name }, { field: 'priority', priority: right });
    }
    case 'remove': {
      const [kind = '', ...names] = left.split('/');
      const [first = '', second] = names;
      if (kind === '' || first === '' || names.length > 2 || right !== undefined) throw bad();
      return {
        kind: 'Remove',
        place,
        target: { word: kind, ...(second === undefined ? { name: first } : { namespace: first, name: second }) },
      };
    }
  }
}

const halves = (word: string): readonly [string, string?] => {
  const at = word.indexOf('=');
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
};
const queueOrCohort = (name: string): Target =>
  name.startsWith('cohort/') ? { word: 'cohort', name: name.slice('cohort/'.length) } : { word: 'clusterqueue', name };
const anyQueue = (name: string): Target | undefined => {
  const [first = '', second, ...more] = name.split('/');
  if (first === '' || second === '' || more.length > 0) return undefined;
  return second === undefined ? { word: 'clusterqueue', name: first } : { word: 'localqueue', namespace: first, name: second };
};
