import { createServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { selfSignedCertificate } from '../../../manager/cli/local/webhook-certificate.ts';
import type { HookPlan } from './api-case.ts';

/** Admission webhooks for all cases, under `/CASE/HOOK`: each answers as planned and remembers what it was asked. */
export interface HookServer {
  readonly url: string;
  /** Where nobody listens. */
  readonly deadUrl: string;
  /** Base64 of the PEM, as in `clientConfig`. */
  readonly caBundle: string;
  plan(path: string, plan: HookPlan): void;
  /** The `request` of each AdmissionReview so far. */
  calls(path: string): readonly unknown[];
  close(): Promise<void>;
}

type Review = { readonly request: { readonly uid: string } };

export async function startHookServer(): Promise<HookServer> {
  const certificate = await selfSignedCertificate(Date.now());
  const plans = new Map<string, HookPlan>();
  const calls = new Map<string, unknown[]>();
  const server = createServer({ key: certificate.keyPem, cert: certificate.certPem }, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const path = (request.url ?? '').replace(/\?.*/, '').slice(1);
    const review = JSON.parse(text) as Review;
    calls.set(path, [...(calls.get(path) ?? []), review.request]);
    const plan = plans.get(path) ?? {};
    if (plan.delay !== undefined) await sleep(plan.delay);
    if (plan.http !== undefined) {
      response.writeHead(plan.http).end('hook says no');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(plan.reply ?? { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: verdict(plan, review) }),
    );
  });
  const port = await listen(server);
  const unused = createTcpServer();
  const deadPort = await listen(unused);
  unused.close();
  return {
    url: `https://127.0.0.1:${port}`,
    deadUrl: `https://127.0.0.1:${deadPort}`,
    caBundle: Buffer.from(certificate.certPem).toString('base64'),
    plan: (path, plan) => void plans.set(path, plan),
    calls: (path) => calls.get(path) ?? [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const verdict = ({ allowed = true, status, warnings, patch }: HookPlan, { request }: Review): object => ({
  uid: request.uid,
  allowed,
  status,
  warnings,
  ...(patch === undefined ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
});

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
