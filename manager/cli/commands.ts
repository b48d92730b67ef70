import { CANARY } from './canary/command.ts';
import { JOIN } from './clusters/join.ts';
import { LEAVE } from './clusters/leave.ts';
import { CLUSTERS } from './clusters/list.ts';
import { STATE_COMMANDS, TOP_STATE_COMMANDS } from './clusters/state.ts';
import type { Command } from './command.ts';
import { COMPLETION } from './completion/command.ts';
import { DOCTOR } from './doctor/command.ts';
import { EXPLAIN } from './explain/command.ts';
import { GET } from './get/command.ts';
import { IMPORT_KUEUE } from './import-kueue/command.ts';
import { CANCEL } from './jobs/cancel.ts';
import { HISTORY } from './history/command.ts';
import { HISTORY_PURGE } from './history/purge.ts';
import { HOLD } from './jobs/hold.ts';
import { RELEASE } from './jobs/release.ts';
import { KINDS_TEST } from './kinds/command.ts';
import { LOCAL } from './local/command.ts';
import { LOGS } from './logs/command.ts';
import { QUEUES } from './queues/command.ts';
import { REPLAY } from './replay/command.ts';
import { RUN } from './run/command.ts';
import { SUBMIT } from './submit/command.ts';
import { TOP } from './top/command.ts';
import { REPORT } from './usage/command.ts';
import { WHAT_IF } from './what-if/command.ts';

/** Every command of the program `switchyard`, in the order in which its help lists them. */
export const COMMANDS: readonly Command[] = [
  SUBMIT,
  RUN,
  GET,
  EXPLAIN,
  LOGS,
  HISTORY,
  HISTORY_PURGE,
  WHAT_IF,
  CANCEL,
  HOLD,
  RELEASE,
  QUEUES,
  TOP,
  REPORT,
  CLUSTERS,
  JOIN,
  LEAVE,
  ...STATE_COMMANDS,
  ...TOP_STATE_COMMANDS,
  DOCTOR,
  CANARY,
  REPLAY,
  IMPORT_KUEUE,
  KINDS_TEST,
  LOCAL,
  COMPLETION,
];
