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
  return new Gate(clock, random);
}

class Gate implements Faults, FaultGate {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Oldest first. */
  readonly #active: ActiveRule[] = [];
  readonly #watches = new Set<OpenWatch>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  async pass(subject: FaultSubject, proceed: () => Promise<Answer>): Promise<Answer> {
    const rule = this.#ruleFor(subject);
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
        await sleep(this.#clock, fault.ms);
        break;
      case 'cut-watches':
      case 'hold-watches':
      case undefined:
    }
    const answer = await proceed();
    return answer.kind === 'stream' ? { ...answer, start: (connection) => this.#watched(subject, answer, connection, rule) } : answer;
  }

  #ruleFor(subject: FaultSubject): ActiveRule | undefined {
    const rule = this.#active.findLast(
      (each) => each.timesLeft > 0 && matches(each, subject) && (each.rate === undefined || this.#random() < each.rate),
    );
    if (rule !== undefined) rule.timesLeft--;
    return rule;
  }

  #watched(subject: FaultSubject, answer: Answer & { kind: 'stream' }, connection: StreamConnection, rule?: ActiveRule): () => void {
    const watch = new OpenWatch(subject, connection);
    for (const each of this.#active) if (each === rule || (isForAll(each) && matches(each, subject))) watch.began(each);
    this.#watches.add(watch);
    let timer: Timer | undefined;
    if (rule?.fault.kind === 'cut-watches') timer = this.#clock.schedule(() => watch.abort(), rule.fault.afterMs);
    const stop = answer.start(watch);
    return () => {
      timer?.cancel();
      this.#watches.delete(watch);
      stop();
    };
  }

  add(rule: FaultRule): () => void {
    const added: ActiveRule = { ...rule, timesLeft: rule.times ?? Infinity, lifted: Promise.withResolvers<void>() };
    this.#active.push(added);
    for (const watch of isForAll(added) ? this.#watches : []) if (matches(added, watch.subject)) watch.began(added);
    return () => this.#lift(added);
  }

  #lift(rule: ActiveRule): void {
    const index = this.#active.indexOf(rule);
    if (index < 0) return;
    this.#active.splice(index, 1);
    this.#release(rule);
  }

  #release(rule: ActiveRule): void {
    rule.lifted.resolve();
    for (const watch of this.#watches) watch.lifted(rule);
  }

  clear(): void {
    for (const rule of this.#active.splice(0)) this.#release(rule);
  }

  cutWatches(match: FaultMatch = {}): number {
    const cut = [...this.#watches].filter(({ subject }) => matches(match, subject));
    for (const watch of cut) watch.abort();
    return cut.length;
  }
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
