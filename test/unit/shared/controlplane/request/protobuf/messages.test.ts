import { describe, expect, test } from 'vitest';
import { protobufMessage } from '../../../../../../shared/controlplane/request/protobuf/messages.ts';
import { builtInKinds, modelSchema } from '../../../../../../shared/controlplane/schema/builtin.ts';

const SCALARS = ['string', 'int', 'bool', 'bytes', 'Quantity', 'Time', 'MicroTime', 'IntOrString'];
const fieldAt = (message: string, number: number) => protobufMessage(message)?.get(number);

/** Every message that can be reached from the kinds, with the way to it. */
function reachable(): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (name: string, from: string): void => {
    if (SCALARS.includes(name) || found.has(name)) return;
    found.set(name, from);
    for (const field of protobufMessage(name)?.values() ?? []) visit(field.type, `${name}.${field.name}`);
  };
  for (const { type } of builtInKinds()) if (type !== undefined && protobufMessage(type.kind) !== undefined) visit(type.kind, 'a body');
  return found;
}

describe('the fields of a message', () => {
  test.each<[string, number, string, string, string]>([
    ['ObjectMeta', 1, 'name', 'one', 'string'],
    ['ObjectMeta', 7, 'generation', 'one', 'int'],
    ['ObjectMeta', 11, 'labels', 'map', 'string'],
    ['ObjectMeta', 13, 'ownerReferences', 'list', 'OwnerReference'],
    ['ObjectMeta', 14, 'finalizers', 'list', 'string'],
    ['ConfigMap', 3, 'binaryData', 'map', 'bytes'],
    ['JobSpec', 6, 'template', 'one', 'PodTemplateSpec'],
    ['JobSpec', 15, 'managedBy', 'one', 'string'],
    ['PodSpec', 2, 'containers', 'list', 'Container'],
    ['PodSpec', 19, 'schedulerName', 'one', 'string'],
    ['DeploymentSpec', 9, 'progressDeadlineSeconds', 'one', 'int'],
    ['ResourceRequirements', 1, 'limits', 'map', 'Quantity'],
    ['KeySelector', 1, 'localObjectReference', 'inline', 'LocalObjectReference'],
  ])('%s has under %i its %s', (message, number, name, shape, type) => {
    expect(fieldAt(message, number)).toEqual({ name, shape, type });
  });

  test('jump where upstream has gaps, and have no number twice', () => {
    expect(fieldAt('OwnerReference', 2)).toBeUndefined();
    expect(fieldAt('OwnerReference', 3)?.name).toBe('name');
    expect(protobufMessage('ObjectMeta')?.size).toBe(14);
  });
});

test('what is not known has no fields, also under names that every object inherits', () => {
  for (const name of ['Thing', '', 'constructor', '__proto__']) expect(protobufMessage(name)).toBeUndefined();
});

test('every message that a kind leads to is described', () => {
  const missing = [...reachable()].filter(([name]) => protobufMessage(name) === undefined).map(([name, from]) => `${name} (${from})`);
  expect(missing).toEqual([]);
});

test('every field has the name under which JSON knows it', () => {
  const unknown = [...builtInKinds()].flatMap(({ name, type, fields }) => {
    const message = type === undefined ? undefined : protobufMessage(type.kind);
    return [...(message?.values() ?? [])]
      .filter((field) => field.shape !== 'inline' && !fields.has(field.name))
      .map((field) => `${name}.${field.name}`);
  });
  expect(unknown).toEqual([]);
  for (const [message, model] of [
    ['PodSpec', 'V1PodSpec'],
    ['JobSpec', 'V1JobSpec'],
    ['ObjectMeta', 'V1ObjectMeta'],
    ['Container', 'V1Container'],
    ['ServiceSpec', 'V1ServiceSpec'],
  ] as const)
    for (const { name } of protobufMessage(message)?.values() ?? []) expect([...modelSchema(model).fields.keys()]).toContain(name);
});
