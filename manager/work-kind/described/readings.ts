import type { DeepReadonly, Unsaved, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { admittedPart } from './admitted-part.ts';
import type { Description } from './description.ts';
import { readObject, type Reading } from './reading.ts';
import type { ReadState } from './read-state.ts';

/**
 * What objects of one kind say. Objects of a cache never change, so that each is read once. A status that goes on by itself keeps the state
 * that was read of its object: its expressions may be about the spec as well.
 */
export class Readings {
  readonly #description: Description;
  readonly #ofObjects = new WeakMap<object, Reading>();
  readonly #ofStatuses = new WeakMap<object, ReadState>();

  constructor(description: Description) {
    this.#description = description;
  }

  of(object: DeepReadonly<Unsaved<WorkObject>>): Reading {
    const known = this.#ofObjects.get(object);
    if (known !== undefined) return known;
    return this.#keep(object, readAsAdmitted(this.#description, object));
  }

  /** The state of an object, or of a status alone. */
  stateOf(object: DeepReadonly<Pick<WorkObject, 'status'>>): ReadState {
    if (isWhole(object)) return this.of(object).state;
    const { status } = object;
    const known = status && this.#ofStatuses.get(status);
    return known ?? this.of({ metadata: {}, spec: {}, ...(status === undefined ? {} : { status }) }).state;
  }

  /** `object` is what is kept of another, which has been read. */
  keep<O extends DeepReadonly<Unsaved<WorkObject>>>(object: O, reading: Reading): O {
    this.#keep(object, reading);
    return object;
  }

  /** `status` is made from one of this state. */
  keepState<S extends DeepReadonly<WorkStatus>>(status: S, state: ReadState): S {
    this.#ofStatuses.set(status, state);
    return status;
  }

  #keep(object: DeepReadonly<Unsaved<WorkObject>>, reading: Reading): Reading {
    this.#ofObjects.set(object, reading);
    const status: unknown = object.status;
    if (typeof status === 'object' && status !== null) this.#ofStatuses.set(status, reading.state);
    return reading;
  }
}

/**
 * Where an object was admitted with fewer pods, its status is that of a copy that has so many: its state is read with their number. The
 * record is not verified: a false one costs its own object a wrong state, and its admission.
 */
function readAsAdmitted(description: Description, object: DeepReadonly<Unsaved<WorkObject>>): Reading {
  const reading = readObject(description, object);
  const written = writtenRecordOf(object);
  if (written.kind !== 'Record' || written.record.parallelism === undefined) return reading;
  const part = admittedPart(reading.podSets, object, written.record);
  return part === object ? reading : { ...reading, state: readObject(description, part).state };
}

const isWhole = (object: DeepReadonly<Pick<WorkObject, 'status'>>): object is DeepReadonly<WorkObject> =>
  'spec' in object && 'metadata' in object;
