import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { ServedResource } from './served-resources.ts';

/** A subresource besides `status`, or a resource that stores nothing (bindings, access reviews). */
export type Subresource = {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** '' for a resource of its own. */
  readonly subresource: string;
  /** HTTP method to what answers it. `resource` is the parent, where there is one. */
  readonly methods: Readonly<Record<string, (call: Call, resource: ServedResource) => Promise<Answer> | Answer>>;
};
