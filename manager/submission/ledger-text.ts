import type { LedgerEntry, LedgerState } from './ledger.ts';
import { parseQualifiedName } from '../work-kind/qualified-name.ts';
import type { Outcome } from './submission-queue.ts';

/**
 * An entry as the ledger keeps it: a list, because thousands of them lie in etcd and in the manager's memory.
 *
 * @throws RangeError where a number is no whole one: {@link parseEntry} would not have it, and its submission would be new for ever.
 */
export function formatEntry(entry: LedgerEntry): string {
  const { payload, attempt, atSeconds, submittedAt, attemptsMade, job } = entry;
  if (![attempt, atSeconds, submittedAt, attemptsMade].every(Number.isSafeInteger))
    throw new RangeError('an entry of the ledger has a number that is no whole one');
  const parts: unknown[] = [payload, attempt, atSeconds, submittedAt, attemptsMade, job.namespace, job.name, entry.state[0]];
  if (entry.state === 'Created' || entry.state === 'Ended') parts.push(entry.uid);
  if (entry.state === 'Ended') parts.push(formatOutcome(entry.outcome));
  return JSON.stringify(parts);
}

/** Undefined where the text is none that {@link formatEntry} made: somebody has edited it. */
export function parseEntry(text: string): LedgerEntry | undefined {
  const parts = parsed(text);
  if (!Array.isArray(parts)) return undefined;
  const [payload, attempt, atSeconds, submittedAt, attemptsMade, namespace, name, letter, uid, outcome] = parts as unknown[];
  const state = stateOf(letter, uid, outcome, { namespace, name });
  if (state === undefined || ![attempt, atSeconds, submittedAt, attemptsMade].every(Number.isSafeInteger)) return undefined;
  if (![payload, namespace, name].every((part) => typeof part === 'string')) return undefined;
  const numbers = { attempt, atSeconds, submittedAt, attemptsMade } as Record<
    'attempt' | 'atSeconds' | 'submittedAt' | 'attemptsMade',
    number
  >;
  return { payload: payload as string, ...numbers, job: { namespace: namespace as string, name: name as string }, ...state };
}

/** Whether what `text` says came after what `other` says: of two chunks that tell of one key. */
export function isLater(text: string, other: string): boolean {
  const [a, b] = [parseEntry(text), parseEntry(other)];
  if (a === undefined || b === undefined) return b === undefined;
  const order = [a.attempt - b.attempt, RANK[a.state] - RANK[b.state], a.atSeconds - b.atSeconds];
  return (order.find((each) => each !== 0) ?? 0) > 0;
}

const RANK: Readonly<Record<LedgerEntry['state'], number>> = { Refused: 0, Intended: 1, Created: 2, Ended: 3 };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type NamedJob = { readonly namespace: unknown; readonly name: unknown };

function stateOf(letter: unknown, uid: unknown, outcome: unknown, job: NamedJob): LedgerState | undefined {
  if (letter === 'I') return { state: 'Intended' };
  if (letter === 'R') return { state: 'Refused' };
  if (typeof uid !== 'string') return undefined;
  if (letter === 'C') return { state: 'Created', uid };
  const told = letter === 'E' ? outcomeOf(outcome, { ...job, uid }) : undefined;
  return told && { state: 'Ended', uid, outcome: told };
}

/** The Job's name and UID stand beside it. */
function formatOutcome(outcome: Outcome): unknown {
  if (outcome.kind === 'Failed') return [outcome.failure.reason, outcome.failure.message];
  const { namespace: _namespace, name: _name, uid: _uid, ...result } = outcome.result;
  return result;
}

function outcomeOf(value: unknown, job: NamedJob & { readonly uid: string }): Outcome | undefined {
  if (Array.isArray(value)) {
    const [reason, message] = value as unknown[];
    return typeof reason === 'string' && typeof message === 'string' ? { kind: 'Failed', failure: { reason, message } } : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const name = typeof job.name === 'string' ? parseQualifiedName(job.name).name : job.name;
  return { kind: 'Completed', result: { ...value, ...job, name } as Extract<Outcome, { kind: 'Completed' }>['result'] };
}
