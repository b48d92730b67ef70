import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { badRequest } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import type { Registry } from '../../../../../shared/controlplane/registry/registry.ts';
import { createCall } from '../../../../../shared/controlplane/request/call.ts';
import { parseRequest } from '../../../../../shared/controlplane/request/request.ts';
import {
  createPodLogs,
  podLogSubresource,
  type PodLogs,
  type PodLogSource,
} from '../../../../../shared/controlplane/subresources/pod-log.ts';
import { anObject, aServedResource } from '../a-served-resource.ts';

const pods = aServedResource({ group: '', kind: 'Pod', plural: 'pods' });
const nodes = aServedResource({ group: '', kind: 'Node', plural: 'nodes', namespaced: false });
nodes.table.put(anObject('n', { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } }, { namespace: '' }));
nodes.table.put(anObject('homeless', {}, { namespace: '' }));
const containers = (...names: string[]) => names.map((name) => ({ name }));
const onNode = (spec: object) => anObject('p', { spec: { nodeName: 'n', ...spec } });
const onlyMain = onNode({ containers: containers('main') });

/** Reads the log of a pod. */
async function read(pod: AnyObject, query: string, logs: PodLogs) {
  const stored = pods.table.put(pod);
  const registry = { get: () => stored } as Partial<Registry> as Registry;
  const path = `/api/v1/namespaces/ns/pods/p/log${query}`;
  const call = createCall({ method: 'GET', path, headers: {}, body: '' }, parseRequest('GET', path), { name: 'u', groups: [] });
  return podLogSubresource(registry, logs, { pods, nodes }).methods['GET']?.(call, pods);
}

/** The name of the container that a source is asked about. */
async function askedAbout(pod: AnyObject, query = ''): Promise<string | undefined> {
  const logs = createPodLogs();
  let asked: string | undefined;
  logs.add({
    open: (_pod, { container }) => {
      asked = container;
      return () => undefined;
    },
  });
  await read(pod, query, logs);
  return asked;
}

describe('the container whose log is meant', () => {
  const several = onNode({ containers: containers('a', 'b'), initContainers: containers('i'), ephemeralContainers: containers('e') });

  test('is the only one, whatever came before it', async () => {
    expect(await askedAbout(onlyMain)).toBe('main');
    expect(await askedAbout(onNode({ containers: containers('a'), initContainers: containers('i') }))).toBe('a');
  });
  test('is the one that is named, be it an init container or one that came later', async () => {
    for (const name of ['b', 'i', 'e']) expect(await askedAbout(several, `?container=${name}`)).toBe(name);
  });
  test('must be there', async () => {
    await expect(askedAbout(several, '?container=c')).rejects.toThrow('container c is not valid for pod p');
  });
  test('must be named where there are several', async () => {
    await expect(askedAbout(several)).rejects.toThrow('a container name must be specified for pod p, choose one of: [i a b e]');
  });
});

describe('a log', () => {
  const source = (text: string | undefined, { ends = true, stopped = () => undefined as void } = {}): PodLogSource => ({
    open: (_pod, _options, sink) => {
      if (text === undefined) return undefined;
      sink.write(text);
      if (ends) sink.end();
      return stopped;
    },
  });
  /** What a client receives. */
  async function received(...sources: readonly PodLogSource[]) {
    const logs = createPodLogs();
    for (const each of sources) logs.add(each);
    const answer = await read(onlyMain, '', logs);
    if (answer?.kind !== 'stream') return { answer, text: '', stop: undefined };
    const lines: string[] = [];
    const stop = answer.start({ write: (text) => lines.push(text), end: () => lines.push('<end>'), abort: () => lines.push('<broken>') });
    return { answer, text: lines.join(''), stop };
  }

  test('of a pod without a node is none', async () => {
    expect(await read(anObject('p', { spec: { containers: containers('main') } }), '', createPodLogs())).toMatchObject({ status: 204 });
  });

  test('is not looked for on a node that is not there, nor on one without an address', async () => {
    const on = (nodeName: string) => read(onNode({ containers: containers('main'), nodeName }), '', createPodLogs());
    await expect(on('gone')).rejects.toThrow('pods "gone" not found');
    await expect(on('homeless')).rejects.toThrow('no preferred addresses found; known addresses: []');
  });

  test('that its node only imagines is empty', async () => {
    expect((await received(source(undefined))).answer).toMatchObject({ kind: 'whole', status: 200, body: '' });
    expect((await received()).answer).toMatchObject({ kind: 'whole', status: 200, body: '' });
  });

  test('is plain text, with what was written before the answer began, and its end', async () => {
    const { answer, text } = await received(source('hello\n'));
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain' } });
    expect(text).toBe('hello\n<end>');
  });

  test('comes from the first source that runs the pod', async () => {
    expect((await received(source(undefined), source('b'), source('c'))).text).toBe('b<end>');
  });

  test('goes on after the answer has begun, until it is stopped', async () => {
    let write: (text: string) => void = () => undefined;
    let running = true;
    const logs = createPodLogs();
    logs.add({
      open: (_pod, _options, sink) => {
        write = (text) => sink.write(text);
        return () => (running = false);
      },
    });
    const answer = await read(onlyMain, '', logs);
    if (answer?.kind !== 'stream') throw new Error('no stream');
    const lines: string[] = [];
    write('a');
    const stop = answer.start({ write: (text) => lines.push(text), end: () => lines.push('<end>'), abort: () => lines.push('<broken>') });
    write('b');
    stop();
    expect([lines, running]).toEqual([['a', 'b'], false]);
  });

  test('that cannot be had is a refusal', async () => {
    const refusing: PodLogSource = {
      open: () => {
        throw badRequest('previous terminated container "main" in pod "p" not found');
      },
    };
    await expect(received(refusing)).rejects.toThrow('previous terminated container "main" in pod "p" not found');
  });

  test('comes no more from a source that was taken away', async () => {
    const logs = createPodLogs();
    const takeAway = logs.add(source('a'));
    takeAway();
    expect(await read(onlyMain, '', logs)).toMatchObject({ kind: 'whole', body: '' });
  });
});
