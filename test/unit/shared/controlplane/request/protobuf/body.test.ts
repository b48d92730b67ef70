import { describe, expect, test } from 'vitest';
import {
  boolField,
  type Encoded,
  message,
  messageField,
  stringField,
} from '../../../../../../shared/controlplane/discovery/openapi/protobuf.ts';
import { protobufToJson } from '../../../../../../shared/controlplane/request/protobuf/body.ts';
import type { StatusError } from '../../../../../../shared/controlplane/apimachinery/status-error.ts';

/** A document as client-go sends it: magic, then an envelope of type and raw message. */
const document = (apiVersion: string, kind: string, raw: Encoded): Buffer => {
  const typeMeta = message(stringField(1, apiVersion), stringField(2, kind));
  return Buffer.concat([Buffer.from('k8s\0'), message(messageField(1, typeMeta), messageField(2, raw))]);
};
const intField = (number: number, value: number): Encoded => Uint8Array.from([number * 8, value]);
const metadata = (name: string): Encoded | undefined =>
  messageField(1, message(stringField(1, name), intField(7, 0), messageField(8, message())));
const entry = (key: string, value: Encoded | undefined): Encoded => message(stringField(1, key), value);

describe('a protobuf body', () => {
  test('becomes the JSON that a JSON client would have sent', () => {
    const config = message(
      metadata('c'),
      messageField(2, entry('a', stringField(2, 'b'))),
      messageField(2, entry('x', undefined)),
      boolField(4, true),
    );
    expect(JSON.parse(protobufToJson(document('v1', 'ConfigMap', config)))).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'c', generation: 0, creationTimestamp: null },
      data: { a: 'b', x: '' },
      immutable: true,
    });
  });

  test('carries lists, numbers, quantities, bytes and messages inside messages', () => {
    const limits = messageField(1, entry('cpu', messageField(2, message(stringField(1, '100m')))));
    const container = message(stringField(1, 'c'), stringField(3, 'sh'), stringField(3, '-c'), messageField(8, message(limits)));
    const podSpec = message(messageField(2, container), stringField(3, 'Never'));
    const jobSpec = message(intField(1, 3), messageField(6, message(messageField(2, podSpec))));
    expect(JSON.parse(protobufToJson(document('batch/v1', 'Job', message(metadata('j'), messageField(2, jobSpec)))))).toMatchObject({
      spec: {
        parallelism: 3,
        template: {
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', command: ['sh', '-c'], resources: { limits: { cpu: '100m' } } }] },
        },
      },
    });
    const secret = message(metadata('s'), messageField(2, entry('k', messageField(2, Buffer.from('v')))));
    expect(JSON.parse(protobufToJson(document('v1', 'Secret', secret)))).toMatchObject({ data: { k: 'dg==' } });
  });

  test('is refused, not shortened, when it sets a field or a kind that is not read', () => {
    const unknownField = document('v1', 'ConfigMap', message(stringField(99, 'x')));
    const unknownKind = document('v1', 'Gadget', message());
    for (const body of [unknownField, unknownKind]) {
      expect(() => protobufToJson(body)).toThrow(expect.objectContaining({ code: 415 }) as StatusError);
    }
  });

  test('is refused when it ends too early or is something else', () => {
    const whole = document('v1', 'ConfigMap', message(metadata('c')));
    for (const body of [whole.subarray(0, -3), Buffer.from('{}')]) {
      expect(() => protobufToJson(body)).toThrow(expect.objectContaining({ code: 400 }) as StatusError);
    }
  });
});
