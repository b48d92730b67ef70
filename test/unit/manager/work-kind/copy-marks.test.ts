import { describe, expect, test } from 'vitest';
import { changedMarks } from '../../../../manager/work-kind/copy-marks.ts';
import {
  DISPATCH_EPOCH_ANNOTATION,
  FENCING_ANNOTATION,
  JOB_CONTROLLER_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
} from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';

const IDENTITY = { [ORIGIN_UID_ANNOTATION]: 'uid-1', [DISPATCH_EPOCH_ANNOTATION]: '2' };
const FENCED = { ...IDENTITY, [FENCING_ANNOTATION]: 'true' };
type Annotations = Readonly<Record<string, string>>;
const changes = (has: Annotations, wanted: Annotations) =>
  changedMarks(aHomeJob({ metadata: { annotations: has } }), aHomeJob({ metadata: { annotations: wanted } }));

describe('the annotations of a copy that is listed', () => {
  test('are left alone where it has them, with whatever others it has', () => {
    expect(changes({ ...FENCED, [JOB_CONTROLLER_ANNOTATION]: 'example.com/another', note: 'mine' }, FENCED)).toBeUndefined();
  });

  test('are given back where its identity was removed or changed', () => {
    expect(changes({ ...FENCED, [ORIGIN_UID_ANNOTATION]: 'uid-2' }, FENCED)).toEqual({ [ORIGIN_UID_ANNOTATION]: 'uid-1' });
    expect(changes({}, FENCED)).toEqual(FENCED);
  });

  test('say whether its worker stops it when the manager is out of reach, as is wanted now', () => {
    expect(changes(IDENTITY, FENCED)).toEqual({ [FENCING_ANNOTATION]: 'true' });
    expect(changes(FENCED, IDENTITY)).toEqual({ [FENCING_ANNOTATION]: null });
  });
});
