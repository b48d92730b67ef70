import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { createControlPlane, type ControlPlane } from '../../../../../shared/controlplane/control-plane.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});
const aServer = async (): Promise<ControlPlane> => {
  const plane = await createControlPlane({ clock: systemClock, random: seededRandom(1), log: silentLogger });
  opened.push(plane);
  return plane;
};
const anAgent = (connect: object): Agent => {
  const agent = new Agent({ connect });
  opened.push({ close: () => agent.destroy() });
  return agent;
};
const tokenIn = (kubeconfig: string): string => /token: (\S+)/.exec(kubeconfig)?.[1] ?? '';
const caIn = (kubeconfig: string): string =>
  Buffer.from(/certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? '', 'base64').toString();

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** A client certificate that is its own authority. */
async function clientCertificate(name: string): Promise<{ cert: string; key: string }> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const [notBefore, notAfter] = [new Date(2020, 0, 1), new Date(2090, 0, 1)];
  const made = await x509.X509CertificateGenerator.createSelfSigned({ name, notBefore, notAfter, keys, signingAlgorithm: ALGORITHM });
  return {
    cert: made.toString('pem'),
    key: x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
  };
}

describe('the server on a port', () => {
  test('is trusted by the authority in its kubeconfig, and knows the token there', async () => {
    const { url, kubeconfig } = await (await aServer()).listen();
    const dispatcher = anAgent({ ca: caIn(kubeconfig) });
    const headers = { authorization: `Bearer ${tokenIn(kubeconfig)}` };
    const answer = await request(`${url}/api/v1/namespaces/default`, { dispatcher, headers });
    expect(answer.statusCode).toBe(200);
    expect(await answer.body.json()).toMatchObject({ kind: 'Namespace', metadata: { name: 'default' } });
  });

  test('refuses a wrong token, and lets nobody in particular see little', async () => {
    const { url } = await (await aServer()).listen({ plain: true });
    const ask = async (path: string, headers = {}): Promise<number> => {
      const { statusCode, body } = await request(url + path, { dispatcher: anAgent({}), headers });
      await body.dump();
      return statusCode;
    };
    expect(await ask('/api/v1/pods', { authorization: 'Bearer wrong' })).toBe(401);
    expect(await ask('/api/v1/pods')).toBe(403);
    expect(await ask('/readyz')).toBe(200);
  });

  test('takes the word of a client certificate for who its bearer is', async () => {
    const { cert, key } = await clientCertificate('CN=alice, O=dev');
    const { url, kubeconfig } = await (await aServer()).listen({ clientCaPem: cert });
    const answer = await request(`${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: 'POST',
      dispatcher: anAgent({ ca: caIn(kubeconfig), cert, key }),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
    });
    expect(await answer.body.json()).toMatchObject({
      status: { userInfo: { username: 'alice', groups: ['dev', 'system:authenticated'] } },
    });
  });

  test('streams a watch line by line and ends it when it closes', async () => {
    const plane = await aServer();
    const { url, kubeconfig } = await plane.listen({ plain: true });
    const headers = { authorization: `Bearer ${tokenIn(kubeconfig)}` };
    const { body } = await request(`${url}/api/v1/namespaces?watch=1`, { dispatcher: anAgent({}), headers });
    let text = '';
    const ended = (async () => {
      for await (const chunk of body) text += String(chunk);
    })().catch((error: unknown) => error);
    while (!text.includes('kube-system')) await new Promise((resolve) => setTimeout(resolve, 5));
    await plane.close();
    await ended;
    const lines = text.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'ADDED']);
  });

  test('refuses a body that is too large', async () => {
    const { url, kubeconfig } = await (await aServer()).listen({ plain: true });
    const answer = await request(`${url}/api/v1/namespaces/default/configmaps`, {
      method: 'POST',
      dispatcher: anAgent({}),
      headers: { authorization: `Bearer ${tokenIn(kubeconfig)}`, 'content-type': 'application/json' },
      body: ' '.repeat(4 * 1024 * 1024),
    });
    expect(await answer.body.json()).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
  });
});

describe('a watch over the network', () => {
  test('that resumes far behind is told everything, however much that is', { timeout: 120_000 }, async () => {
    const plane = await aServer();
    const { url, kubeconfig } = await plane.listen({ plain: true });
    const headers = { authorization: `Bearer ${tokenIn(kubeconfig)}` };
    const configMaps = `${url}/api/v1/namespaces/default/configmaps`;
    const dispatcher = anAgent({});
    const before = (await (await request(configMaps, { dispatcher, headers })).body.json()) as { metadata: { resourceVersion: string } };
    // More than is ever kept for one reader.
    const filler = 'x'.repeat(900_000);
    for (let index = 0; index < 80; index++) {
      const body = JSON.stringify({ metadata: { name: `c-${index}` }, data: { filler } });
      await (
        await request(configMaps, { dispatcher, method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
      ).body.dump();
    }
    const path = `${configMaps}?watch=1&resourceVersion=${before.metadata.resourceVersion}`;
    const { body } = await request(path, { dispatcher, headers, bodyTimeout: 60_000 });
    const names: string[] = [];
    let rest = '';
    for await (const chunk of body.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      names.push(...lines.map((line) => /"name":"(c-\d+)"/.exec(line)?.[1] ?? line.slice(0, 100)));
      if (names.length === 80) break;
    }
    expect(names).toEqual(Array.from({ length: 80 }, (_, index) => `c-${index}`));
  });
});
