import { expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import type { FenceState } from '../../../../worker/fence/origin-fence.ts';
import { fenceOfChildJob } from '../../../../worker/kinds/child-job-fence.ts';

const env = [
  { name: 'SWITCHYARD_EPOCH', value: '1' },
  { name: 'SWITCHYARD_JOB', value: 'team/train' },
  { name: 'SWITCHYARD_JOB_UID', value: 'original' },
  { name: 'SWITCHYARD_MANAGER', value: 'home' },
];
const aJob = ({ isChild = true, isNamed = true } = {}): Job =>
  ({
    metadata: {
      namespace: 'team',
      name: 'train-workers-0',
      ...(isChild ? { ownerReferences: [{ apiVersion: 'v1', kind: 'JobSet', name: 'train', uid: 'u', controller: true }] } : {}),
    },
    spec: { template: { spec: { containers: [{ name: 'main', env: isNamed ? env : [] }] } } },
  }) as never;
/** `copies`: namespace and wish of each object with that identity. */
const kinds = (copies: readonly (readonly [namespace: string, fencing?: string])[], isListing = false) => ({
  ofOriginal: (originUid: string) =>
    originUid !== 'original'
      ? []
      : (copies.map(([namespace, fencing]) => ({
          copy: { metadata: { namespace, annotations: fencing === undefined ? {} : { 'switchyard.dev/fencing': fencing } } },
        })) as never),
  isListing: () => isListing,
});
const OFF = ['team', 'off'] as const;
const ON = ['team'] as const;

test.each<[string, Job, ReturnType<typeof kinds>, FenceState, FenceState]>([
  ['follows a copy that asks for none', aJob(), kinds([OFF]), 'Fenced', 'Open'],
  ['is created, too, for such a copy', aJob(), kinds([OFF]), 'Hold', 'Open'],
  ['is stopped with a copy that asks for it', aJob(), kinds([ON]), 'Fenced', 'Fenced'],
  ['is stopped where one of two with the identity asks for it', aJob(), kinds([OFF, ON]), 'Fenced', 'Fenced'],
  ['is stopped whatever an object of another namespace says', aJob(), kinds([['elsewhere', 'off']]), 'Fenced', 'Fenced'],
  ['is stopped where there is no such copy', aJob(), kinds([]), 'Fenced', 'Fenced'],
  ['is held while copies are not listed yet', aJob(), kinds([], true), 'Fenced', 'Hold'],
  ['is stopped where it names no copy', aJob({ isNamed: false }), kinds([OFF], true), 'Fenced', 'Fenced'],
  ['is no other Job, such as a copy itself', aJob({ isChild: false }), kinds([OFF], true), 'Fenced', 'Fenced'],
  ['runs where the fence is open', aJob(), kinds([ON], true), 'Open', 'Open'],
])('a Job of an operator %s', (_, job, watched, fence, state) => {
  expect(fenceOfChildJob(job, fence, watched)).toBe(state);
});
