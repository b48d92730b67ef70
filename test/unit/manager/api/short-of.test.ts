import { describe, expect, test } from 'vitest';
import { readShortOf, shortOfChange } from '../../../../manager/api/short-of.ts';
import { SHORT_OF_ANNOTATION } from '../../../../shared/api/names.ts';

const saying = (text: string) => ({ annotations: { [SHORT_OF_ANNOTATION]: text } });

describe('what a waiting Job is short of', () => {
  test('comes back as it was written, and is written only where it changes', () => {
    const written = shortOfChange({}, ['cpu', 'nvidia.com/gpu']);
    expect(written).toEqual(saying('cpu,nvidia.com/gpu'));
    expect(readShortOf(saying('cpu,nvidia.com/gpu'))).toEqual(['cpu', 'nvidia.com/gpu']);
    expect(shortOfChange(saying('cpu'), ['cpu'])).toEqual({});
    expect(shortOfChange(saying('cpu'), ['memory'])).toEqual(saying('memory'));
    expect(shortOfChange(saying('cpu'))).toEqual({ annotations: { [SHORT_OF_ANNOTATION]: null } });
    expect(shortOfChange({})).toEqual({});
  });

  test('is nothing where somebody has written what names no resources, or too many', () => {
    for (const text of ['', 'cpu,', 'cpu and <b>', '/', 'a/b/c', Array.from({ length: 17 }, (_, number) => `r${number}`).join()])
      expect(readShortOf(saying(text))).toEqual([]);
    expect(readShortOf({})).toEqual([]);
    const many = Array.from({ length: 40 }, (_, number) => `r${number}`);
    expect(readShortOf({ annotations: shortOfChange({}, many).annotations as Record<string, string> })).toEqual(many.slice(0, 16));
  });
});
