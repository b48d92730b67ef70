import { objectOf, readType, type StaticType } from '../../../cel/checker/static-type.ts';

const typeOf = (name: string, fields: Readonly<Record<string, string | StaticType>>): StaticType =>
  objectOf(
    name,
    new Map(Object.entries(fields).map(([field, type]): [string, StaticType] => [field, typeof type === 'string' ? readType(type) : type])),
  );

const CONDITION = typeOf('kubernetes.NamespaceCondition', {
  status: 'string',
  type: 'string',
  lastTransitionTime: 'timestamp',
  message: 'string',
  reason: 'string',
});

/** `namespaceObject` as expressions of admission see it: not all fields of a Namespace are there (BuildNamespaceType of apiserver). */
export const NAMESPACE: StaticType = typeOf('kubernetes.Namespace', {
  metadata: typeOf('kubernetes.NamespaceMetadata', {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    labels: 'map<string, string>',
    annotations: 'map<string, string>',
    UID: 'string',
    creationTimestamp: 'timestamp',
    deletionGracePeriodSeconds: 'int',
    deletionTimestamp: 'timestamp',
    generation: 'int',
    resourceVersion: 'string',
    finalizers: 'list<string>',
  }),
  spec: typeOf('kubernetes.NamespaceSpec', { finalizers: 'list<string>' }),
  status: typeOf('kubernetes.NamespaceStatus', { conditions: { ...readType('list'), parameters: [CONDITION] }, phase: 'string' }),
});
