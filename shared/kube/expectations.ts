import type { Clock } from '../runtime/clock.ts';

/**
 * What a controller has asked for and not yet seen in its cache (client-go's ControllerExpectations).
 * Satisfied means: no record, or both counts at most 0, or the record is older than five minutes.
 */
export interface ControllerExpectations {
  /** Overwrites any record of the key. */
  expectCreations(key: string, count: number): void;
  expectDeletions(key: string, count: number): void;
  creationObserved(key: string): void;
  /** May go below zero. */
  deletionObserved(key: string): void;
  satisfied(key: string): boolean;
  forget(key: string): void;
}
export declare function createControllerExpectations(clock: Clock): ControllerExpectations;

/** Pods whose tracking finalizer was asked to be removed and is still there in the cache, by Job key. No time-out. */
export interface FinalizerExpectations {
  expectRemoval(key: string, uids: Iterable<string>): void;
  removalObserved(key: string, uid: string): void;
  pending(key: string): ReadonlySet<string>;
  forget(key: string): void;
}
export declare function createFinalizerExpectations(): FinalizerExpectations;
