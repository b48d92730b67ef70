/**
 * The structure of the project, as a test: who may import whom, from the top down, and which rooms only decide.
 * CONTRIBUTING.md has it in words.
 */
import { describe, expect, test } from 'vitest';
import { readSources, withoutStrings, type SourceFile } from './support/source-files.ts';

const PRODUCT_FOLDERS = ['shared/', 'worker/', 'manager/'];

const sources = readSources();
const product = sources.filter((file) => PRODUCT_FOLDERS.some((folder) => file.name.startsWith(folder)));
/** Components of the page are drawn, and keep what a page keeps: tests in a browser look at them. */
const isDrawn = ({ name }: SourceFile): boolean => name.endsWith('.tsx');

const layerOf = (name: string): string => {
  if (name === 'manager/cli/local.ts' || name.startsWith('manager/cli/local/')) return 'local';
  // Judges manifests as the API server does: with its own code.
  if (name === 'manager/cli/what-if/validation.ts') return 'validation';
  if (/^manager\/cli\/(main|switchyard|commands)\.ts$/.test(name)) return 'cli';
  return name.startsWith('shared/') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? '');
};
/** Who may import whom. */
const ALLOWED: Record<string, readonly string[]> = {
  'shared/api': [],
  'shared/runtime': ['shared/api'],
  // A package of its own for programs of users.
  'shared/client': ['shared/api'],
  'shared/kube': ['shared/api', 'shared/runtime'],
  // Expressions, for whoever evaluates them.
  'shared/cel': ['shared/api', 'shared/runtime', 'shared/kube'],
  // What somebody looks at and is woken by.
  'shared/monitoring': [],
  'shared/controlplane': ['shared/api', 'shared/runtime', 'shared/kube', 'shared/cel'],
  worker: ['shared/api', 'shared/runtime', 'shared/kube'],
  manager: ['shared/api', 'shared/runtime', 'shared/kube', 'shared/cel', 'shared/client', 'shared/monitoring', 'validation'],
  local: [
    'shared/api',
    'shared/runtime',
    'shared/kube',
    'shared/cel',
    'shared/client',
    'shared/controlplane',
    'shared/monitoring',
    'worker',
    'manager',
  ],
  validation: ['shared/api', 'shared/runtime', 'shared/kube', 'shared/cel', 'shared/controlplane', 'manager'],
  cli: ['shared/runtime', 'manager', 'local'],
};

/**
 * The rooms of the embedded control plane, from the top down, in upstream's layers and words. A file imports its own room and rooms of
 * lower lines; rooms of one line know nothing of each other. `''` are the files that lie flat: they put the rooms together.
 */
const CONTROL_PLANE_LAYERS: readonly (readonly string[])[] = [
  [''],
  ['binaries'],
  ['controllers'],
  ['subresources'],
  ['crd'],
  ['discovery'],
  ['endpoints'],
  ['server'],
  ['registry'],
  ['request'],
  ['admission'],
  ['auth'],
  ['kinds'],
  ['fields', 'patch'],
  ['resources'],
  ['schema', 'storage'],
  ['apimachinery'],
];

/**
 * The rooms of the manager, from the top down. A file imports its own room and rooms of lower lines; rooms of one line know nothing of
 * each other. `''` are the files that lie flat: they put the rooms together.
 */
const MANAGER_LAYERS: readonly (readonly string[])[] = [
  [''],
  ['leader'],
  ['metrics'],
  ['process'],
  ['live-logs'],
  ['dashboard'],
  ['cli'],
  ['insight/questions'],
  ['insight/explain'],
  ['insight/estimate'],
  ['insight/what-if', 'insight/replay'],
  ['insight/world'],
  ['config'],
  ['admission'],
  ['admission/controllers'],
  ['admission/queues', 'admission/eviction', 'admission/decision-log'],
  ['admission/cache', 'admission/scheduling'],
  ['admission/preemption'],
  ['admission/flavors'],
  ['admission/snapshot'],
  ['admission/fair-sharing'],
  ['admission/workload'],
  ['admission/quota'],
  ['dispatch'],
  ['dispatch/controller'],
  ['dispatch/connection'],
  ['dispatch/writes'],
  ['dispatch/token', 'dispatch/lease', 'dispatch/listing'],
  ['dispatch/cluster'],
  ['dispatch/decisions'],
  ['dispatch/mirror'],
  ['dispatch/companions'],
  ['dispatch/status-home'],
  ['dispatch/metrics'],
  ['submission', 'history', 'http', 'webhook', 'story'],
  ['sign-in', 'canary'],
  ['work-kind/job', 'work-kind/described'],
  ['work-kind/copy'],
  ['policy', 'audit', 'invariants', 'certificates'],
  ['work-kind'],
  ['api'],
];

/** The fields of a Job's spec that say what it is, read of a Job, or taken apart. */
const READS_A_JOB =
  /\b(?:job|local|copy|oldJob|foreign)\??\.spec\b|\bspec\??\.(?:suspend|managedBy|parallelism|completions|completionMode|backoffLimit|activeDeadlineSeconds|ttlSecondsAfterFinished|manualSelector|podFailurePolicy)\b|\{[^{}]*\bspec\b[^{}]*\}: (?:DeepReadonly<)?Job\b/;

/** Files of the manager outside `work-kind` that know a Job's fields or resource, each with its reason: at most 15. */
const KNOW_JOBS: Readonly<Record<string, string>> = {
  'manager/cli/job-row.ts': 'the columns of Jobs',
  'manager/cli/local/job-set/operator.ts': 'plays the operator of JobSets, which makes Jobs of them',
  'manager/cli/local/job-watch.ts': 'plays the Jobs of the examples',
  'manager/cli/local/submit-examples.ts': 'plays the Jobs of the examples',
  'manager/cli/logs/job-logs.ts': 'names the pods of Jobs with several',
  'manager/cli/what-if/change-kinds.ts': 'the objects that a change may name',
  'manager/dashboard/job-line.ts': 'the fields of Jobs that the page shows',
  'manager/dashboard/job-view.ts': 'the fields of Jobs that the page shows',
  'manager/policy/conditional-rules.ts': 'compares specs as a whole, whatever is in them',
};

/** Files that begin something, and hand in the kind. */
const HAND_IN_THE_KIND: Readonly<Record<string, string>> = {
  'manager/cli/cluster-connection.ts': 'for commands with a manager cluster',
  'manager/cli/submissions/run.ts': 'for a command without one',
  'manager/cli/what-if/validation.ts': 'judges manifests of Jobs as the API server does',
  'manager/insight/questions/simulation-worker.ts': 'a thread of its own',
  'manager/manager.ts': 'for all of the manager',
};

/** Parts of the manager whose rooms are layers of their own. */
const DIVIDED = ['admission', 'dispatch', 'insight', 'work-kind'];
/** Rooms of these parts hold few files, so that a reader can look at a room as one thing. */
const FILES_OF_A_ROOM_MAX = 15;

/**
 * Rooms that decide or describe and do nothing else: no file of theirs waits, reads a clock, chance, a file or the environment, or builds
 * on files that do, but for those that are named beside the room.
 */
const PURE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  'manager/admission/cache': [],
  'manager/admission/decision-log': [],
  'manager/admission/eviction': [],
  'manager/admission/fair-sharing': [],
  'manager/admission/flavors': [],
  'manager/admission/preemption': [],
  'manager/admission/queues': [],
  'manager/admission/quota': [],
  'manager/admission/scheduling': [],
  'manager/admission/snapshot': [],
  'manager/admission/workload': [],
  'manager/api': [],
  'manager/api/schema': [],
  'manager/audit': ['audit-file'],
  'manager/canary': ['canary'],
  'manager/dispatch/cluster': ['cluster-probe', 'cluster-removal'],
  'manager/dispatch/companions': ['read-companions', 'write-companions'],
  'manager/dispatch/decisions': [],
  'manager/dispatch/metrics': [],
  'manager/dispatch/mirror': [],
  'manager/dispatch/status-home': [],
  'manager/dispatch/writes': ['copy-writer'],
  'manager/insight/estimate': ['start-estimates'],
  'manager/insight/explain': [],
  'manager/insight/replay': [],
  'manager/insight/what-if': [],
  'manager/insight/world': [],
  'manager/policy': [],
  'manager/sign-in': ['cookie-seal', 'oidc-client', 'sign-in'],
  'manager/story': [],
  'manager/webhook': ['server'],
  'manager/work-kind': ['informer-of-kinds', 'kinds-client'],
  'manager/work-kind/copy': [],
  'manager/work-kind/described': [],
  'manager/work-kind/job': [],
  'manager/work-kind/job/copy': [],
  'manager/work-kind/job/status-home': [],
  'shared/api': [],
  'shared/cel': [],
  'shared/cel/checker': [],
  'shared/cel/cost': [],
  'shared/controlplane/admission': ['admission-chain'],
  'shared/controlplane/admission/policy': [],
  'shared/controlplane/admission/webhook': ['webhook-client', 'webhooks'],
  'shared/controlplane/apimachinery': [],
  'shared/controlplane/auth': ['bootstrap-roles'],
  'shared/controlplane/controllers/cron-job': [],
  'shared/controlplane/controllers/deployment': [],
  'shared/controlplane/crd': [],
  'shared/controlplane/fields': [],
  'shared/controlplane/kinds': [],
  'shared/controlplane/patch': [],
  'shared/controlplane/request': [],
  'shared/controlplane/request/protobuf': [],
  'shared/controlplane/resources': [],
  'shared/controlplane/schema': [],
  'shared/monitoring': [],
  'shared/monitoring/dashboards': [],
  'worker/job': ['apply', 'claim', 'controller', 'observe', 'orphan-pods', 'tracking-finalizer', 'triggers'],
  'worker/logs': ['tail-keeper', 'tail-store', 'tail-sweep'],
  'worker/trace': [],
};

const offences = (files: readonly SourceFile[], find: (file: SourceFile) => string | undefined): string[] =>
  files.flatMap((file) => {
    const offence = find(file);
    return offence === undefined ? [] : [`${file.name}: ${offence}`];
  });

/** The folder of a file; of a room of a divided part, that part. */
const partOf = (name: string): string => {
  const part = DIVIDED.find((each) => name.startsWith(`manager/${each}/`));
  return part === undefined ? folderOf(name) : `manager/${part}`;
};

const fileOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1).replace(/\.ts$/, '');

const folderOf = (name: string): string => name.slice(0, name.lastIndexOf('/'));

/** Names, tables and types alone need no test; docs/metrics.md has all metrics, and is compared with what is registered. */
const hasFunctions = ({ name, code }: SourceFile): boolean =>
  !name.endsWith('metrics.ts') &&
  /=>|\bfunction\b|\bclass\b/.test(withoutStrings(code).replace(/^(export )?(type|interface) [\s\S]*?(;\n(?! )|\n\})/gm, ''));

/** Groups of files that import one another, by whatever way round (Tarjan's strongly connected components). */
function circles(files: readonly SourceFile[]): string[][] {
  const importsOf = new Map(files.map(({ name, imports }) => [name, imports.map(({ target }) => target)]));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (name: string): number => {
    const own = order.size;
    order.set(name, own);
    lowest.set(name, own);
    open.push(name);
    for (const target of importsOf.get(name) ?? []) {
      if (!importsOf.has(target)) continue;
      const reached = order.has(target) ? (open.includes(target) ? (order.get(target) ?? own) : own) : visit(target);
      lowest.set(name, Math.min(lowest.get(name) ?? own, reached));
    }
    const low = lowest.get(name) ?? own;
    if (low === own) {
      const circle = open.splice(open.indexOf(name));
      if (circle.length > 1) found.push(circle.toSorted());
    }
    return low;
  };
  for (const { name } of files) if (!order.has(name)) visit(name);
  return found;
}

describe('layers', () => {
  test('every import follows the import matrix', () => {
    expect(
      offences(product, (file) => {
        const layer = layerOf(file.name);
        const wrong = file.imports.filter(
          ({ target }) =>
            PRODUCT_FOLDERS.some((folder) => target.startsWith(folder)) &&
            layerOf(target) !== layer &&
            !ALLOWED[layer]?.includes(layerOf(target)),
        );
        return wrong.length === 0 ? undefined : `imports ${wrong.map(({ target }) => target).join(', ')}`;
      }),
    ).toEqual([]);
  });

  test.each([
    { part: 'shared/controlplane', lines: CONTROL_PLANE_LAYERS },
    { part: 'manager', lines: MANAGER_LAYERS },
  ])('a room of $part imports itself and what lies below it', ({ part, lines }) => {
    const room = (name: string): string => {
      const [first = '', second = '', third] = name.slice(part.length + 1).split('/');
      if (second === '') return '';
      return part === 'manager' && DIVIDED.includes(first) && third !== undefined ? `${first}/${second}` : first;
    };
    const height = (name: string): number => lines.findIndex((line) => line.includes(room(name)));
    const files = sources.filter(({ name }) => name.startsWith(`${part}/`));
    expect(offences(files, ({ name }) => (height(name) < 0 ? `the room ${room(name)} has no layer` : undefined))).toEqual([]);
    expect(
      offences(files, ({ name, imports }) => {
        const wrong = imports.filter(
          ({ target }) => target.startsWith(`${part}/`) && room(target) !== room(name) && height(target) <= height(name),
        );
        return wrong.length === 0 ? undefined : `imports ${wrong.map(({ target }) => target).join(', ')}`;
      }),
    ).toEqual([]);
  });

  test('the help of the program switchyard loads flags and texts, and no client of anything', () => {
    const byName = new Map(sources.map((file) => [file.name, file]));
    const loaded = new Set<string>();
    const load = (name: string): void => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const { target, atStart } of byName.get(name)?.imports ?? []) if (atStart) load(target);
    };
    load('manager/cli/main.ts');
    const isOurs = (name: string): boolean => byName.has(name) || name === 'package.json';
    expect([...loaded].filter((name) => !isOurs(name)).toSorted()).toEqual([
      'commander',
      'node:crypto',
      'node:fs',
      'node:net',
      'node:path',
      'node:util',
    ]);
    const works = /\/run(?:-\w+)?\.ts$|^shared\/(?:cel|client|controlplane)\/|client|transport|informer|kubeconfig\b/;
    expect([...loaded].filter((name) => works.test(name) && name !== 'manager/cli/run/command.ts')).toEqual([]);
  });

  test('a room of admission, dispatch and insight has few files', () => {
    const rooms = Map.groupBy(
      product.filter(({ name }) => DIVIDED.some((part) => name.startsWith(`manager/${part}/`))),
      ({ name }) => folderOf(name),
    );
    expect([...rooms].filter(([, files]) => files.length > FILES_OF_A_ROOM_MAX).map(([room, files]) => `${room}: ${files.length}`)).toEqual(
      [],
    );
  });

  test('files of the manager ask a kind of work what a Job is, but for those that are named', () => {
    const outside = product.filter(({ name }) => name.startsWith('manager/') && !name.startsWith('manager/work-kind/'));
    const knows = ({ code, imports }: SourceFile): boolean =>
      READS_A_JOB.test(withoutStrings(code)) || imports.some(({ values }) => values.includes('JOBS'));
    expect(outside.filter(knows).map(({ name }) => name)).toEqual(Object.keys(KNOW_JOBS).toSorted());
    expect(
      outside.filter(({ imports }) => imports.some(({ target }) => target.startsWith('manager/work-kind/job/'))).map(({ name }) => name),
    ).toEqual(Object.keys(HAND_IN_THE_KIND).toSorted());
  });

  test('there is no circle of imports, types included', () => {
    expect(circles(sources)).toEqual([]);
  });

  test('bullmq is imported in few files', () => {
    expect(product.filter((file) => file.imports.some(({ specifier }) => specifier === 'bullmq')).map(({ name }) => name)).toEqual([
      'manager/submission/bullmq-queue.ts',
      'manager/submission/control-queue.ts',
      'manager/submission/guarded-worker.ts',
      'manager/submission/removed-submissions.ts',
      'shared/client/client.ts',
      'shared/client/watcher.ts',
    ]);
  });

  test('the Kubernetes client library is there for its types, and loaded only where a kubeconfig names an auth provider', () => {
    const loading = product.flatMap(({ name, imports }) =>
      imports.filter(({ target, typeOnly }) => target === '@kubernetes/client-node' && !typeOnly).map(({ atStart }) => ({ name, atStart })),
    );
    expect(loading).toEqual([{ name: 'shared/kube/kubeconfig/auth-provider.ts', atStart: false }]);
  });

  test.each(['worker/main.ts', 'manager/main.ts'])('%s loads at its start what every start needs, and nothing else', (program) => {
    const byName = new Map(sources.map((file) => [file.name, file]));
    const loaded = new Set([program]);
    for (const name of loaded) for (const { target, atStart } of byName.get(name)?.imports ?? []) if (atStart) loaded.add(target);
    const packages = [...loaded].filter((name) => !byName.has(name) && !/^node:|\.json$/.test(name));
    expect(packages.toSorted()).toEqual(['pino', 'prom-client', 'undici', 'yaml']);
    // Its import, unlike that of others of Node's modules, loads an HTTP client of 13 MiB; shared/runtime/http-server.ts has a way around.
    expect(loaded.has('node:http')).toBe(false);
  });
});

/** Reads a table that is part of the product, once, when it is imported: a constant. */
const CONSTANT_TABLES = ['shared/controlplane/schema/builtin.ts'];

const EFFECT_WORDS =
  /\basync\b|\bawait\b|\bPromise\.|new Promise|\.then\(|Date\.now|Math\.random|setTimeout|setInterval|setImmediate|process\.|console\.|new Date\(\)|performance\.now/;
const PURE_NODE_MODULES = ['node:path', 'node:util', 'node:net', 'node:buffer', 'node:assert'];
const PURE_CRYPTO = [
  'createHash',
  'createHmac',
  'hash',
  'createPrivateKey',
  'createPublicKey',
  'timingSafeEqual',
  'verify',
  'X509Certificate',
];
const EFFECTFUL_PACKAGES = ['undici', 'bullmq', 'ioredis', 'pino', '@kubernetes/client-node', '@peculiar/x509'];

/** What makes a file effectful by itself; undefined where nothing does. */
function ownEffect({ name, code, imports }: SourceFile): string | undefined {
  if (CONSTANT_TABLES.includes(name)) return undefined;
  const effectful = imports.find(
    ({ target, values }) =>
      values.length > 0 &&
      (EFFECTFUL_PACKAGES.includes(target) ||
        (target.startsWith('node:') &&
          !PURE_NODE_MODULES.includes(target) &&
          !(target === 'node:crypto' && values.every((value) => PURE_CRYPTO.includes(value))))),
  );
  return EFFECT_WORDS.exec(withoutStrings(code))?.[0] ?? effectful?.target;
}

/** Each product file with effects, and why: its own, or the import that brings them. */
function effectsOf(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const effects = new Map(
    files.flatMap((file) => {
      const own = ownEffect(file);
      return own === undefined ? [] : [[file.name, own] as const];
    }),
  );
  for (let before = -1; before !== effects.size; ) {
    before = effects.size;
    for (const { name, imports } of files) {
      const brought = imports.find(({ target, typeOnly }) => !typeOnly && effects.has(target));
      if (brought !== undefined && !effects.has(name)) effects.set(name, `imports ${brought.target}`);
    }
  }
  return effects;
}

describe('purity', () => {
  const effects = effectsOf(product.filter((file) => !isDrawn(file)));

  test('a pure room has no effects but in the files that are named', () => {
    const hasRoom = ({ name }: SourceFile): boolean => Object.hasOwn(PURE_ROOMS, folderOf(name));
    const isNamed = (name: string): boolean => PURE_ROOMS[folderOf(name)]?.includes(fileOf(name)) === true;
    expect(offences(product.filter(hasRoom), ({ name }) => (isNamed(name) ? undefined : effects.get(name)))).toEqual([]);
    expect(
      Object.entries(PURE_ROOMS).flatMap(([room, names]) =>
        names.filter((name) => !effects.has(`${room}/${name}.ts`)).map((name) => `${room}/${name}.ts has no effects: take it off the list`),
      ),
    ).toEqual([]);
  });

  test('every file without effects has its unit test: of its name, or of its part and importing it', () => {
    const unitTests = sources.filter(({ name }) => name.startsWith('test/unit/'));
    const tested = new Set(
      unitTests.flatMap(({ name, imports }) => [
        name.replace(/^test\/unit\//, '').replace(/\.test\.ts$/, '.ts'),
        ...imports
          .filter(({ target, typeOnly }) => !typeOnly && name.startsWith(`test/unit/${partOf(target)}/`))
          .map(({ target }) => target),
      ]),
    );
    expect(
      product
        .filter((file) => !isDrawn(file) && !effects.has(file.name) && hasFunctions(file) && !tested.has(file.name))
        .map(({ name }) => name),
    ).toEqual([]);
  });
});
