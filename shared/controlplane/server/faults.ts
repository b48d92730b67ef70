import { type Clock, sleep, type Timer } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { type Answer, BROKEN, type StreamConnection } from '../request/answer.ts';
import type { StatusError } from '../apimachinery/status-error.ts';

/** Which requests a fault is about. What is absent does not matter; without anything it is every request of everybody. */
export type FaultMatch = {
  /** get, list, watch, create, update, patch, delete, deletecollection; the last five are WRITES. */
  readonly verbs?: readonly string[];
  /** Plural names, and subresources such as `jobs/status`, which `jobs` does not include. */
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  /** The controllers beside the API speak as `system:kube-controller-manager`. */
  readonly users?: readonly string[];
};

export const WRITES: readonly string[] = ['create', 'update', 'patch', 'delete', 'deletecollection'];

export type Fault =
  /** The server answers with this error and does nothing else. */
  | { readonly kind: 'refuse'; readonly error: StatusError }
  /** Everything is in order, only late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The connection breaks before the server has done anything. */
  | { readonly kind: 'lose-request' }
  /** The server does what it was asked, then the connection breaks. */
  | { readonly kind: 'lose-answer' }
  /** Watches break some time after they began. */
  | { readonly kind: 'cut-watches'; readonly afterMs: number }
  /** Watches, open ones too, stand still: they are stale until the fault is lifted, and then deliver what they held back. */
  | { readonly kind: 'hold-watches' }
  /** Nothing is done and nothing comes back, from open watches neither. All these connections break when the fault is lifted. */
  | { readonly kind: 'black-hole' };

export type FaultRule = FaultMatch & {
  readonly fault: Fault;
  /** For so many requests only. */
  readonly times?: number;
  /** From 0 to 1: how likely a request is to meet the fault. */
  readonly rate?: number;
};

/** What goes wrong with the requests to a control plane, on purpose. */
export interface Faults {
  /** From now on, until the returned function lifts it. Where several match, the newest counts. */
  add(rule: FaultRule): () => void;
  /** Lifts all. */
  clear(): void;
  /** Breaks the open watches that match, as when a server restarts. Returns how many there were. */
  cutWatches(match?: FaultMatch): number;
}

/** A request as faults see it. */
export type FaultSubject = {
  readonly verb: string;
  /** `jobs`, `jobs/status`; '' for paths that are about no resource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
};

/** The gate that every request passes. */
export interface FaultGate {
  /** Lets `proceed` answer, unless a fault says otherwise. Rejects with the StatusError of a refusal. */
  pass(subject: FaultSubject, proceed: () => Promise<Answer>): Promise<Answer>;
}

export function createFaults(clock: Clock, random: Random): Faults & FaultGate {
  /** Oldest first. */
  const active: ActiveRule[] = [];
  const watches = new Set<OpenWatch>();

  const release = (rule: ActiveRule): void => {
    rule.lifted.resolve();
    for (const watch of watches) watch.lifted(rule);
  };
  const lift = (rule: ActiveRule): void => {
    const index = active.indexOf(rule);
    if (index < 0) return;
    active.splice(index, 1);
    release(rule);
  };
  const ruleFor = (subject: FaultSubject): ActiveRule | undefined => {
    const rule = active.findLast(
      (each) => each.timesLeft > 0 && matches(each, subject) && (each.rate === undefined || random() < each.rate),
    );
    if (rule !== undefined) rule.timesLeft--;
    return rule;
  };

  async function pass(subject: FaultSubject, proceed: () => Promise<Answer>): Promise<Answer> {
    const rule = ruleFor(subject);
    const fault = rule?.fault;
    switch (fault?.kind) {
      case 'refuse':
        throw fault.error;
      case 'lose-request':
        return BROKEN;
      case 'lose-answer':
        await proceed();
        return BROKEN;
      case 'black-hole':
        await rule?.lifted.promise;
        return BROKEN;
      case 'delay':
        await sleep(clock, fault.ms);
        break;
      case 'cut-watches':
      case 'hold-watches':
      case undefined:
    }
    const answer = await proceed();
    return answer.kind === 'stream' ? { ...answer, start: (connection) => watched(subject, answer, connection, rule) } : answer;
  }

  function watched(
    subject: FaultSubject,
    answer: Answer & { kind: 'stream' },
    connection: StreamConnection,
    rule?: ActiveRule,
  ): () => void {
    const watch = new OpenWatch(subject, connection);
    for (const each of active) if (each === rule || (isForAll(each) && matches(each, subject))) watch.began(each);
    watches.add(watch);
    let timer: Timer | undefined;
    if (rule?.fault.kind === 'cut-watches') timer = clock.schedule(() => watch.abort(), rule.fault.afterMs);
    const stop = answer.start(watch);
    return () => {
      timer?.cancel();
      watches.delete(watch);
      stop();
    };
  }

  return {
    pass,
    add: (rule) => {
      const added: ActiveRule = { ...rule, timesLeft: rule.times ?? Infinity, lifted: Promise.withResolvers<void>() };
      active.push(added);
      for (const watch of isForAll(added) ? watches : []) if (matches(added, watch.subject)) watch.began(added);
      return () => lift(added);
    },
    clear: () => {
      for (const rule of active.splice(0)) release(rule);
    },
    cutWatches: (match = {}) => {
      const cut = [...watches].filter(({ subject }) => matches(match, subject));
      for (const watch of cut) watch.abort();
      return cut.length;
    },
  };
}

type ActiveRule = FaultRule & { timesLeft: number; readonly lifted: PromiseWithResolvers<void> };

/** A rule that neither counts nor draws lots holds open watches as well. */
const isForAll = ({ times, rate }: FaultRule): boolean => times === undefined && rate === undefined;

const matches = ({ verbs, resources, namespaces, names, users }: FaultMatch, subject: FaultSubject): boolean =>
  (verbs?.includes(subject.verb) ?? true) &&
  (resources?.includes(subject.resource) ?? true) &&
  (namespaces?.includes(subject.namespace) ?? true) &&
  (names?.includes(subject.name) ?? true) &&
  (users?.includes(subject.user) ?? true);

/** A watch between the server, which writes, and its connection, which may be made to wait. */
class OpenWatch {
  readonly subject: FaultSubject;
  readonly #connection: StreamConnection;
  /** The rules that hold it back. */
  readonly #holders = new Set<ActiveRule>();
  #pending: string[] = [];
  #ended = false;

  constructor(subject: FaultSubject, connection: StreamConnection) {
    this.subject = subject;
    this.#connection = connection;
  }

  get pace(): StreamConnection['pace'] {
    return this.#connection.pace;
  }

  write(text: string): void {
    if (this.#holders.size > 0) this.#pending.push(text);
    else this.#connection.write(text);
  }

  end(): void {
    this.#ended = true;
    if (this.#holders.size === 0) this.#connection.end();
  }

  abort(): void {
    this.#connection.abort();
  }

  began(rule: ActiveRule): void {
    if (rule.fault.kind === 'hold-watches' || rule.fault.kind === 'black-hole') this.#holders.add(rule);
  }

  lifted(rule: ActiveRule): void {
    if (!this.#holders.delete(rule)) return;
    if (rule.fault.kind === 'black-hole') return this.abort();
    if (this.#holders.size > 0) return;
    for (const text of this.#pending.splice(0)) this.#connection.write(text);
    if (this.#ended) this.#connection.end();
  }
}
