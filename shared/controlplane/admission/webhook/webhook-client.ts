import { Agent, request } from 'undici';
import type { Clock } from '../../../runtime/clock.ts';

export type WebhookCall = {
  /** `https://host[:port][/path]`, without query. */
  readonly url: string;
  /** Base64 of a PEM bundle; absent: the system's roots. */
  readonly caBundle?: string;
  /** `host:port` that is connected to in place of what the URL names; the certificate is held against the URL all the same. */
  readonly connectTo?: string;
  readonly timeoutSeconds: number;
  /** An AdmissionReview as JSON. */
  readonly body: string;
};

/** The way to webhook servers. Rejects, saying why, on broken connections, time-outs and any status but success. */
export interface WebhookClient {
  call(call: WebhookCall): Promise<string>;
  close(): Promise<void>;
}

/** Pooled HTTPS connections, one pool for each CA bundle and each name that a certificate has to be of in place of the address. */
export function createWebhookClient(clock: Clock): WebhookClient {
  const agents = new Map<string, Agent>();
  const agentFor = (caBundle: string, servername: string | undefined): Agent => {
    const key = `${servername ?? ''} ${caBundle}`;
    const known = agents.get(key);
    if (known !== undefined) return known;
    const ca = caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64').toString() };
    const agent = new Agent({ connect: { ...ca, ...(servername === undefined ? {} : { servername }) } });
    agents.set(key, agent);
    return agent;
  };
  return {
    async call({ url, caBundle, connectTo, timeoutSeconds, body }) {
      const target = `${url}?timeout=${timeoutSeconds}s`;
      const named = new URL(target);
      const deadline = new AbortController();
      const timer = clock.schedule(() => deadline.abort(new Error('context deadline exceeded')), timeoutSeconds * 1000);
      try {
        const response = await request(connectTo === undefined ? target : `https://${connectTo}${named.pathname}${named.search}`, {
          method: 'POST',
          dispatcher: agentFor(caBundle ?? '', connectTo === undefined ? undefined : named.hostname),
          headers: { host: named.host, 'content-type': 'application/json', accept: 'application/json' },
          body,
          signal: deadline.signal,
        });
        const text = await response.body.text();
        if (response.statusCode < 200 || response.statusCode > 206) {
          throw new Error(`an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`);
        }
        return text;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`Post ${JSON.stringify(target)}: ${why}`, { cause: error });
      } finally {
        timer.cancel();
      }
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}
