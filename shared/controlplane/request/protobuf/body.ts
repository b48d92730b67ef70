import { toWireMicroTime, toWireTime } from '../../../api/wire-time.ts';
import type { JsonObject } from '../../apimachinery/json.ts';
import { badRequest, unsupportedMediaType } from '../../apimachinery/status-error.ts';
import { type ProtobufField, protobufMessage } from './messages.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Begins every document in this encoding: `k8s` and a zero byte. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/**
 * A body in the API's protobuf encoding as JSON text. Throws 400 for what cannot be read, and 415 for a kind or a field
 * that is not among those read here: rather than dropping what a client has set, it is asked for JSON.
 */
export function protobufToJson(body: Buffer): string {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  try {
    const envelope = fieldsOf(body.subarray(MAGIC.length));
    const typeMeta = fieldsOf(bytesAt(envelope, 1));
    const kind = textAt(typeMeta, 2);
    return JSON.stringify({ kind, apiVersion: textAt(typeMeta, 1), ...readMessage(kind, bytesAt(envelope, 2)) });
  } catch (error) {
    if (error instanceof RangeError) throw badRequest(`unable to decode protobuf: ${error.message}`);
    throw error;
  }
}

/** A value as it stands on the wire: a number for varints, bytes otherwise. */
type WireField = { readonly number: number; readonly value: bigint | Buffer };

/** Throws RangeError when the bytes end too early or have a wire type that the API never uses. */
function fieldsOf(bytes: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new RangeError('unexpected EOF');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const number = key >>> 3;
    if ((key & 7) === 0) fields.push({ number, value: BigInt.asIntN(64, varint()) });
    else if ((key & 7) === 2) {
      const length = Number(varint());
      if (at + length > bytes.length) throw new RangeError('unexpected EOF');
      fields.push({ number, value: bytes.subarray(at, at + length) });
      at += length;
    } else throw new RangeError(`wire type ${key & 7} of field ${number}`);
  }
  return fields;
}

const bytesAt = (fields: readonly WireField[], number: number): Buffer => {
  const value = fields.findLast((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
};
const textAt = (fields: readonly WireField[], number: number): string => bytesAt(fields, number).toString();
const numberAt = (fields: readonly WireField[], number: number): number => {
  const value = fields.findLast((field) => field.number === number)?.value;
  return typeof value === 'bigint' ? Number(value) : 0;
};

function readMessage(name: string, bytes: Buffer): JsonObject {
  const message = protobufMessage(name);
  if (message === undefined) throw unsupportedMediaType(['application/json', 'application/yaml']);
  const object: JsonObject = {};
  for (const { number, value } of fieldsOf(bytes)) {
    const field = message.get(number);
    if (field === undefined) throw unsupportedMediaType(['application/json', 'application/yaml']);
    put(object, field, value);
  }
  return object;
}

function put(object: JsonObject, { name, shape, type }: ProtobufField, value: bigint | Buffer): void {
  switch (shape) {
    case 'one':
      object[name] = readValue(type, value);
      return;
    case 'list': {
      const list = Array.isArray(object[name]) ? object[name] : [];
      object[name] = [...list, readValue(type, value)];
      return;
    }
    case 'map': {
      const entry = fieldsOf(asBytes(value));
      const map = (object[name] ?? {}) as JsonObject;
      map[textAt(entry, 1)] = readValue(type, bytesAt(entry, 2));
      object[name] = map;
      return;
    }
    case 'inline':
      Object.assign(object, readMessage(type, asBytes(value)));
  }
}

const asBytes = (value: bigint | Buffer): Buffer => {
  if (Buffer.isBuffer(value)) return value;
  throw new RangeError('a number where bytes were expected');
};

function readValue(type: string, value: bigint | Buffer): unknown {
  if (type === 'int') return Number(value);
  if (type === 'bool') return value !== 0n;
  const bytes = asBytes(value);
  switch (type) {
    case 'string':
      return bytes.toString();
    case 'bytes':
      return bytes.toString('base64');
    case 'Quantity':
      return textAt(fieldsOf(bytes), 1);
    case 'Time':
    case 'MicroTime':
      return readTime(fieldsOf(bytes), type);
    case 'IntOrString': {
      const fields = fieldsOf(bytes);
      return numberAt(fields, 1) === 0 ? numberAt(fields, 2) : textAt(fields, 3);
    }
    default:
      return readMessage(type, bytes);
  }
}

/** A time without fields is no time at all. */
function readTime(fields: readonly WireField[], type: 'Time' | 'MicroTime'): string | null {
  if (fields.length === 0) return null;
  const millis = numberAt(fields, 1) * 1000;
  if (type === 'Time') return toWireTime(millis);
  const micros = Math.floor(numberAt(fields, 2) / 1000);
  return toWireMicroTime(millis).replace('000000Z', `${String(micros).padStart(6, '0')}Z`);
}
