import type { FlagTable } from '../../../shared/runtime/flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG, SELECTOR_FLAG } from '../cluster-flags.ts';

/** Of commands that do something to Jobs which are named or chosen by labels. */
export const JOBS_FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...ALL_NAMESPACES_FLAG,
  ...SELECTOR_FLAG,
  ...FORM_FLAG,
  yes: { short: 'y', about: 'do not ask' },
} satisfies FlagTable;

export const JOBS_OPERAND = {
  usage: '[JOB...]',
  about: 'NAME, NAMESPACE/NAME, or KIND/NAME, such as jobset/train; or --selector, of any kind',
};
