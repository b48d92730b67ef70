import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteRoom } from '../../shared/runtime/byte-room.ts';
import { endsWithin, type Clock } from '../../shared/runtime/clock.ts';
import { RequestRefused } from './route.ts';

/** Bodies of nearly all requests are this small, and are read at once; larger ones share one memory bound. */
const SMALL_BODY_BYTES = 32 * 1024;

export type BodyLimits = {
  readonly bodyBytesMax: number;
  /** The problem of a text before it is parsed; undefined when there is none. */
  readonly problemOf?: (text: string) => string | undefined;
};

/** Reads the JSON body of a request, of which nothing was read before. Throws {@link RequestRefused}. */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  { bodyBytesMax: bytesMax, problemOf }: BodyLimits,
  room: ByteRoom,
): Promise<unknown> {
  const length = request.headers['content-length'];
  if (length === undefined) throw new RequestRefused(411, 'BadRequest', 'the header Content-Length is missing; say how long the body is');
  const announced = Number(length);
  if (announced > bytesMax)
    throw new RequestRefused(413, 'RequestEntityTooLarge', `the body has ${announced} bytes, and at most ${bytesMax} are taken`);
  const [mediaType] = (request.headers['content-type'] ?? 'application/json').split(';', 1);
  if (mediaType?.trim().toLowerCase() !== 'application/json')
    throw new RequestRefused(415, 'UnsupportedMediaType', 'only JSON is understood; send Content-Type: application/json');
  const giveBack = announced <= SMALL_BODY_BYTES ? () => undefined : await room.take(announced);
  if (giveBack === undefined)
    throw new RequestRefused(503, 'ServiceUnavailable', 'too many large bodies at once; try again', { 'retry-after': '1' });
  try {
    // A client that expects `100 Continue` sends no body before this.
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = Buffer.allocUnsafe(announced);
    let bytes = 0;
    // Node's HTTP parser delivers no more than the announced length.
    for await (const chunk of request) bytes += (chunk as Buffer).copy(body, bytes);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body.subarray(0, bytes));
    const problem = problemOf?.(text);
    if (problem !== undefined) throw new RequestRefused(422, 'Invalid', problem);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new RequestRefused(400, 'BadRequest', `the body is no JSON in UTF-8: ${error.message}`);
    throw error;
  } finally {
    giveBack();
  }
}

/** Bounds on reading the body of a refused request: its size, and the time that its client has to send it. */
const DISCARD_BYTES_MAX = 16 * 1024 * 1024;
const DISCARD_MS = 2_000;

/**
 * Reads and discards the body of a refused request. Clients that write their whole body before they read would otherwise find their
 * connection reset, and never receive the answer. Larger bodies than 16 MiB are not read.
 */
export async function discardBody(request: IncomingMessage, clock: Clock): Promise<void> {
  if (request.complete || request.destroyed || request.headers.expect !== undefined) return;
  if (Number(request.headers['content-length']) > DISCARD_BYTES_MAX) return;
  const read = new Promise<void>((resolve) => request.once('end', resolve).once('close', resolve));
  request.resume();
  await endsWithin(clock, DISCARD_MS, read);
}
