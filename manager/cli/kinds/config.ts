import type { Form } from '../cluster-flags.ts';

/** The files of the command, and how it reports. */
export type KindsTestConfig = { readonly file: string; readonly manifests: readonly string[]; readonly output: Form };
