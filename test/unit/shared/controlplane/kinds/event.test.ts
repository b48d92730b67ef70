import { describe, expect, test } from 'vitest';
import { eventView } from '../../../../../shared/controlplane/kinds/event-view.ts';
import { eventStrategy, newEventStrategy } from '../../../../../shared/controlplane/kinds/event.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const old = driveKind(eventStrategy);
const current = driveKind(newEventStrategy);
const legacy = {
  metadata: { name: 'e' },
  involvedObject: { kind: 'Job', namespace: 'ns', name: 'j' },
  reason: 'R',
  message: 'm',
  type: 'Normal',
};
const reported = {
  ...legacy,
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingComponent: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'A',
};

describe('an Event of the old kind', () => {
  test('belongs to the namespace of what it is about', () => {
    expect(old.create(legacy).findings).toEqual([]);
    const elsewhere = 'involvedObject.namespace | Invalid value: "other": does not match event.namespace';
    expect(old.create({ ...legacy, involvedObject: { namespace: 'other' } }).findings).toEqual([elsewhere]);
    expect(driveKind(eventStrategy, 'default').create({ ...legacy, involvedObject: { kind: 'Node', name: 'n' } }).findings).toEqual([]);
  });
});

describe('an Event of the new kind', () => {
  test('says when, who and what', () => {
    expect(current.create(reported).findings).toEqual([]);
    expect(current.create({ ...reported, action: '', reportingInstance: '' }).findings).toEqual([
      'reportingInstance | Required value',
      'action | Required value',
    ]);
    expect(current.create({ ...reported, eventTime: null, type: 'Strange', count: 1 }).findings).toEqual([
      'eventTime | Required value',
      'type | Invalid value: "": has invalid value: Strange',
      'count | Invalid value: "": needs to be unset',
    ]);
  });
  test('changes only its series', () => {
    const { object } = current.create(reported);
    const series = { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' };
    expect(current.update(object, (next) => (next['series'] = series)).findings).toEqual([]);
    expect(current.update(object, (next) => (next['message'] = 'other')).findings).toEqual([
      'message | Invalid value: "other": field is immutable',
    ]);
  });
});

test('an Event has other names for its fields in events.k8s.io/v1, and comes back the same', () => {
  const stored: AnyObject = {
    ...old.create(legacy).object,
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    count: 3,
    reportingComponent: '',
    reportingInstance: '',
  };
  const shown = eventView.fromStored(stored);
  expect(shown).toMatchObject({
    regarding: legacy.involvedObject,
    note: 'm',
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedCount: 3,
  });
  expect(shown).not.toHaveProperty('reportingController');
  const { apiVersion: _apiVersion, ...back } = eventView.toStored(shown);
  expect(back).toEqual(stored);
});
