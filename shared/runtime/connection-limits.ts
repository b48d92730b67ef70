/** How many connections a server keeps, and for how long. */
export type ConnectionLimits = {
  readonly connectionsMax: number;
  /** Between requests, and before the first one: clients open connections ahead of their requests. */
  readonly idleMs: number;
  /** Until the headers of a request have come. */
  readonly headersMs: number;
  /** Until a request has come as a whole. */
  readonly requestMs: number;
  /** Until the client has taken its answer. */
  readonly answerMs: number;
};

/** `Opening`: in its TLS handshake, for which the server has a limit of its own. `Idle`: nothing of a next request has come. */
export type ConnectionPhase = 'Opening' | 'Idle' | 'Headers' | 'Body' | 'Answer';

export type LimitedConnection = {
  /** Of the client, without its port. */
  readonly address: string;
  readonly phase: ConnectionPhase;
  /** Since when it is in this phase. */
  readonly sinceMs: number;
};

/** Those that have been in their phase for too long. */
export function overdue<Each extends LimitedConnection>(connections: Iterable<Each>, limits: ConnectionLimits, nowMs: number): Each[] {
  const limitsMs = {
    Opening: Infinity,
    Idle: limits.idleMs,
    Headers: limits.headersMs,
    Body: limits.requestMs,
    Answer: limits.answerMs,
  } as const;
  return [...connections].filter(({ phase, sinceMs }) => nowMs - sinceMs >= limitsMs[phase]);
}

/**
 * Those that make room when there are `excess` too many: of the address that has most of them, the one that has been as it is for longest,
 * and so on. A flood from one address ends its own connections, and a pool of connections loses those that it is least likely to use next:
 * Go takes the one that was used last. A request that has come as a whole is answered.
 */
export function makingRoom<Each extends LimitedConnection>(connections: Iterable<Each>, excess: number): Each[] {
  const byAddress = Map.groupBy(
    [...connections].filter(({ phase }) => phase !== 'Answer'),
    ({ address }) => address,
  );
  // Last in its list is the one that goes first.
  const lists = [...byAddress.values()].map((list) => list.toReversed().toSorted((a, b) => b.sinceMs - a.sinceMs));
  const chosen: Each[] = [];
  while (chosen.length < excess) {
    const next = lists.reduce((most, list) => (isBefore(list, most) ? list : most), []).pop();
    if (next === undefined) break;
    chosen.push(next);
  }
  return chosen;
}

/** More of them, or as many with an older one. */
const isBefore = (a: readonly LimitedConnection[], b: readonly LimitedConnection[]): boolean =>
  a.length > b.length || (a.length === b.length && (a.at(-1)?.sinceMs ?? Infinity) < (b.at(-1)?.sinceMs ?? Infinity));
