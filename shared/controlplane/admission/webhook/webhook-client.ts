import { Agent, request } from 'undici';
import type { Clock } from '../../../runtime/clock.ts';

export type WebhookCall = {
  /** `https://host[:port][/path]`, without query. */
  readonly url: string;
  /** Base64 of a PEM bundle; absent: the system's roots. */
  readonly caBundle?: string;
  readonly timeoutSeconds: number;
  /** An AdmissionReview as JSON. */
  readonly body: string;
};

/** The way to webhook servers. Rejects, saying why, on broken connections, time-outs and any status but success. */
export interface WebhookClient {
  call(call: WebhookCall): Promise<string>;
  close(): Promise<void>;
}

/** Pooled HTTPS connections, one pool for each CA bundle. */
export function createWebhookClient(clock: Clock): WebhookClient {
  const agents = new Map<string, Agent>();
  const agentFor = (caBundle: string): Agent => {
    const known = agents.get(caBundle);
    if (known !== undefined) return known;
    const agent = new Agent({ connect: caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64').toString() } });
    agents.set(caBundle, agent);
    return agent;
  };
  return {
    async call({ url, caBundle, timeoutSeconds, body }) {
      const target = `${url}?timeout=${timeoutSeconds}s`;
      const deadline = new AbortController();
      const timer = clock.schedule(() => deadline.abort(new Error('context deadline exceeded')), timeoutSeconds * 1000);
      try {
        const response = await request(target, {
          method: 'POST',
          dispatcher: agentFor(caBundle ?? ''),
          headers: { 'content-type': 'application/json', accept: 'application/json' },
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
