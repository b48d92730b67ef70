import type { Form } from '../cluster-flags.ts';
import type { ManagerFlags } from '../../insight/world/world-objects.ts';
import type { ServerChoice } from '../server/flags.ts';
import type { Change } from './changes.ts';

/** What the flags of the command come to. */
export type WhatIfConfig = ServerChoice & {
  readonly files: readonly ChangeFile[];
  readonly changes: readonly Change[];
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  readonly output: Form;
  /** Those of the manager. */
  readonly flags: ManagerFlags;
};

/** Manifests that are to be read, and what they are for; `copies` of a Job. */
export type ChangeFile = { readonly file: string; readonly copies?: number };
