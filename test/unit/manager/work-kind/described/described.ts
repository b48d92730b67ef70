import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { WorkKindObject, WorkKindSpec } from '../../../../../manager/api/work-kind.ts';
import { compileDescription, type Description } from '../../../../../manager/work-kind/described/description.ts';
import { describedKind } from '../../../../../manager/work-kind/described/described-kind.ts';
import type { SingleKind } from '../../../../../manager/work-kind/work-kind.ts';
import type { WorkObject, WorkStatus } from '../../../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../../../shared/api/resources.ts';

const FOLDER = path.join(import.meta.dirname, '../../../../../charts/switchyard-manager/files/kinds');

/** The descriptions that the chart has, by their kind. */
export const SHIPPED: ReadonlyMap<string, WorkKindObject> = new Map(
  readdirSync(FOLDER).map((name) => {
    const description = parse(readFileSync(path.join(FOLDER, name), 'utf8')) as WorkKindObject;
    return [description.spec.kind, description];
  }),
);

/** The lines of each file. */
export const SHIPPED_LINES: ReadonlyMap<string, number> = new Map(
  readdirSync(FOLDER).map((name) => [name, readFileSync(path.join(FOLDER, name), 'utf8').trimEnd().split('\n').length]),
);

export function compiled(spec: WorkKindSpec): Description {
  const result = compileDescription(spec);
  if (result.kind === 'Refused') throw new Error(result.problems.map(({ field, problem }) => `${field}: ${problem}`).join('\n'));
  return result.description;
}

export const shippedKind = (kind: string): SingleKind => {
  const description = SHIPPED.get(kind);
  if (description === undefined) throw new Error(`no ${kind} is described`);
  return describedKind(compiled(description.spec));
};

/** A kind that exists nowhere: crews of workers around a captain. */
export const CREW_SPEC: WorkKindSpec = {
  group: 'example.com',
  version: 'v1',
  resource: 'crews',
  kind: 'Crew',
  suspend: 'spec.policy.suspend',
  managedBy: { path: 'spec.policy.managedBy', home: 'example.com/elsewhere', operator: ['example.com/crew-operator'] },
  podSets: [
    { name: 'captain', template: 'spec.captain' },
    {
      items: 'spec.groups',
      nameExpression: 'item.name',
      count: 'item.hands',
      template: 'pod',
      countPath: 'hands',
      minCount: 'item.?least.orValue(item.hands)',
      finished: 'status.?done[?item.name].orValue(0)',
    },
  ],
  validations: [{ expression: 'size(spec.groups) > 0', field: 'spec.groups', message: 'must have a group' }],
  state: {
    started: "status.?phase.orValue('') == 'Sailing'",
    ready: 'status.?aboard.orValue(false)',
    atRest: "status.?phase.orValue('') == 'Moored'",
    complete: "'Arrived' in trueConditions",
    failed: "'Sunk' in trueConditions",
    reason: "conditions['Sunk' in trueConditions ? 'Sunk' : 'Arrived'].?reason",
    message: "conditions['Sunk' in trueConditions ? 'Sunk' : 'Arrived'].?message",
    suspendedCondition: 'Moored',
  },
  status: { minor: ['lastSeen'] },
  copies: { mutable: ['spec.course'], withoutFields: ['spec.keepSeconds'], withoutLabels: ['example.com/*'] },
  podLabels: { 'example.com/crew': 'object.metadata.name' },
  ttlSeconds: 'spec.?keepSeconds',
};

export const CREWS: Resource<WorkObject> = { group: 'example.com', version: 'v1', plural: 'crews', kind: 'Crew', namespaced: true };
/** The CustomResourceDefinition of crews. */
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
export const CREW_DEFINITION = {
  metadata: { name: 'crews.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'crews', singular: 'crew', kind: 'Crew', listKind: 'CrewList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
      },
    ],
  },
};

export const aCrewPod = (cpu: string, image = 'registry.example/crew:1') => ({
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'main', image, command: ['sail'], resources: { requests: { cpu } }, env: [{ name: 'FLAG', value: 'red' }] }],
  },
});

/** A crew of a captain and two groups: 1 and 2 + 3 pods. */
export const aCrew = (changes: { readonly spec?: object; readonly status?: WorkStatus; readonly metadata?: object } = {}): WorkObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Crew',
  metadata: {
    name: 'argo',
    namespace: 'team',
    uid: 'crew-uid',
    resourceVersion: '7',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { 'switchyard.dev/queue-name': 'main', 'example.com/dock': '4', team: 'a' },
    ...changes.metadata,
  },
  spec: {
    captain: aCrewPod('500m'),
    groups: [
      { name: 'deck', hands: 2, pod: aCrewPod('1') },
      { name: 'oars', hands: 3, least: 1, pod: aCrewPod('2') },
    ],
    course: 'north',
    keepSeconds: 600,
    ...changes.spec,
  },
  ...(changes.status === undefined ? {} : { status: changes.status }),
});

export const aCrewKind = (): SingleKind => describedKind(compiled(CREW_SPEC));
