import { describe, expect, test } from 'vitest';
import { carriedContentOf, carriedContentText, changedContent } from '../../../../../manager/dispatch/companions/carried-content.ts';
import { planCompanions, type Companion } from '../../../../../manager/dispatch/companions/plan-companions.ts';
import { type PodReference, referenceKey } from '../../../../../manager/api/pod-references.ts';
import type { ConfigMap, Job } from '../../../../../shared/api/kubernetes.ts';
import { CARRIED_CONTENT_ANNOTATION } from '../../../../../shared/api/names.ts';

const SETTINGS: PodReference = { kind: 'ConfigMap', name: 'settings', optional: false };
const PERHAPS: PodReference = { kind: 'ConfigMap', name: 'perhaps', optional: true };
const REFERENCES = [SETTINGS, PERHAPS];

const aJob = (text?: string): Job =>
  ({
    metadata: { name: 'train', namespace: 'team', ...(text === undefined ? {} : { annotations: { [CARRIED_CONTENT_ANNOTATION]: text } }) },
  }) as unknown as Job;

/** What travels where the objects have these contents; undefined: there is none. */
function companionsOf(settings: string, perhaps?: string): readonly Companion[] {
  const object = (of: string | undefined) =>
    of === undefined ? undefined : ({ metadata: { name: 'x' }, data: { of } } as unknown as ConfigMap);
  const found = new Map([
    [referenceKey(SETTINGS), object(settings)],
    [referenceKey(PERHAPS), object(perhaps)],
  ]);
  const plan = planCompanions('team', REFERENCES, found, 'm1');
  if (plan.kind !== 'Ready') throw new Error(plan.problem.message);
  return plan.companions;
}

const contentOf = (companions: readonly Companion[]) => carriedContentOf(aJob(carriedContentText(companions))) ?? {};

describe('what the first copy took along', () => {
  test.each([
    ['the same', companionsOf('a'), companionsOf('a'), undefined],
    [
      'changed',
      companionsOf('a'),
      companionsOf('b'),
      'configmap team/settings had other content when Job team/train was first dispatched, and its queue holds it to that (carryContent: Admitted): put it back, or create the Job again',
    ],
    [
      'an optional one more',
      companionsOf('a'),
      companionsOf('a', 'c'),
      expect.stringMatching(/^configmap team\/perhaps did not exist when/),
    ],
    [
      'an optional one less',
      companionsOf('a', 'c'),
      companionsOf('a'),
      expect.stringMatching(/^configmap team\/perhaps had other content/),
    ],
  ])('is compared with what there is now: %s', (_what, first, now, message) => {
    const problem = changedContent(aJob(), REFERENCES, now, contentOf(first));
    expect(problem).toEqual(message === undefined ? undefined : { reason: 'ContentChanged', message });
  });

  test('is told by digests alone, never by content', () => {
    expect(JSON.parse(carriedContentText(companionsOf('hunter2')))).toEqual({
      'ConfigMap/settings': expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  test.each([undefined, '', '{', '[]'])('is not known where the annotation is %s', (text) => {
    expect(carriedContentOf(aJob(text))).toBeUndefined();
  });
});
