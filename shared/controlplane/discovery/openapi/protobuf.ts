/** One field of a protobuf message, encoded. */
export type Encoded = Uint8Array;

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** A message: its fields one after the other. */
export const message = (...fields: readonly (Encoded | undefined)[]): Encoded =>
  Buffer.concat(fields.filter((field) => field !== undefined));

export const stringField = (number: number, value: unknown): Encoded | undefined =>
  typeof value === 'string' && value !== '' ? messageField(number, Buffer.from(value)) : undefined;

export const boolField = (number: number, value: unknown): Encoded | undefined =>
  value === true ? Buffer.concat([tag(number, VARINT), varint(1)]) : undefined;

/** A field that holds a message; it is there even when the message is empty. */
export const messageField = (number: number, value: Encoded | undefined): Encoded | undefined =>
  value === undefined ? undefined : Buffer.concat([tag(number, LENGTH_DELIMITED), varint(value.length), value]);

export const repeated = (fields: readonly (Encoded | undefined)[]): Encoded => message(...fields);

const tag = (number: number, wireType: number): Uint8Array => varint(number * 8 + wireType);

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.from([...bytes, rest]);
}
