import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { viewJob } from '../../../../worker/job/job-view.ts';
import { viewPod, type PodView } from '../../../../worker/job/pod-view.ts';
import { choosePodsToRemove, compareForRemoval } from '../../../../worker/job/removal-order.ts';
import { aJob, ago, aPod, indexedJob, type PodSituation } from './situation.ts';

const view = (pod: Pod): PodView => viewPod(pod, { onlyReplaceFailed: false });
const running = (situation: PodSituation = {}): Pod => aPod({ phase: 'Running', ...situation });
const withSidecar = (restartCount: number): Pod => {
  const pod = running();
  pod.spec.initContainers = [
    { name: 'proxy', image: 'i', restartPolicy: 'Always' },
    { name: 'setup', image: 'i' },
  ];
  pod.status = {
    ...pod.status,
    initContainerStatuses: [
      { name: 'proxy', image: 'i', imageID: 'i', ready: true, restartCount },
      { name: 'setup', image: 'i', imageID: 'i', ready: true, restartCount: 99 },
    ],
  };
  return pod;
};
const unborn = (): Pod => {
  const pod = running();
  pod.metadata.creationTimestamp = 'null';
  return pod;
};

describe('of two pods', () => {
  test.each<[string, Pod, Pod]>([
    ['the one without a node', aPod({ bound: false }), aPod()],
    ['the one without a node, although it says it is ready', running({ bound: false, ready: true }), aPod()],
    ['the pending one before one of unknown phase', aPod(), aPod({ phase: 'Unknown' })],
    ['the one of unknown phase before the running one', aPod({ phase: 'Unknown' }), running()],
    [
      'the one that is not ready',
      running({ restarts: 0, createdSecondsAgo: 900 }),
      running({ ready: true, restarts: 9, createdSecondsAgo: 1 }),
    ],
    [
      'the one that has been ready for less time',
      running({ ready: true, readySince: ago(5) }),
      running({ ready: true, readySince: ago(50) }),
    ],
    [
      'the one whose time of being ready is unknown',
      running({ ready: true, readySince: 'null' }),
      running({ ready: true, readySince: ago(5) }),
    ],
    ['the one that was restarted more often', running({ restarts: 3 }), running({ restarts: 2 })],
    ['the one whose sidecars were restarted more often', withSidecar(2), withSidecar(1)],
    ['the younger one', running({ createdSecondsAgo: 5 }), running({ createdSecondsAgo: 6 })],
    ['the one of unknown age', unborn(), running({ createdSecondsAgo: 0 })],
  ])('%s goes first', (_which, first, second) => {
    expect(compareForRemoval(view(first), view(second))).toBeLessThan(0);
    expect(compareForRemoval(view(second), view(first))).toBeGreaterThan(0);
  });

  test('that are alike neither goes first', () => {
    expect(compareForRemoval(view(running({ name: 'a' })), view(running({ name: 'b' })))).toBe(0);
    expect(compareForRemoval(view(unborn()), view(unborn()))).toBe(0);
  });
});

describe('when there are too many', () => {
  const chosen = (job: ReturnType<typeof aJob>, seen: readonly Pod[], atLeast: number): string[] =>
    choosePodsToRemove(viewJob(job), seen.map(view), atLeast).map(({ pod }) => pod.metadata.name);

  const three = [
    running({ name: 'old', createdSecondsAgo: 90 }),
    running({ name: 'young', createdSecondsAgo: 10 }),
    running({ name: 'middle', createdSecondsAgo: 50 }),
  ];

  test('those that have done the least go, as many as must', () => {
    expect(chosen(aJob(), three, 2)).toEqual(['young', 'middle']);
    expect(chosen(aJob(), three, 0)).toEqual([]);
    expect(chosen(aJob(), three, 9)).toEqual(['young', 'middle', 'old']);
    expect(chosen(aJob(), [], 1)).toEqual([]);
  });

  test('of an Indexed Job all without a valid index go, and all but the most advanced of each index', () => {
    const seen = [
      running({ name: '0-old', index: 0, createdSecondsAgo: 90 }),
      running({ name: '0-young', index: 0, createdSecondsAgo: 10 }),
      running({ name: '0-oldest', index: 0, createdSecondsAgo: 99 }),
      running({ name: 'none' }),
      running({ name: 'odd', index: 'x' }),
      running({ name: 'beyond', index: 2 }),
      running({ name: '1', index: 1 }),
    ];
    expect(chosen(indexedJob(2), seen, 0)).toEqual(['0-young', '0-old', 'none', 'odd', 'beyond']);
  });

  test('of an Indexed Job what goes in any case counts', () => {
    const seen = [
      running({ name: 'a', index: 0, createdSecondsAgo: 90 }),
      running({ name: 'b', index: 1, createdSecondsAgo: 10 }),
      running({ name: 'none' }),
    ];
    expect(chosen(indexedJob(2), seen, 1)).toEqual(['none']);
    expect(chosen(indexedJob(2), seen, 2)).toEqual(['none', 'b']);
  });
});
