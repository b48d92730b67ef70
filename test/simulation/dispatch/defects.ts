/** Defects that the programs once had, to be put back on purpose: a simulation that does not find them again is worth little. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Bias, storyOf } from './plan.ts';

type Edit = {
  /** File of the program, and what stands there once. */
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
};
export type Defect = {
  readonly name: string;
  /** Other guards that came with the right one are taken out with it. */
  readonly edits: readonly Edit[];
  readonly bias: Bias;
};

export const DEFECTS = [
  {
    name: 'taken-name-is-a-no',
    edits: [
      {
        file: 'manager/dispatch/connection/remote-cluster.ts',
        right: 'else this.unanswered.unlisted(key, copy);',
        wrong: 'else this.unanswered.absent(key);',
      },
      {
        file: 'manager/dispatch/writes/copy-writer.ts',
        right: 'if (present !== undefined && identity !== undefined && identity.originUid === wanted?.originUid) {',
        wrong:
          'if (present?.metadata.labels?.[ORIGIN_LABEL] === origin && identity !== undefined && identity.originUid === wanted?.originUid) {',
      },
    ],
    bias: { troubles: ['marks edited'], fair: true },
  },
  {
    name: 'gone-copy-is-the-end',
    edits: [
      { file: 'manager/dispatch/controller/look-for-copy.ts', right: 'if (pods.length > 0) return', wrong: 'if (pods.length < 0) return' },
    ],
    bias: { troubles: ['copy orphaned'], fair: true },
  },
  {
    name: 'stopped-is-failed',
    edits: [
      {
        file: 'manager/dispatch/decisions/decide-present-copy.ts',
        right: "return { remote: [{ kind: 'TakeBackSuspended', cluster, copy: copy.job }], home };",
        wrong: 'return { remote: deletions(kind, [copy]), home };',
      },
      {
        file: 'manager/work-kind/job/copy/copy-verdict.ts',
        right: 'copy.metadata.deletionTimestamp === undefined ? copy.status : statusWhileDeleting(copy.status, local);',
        wrong: 'copy.metadata.deletionTimestamp === local.metadata.uid ? statusWhileDeleting(copy.status, local) : copy.status;',
      },
    ],
    bias: storyOf(['stopped after a resume']),
  },
  {
    name: 'no-worker-is-ready',
    edits: [
      {
        file: 'manager/dispatch/cluster/cluster-status.ts',
        right: "if (worker.status === 'False') return",
        wrong: "if (worker.reason === '') return",
      },
      {
        file: 'manager/dispatch/decisions/decide-present-copy.ts',
        right: 'if (kind.isSuspended(local) && view?.withoutWorker !== undefined && !isResting',
        wrong: "if (kind.isSuspended(local) && view?.withoutWorker === '' && !isResting",
      },
    ],
    bias: { troubles: ['worker gone'], fair: true },
  },
  {
    name: 'last-flags-bind',
    edits: [
      {
        file: 'worker/fence/origin-fence.ts',
        right: 'const boundMs = Math.min(fenceAfterMs, remembered?.fenceAfterMs ?? NO_FENCE_MS);',
        wrong: 'const boundMs = fenceAfterMs;',
      },
      {
        file: 'worker/fence/fences.ts',
        right: 'firstFence(version, this.#token, entry, Math.min(this.#ownFenceMs, this.#announcedMs), nowMs, place);',
        wrong: 'firstFence(version, this.#token, entry, this.#ownFenceMs, nowMs, place);',
      },
    ],
    bias: storyOf(['fence raised while cut off']),
  },
  {
    name: 'clocks-are-compared',
    edits: [
      {
        file: 'manager/dispatch/cluster/loss-count.ts',
        right: 'const knownAtMs = lostAtMs.get(name) ?? steadyMs - countedSeconds(previous) * 1000;',
        wrong:
          'const knownAtMs = lostAtMs.get(name) ?? steadyMs - (previous?.lostSince === undefined ? countedSeconds(previous) * 1000 : nowMs - Date.parse(previous.lostSince));',
      },
      {
        file: 'manager/api/lost-clusters.ts',
        right: 'clusters.set(name, known(cluster, clusters.get(name), clock.monotonic()));',
        wrong:
          'const [seen, since] = [known(cluster, clusters.get(name), clock.monotonic()), cluster.status?.lostSince]; clusters.set(name, since === undefined ? seen : { ...seen, lostAtMs: clock.monotonic() - (clock.now() - Date.parse(since)) });',
      },
    ],
    bias: storyOf(['clock ahead while cut off']),
  },
  {
    name: 'flaps-are-forgiven',
    edits: [
      {
        file: 'manager/dispatch/cluster/cluster-trust.ts',
        right: 'const excess = trips.length - TRIPS_UNTIL_UNSTEADY;',
        wrong: 'const excess = -TRIPS_UNTIL_UNSTEADY;',
      },
    ],
    bias: storyOf(['cluster flaps']),
  },
  {
    name: 'late-answers-are-none',
    edits: [
      {
        file: 'worker/fence/own-renewals.ts',
        right: 'this.#answerLimitMs = Math.max(deps.renewEveryMs, ANSWER_MS_MIN, deps.fenceAfterMs * ANSWER_SHARE);',
        wrong: 'this.#answerLimitMs = Math.max(deps.renewEveryMs, ANSWER_MS_MIN);',
      },
    ],
    bias: storyOf(['answers late']),
  },
  {
    name: 'narrowing-is-silent',
    edits: [
      {
        file: 'manager/dispatch/mirror/lost-place.ts',
        right: "if (contact === 'NotServed') return notServed(group);",
        wrong: "if (contact === 'NotServed') return undefined;",
      },
    ],
    bias: storyOf(['namespace not served']),
  },
  {
    name: 'moves-before-pods-are-gone',
    edits: [
      {
        file: 'manager/work-kind/job/copy/copy-rest.ts',
        right: 'const idle = (status?.active ?? 0) === 0 && (status?.terminating ?? 0) === 0;',
        wrong: 'const idle = (status?.active ?? 0) === 0;',
      },
    ],
    bias: { troubles: ['cluster made anew'] },
  },
  {
    name: 'lost-answer-is-a-no',
    edits: [
      {
        file: 'manager/dispatch/controller/copy-actions.ts',
        right: 'else cluster.unanswered.lost(key);',
        wrong: 'else cluster.unanswered.unsent(key);',
      },
    ],
    bias: { troubles: ['dark after a create'], fair: true },
  },
  {
    // What a Job says of its dispatch comes 200 ms after the create: who dies before that has told nobody.
    name: 'no-doubt-after-a-restart',
    edits: [
      {
        file: 'manager/dispatch/mirror/unanswered-writes.ts',
        right: 'return this.#touched.has(key) || this.#open.has(key) || this.#left.has(key) ? undefined : this.#sinceBirthMs;',
        wrong: 'return this.#touched.has(key) || this.#open.has(key) || this.#left.has(key) ? undefined : 0;',
      },
      {
        file: 'manager/dispatch/decisions/decide-missing-copy.ts',
        right: 'if (kind.isSuspended(local) && isUntouched(cluster, record)) return',
        wrong: 'if (kind.isSuspended(local) && isUntouched(cluster, record) && !isDispatched(local.status, record)) return',
      },
      {
        file: 'manager/dispatch/mirror/unanswered-writes.ts',
        right: 'const forMs = sinceMs !== undefined && sinceMs >= this.#sinceBirthMs ? 0 : this.#bornMs + LATE_WRITE_MS - nowMs;',
        wrong: 'const forMs = sinceMs !== undefined && sinceMs >= this.#sinceBirthMs ? 0 : -1;',
      },
    ],
    bias: { troubles: ['killed after a create'], fair: true },
  },
  {
    name: 'clusters-without-identity',
    edits: [
      {
        file: 'manager/dispatch/connection/cluster-registry.ts',
        right: 'const problem = judgeIdentities(this.#identities.known(), homeUID).get(name);',
        wrong: 'const problem = judgeIdentities([], homeUID).get(name);',
      },
      {
        file: 'manager/dispatch/mirror/recorded-place.ts',
        right: 'if (clusterUID !== undefined && uid !== clusterUID) {',
        wrong: "if (clusterUID === '' && uid !== clusterUID) {",
      },
    ],
    bias: { troubles: ['kubeconfig repointed'] },
  },
  {
    name: 'two-managers-at-once',
    edits: [
      {
        file: 'manager/dispatch/lease/cluster-lease.ts',
        right: "if (step === 'Refuse') return this.#heldByOther(us, lease);",
        wrong: "if (step === 'Refuse') this.#heldByOther(us, lease);",
      },
    ],
    bias: { troubles: [], rival: true },
  },
  {
    name: 'given-up-without-a-lease',
    edits: [
      {
        file: 'manager/dispatch/lease/cluster-lease.ts',
        right: 'if (!this.#held || !this.#answered || isWanted) return 0;',
        wrong:
          'if (this.#options.givenUp() && this.#sentMs !== undefined) return 86_400_000; if (!this.#held || !this.#answered || isWanted) return 0;',
      },
      {
        file: 'manager/dispatch/lease/cluster-lease.ts',
        right: 'return this.#held && this.#options.clock.monotonic() - this.#renewedMs < this.#durationMs;',
        wrong: 'return this.#options.givenUp() || (this.#held && this.#options.clock.monotonic() - this.#renewedMs < this.#durationMs);',
      },
    ],
    bias: { troubles: ['cluster given up'], rival: true },
  },
  {
    name: 'refusals-tell-nobody',
    edits: [
      {
        file: 'manager/dispatch/controller/copy-actions.ts',
        right: 'if (jobs.get(parseKey(key))?.metadata.uid === local?.metadata.uid) cluster.setProblem(key, problem);',
        wrong: 'void jobs;',
      },
      {
        file: 'manager/admission/controllers/eviction-controller.ts',
        right: "...notStarted(this.#overdue('starts', cache.starts)),",
        wrong: "...notStarted(this.#overdue('starts', cache.starts)).slice(0, 0),",
      },
    ],
    bias: { troubles: ['rights withdrawn'] },
  },
  {
    name: 'every-cluster-has-to-be-seen',
    edits: [
      {
        file: 'manager/dispatch/controller/mirror-controller.ts',
        right: 'if (local !== undefined && mayBeAnywhere(kind, local, record))',
        wrong: 'if (local !== undefined)',
      },
      {
        file: 'manager/dispatch/mirror/mirror-group.ts',
        right: "name !== placeOf(group) && view.doubt.kind !== 'None' && view.contact !== 'Lost'",
        wrong: "name !== placeOf(group) && (view.doubt.kind !== 'None' || view.contact !== 'Ready')",
      },
    ],
    bias: { troubles: ['cut off for good'] },
  },
  {
    name: 'failed-admissions-keep-their-slot',
    edits: [
      {
        file: 'manager/admission/controllers/admission-writer.ts',
        right: 'if (error instanceof ApiError) return await this.#failed(reservation, error);',
        wrong: 'if (error instanceof ApiError && isRefusal(error)) return await this.#failed(reservation, error);',
      },
      // A small world has as many as a large one has Jobs that fail.
      { file: 'manager/admission/controllers/admission-writer.ts', right: 'const WRITES_MAX = 64;', wrong: 'const WRITES_MAX = 1;' },
    ],
    bias: { troubles: ['admission refused'] },
  },
  {
    name: 'silent-after-a-restore',
    edits: [
      {
        file: 'shared/kube/reflector.ts',
        right: 'if (isOlder(next, seen)) throw',
        wrong: 'if (isOlder(next, seen) && next === seen) throw',
      },
    ],
    bias: { troubles: ['worker restored'] },
  },
  {
    name: 'removed-cluster-keeps-jobs',
    edits: [
      {
        file: 'manager/admission/quota/cluster-state.ts',
        right: "spec.state === 'Draining' || metadata.deletionTimestamp !== undefined ||",
        wrong: "spec.state === 'Draining' ||",
      },
      {
        file: 'manager/dispatch/connection/cluster-registry.ts',
        right: 'if (workerCluster !== undefined) await this.#removal.retain(workerCluster, signal);',
        wrong: '',
      },
    ],
    bias: { troubles: ['cluster removed'] },
  },
  {
    name: 'foreign-finalizer-keeps-quota',
    edits: [
      {
        file: 'manager/admission/workload/workload.ts',
        right: "if (deleted && job.metadata.finalizers?.includes(COPIES_FINALIZER) !== true) return 'Finished';",
        wrong: '',
      },
    ],
    bias: { troubles: [], archived: true },
  },
  {
    name: 'suspension-stops-at-a-missing-flavor',
    edits: [
      {
        file: 'manager/dispatch/decisions/decide-present-copy.ts',
        right: "const spec = 'reason' in wanted ? suspension(group, copy.job, local) :",
        wrong: "const spec = 'reason' in wanted ? undefined :",
      },
    ],
    bias: { troubles: ['flavor deleted'] },
  },
  {
    name: 'suspensions-are-undone',
    edits: [
      {
        file: 'manager/admission/controllers/eviction-controller.ts',
        right: "workload.hold === undefined && record.evicted !== true ? { [HOLD_ANNOTATION]: 'true' } : {};",
        wrong: 'workload.hold === undefined ? {} : {};',
      },
    ],
    bias: { troubles: [] },
  },
  {
    name: 'carried-is-left-behind',
    edits: [
      {
        file: 'manager/dispatch/companions/write-companions.ts',
        right: 'const owned = { ...object, metadata: { ...object.metadata, ownerReferences } } as Unsaved<Content>;',
        wrong: 'const owned = object as Unsaved<Content>;',
      },
    ],
    bias: { troubles: [], fair: true, carries: true },
  },
  {
    name: 'sharing-takes-over',
    edits: [
      {
        file: 'manager/dispatch/companions/write-companions.ts',
        right:
          "const owned = await client.patch(resource, { namespace, name }, { type: 'strategic', body }, { ...options, answer: 'metadata' });",
        wrong:
          "const owned = await client.patch(resource, { namespace, name }, { type: 'merge', body }, { ...options, answer: 'metadata' });",
      },
    ],
    bias: { troubles: [], fair: true, carries: true },
  },
  {
    name: 'resumed-before-it-is-carried',
    edits: [
      {
        file: 'manager/dispatch/decisions/decide-present-copy.ts',
        right: 'const carry = mayLack ? carriedTo(',
        wrong: "const carry = mayLack && cluster === '' ? carriedTo(",
      },
    ],
    bias: { troubles: ['killed after a create', 'kill'], carries: true },
  },
  {
    name: 'equal-content-is-ours',
    edits: [
      {
        file: 'manager/dispatch/companions/write-companions.ts',
        right: 'if (!isCompanion(present) || !isSame(present, object)) return taken(',
        wrong: 'if (!isSame(present, object)) return taken(',
      },
    ],
    bias: { troubles: [], fair: true, carries: true },
  },
  {
    name: 'pods-without-identity-are-none',
    edits: [
      {
        file: 'manager/dispatch/writes/copy-writer.ts',
        right: 'return identity === undefined ? isNamedByLabels : identity.originUid === originUid;',
        wrong: 'return identity?.originUid === originUid;',
      },
    ],
    bias: { troubles: [], fair: true, described: true },
  },
] as const satisfies readonly Defect[];
export type DefectName = (typeof DEFECTS)[number]['name'];
export const DEFECT_NAMES = DEFECTS.map(({ name }) => name) as [DefectName, ...DefectName[]];

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The text of the file of the program with the edit in it. Throws where what is to be replaced does not stand there exactly once. */
export function withEdit({ file, right, wrong }: Edit, text = readFileSync(path.join(ROOT, file), 'utf8')): string {
  const parts = text.split(right);
  if (parts.length !== 2) throw new Error(`${JSON.stringify(right)} stands ${parts.length - 1} times in ${file}, not once`);
  return parts.join(wrong);
}

export function defectOf(wanted: DefectName): Defect {
  const defect = DEFECTS.find(({ name }) => name === wanted);
  if (defect === undefined) throw new Error(`there is no defect ${wanted}`);
  return defect;
}

/** Programs that are loaded after this have the defect. On disk nothing changes. */
export function putBack(wanted: DefectName): void {
  const sources = new Map<string, string>();
  for (const edit of defectOf(wanted).edits) {
    const url = pathToFileURL(path.join(ROOT, edit.file)).href;
    sources.set(url, withEdit(edit, sources.get(url)));
  }
  registerHooks({
    load: (url, context, next) => {
      const source = sources.get(url);
      return source === undefined ? next(url, context) : { ...next(url, context), source };
    },
  });
}
