import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { badRequest } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import type { Registry } from '../../../../../shared/controlplane/registry/registry.ts';
import { createCall } from '../../../../../shared/controlplane/request/call.ts';
import { parseRequest } from '../../../../../shared/controlplane/request/request.ts';
import {
  createPodLogs,
  podLogSubresource,
  type PodLogOptions,
  type PodLogs,
  type PodLogSource,
} from '../../../../../shared/controlplane/subresources/pod-log.ts';
import { anObject, aServedResource } from '../a-served-resource.ts';

const pods = aServedResource({ group: '', kind: 'Pod', plural: 'pods' });
const containers = (...names: string[]) => names.map((name) => ({ name }));
const onlyMain = anObject('p', { spec: { containers: containers('main') } });

/** Reads the log of a pod. */
async function read(pod: AnyObject, query: string, logs: PodLogs) {
  const stored = pods.table.put(pod);
  const registry = { get: () => stored } as Partial<Registry> as Registry;
  const path = `/api/v1/namespaces/ns/pods/p/log${query}`;
  const call = createCall({ method: 'GET', path, headers: {}, body: '' }, parseRequest('GET', path), { name: 'u', groups: [] });
  return podLogSubresource(registry, logs, pods).methods['GET']?.(call, pods);
}

/** The options that a source is asked with. */
async function askedWith(pod: AnyObject, query = ''): Promise<PodLogOptions | undefined> {
  const logs = createPodLogs();
  let asked: PodLogOptions | undefined;
  logs.add({ open: (_pod, options) => ((asked = options), () => undefined) });
  await read(pod, query, logs);
  return asked;
}

describe('the options of a log', () => {
  test('are those of the query', async () => {
    expect(await askedWith(onlyMain, '?container=main&follow=true&previous&timestamps=1&tailLines=0&sinceSeconds=60&limitBytes=9')).toEqual(
      {
        container: 'main',
        follow: true,
        previous: true,
        timestamps: true,
        tailLines: 0,
        sinceSeconds: 60,
        limitBytes: 9,
      },
    );
  });

  test('ask by default for everything that there is now', async () => {
    expect(await askedWith(onlyMain, '?follow=false')).toEqual({
      container: 'main',
      follow: false,
      previous: false,
      timestamps: false,
      tailLines: undefined,
      sinceSeconds: undefined,
      limitBytes: undefined,
    });
  });

  test('are numbers where numbers are meant', async () => {
    await expect(askedWith(onlyMain, '?tailLines=ten')).rejects.toThrow('strconv.ParseInt: parsing "ten": invalid syntax');
  });
});

describe('the container whose log is meant', () => {
  const container = async (spec: object, query = '', annotations: Record<string, string> = {}) =>
    (await askedWith(anObject('p', { spec }, { annotations }), query))?.container;
  const byDefault = (name: string) => ({ 'kubectl.kubernetes.io/default-container': name });

  test('is the only one', async () => {
    expect(await container({ containers: containers('a') })).toBe('a');
  });
  test('is the one that is named, be it an init container', async () => {
    expect(await container({ containers: containers('a', 'b') }, '?container=b')).toBe('b');
    expect(await container({ containers: containers('a'), initContainers: containers('i') }, '?container=i')).toBe('i');
  });
  test('is the one that the pod’s annotation names', async () => {
    expect(await container({ containers: containers('a', 'b') }, '', byDefault('b'))).toBe('b');
    await expect(container({ containers: containers('a', 'b') }, '', byDefault('c'))).rejects.toThrow(/a container name must be specified/);
  });
  test('must be there', async () => {
    await expect(container({ containers: containers('a') }, '?container=b')).rejects.toThrow('container b is not valid for pod p');
  });
  test('must be named where there are several', async () => {
    await expect(container({ containers: containers('a', 'b') })).rejects.toThrow(
      'a container name must be specified for pod p, choose one of: [a b]',
    );
    await expect(container({ containers: containers('a'), initContainers: containers('i', 'j') })).rejects.toThrow(
      'a container name must be specified for pod p, choose one of: [a] or one of the init containers: [i j]',
    );
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

  test('of a pod that no node runs is empty', async () => {
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
