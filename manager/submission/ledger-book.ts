import type { LedgerEntry } from './ledger.ts';
import { formatEntry, isLater, parseEntry } from './ledger-text.ts';

/** One write to a chunk. `version` is what the chunk has to have; undefined: it is made. */
export type LedgerWrite = { readonly seq: number; readonly version: string | undefined; readonly data: Readonly<Record<string, string>> };

export type LedgerLimits = {
  /** Of a chunk. */
  readonly chunkEntries: number;
  readonly chunkBytes: number;
  /** Of all chunks together. */
  readonly entries: number;
  /** How long after its last change an entry is kept. */
  readonly keptSeconds: number;
};

/** With 250 entries of some 200 bytes a chunk is written at once, and 100,000 entries are 400 chunks. */
export const LEDGER_LIMITS: LedgerLimits = { chunkEntries: 250, chunkBytes: 384 * 1024, entries: 100_000, keptSeconds: 7 * 24 * 3600 };

type Chunk = { version: string | undefined; full: boolean; bytes: number; lastSeconds: number; readonly texts: Map<string, number> };

/**
 * The ledger of one tenant: what is remembered of each key, which of it is written in which chunk, and what is to be written next. New
 * entries and changes go to the latest chunk until that is full; a chunk goes when nothing in it is young enough. What two chunks tell of
 * one key is told by the later.
 */
export class LedgerBook {
  readonly #limits: LedgerLimits;
  readonly #entries = new Map<string, { readonly text: string; readonly seq: number | undefined }>();
  readonly #chunks = new Map<number, Chunk>();
  readonly #dirty = new Set<string>();
  /** When what went early had last changed. */
  #forgottenSeconds: number | undefined;

  constructor(limits: LedgerLimits = LEDGER_LIMITS) {
    this.#limits = limits;
  }

  get(hash: string): LedgerEntry | undefined {
    const text = this.#entries.get(hash)?.text;
    return text === undefined ? undefined : parseEntry(text);
  }

  /** Whether anything is still to be written. */
  isUnwritten(): boolean {
    return this.#dirty.size > 0;
  }

  /** Whether what stands of this key is still to be written. */
  isDirty(hash: string): boolean {
    return this.#dirty.has(hash);
  }

  put(hash: string, entry: LedgerEntry): void {
    this.#entries.set(hash, { text: formatEntry(entry), seq: this.#entries.get(hash)?.seq });
    this.#dirty.add(hash);
  }

  /** What to write next, as much as the latest chunk takes; undefined: all is written. */
  nextWrite(): LedgerWrite | undefined {
    if (this.#dirty.size === 0) return undefined;
    const seq = this.#openChunk();
    const chunk = this.#chunks.get(seq);
    const data: Record<string, string> = {};
    let [count, bytes, written] = [chunk?.texts.size ?? 0, chunk?.bytes ?? 0, 0];
    for (const hash of this.#dirty) {
      const { text } = this.#entries.get(hash) ?? { text: '' };
      const size = sizeOf(hash, text);
      const before = chunk?.texts.get(hash);
      const isFull = count + (before === undefined ? 1 : 0) > this.#limits.chunkEntries || bytes + size > this.#limits.chunkBytes;
      if (isFull && written > 0) break;
      data[hash] = text;
      written++;
      count += before === undefined ? 1 : 0;
      bytes += size - (before ?? 0);
    }
    return { seq, version: chunk?.version, data };
  }

  /** The write was carried out. */
  wrote({ seq, data }: LedgerWrite, version: string): void {
    const chunk = this.#chunk(seq);
    chunk.version = version;
    for (const [hash, text] of Object.entries(data)) {
      this.#place(chunk, hash, text);
      const now = this.#entries.get(hash);
      if (now === undefined) continue;
      this.#entries.set(hash, { text: now.text, seq });
      if (now.text === text) this.#dirty.delete(hash);
    }
  }

  /** A chunk as it was found. What is to be written of it still is, unless it is there. */
  found(seq: number, version: string, data: Readonly<Record<string, string>>): void {
    const chunk = this.#chunk(seq);
    chunk.version = version;
    for (const [hash, text] of Object.entries(data)) {
      this.#place(chunk, hash, text);
      const known = this.#entries.get(hash);
      if (known !== undefined && known.text !== text && !isLater(text, known.text)) continue;
      this.#entries.set(hash, { text, seq });
      this.#dirty.delete(hash);
    }
  }

  /** A chunk is gone, whoever deleted it: what it alone had is written anew. */
  lost(seq: number): void {
    this.#chunks.delete(seq);
    for (const [hash, entry] of this.#entries) {
      if (entry.seq !== seq) continue;
      this.#entries.set(hash, { text: entry.text, seq: undefined });
      this.#dirty.add(hash);
    }
  }

  /** A chunk takes nothing more. */
  close(seq: number): void {
    this.#chunk(seq).full = true;
  }

  /**
   * Chunks that may go now: those in which nothing is young enough any more, and of too many the oldest. What is in one of them and still
   * needed, because its Job runs, is first written anew: such a chunk is not among them yet.
   */
  review(nowMs: number, runs: (entry: LedgerEntry) => boolean): readonly number[] {
    const [nowSeconds, gone] = [Math.floor(nowMs / 1000), [] as number[]];
    let surplus = this.size() - this.#limits.entries;
    const seqs = [...this.#chunks.keys()].toSorted((a, b) => a - b);
    for (const seq of seqs) {
      const chunk = this.#chunk(seq);
      const isOld = chunk.lastSeconds + this.#limits.keptSeconds <= nowSeconds;
      if (!isOld && (surplus <= 0 || seq === seqs.at(-1))) continue;
      surplus -= chunk.texts.size;
      if (this.#carry(seq, nowSeconds, runs)) continue;
      if (!isOld) this.#forgottenSeconds = Math.max(this.#forgottenSeconds ?? 0, chunk.lastSeconds);
      gone.push(seq);
    }
    return gone;
  }

  /** A chunk was deleted, and what it alone had is forgotten. */
  dropped(seq: number): void {
    for (const hash of this.#chunks.get(seq)?.texts.keys() ?? []) {
      const entry = this.#entries.get(hash);
      if (entry?.seq !== seq) continue;
      // What has changed since is still to be written.
      if (this.#dirty.has(hash)) this.#entries.set(hash, { text: entry.text, seq: undefined });
      else this.#entries.delete(hash);
    }
    this.#chunks.delete(seq);
  }

  /** Entries in all chunks; one that was changed later may be in two. */
  size(): number {
    let size = 0;
    for (const { texts } of this.#chunks.values()) size += texts.size;
    return size;
  }

  chunkCount(): number {
    return this.#chunks.size;
  }

  /** For how long keys are remembered: less than is promised once chunks had to go early. */
  horizonSeconds(nowMs: number): number {
    const { keptSeconds } = this.#limits;
    return this.#forgottenSeconds === undefined ? keptSeconds : Math.min(keptSeconds, Math.floor(nowMs / 1000) - this.#forgottenSeconds);
  }

  /** True when something of the chunk is still to be written elsewhere. */
  #carry(seq: number, nowSeconds: number, runs: (entry: LedgerEntry) => boolean): boolean {
    this.close(seq);
    let carries = false;
    for (const hash of this.#chunk(seq).texts.keys()) {
      const known = this.#entries.get(hash);
      const entry = known?.seq === seq ? parseEntry(known.text) : undefined;
      if (entry === undefined) continue;
      if (!this.#dirty.has(hash)) {
        if (entry.state === 'Ended' || !runs(entry)) continue;
        this.put(hash, { ...entry, atSeconds: nowSeconds });
      }
      carries = true;
    }
    return carries;
  }

  #openChunk(): number {
    const latest = Math.max(0, ...this.#chunks.keys());
    const chunk = this.#chunks.get(latest);
    if (chunk === undefined) return latest;
    const { chunkEntries, chunkBytes } = this.#limits;
    return chunk.full || chunk.texts.size >= chunkEntries || chunk.bytes >= chunkBytes ? latest + 1 : latest;
  }

  #chunk(seq: number): Chunk {
    const known = this.#chunks.get(seq);
    if (known !== undefined) return known;
    const chunk: Chunk = { version: undefined, full: false, bytes: 0, lastSeconds: 0, texts: new Map() };
    this.#chunks.set(seq, chunk);
    return chunk;
  }

  #place(chunk: Chunk, hash: string, text: string): void {
    const size = sizeOf(hash, text);
    chunk.bytes += size - (chunk.texts.get(hash) ?? 0);
    chunk.texts.set(hash, size);
    chunk.lastSeconds = Math.max(chunk.lastSeconds, parseEntry(text)?.atSeconds ?? 0);
  }
}

/** Of a field of a ConfigMap, as JSON: quotes in the text are escaped. */
const sizeOf = (hash: string, text: string): number => hash.length + Math.ceil(Buffer.byteLength(text) * 1.2) + 8;
