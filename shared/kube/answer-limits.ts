import type { TrafficPace } from './traffic-pace.ts';

/** What we take of the answers of one API server before we stop listening. What is beyond is an {@link UnusableAnswer}. */
export type AnswerLimits = {
  /** Of a body with many objects. A reflector then asks for fewer at a time. */
  readonly pageBytes: number;
  /** Of a body with one object, or of another kind. */
  readonly objectBytes: number;
  /** Of one event of a watch, in characters. */
  readonly eventLength: number;
  /** How long an answer may take from the request to its last byte, in milliseconds. Watches have no end. */
  readonly answerMs: number;
  /** Of one document: what a small text can be made into is much larger than the text. Absent: whatever the bytes hold. */
  readonly json?: JsonLimits;
  /** Absent: as fast as it comes. */
  readonly pace?: TrafficPace;
};
export type JsonLimits = { readonly depth: number; readonly values: number };

const MIB = 1024 * 1024;

/** For an API server that we trust: no honest answer comes near. An API server itself gives up a request after 60 s. */
export const GENEROUS_LIMITS: AnswerLimits = {
  pageBytes: 256 * MIB,
  objectBytes: 64 * MIB,
  eventLength: 32 * MIB,
  answerMs: 120_000,
};
