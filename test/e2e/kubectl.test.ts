/**
 * What people do with kubectl, against one control plane whose node agent runs the containers and beside which our
 * worker runs the Jobs: with the newest kubectl of this machine, and with SWITCHYARD_SLOW=1 with every one.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { customResourceDefinition } from '../../manager/api/kind-definition.ts';
import { SWITCHYARD_KINDS } from '../../manager/api/kinds.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { type RunningWorker, startWorker } from '../support/embedded-cluster.ts';
import { createKubectl, findKubectls, type Kubectl } from '../support/kubectl.ts';
import { isServerReal, type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { isSlow } from '../support/slow.ts';

const TEST_LIMIT_MS = 300_000;
const found = findKubectls(process.env);
const kubectls = isSlow ? found : found.slice(-1);
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-kubectl-'));
const kubeconfig = path.join(directory, 'kubeconfig');
let cluster: ServerUnderTest;
let worker: RunningWorker;

beforeAll(async () => {
  if (kubectls.length === 0) return;
  cluster = await startServerUnderTest({ controllers: ['garbage-collector', 'namespace', 'pod-gc', 'node-agent'] });
  worker = startWorker(cluster, systemClock);
  writeFileSync(kubeconfig, cluster.kubeconfig);
}, TEST_LIMIT_MS);

afterAll(async () => {
  await worker?.stop();
  await cluster?.close();
  rmSync(directory, { recursive: true, force: true });
});

test.runIf(kubectls.length === 0)('kubectl', ({ skip }) => skip('no kubectl on the PATH, and $KUBECTL_BINARIES names none'));

describe.each(kubectls)('kubectl $version', { timeout: TEST_LIMIT_MS }, (binary) => {
  /** Distinguishes what is not in a namespace; the namespace of the rest. */
  const ns = binary.version.replaceAll('.', '-').toLowerCase();
  const kubectl: Kubectl = createKubectl(binary, kubeconfig, ns, path.join(directory, ns));
  /** What each command prints. They only read, and run at once. */
  const expectOutputs = async (expected: Readonly<Record<string, RegExp>>): Promise<void> => {
    await Promise.all(Object.entries(expected).map(async ([command, output]) => expect(await kubectl(command), command).toMatch(output)));
  };
  /** What each command that cannot be obeyed says. */
  const expectRefusals = async (expected: Readonly<Record<string, RegExp>>): Promise<void> => {
    await Promise.all(
      Object.entries(expected).map(async ([command, words]) => expect(await kubectl.refused(command), command).toMatch(words)),
    );
  };
  /** A Job that sleeps for so many seconds and then prints a word. */
  const createJob = (name: string, seconds = 0): Promise<string> =>
    kubectl(`create job ${name} --image=busybox -- sh -c 'sleep ${seconds}; echo done with ${name}'`);
  const apply = (object: object, flags = ''): Promise<string> => kubectl(`apply -f - ${flags}`, { stdin: stringify(object) });
  const read = async (command: string): Promise<unknown> => JSON.parse(await kubectl(`get ${command} -o json`));
  const jsonpath = (command: string, at: string): Promise<string> => kubectl(`get ${command} -o 'jsonpath={${at}}'`);
  const configMap = (name: string, data: Record<string, string>): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });

  test('creates what it has a generator for', async () => {
    expect(await kubectl(`create namespace ${ns}`)).toBe(`namespace/${ns} created\n`);
    const generators = [
      'create serviceaccount robot',
      'create configmap settings --from-literal=colour=blue',
      'create secret generic password --from-literal=word=open',
      'create secret docker-registry registry --docker-username=u --docker-password=p',
      'create quota small --hard=configmaps=50,pods=1000',
      `create priorityclass high-${ns} --value=1000 --description=first`,
      'create role reader --verb=get,list --resource=pods,pods/log',
      `create rolebinding readers --role=reader --serviceaccount=${ns}:robot`,
      `create clusterrole lister-${ns} --verb=list --resource=jobs.batch,nodes`,
      `create clusterrolebinding listers-${ns} --clusterrole=lister-${ns} --user=alice --group=devs`,
      'create poddisruptionbudget spare --min-available=1 --selector=app=none',
      'create deployment web --image=nginx --replicas=2 --port=80',
      'create service clusterip web --tcp=80:8080',
      `create cronjob nightly --image=busybox '--schedule=0 3 * * *' -- echo night`,
      `create job plain --image=busybox -- sh -c 'echo done with plain'`,
      'run bare --image=busybox --restart=Never --labels=app=bare --command -- echo bare',
    ];
    const lines = await Promise.all(generators.map((generator) => kubectl(generator)));
    for (const line of lines) expect(line).toMatch(/ created\n$/);
    expect(await kubectl('create job by-hand --from=cronjob/nightly')).toBe('job.batch/by-hand created\n');
    const made: Readonly<Record<string, object>> = {
      'secret password': { type: 'Opaque', data: { word: 'b3Blbg==' } },
      'configmap settings': { data: { colour: 'blue' } },
      'quota small': { spec: { hard: { configmaps: '50', pods: '1k' } } },
      [`priorityclass high-${ns}`]: { value: 1000, description: 'first', preemptionPolicy: 'PreemptLowerPriority' },
      'rolebinding readers': { subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: ns }] },
      'poddisruptionbudget spare': { spec: { minAvailable: 1, selector: { matchLabels: { app: 'none' } } } },
      'deployment web': { spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, strategy: { type: 'RollingUpdate' } } },
      'service web': { spec: { type: 'ClusterIP', ports: [{ name: '80-8080', port: 80, protocol: 'TCP', targetPort: 8080 }] } },
      'job by-hand': {
        metadata: { ownerReferences: [{ kind: 'CronJob', name: 'nightly' }] },
        spec: { template: { spec: { containers: [{ command: ['echo', 'night'] }] } } },
      },
    };
    await Promise.all(Object.entries(made).map(async ([name, object]) => expect(await read(name), name).toMatchObject(object)));
    await expectOutputs({ 'create token robot --duration=10m': /^[\w-]+\.[\w-]+\.[\w-]+$/ });
  });

  test('says why something cannot be created', async () => {
    await expectRefusals({
      'create configmap settings': /configmaps "settings" already exists/,
      ...(isServerReal() ? {} : { 'create ingress web --rule=example.com/=web:80': /could not find the requested resource/ }),
      'create job Bad_Name --image=busybox': /metadata.name: Invalid value: "Bad_Name"/,
    });
    const mistyped = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'typo' }, spec: { completion: 3, template: {} } };
    expect(await kubectl.refused('create -f -', { stdin: stringify(mistyped) })).toMatch(/unknown field "spec.completion"/);
    expect(await kubectl.refused('create --validate=ignore -f -', { stdin: stringify(mistyped) })).toMatch(
      /spec.template.spec.containers: Required value/,
    );
  });

  test('gets objects in every format', async () => {
    await kubectl('wait --for=condition=complete job/plain --timeout=120s');
    await expectOutputs({
      'get jobs': /^NAME +STATUS +COMPLETIONS +DURATION +AGE\n(.*\n)*plain +Complete +1\/1 +\d+s +\d+s\n/,
      'get jobs -o wide': /CONTAINERS +IMAGES +SELECTOR\n(.*\n)*plain .* busybox +batch.kubernetes.io\/controller-uid=/,
      'get pods -o wide -l job-name=plain': /plain-\w{5} +0\/1 +Completed +0 +\d+s +127\.\S+ +node-1 /,
      'get job plain -o yaml': /^apiVersion: batch\/v1\nkind: Job\n/,
      'get jobs -o json': /^\{\n +"apiVersion": "v1",\n +"items": \[\n +\{\n +"apiVersion": "batch\/v1",\n +"kind": "Job",/,
      'get job plain -o name': /^job.batch\/plain\n$/,
      'get jobs -o custom-columns=NAME:.metadata.name,DONE:.status.succeeded': /plain +1\n/,
      "get jobs -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'": /plain /,
      'get pods --show-labels --sort-by=.metadata.creationTimestamp': /app=bare/,
      'get pods -L app': /APP\n/,
      'get all': /pod\/bare (.*\n)*.*job.batch\/plain /,
      'get jobs,configmaps -o name': /configmap\/settings\n/,
      'get jobs --chunk-size=1 -o name': /job.batch\/by-hand\n/,
      'get jobs.v1.batch/plain -o name': /^job.batch\/plain\n$/,
      [`get --raw /apis/batch/v1/namespaces/${ns}/jobs/plain/status`]: /"kind":"Job"/,
      'get nodes -o wide': /^node-1 +Ready +<none> +\d+\w* +v1\.36\.\d+ +127\.0\.0\.1 .* process:\/\//m,
      'get nodes,namespaces,events,secrets,serviceaccounts,roles,quota,pdb,cronjobs,leases': /node\/node-1/,
    });
  });

  test('selects by labels and fields, in one namespace and in all', async () => {
    await kubectl(`wait '--for=jsonpath={.status.phase}=Succeeded' pod/bare --timeout=120s`);
    await expectOutputs({
      'get pods -l app=bare -o name': /^pod\/bare\n$/,
      "get pods -l 'app in (bare,none),!job-name' -o name": /^pod\/bare\n$/,
      'get pods --field-selector=metadata.name=bare -o name': /^pod\/bare\n$/,
      'get pods --field-selector=status.phase=Failed -o name': /^$/,
      [`get pods -A --field-selector=metadata.namespace=${ns},spec.nodeName=node-1 -o name`]: /pod\/bare\n/,
      'get jobs -A': new RegExp(`NAMESPACE .*\\n(.*\\n)*${ns} +plain `),
    });
    await expectRefusals({
      'get pods --field-selector=spec.color=red': /field label not supported: spec.color/,
      'get job nothing': /jobs.batch "nothing" not found/,
    });
    expect((await kubectl.attempt('get jobs -l no=where')).stderr).toContain(`No resources found in ${ns} namespace.`);
  });

  test('watches', async () => {
    const rows = kubectl.start('get jobs -w');
    const events = kubectl.start('get configmaps --watch-only -o name');
    await vi.waitFor(() => expect(rows.output()).toContain('plain'), WAIT);
    await createJob('watched', 0.2);
    await vi.waitFor(() => expect(rows.output()).toMatch(/watched +Running +0\/1(.*\n)*watched +Complete +1\/1/), WAIT);
    // It does not tell when it has begun to watch: so there is something to see again and again.
    await vi.waitFor(async () => {
      await kubectl(`annotate configmap settings seen=${Date.now()} --overwrite`);
      expect(events.output()).toMatch(/^(configmap\/settings\n)+$/);
    }, WAIT);
    await Promise.all([rows.stop(), events.stop()]);
  });

  test('describes', async () => {
    await expectOutputs({
      'describe job plain':
        /Pods Statuses: +0 Active \(0 Ready\) \/ 1 Succeeded \/ 0 Failed\n(.*\n)*.*Normal +SuccessfulCreate .* job-controller +Created pod: plain-\w+\n.*Normal +Completed .* job-controller +Job completed\n/,
      'describe pods -l job-name=plain': /Controlled By: +Job\/plain\n(.*\n)*.*State: +Terminated\n +Reason: +Completed\n/,
      'describe node node-1': /Ready +True .*KubeletReady(.*\n)*Non-terminated Pods:/,
      [`describe namespace ${ns}`]: /Status: +Active\n(.*\n)*Resource Quotas\n +Name: +small/,
      'describe configmap settings': /blue/,
      'describe secret password': /word: +4 bytes/,
      'describe quota small': /Resource +Used +Hard/,
      'describe role reader': /pods\/log +\[\] +\[\] +\[get list\]/,
      'describe cronjob nightly': /Schedule: +0 3 \* \* \*/,
      'describe poddisruptionbudget spare': /Min available: +1/,
    });
  });

  test('applies on the client side', async () => {
    const job = (labels: object): object => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'applied', labels },
      spec: {
        suspend: true,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] } },
      },
    });
    expect(await apply(job({ a: '1', b: '1' }))).toBe('job.batch/applied created\n');
    expect(await apply(job({ a: '1', b: '1' }))).toBe('job.batch/applied unchanged\n');
    const difference = await kubectl.attempt('diff -f -', { stdin: stringify(job({ a: '2' })) });
    expect(difference).toMatchObject({ code: 1, stdout: expect.stringMatching(/-\s+a: "1"\n(.*\n)*\+\s+a: "2"/) });
    expect(await apply(job({ a: '2' }), '--dry-run=server')).toBe('job.batch/applied configured (server dry run)\n');
    expect(await apply(job({ a: '2' }))).toBe('job.batch/applied configured\n');
    expect(await jsonpath('job applied', '.metadata.labels')).toBe('{"a":"2"}');
    expect(await kubectl('apply view-last-applied job/applied')).toContain('suspend: true');
    expect(await kubectl('get job applied')).toMatch(/applied +Suspended +0\/1/);
    expect(await kubectl.refused('apply -f -', { stdin: stringify({ ...job({}), spec: { completions: 2, template: {} } }) })).toMatch(
      /spec.template: Invalid value|field is immutable/,
    );
  });

  test('applies on the server side, and hears of conflicts', async () => {
    const serverSide = (data: Record<string, string>, flags: string): Promise<string> =>
      apply(configMap('shared', data), `--server-side ${flags}`);
    expect(await serverSide({ a: '1', b: '1' }, '--field-manager=one')).toBe('configmap/shared serverside-applied\n');
    expect(await serverSide({ c: '1' }, '--field-manager=two')).toBe('configmap/shared serverside-applied\n');
    const conflict = await kubectl.refused('apply -f - --server-side --field-manager=two', {
      stdin: stringify(configMap('shared', { a: '2' })),
    });
    expect(conflict).toMatch(/Apply failed with 1 conflict: conflict with "one": \.data\.a/);
    expect(await serverSide({ a: '2' }, '--field-manager=two --force-conflicts')).toBe('configmap/shared serverside-applied\n');
    expect(await serverSide({ b: '2' }, '--field-manager=one')).toBe('configmap/shared serverside-applied\n');
    expect(await read('configmap shared')).toMatchObject({ data: { a: '2', b: '2' } });
    expect(await kubectl('get configmap shared -o yaml --show-managed-fields')).toMatch(/manager: one\n +operation: Apply/);
  });

  test('patches, labels, annotates, replaces and edits', async () => {
    const labels = (): Promise<string> => jsonpath('job applied', '.metadata.labels');
    await kubectl(`patch job applied -p '{"metadata":{"labels":{"by":"strategic"}}}'`);
    await kubectl(`patch job applied --type=merge -p '{"metadata":{"labels":{"a":null}}}'`);
    await kubectl(`patch job applied --type=json -p '[{"op":"add","path":"/metadata/labels/json","value":"yes"}]'`);
    expect(JSON.parse(await labels())).toEqual({ by: 'strategic', json: 'yes' });
    expect(await kubectl(`patch job applied -p '{"metadata":{"labels":{"by":"strategic"}}}'`)).toBe(
      'job.batch/applied patched (no change)\n',
    );
    await kubectl(`patch job applied --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Note","status":"True"}]}}'`);
    expect(await jsonpath('job applied', '.status.conditions[?(@.type=="Note")].status')).toBe('True');

    expect(await kubectl('label job applied by-')).toMatch(/unlabeled/);
    expect(await kubectl.refused('label job applied json=no')).toContain("'json' already has a value (yes)");
    await kubectl('label job applied json=no --overwrite');
    await kubectl('annotate jobs --all seen=yes');
    expect(await labels()).toBe('{"json":"no"}');
    expect(await kubectl('get jobs -o jsonpath={.items[*].metadata.annotations.seen}')).toMatch(/^(yes ?)+$/);

    const stored = (await read('configmap settings')) as { data: object };
    await kubectl('replace -f -', { stdin: JSON.stringify({ ...stored, data: { colour: 'green' } }) });
    expect(await jsonpath('configmap settings', '.data.colour')).toBe('green');
    expect(await kubectl.refused('replace -f -', { stdin: JSON.stringify(stored) })).toContain('the object has been modified');

    await kubectl('edit configmap settings', { environment: { EDITOR: editor('s/green/red/') } });
    expect(await jsonpath('configmap settings', '.data.colour')).toBe('red');
    await kubectl('edit job applied', { environment: { EDITOR: editor('s/suspend: true/suspend: false/') } });
    await kubectl('wait --for=condition=complete job/applied --timeout=120s');
    expect(await kubectl.refused('edit job applied', { environment: { EDITOR: editor('s/completions: 1/completions: 2/') } })).toMatch(
      /field is immutable|Edit cancelled/,
    );
  });

  test('scales a Job by a patch', async () => {
    await kubectl(`create job wide --image=busybox -- sh -c 'sleep 30'`);
    await kubectl(`patch job wide --type=merge -p '{"spec":{"parallelism":3}}'`);
    await kubectl(`patch job wide --type=merge -p '{"spec":{"parallelism":0}}'`);
    await vi.waitFor(async () => expect(await kubectl('get job wide -o jsonpath={.status.active}')).toMatch(/^0?$/), WAIT);
    await kubectl('delete job wide --now');
  });

  test('shows logs and events', async () => {
    await kubectl(`run talker --image=busybox --restart=Never --command -- sh -c 'for i in 1 2 3; do echo $i; sleep 0.1; done'`);
    const followed = await vi.waitUntil(async () => (await kubectl.attempt('logs -f talker')).stdout, WAIT);
    expect(followed).toBe('1\n2\n3\n');
    await expectOutputs({
      'logs job/plain': /^done with plain\n$/,
      'logs -l job-name=plain --tail=1 --prefix': /^\[pod\/plain-\w{5}\/plain\] done with plain\n$/,
      'logs talker --since=1h --limit-bytes=2': /^1\n$/,
      'logs talker --tail=2': /^2\n3\n$/,
      'get events --field-selector=involvedObject.name=plain': /Normal +SuccessfulCreate +job\/plain/,
      'events --for=job/plain': /Normal +Completed +Job\/plain/i,
    });
    await expectRefusals({ 'logs talker -c nobody': /container nobody is not valid for pod talker/ });
  });

  test('waits', async () => {
    await createJob('awaited', 0.2);
    expect(await kubectl('wait --for=condition=complete job/awaited --timeout=120s')).toBe('job.batch/awaited condition met\n');
    expect(await kubectl(`wait '--for=jsonpath={.status.succeeded}=1' job/awaited --timeout=120s`)).toContain('condition met');
    const gone = kubectl('wait --for=delete job/awaited --timeout=120s');
    await kubectl('delete job awaited --wait=false');
    await gone;
    expect(await kubectl.refused('wait --for=condition=failed job/plain --timeout=200ms')).toContain('timed out waiting for the condition');
  });

  test('deletes with every propagation policy', async () => {
    const podsOf = (job: string): Promise<string> => kubectl(`get pods -l job-name=${job} -o name`);
    for (const name of ['background', 'foreground', 'orphan']) await createJob(name, 30);
    for (const name of ['background', 'foreground', 'orphan']) {
      await vi.waitFor(async () => expect(await podsOf(name)).toMatch(/^pod\/.*\n$/), WAIT);
    }
    await kubectl('delete job foreground --cascade=foreground --now');
    expect(await podsOf('foreground')).toBe('');
    await kubectl('delete job background --cascade=background');
    await vi.waitFor(async () => expect(await podsOf('background')).toBe(''), WAIT);
    await kubectl('delete job orphan --cascade=orphan');
    expect(await podsOf('orphan')).toMatch(/^pod\/orphan-\w{5}\n$/);
    expect(await jsonpath('pods -l job-name=orphan', '.items[0].metadata.ownerReferences')).toBe('');
    expect(await kubectl('delete pods -l job-name=orphan --grace-period=0 --force')).toMatch(/force deleted/);

    expect(await kubectl('delete configmap shared --dry-run=server')).toMatch(/"shared" deleted.*\(server dry run\)/);
    expect(await kubectl('delete configmap shared nothing --ignore-not-found')).toMatch(/"shared" deleted/);
    expect(await kubectl.refused('delete configmap shared')).toContain('configmaps "shared" not found');
    await kubectl('delete configmaps --all');
    // Of a real cluster, which publishes it again.
    expect((await kubectl('get configmaps -o name')).replace('configmap/kube-root-ca.crt\n', '')).toBe('');
  });

  test('asks what may be done, and by whom', async () => {
    const robot = `--as=system:serviceaccount:${ns}:robot`;
    await expectOutputs({
      'auth can-i create jobs': /^yes\n$/,
      [`auth can-i list pods ${robot}`]: /^yes\n$/,
      [`auth can-i --list ${robot}`]: /pods\/log +\[\] +\[\] +\[get list\]/,
      'get nodes --as=alice --as-group=devs -o name': /^node\/node-1\n$/,
      // The review of oneself became v1 with 1.28; an API server of today serves nothing older.
      ...(binary.version.startsWith('v1.27') ? {} : { 'auth whoami': /Username +kubernetes-admin/ }),
    });
    expect(await kubectl.attempt(`auth can-i delete pods ${robot}`)).toMatchObject({ code: 1, stdout: 'no\n' });
    await expectRefusals({ 'get secrets --as=alice': /secrets is forbidden: User "alice" cannot list resource "secrets"/ });
  });

  test('finds its way through the API', async () => {
    await expectOutputs({
      version: /Server Version.*v1\.\d+/,
      'api-resources': /^jobs +batch\/v1 +true +Job$/m,
      'api-resources --namespaced=false --verbs=list -o name': /^nodes$/m,
      'api-versions': /^batch\/v1$/m,
      'explain job.spec': /backoffLimit\s+<integer>/,
      'explain job.spec.podFailurePolicy.rules --recursive': /onExitCodes\s+<PodFailurePolicyOnExitCodesRequirement>/,
      // Of a real server, kubectl before 1.30 shows the values in the description alone.
      'explain job.spec.completionMode': /^ENUM:\n {4}Indexed\n {4}NonIndexed\n|^ {4}Possible enum values:\n {5}- `"Indexed/m,
      'get --raw /readyz': /^ok$/,
    });
    await expectRefusals({
      'top pods': /Metrics API not available/,
      'get rainbows': /the server doesn't have a resource type "rainbows"/,
    });
  });

  test('works with our own kinds', async () => {
    const definitions = SWITCHYARD_KINDS.map((kind) => stringify(customResourceDefinition(kind), { aliasDuplicateObjects: false })).join(
      '---\n',
    );
    await kubectl('apply -f -', { stdin: definitions });
    await kubectl('wait --for=condition=Established crd/workerclusters.switchyard.dev --timeout=120s');
    const workerCluster = { apiVersion: 'switchyard.dev/v1alpha1', kind: 'WorkerCluster', metadata: { name: ns }, spec: { local: true } };
    expect(await apply(workerCluster)).toBe(`workercluster.switchyard.dev/${ns} created\n`);
    expect(await apply(workerCluster)).toBe(`workercluster.switchyard.dev/${ns} unchanged\n`);
    await kubectl(`patch wc ${ns} --type=merge -p '{"spec":{"state":"Cordoned"}}'`);
    const condition = '{"type":"Ready","status":"True","reason":"Fine","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}';
    await kubectl(`patch wc ${ns} --subresource=status --type=merge -p '{"status":{"conditions":[${condition}]}}'`);
    await kubectl(`wait --for=condition=Ready wc/${ns} --timeout=120s`);
    expect(await kubectl('get wc')).toMatch(new RegExp(`^NAME +STATE +REACHABLE +READY +AGE\\n(.*\\n)*${ns} +Cordoned +True `));
    expect(await kubectl('get switchyard -o name')).toContain(`workercluster.switchyard.dev/${ns}\n`);
    expect(await kubectl('explain workerclusters.spec')).toMatch(/state\s+<string>/);
    expect(await kubectl(`describe wc ${ns}`)).toMatch(/State: +Cordoned/);
    expect(await kubectl.refused(`patch wc ${ns} --type=merge -p '{"spec":{"state":"Asleep"}}'`)).toMatch(
      /spec.state: Unsupported value: "Asleep"/,
    );
    expect(await kubectl(`apply --server-side --force-conflicts -f -`, { stdin: stringify(workerCluster) })).toContain(
      'serverside-applied',
    );
    expect(await kubectl(`delete wc ${ns}`)).toContain('deleted');
  });

  test('enacts policies, and hears why they deny', async () => {
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: `calm-${ns}` },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'], scope: '*' }],
        },
        validations: [
          { expression: '!object.metadata.name.startsWith("loud")', messageExpression: '"hush, " + request.userInfo.username' },
        ],
      },
    };
    const selected = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } } };
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: `calm-${ns}` },
      spec: { policyName: `calm-${ns}`, validationActions: ['Deny'], matchResources: selected },
    };
    const resource = 'validatingadmissionpolicy.admissionregistration.k8s.io';
    expect(await apply(policy)).toBe(`${resource}/calm-${ns} created\n`);
    expect(await apply(policy)).toBe(`${resource}/calm-${ns} unchanged\n`);
    expect(await apply(binding)).toMatch(/binding\.admissionregistration\.k8s\.io\/calm-.* created/);
    await expectOutputs({
      [`get validatingadmissionpolicy calm-${ns}`]: /^NAME +VALIDATIONS +PARAMKIND +AGE\ncalm-\S+ +1 +<unset>/,
      [`get validatingadmissionpolicybinding calm-${ns}`]: /^NAME +POLICYNAME +PARAMREF +AGE\ncalm-\S+ +calm-\S+ +<unset>/,
      [`describe validatingadmissionpolicy calm-${ns}`]: /Failure Policy: +Fail[\s\S]*Message Expression/,
    });
    const denied = `ValidatingAdmissionPolicy 'calm-${ns}' with binding 'calm-${ns}' denied request: hush, `;
    // A real API server learns of policies by a watch.
    await vi.waitFor(async () => expect((await kubectl.attempt('create configmap loud --dry-run=server')).code).not.toBe(0), WAIT);
    expect(await kubectl.refused('create configmap loud')).toContain(denied);
    expect(
      await kubectl.refused(`patch validatingadmissionpolicy calm-${ns} --type=merge -p '{"spec":{"validations":[{"expression":"1"}]}}'`),
    ).toContain('must evaluate to bool but got int');
    await kubectl('create configmap quiet');
    await kubectl(`delete validatingadmissionpolicy,validatingadmissionpolicybinding calm-${ns}`);
    await vi.waitFor(() => kubectl('create configmap loud'), WAIT);
  });

  test('cordons and drains a node', async () => {
    await kubectl(`run moving --image=busybox --restart=Never --command -- sleep 30`);
    await kubectl('wait --for=condition=Ready pod/moving --timeout=120s');
    expect(await kubectl('cordon node-1')).toContain('cordoned');
    expect(await kubectl('get node node-1')).toContain('Ready,SchedulingDisabled');
    expect(await kubectl('drain node-1 --pod-selector=run=moving --force --grace-period=1 --timeout=120s')).toContain(
      'node/node-1 drained',
    );
    expect(await kubectl('get pods -l run=moving -o name')).toBe('');
    await kubectl(`run moving --image=busybox --restart=Never --command -- true`);
    const scheduled = '.status.conditions[?(@.type=="PodScheduled")].message';
    await vi.waitFor(async () => expect(await jsonpath('pod moving', scheduled)).toContain('0/1 nodes are available'), WAIT);
    await kubectl('uncordon node-1');
    await kubectl(`wait '--for=jsonpath={.status.phase}=Succeeded' pod/moving --timeout=120s`);
    expect(await kubectl('taint node node-1 special=yes:PreferNoSchedule')).toContain('tainted');
    expect(await kubectl('taint node node-1 special-')).toContain('untainted');
  });

  test('deletes a namespace with everything in it', async () => {
    expect(await kubectl(`delete namespace ${ns}`)).toContain('deleted');
    expect(await kubectl('get jobs,pods,configmaps,secrets -o name')).toBe('');
    await kubectl(`delete clusterrole/lister-${ns} clusterrolebinding/listers-${ns} priorityclass/high-${ns}`);
  });
});

const WAIT = { timeout: 120_000, interval: 100 };

/** An EDITOR that changes the file with a sed expression. */
function editor(expression: string): string {
  const file = path.join(directory, `edit-${expression.replaceAll(/\W/g, '-')}`);
  writeFileSync(file, `#!/bin/sh\nsed -i '${expression}' "$1"\n`);
  chmodSync(file, 0o755);
  return file;
}
