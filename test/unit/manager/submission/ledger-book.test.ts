import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../../../manager/submission/ledger.ts';
import { LedgerBook, type LedgerLimits, type LedgerWrite } from '../../../../manager/submission/ledger-book.ts';
import { formatEntry } from '../../../../manager/submission/ledger-text.ts';

const DAY = 24 * 3600;
const LIMITS: LedgerLimits = { chunkEntries: 3, chunkBytes: 10_000, entries: 9, keptSeconds: 7 * DAY };
const entry = (atSeconds = 0, parts: Partial<LedgerEntry> = {}): LedgerEntry =>
  ({
    payload: 'p',
    attempt: 1,
    atSeconds,
    submittedAt: 1,
    attemptsMade: 0,
    job: { namespace: 'team', name: 'sum' },
    state: 'Intended',
    ...parts,
  }) as LedgerEntry;
const over = (atSeconds = 0): LedgerEntry =>
  entry(atSeconds, {
    state: 'Ended',
    uid: 'u',
    outcome: { kind: 'Failed', failure: { reason: 'R', message: 'm' } },
  } as Partial<LedgerEntry>);
const never = (): boolean => false;

/** Carries out all that is to be written. */
function writeAll(book: LedgerBook): readonly LedgerWrite[] {
  const writes: LedgerWrite[] = [];
  for (let write = book.nextWrite(); write !== undefined; write = book.nextWrite()) {
    writes.push(write);
    book.wrote(write, String(writes.length));
  }
  return writes;
}
const seqs = (writes: readonly LedgerWrite[]): unknown[] =>
  writes.map(({ seq, version, data }) => [seq, version, Object.keys(data).join('')]);

describe('what is written', () => {
  test('is what is new alone, to the latest chunk until that is full', () => {
    const book = new LedgerBook(LIMITS);
    for (const hash of 'ab') book.put(hash, entry());
    expect(seqs(writeAll(book))).toEqual([[0, undefined, 'ab']]);
    for (const hash of 'cdefg') book.put(hash, entry());
    expect(seqs(writeAll(book))).toEqual([
      [0, '1', 'c'],
      [1, undefined, 'def'],
      [2, undefined, 'g'],
    ]);
    book.put('a', over());
    expect(seqs(writeAll(book))).toEqual([[2, '3', 'a']]);
    expect([book.isUnwritten(), book.size(), book.chunkCount()]).toEqual([false, 8, 3]);
  });

  test('is written again when it has changed while it was written', () => {
    const book = new LedgerBook(LIMITS);
    book.put('a', entry());
    const write = book.nextWrite() as LedgerWrite;
    book.put('a', over());
    book.wrote(write, '1');
    expect(book.isDirty('a')).toBe(true);
    expect(writeAll(book)[0]?.data['a']).toBe(formatEntry(over()));
  });

  test('keeps within what a chunk may have', () => {
    const book = new LedgerBook({ ...LIMITS, chunkEntries: 1_000, chunkBytes: 1_000 });
    for (let index = 0; index < 50; index++) book.put(`hash-${index}`, over());
    const writes = writeAll(book);
    expect(writes.length).toBeGreaterThan(5);
    for (const { data } of writes) expect(JSON.stringify(data).length).toBeLessThan(1_100);
  });

  test('goes to the next chunk when the server takes no more of this one', () => {
    const book = new LedgerBook(LIMITS);
    book.put('a', entry());
    book.close((book.nextWrite() as LedgerWrite).seq);
    expect(seqs(writeAll(book))).toEqual([[1, undefined, 'a']]);
  });
});

describe('what is found', () => {
  test('in two chunks is what came later, in whatever order they are read', () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const book = new LedgerBook(LIMITS);
      for (const seq of order) book.found(seq, '1', { a: formatEntry(seq === 0 ? entry() : over()) });
      expect(book.get('a')).toEqual(over());
    }
  });

  test('as it was to be written needs not be written, and what is not there still does', () => {
    const book = new LedgerBook(LIMITS);
    book.put('a', entry());
    book.put('b', entry());
    book.found(0, '7', { a: formatEntry(entry()), x: formatEntry(over()) });
    expect(seqs(writeAll(book))).toEqual([[0, '7', 'b']]);
    expect(book.get('x')).toEqual(over());
  });

  test('of an earlier state does not undo what is known', () => {
    const book = new LedgerBook(LIMITS);
    book.put('a', over());
    book.found(0, '7', { a: formatEntry(entry()) });
    expect(book.get('a')).toEqual(over());
    expect(book.isDirty('a')).toBe(true);
  });

  test('gone is written anew, as far as no other chunk has it', () => {
    const book = new LedgerBook(LIMITS);
    for (const hash of 'abcd') book.put(hash, entry());
    book.put('a', entry());
    writeAll(book);
    book.put('b', over());
    writeAll(book);
    book.lost(0);
    expect(seqs(writeAll(book))).toEqual([
      [1, '1', 'a'],
      [2, undefined, 'c'],
    ]);
  });

  test('edited by somebody is passed over', () => {
    const book = new LedgerBook(LIMITS);
    book.found(0, '1', { a: 'nonsense' });
    expect(book.get('a')).toBeUndefined();
  });
});

describe('what is old', () => {
  const filled = (count: number, made: (index: number) => LedgerEntry): LedgerBook => {
    const book = new LedgerBook(LIMITS);
    for (let index = 0; index < count; index++) book.put(`h${index}`, made(index));
    writeAll(book);
    return book;
  };

  test('goes after seven days and not a second before, chunk by chunk', () => {
    const book = filled(6, (index) => over(index < 3 ? index : DAY));
    expect(book.review((7 * DAY + 1) * 1000, never)).toEqual([]);
    expect(book.review((7 * DAY + 2) * 1000, never)).toEqual([0]);
    book.dropped(0);
    expect([book.get('h0'), book.get('h3')]).toEqual([undefined, over(DAY)]);
    expect(book.horizonSeconds(7 * DAY * 1000)).toBe(7 * DAY);
  });

  test('stays for as long as its Job runs, by being written anew first', () => {
    const book = filled(3, (index) => (index === 1 ? entry(0, { state: 'Created', uid: 'u' } as Partial<LedgerEntry>) : over()));
    const runs = ({ state }: LedgerEntry): boolean => state === 'Created';
    expect(book.review(8 * DAY * 1000, runs)).toEqual([]);
    expect(book.review(8 * DAY * 1000, runs)).toEqual([]);
    expect(seqs(writeAll(book))).toEqual([[1, undefined, 'h1']]);
    expect(book.review(8 * DAY * 1000, runs)).toEqual([0]);
    book.dropped(0);
    expect(book.get('h0')).toBeUndefined();
    expect(book.get('h1')).toMatchObject({ state: 'Created', atSeconds: 8 * DAY });
  });

  test('goes early where there is too much, the oldest first, which shortens the horizon', () => {
    const book = filled(12, (index) => over(index * 100));
    expect(book.review(2_000_000, never)).toEqual([0]);
    book.dropped(0);
    expect([book.size(), book.horizonSeconds(2_000_000)]).toEqual([9, 1_800]);
    expect(book.review(2_000_000, never)).toEqual([]);
  });

  test('and changed while it was being deleted is written anew', () => {
    const book = filled(3, () => over());
    expect(book.review(8 * DAY * 1000, never)).toEqual([0]);
    book.put('h0', entry(8 * DAY));
    book.dropped(0);
    expect(book.get('h0')).toEqual(entry(8 * DAY));
    expect(seqs(writeAll(book))).toEqual([[0, undefined, 'h0']]);
  });
});
