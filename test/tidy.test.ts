/** The house rules of CONTRIBUTING.md, as a test: what a reader may rely on in every file. */
import { describe, expect, test } from 'vitest';
import { readSources, type SourceFile } from './support/source-files.ts';

const PRODUCT_FOLDERS = ['shared/', 'worker/', 'manager/'];

const sources = readSources();
const product = sources.filter((file) => PRODUCT_FOLDERS.some((folder) => file.name.startsWith(folder)));
/** Components of the page are drawn, and keep what a page keeps: tests in a browser look at them. */
const isDrawn = ({ name }: SourceFile): boolean => name.endsWith('.tsx');

const layerOf = (name: string): string => {
  if (name === 'manager/cli/local.ts' || name.startsWith('manager/cli/local/')) return 'local';
  // Judges manifests as the API server does: with its own code.
  if (name === 'manager/cli/what-if/validation.ts') return 'validation';
  if (name === 'manager/cli/main.ts' || name === 'manager/cli/commands.ts') return 'cli';
  return name.startsWith('shared/') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? '');
};
/** Who may import whom. */
const ALLOWED: Record<string, readonly string[]> = {
  'shared/api': [],
  'shared/runtime': ['shared/api'],
  // A package of its own for programs of users.
  'shared/client': ['shared/api'],
  'shared/kube': ['shared/api', 'shared/runtime'],
  // What somebody looks at and is woken by.
  'shared/monitoring': [],
  'shared/controlplane': ['shared/api', 'shared/runtime', 'shared/kube'],
  worker: ['shared/api', 'shared/runtime', 'shared/kube'],
  manager: ['shared/api', 'shared/runtime', 'shared/kube', 'shared/client', 'shared/monitoring', 'validation'],
  local: ['shared/api', 'shared/runtime', 'shared/kube', 'shared/client', 'shared/controlplane', 'shared/monitoring', 'worker', 'manager'],
  validation: ['shared/api', 'shared/runtime', 'shared/kube', 'shared/controlplane', 'manager'],
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
  ['schema', 'cel', 'storage'],
  ['apimachinery'],
];

/**
 * The files with effects: they wait, read a clock, chance, a file or the environment, or build on files that do. Every other file decides
 * or describes, and does nothing else. The list is derived below and compared, so that an effect is added on purpose or not at all.
 */
const EFFECTS: Readonly<Record<string, string>> = {
  'manager/admission':
    'admission admission-fair-sharing admission-writer corrector queue-status scheduler start-estimates waiting-reporter',
  'manager/cli':
    'cluster-connection cluster-flags command command-docs commands confirmation explain follow-objects history-store import-kueue local main only-queue process-session progress-line wait-for-jobs waiting with-cluster',
  'manager/cli/canary': 'command run',
  'manager/cli/clusters': 'join join-cluster leave leave-cluster list set-state state',
  'manager/cli/completion': 'command complete',
  'manager/cli/doctor': 'command look-at-programs look-at-redis release-judgements run',
  'manager/cli/get': 'command run',
  'manager/cli/history': 'command purge run run-purge',
  'manager/cli/jobs': 'cancel flags hold operands read-jobs release run',
  'manager/cli/logs': 'command follow-pods job-logs kept-logs log-sink print-pod-log run',
  'manager/cli/queues': 'command run',
  'manager/cli/replay': 'command run',
  'manager/cli/run': 'command run',
  'manager/cli/submissions': 'by-http by-redis flags run with-way',
  'manager/cli/submit': 'command read-file run',
  'manager/cli/top': 'command run',
  'manager/cli/explain': 'command program run world-reader',
  'manager/cli/import-kueue': 'command program run',
  'manager/cli/what-if': 'changes command run',
  'manager/cli/local':
    'advice clusters command config dashboard examples job-watch launch manager-account pod-watch ports program programs prometheus quick-start real-clusters run run-directory set-up short-path submit-examples summary webhook-certificate',
  manager:
    'admission-flags ask-world awaited-informers canary-flags certificate-flags client-factory config copy-endings dashboard-flags decision-log-file history-flags home-informers identity identity-alarm lead-when-elected log-disk main manager manager-dashboard read-redis-settings record-key record-origin redis-flags series-keeper serve-webhook serving-certificates worker-connection world-thread',
  'manager/audit': 'audit-file',
  'manager/certificates': 'certificate-keeper make-key-pair',
  'manager/dispatch':
    'cluster-lease cluster-probe cluster-registry cluster-removal confirm-deletion copies-by-template copy-ending copy-writer dispatch first-findings home-history lease-places leased-writes list-once look-for-copy mirror-controller orphan-collector reconciliation remote-cluster renewable-access start-inquiries token-renewal worker-secret worker-watch',
  'manager/history': 'history history-writer namespace-history open-store redis-store s3-store sqlite-store',
  'manager/canary': 'canary',
  'manager/invariants': 'live-invariants',
  'manager/http':
    'dashboard-routes history-routes read-static-files request-body send-events serve-dashboard serve-submissions server static-files submission-routes',
  'manager/dashboard':
    'actions allowed-actions caller-identity dashboard explanations fair-turns feed job-table live-reading place-reading rights-reader session time-line-reading',
  'manager/dashboard/page': 'api follow',
  'manager/live-logs': 'follow-log live-logs worker-readers',
  'manager/submission':
    'ask-impersonation bullmq-queue consumer control-queue doors fair-gate gated-queue guarded-worker intake ledger-store noted-jobs outcome-reporter progress-reporter queue-reporter redis-connection redis-probe removed-submissions submission-door submission-marks submissions tail-rows tail-teller tenant-client tenant-clients unadmittable-jobs withdrawn-jobs',
  'manager/webhook': 'server',
  'shared/controlplane/admission': 'admission-chain',
  'shared/controlplane/admission/webhook': 'webhook-client webhooks',
  'shared/controlplane/auth': 'bootstrap-roles',
  'shared/controlplane': 'bootstrap config control-plane guards main',
  'shared/controlplane/binaries': 'free-port kubelet-server launched-program own-controllers real-control-plane real-etcd secrets',
  'shared/controlplane/controllers':
    'controller-processes cron-job deployment discovery garbage-collector namespace-controller node-agent pod-gc replica-set start-controllers taint-eviction',
  'shared/controlplane/controllers/garbage-collector': 'object-monitors',
  'shared/controlplane/controllers/node-agent':
    'ask-probe container-output log-file node-status output-pipes pod-log-files pod-volumes pod-worker probes process-containers scheduler simulated-containers status-writer',
  'shared/controlplane/discovery': 'documents',
  'shared/controlplane/discovery/openapi': 'openapi-schemas openapi',
  'shared/controlplane/endpoints': 'patch-handler resource-handlers router watch',
  'shared/controlplane/registry': 'list registry',
  'shared/controlplane/server': 'api-server faults http-server in-process-transport kubeconfig-file serving-certificate',
  'shared/controlplane/storage': 'persistence store',
  'shared/controlplane/subresources': 'namespace-finalize pod-subresources scale-subresource service-account-token',
  'shared/kube':
    'access-gate access-reviews controller doubting-client event-recorder fenced-client guarded-connector http-transport informer informer-of-namespaces kube-client kubeconfig leader-election lease-hold rate-limiter reflector token-users traffic-pace watch-stream whole-answer workqueue',
  'shared/kube/kubeconfig': 'auth-provider exec-plugin in-cluster read-credentials',
  'shared/client': 'client signing watcher',
  'shared/runtime':
    'byte-room clock command-line config-file deadline fair-slots flags forget-series http-server invariant-watch kept-answers kept-connections leash lifecycle metrics-text pino-logger program-flags server-connections serving-certificate span-exporter tasks time-slices tracing-flags wake-up',
  worker: 'config elected-worker in-parallel main watched-namespaces worker',
  'worker/fence': 'fence lease-rights pod-renewals worker-lease',
  'worker/invariants': 'live-invariants',
  'worker/job': 'apply claim controller observe orphan-pods tracking-finalizer triggers',
  'worker/logs': 'tail-keeper tail-store tail-sweep',
  'worker/ttl': 'ttl-after-finished',
};

const MANAGER_SIBLINGS = [
  'http',
  'invariants',
  'canary',
  'submission',
  'webhook',
  'admission',
  'dispatch',
  'history',
  'dashboard',
  'story',
];

const withoutStrings = (code: string): string => code.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, "''");

const offences = (files: readonly SourceFile[], find: (file: SourceFile) => string | undefined): string[] =>
  files.flatMap((file) => {
    const offence = find(file);
    return offence === undefined ? [] : [`${file.name}: ${offence}`];
  });

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

  test('the siblings inside manager do not import one another', () => {
    const siblingOf = (name: string): string | undefined => MANAGER_SIBLINGS.find((sibling) => name.startsWith(`manager/${sibling}/`));
    expect(
      offences(product, (file) => {
        const own = siblingOf(file.name);
        if (own === undefined) return undefined;
        const wrong = file.imports.filter(({ target }) => siblingOf(target) !== undefined && siblingOf(target) !== own);
        return wrong.length === 0 ? undefined : `imports ${wrong.map(({ target }) => target).join(', ')}`;
      }),
    ).toEqual([]);
  });

  test('a room of the control plane imports itself and what lies below it', () => {
    const room = (name: string): string => (name.split('/').length === 3 ? '' : (name.split('/')[2] ?? ''));
    const height = (name: string): number => CONTROL_PLANE_LAYERS.findIndex((layer) => layer.includes(room(name)));
    const files = sources.filter(({ name }) => name.startsWith('shared/controlplane/'));
    expect(offences(files, ({ name }) => (height(name) < 0 ? `the room ${room(name)} has no layer` : undefined))).toEqual([]);
    expect(
      offences(files, ({ name, imports }) => {
        const wrong = imports.filter(
          ({ target }) => target.startsWith('shared/controlplane/') && room(target) !== room(name) && height(target) <= height(name),
        );
        return wrong.length === 0 ? undefined : `imports ${wrong.map(({ target }) => target).join(', ')}`;
      }),
    ).toEqual([]);
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
  const listed = new Set(Object.entries(EFFECTS).flatMap(([folder, names]) => names.split(' ').map((name) => `${folder}/${name}.ts`)));

  test('the files with effects are those that are listed', () => {
    expect([...effects].filter(([name]) => !listed.has(name)).map(([name, why]) => `${name}: ${why}`)).toEqual([]);
    expect([...listed].filter((name) => !effects.has(name)).map((name) => `${name} has no effects: take it off the list`)).toEqual([]);
  });

  test('every file without effects has its unit test: of its name, or beside it and importing it', () => {
    const unitTests = sources.filter(({ name }) => name.startsWith('test/unit/'));
    const tested = new Set(
      unitTests.flatMap(({ name, imports }) => [
        name.replace(/^test\/unit\//, '').replace(/\.test\.ts$/, '.ts'),
        ...imports
          .filter(({ target, typeOnly }) => !typeOnly && name.startsWith(`test/unit/${folderOf(target)}/`))
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

const folderOf = (name: string): string => name.slice(0, name.lastIndexOf('/'));

/** Names, tables and types alone need no test. */
const hasFunctions = ({ code }: SourceFile): boolean =>
  /=>|\bfunction\b|\bclass\b/.test(withoutStrings(code).replace(/^(export )?(type|interface) [\s\S]*?(;\n(?! )|\n\})/gm, ''));

describe('every file', () => {
  test('time and chance come in as arguments', () => {
    // The client runs in programs of users, who have no clock for it.
    const allowed = /^shared\/(runtime|client)\/|\/(main|config)\.ts$|^manager\/cli\//;
    expect(
      offences(
        product.filter((file) => !isDrawn(file) && !allowed.test(file.name)),
        ({ code }) => /\bDate\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(/.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('environment and flags are read in config files and programs alone', () => {
    const allowed = /\/(main|config)\.ts$|^manager\/cli\/|^shared\/runtime\/|^shared\/kube\/kubeconfig\.ts$/;
    expect(
      offences(
        product.filter((file) => !isDrawn(file) && !allowed.test(file.name)),
        ({ code }) => /process\.(env|argv)/.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('no module holds mutable state', () => {
    expect(
      offences(
        product.filter((file) => !isDrawn(file)),
        ({ code }) =>
          /^(export )?let .*$/m.exec(code)?.[0] ??
          /^(export )?const \w+(: (?:Map|Set|WeakMap|WeakSet)<[^=]+)? = new (Map|Set|WeakMap|WeakSet|Array)\(\);?$/m.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('no product file is imported by nobody', () => {
    const entryPoints = /\/main\.tsx?$|^manager\/cli\/(local|import-kueue|explain)\.ts$/;
    const imported = new Set(sources.flatMap(({ imports }) => imports.map(({ target }) => target)));
    expect(product.filter(({ name }) => !entryPoints.test(name) && !imported.has(name)).map(({ name }) => name)).toEqual([]);
  });

  test('no drawer is called utils or helpers, and no barrel re-exports a folder', () => {
    expect(
      offences(sources, ({ name }) =>
        /(^|[/-])(utils?|helpers?|common|misc)\.(ts|mjs)$|\/index\.(ts|mjs)$/.test(name) ? 'name the idea it holds' : undefined,
      ),
    ).toEqual([]);
    expect(offences(product, ({ code }) => /^export \* from .*$/m.exec(code)?.[0])).toEqual([]);
  });

  test('no file is longer than 500 lines', () => {
    expect(
      offences(sources, ({ text }) =>
        text.split('\n').length > 501 ? `${text.split('\n').length} lines: is there a second idea in it?` : undefined,
      ),
    ).toEqual([]);
  });

  test('nothing is left undone, switched off or swallowed', () => {
    const leftovers = new RegExp(
      [
        '\\bTO' + 'DO\\b',
        '\\bFIX' + 'ME\\b',
        '\\b(it|test|describe)\\.(on' + 'ly|to' + 'do)\\b',
        'catch( \\([^)]*\\))? \\{ *\\}',
        '\\.catch\\(\\(\\) => (\\{\\}|undefined|null)\\)',
        'not imple' + 'mented',
      ].join('|'),
    );
    expect(offences(sources, ({ text }) => leftovers.exec(text)?.[0])).toEqual([]);
  });

  test('no type check is switched off', () => {
    const suppressions = new RegExp(['@ts-ig' + 'nore', '@ts-no' + 'check'].join('|'));
    expect(
      offences(product, ({ text, code }) => (suppressions.exec(text) ?? /\bas any\b|: any\b/.exec(withoutStrings(code)))?.[0]),
    ).toEqual([]);
  });
});
