import type { Answer } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import type { ServedResource } from '../resources/served-resources.ts';

/** A subresource besides `status`, or a resource that stores nothing (bindings, access reviews). */
export type Subresource = {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** '' for a resource of its own. */
  readonly subresource: string;
  /** HTTP method to what answers it. `parent` is the resource that the subresource belongs to; a resource of its own has none. */
  readonly methods: Readonly<Record<string, (call: Call, parent: ServedResource | undefined) => Promise<Answer> | Answer>>;
};
