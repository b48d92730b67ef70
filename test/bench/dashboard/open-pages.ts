import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { createEventReader } from '../../../manager/cli/submissions/server-events.ts';
import type { OverviewChange } from '../../../manager/dashboard/views.ts';
import { inParallel } from '../../../worker/in-parallel.ts';
import type { Viewer } from './viewers.ts';

const OPENED_AT_ONCE = 8;

/** Pages as a manager sees them: each is one stream that is read as fast as it comes. */
export interface OpenPages {
  /** Of the bodies of all streams of the operator, and of one of them on the average. */
  bytes(): { readonly operator: number; readonly tenant: number };
  close(): void;
}

/** `seen` is called with each Job that a page tells of, by the first page of each viewer. */
export async function openPages(
  url: string,
  viewers: readonly Viewer[],
  count: number,
  seen: (key: string, viewer: Viewer) => void,
): Promise<OpenPages> {
  const pages: { readonly viewer: Viewer; readonly response: IncomingMessage; bytes: number }[] = [];
  let isClosed = false;
  const open = async (index: number): Promise<void> => {
    const viewer = viewers[index % viewers.length];
    if (viewer === undefined) throw new Error('nobody looks');
    const response = await openStream(url, viewer);
    const page = { viewer, response, bytes: 0 };
    pages.push(page);
    const eventsIn = createEventReader();
    const isFirst = index < viewers.length;
    response.on('data', (chunk: Buffer) => {
      page.bytes += chunk.byteLength;
      if (!isFirst) return;
      for (const { event, data } of eventsIn(chunk.toString()))
        if (event === 'change') for (const { key } of (JSON.parse(data) as OverviewChange).jobs) seen(key, viewer);
    });
    response.once('close', () => {
      if (!isClosed) throw new Error(`a stream of ${viewer.name} has ended`);
    });
  };
  await inParallel(
    Array.from({ length: count }, (_, index) => index),
    OPENED_AT_ONCE,
    open,
  );
  const mean = (wanted: boolean): number => {
    const of = pages.filter(({ viewer }) => (viewer === viewers[0]) === wanted);
    return of.reduce((sum, { bytes }) => sum + bytes, 0) / of.length;
  };
  return {
    bytes: () => ({ operator: mean(true), tenant: mean(false) }),
    close() {
      isClosed = true;
      for (const { response } of pages) response.destroy();
    },
  };
}

function openStream(url: string, { name, token }: Viewer): Promise<IncomingMessage> {
  const options = { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false, agent: false } as const;
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage): void => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`the stream of ${name} is refused with ${response.statusCode}`));
    };
    const get = url.startsWith('https:') ? getSecure : getPlain;
    get(`${url}/api/v1/stream`, options, answered).once('error', reject);
  });
}
