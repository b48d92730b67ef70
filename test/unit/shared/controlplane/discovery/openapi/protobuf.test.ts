import { expect, test } from 'vitest';
import {
  boolField,
  message,
  messageField,
  repeated,
  stringField,
} from '../../../../../../shared/controlplane/discovery/openapi/protobuf.ts';

const hex = (encoded: Uint8Array | undefined): string | undefined => encoded && Buffer.from(encoded).toString('hex');

test('a string is a tag, a length and its UTF-8 bytes', () => {
  expect(hex(stringField(1, 'hé'))).toBe('0a0368c3a9');
  expect(hex(stringField(16, 'a'))).toBe('82010161');
});

test('what has its default value is left out', () => {
  expect(stringField(1, '')).toBeUndefined();
  expect(stringField(1, 7)).toBeUndefined();
  expect(boolField(1, false)).toBeUndefined();
  expect(hex(message(stringField(1, ''), boolField(2, true)))).toBe('1001');
});

test('an empty message is there all the same, and an absent one is not', () => {
  expect(hex(messageField(2, message()))).toBe('1200');
  expect(messageField(2, undefined)).toBeUndefined();
});

test('a length beyond one byte continues in the next', () => {
  expect(hex(stringField(1, 'x'.repeat(300)))?.slice(0, 6)).toBe('0aac02');
});

test('repeated fields stand one after the other', () => {
  expect(hex(repeated([stringField(1, 'a'), undefined, stringField(1, 'b')]))).toBe('0a01610a0162');
});
