import { write as writeToDescriptor } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { sleep, systemClock } from './clock.ts';

/** Where logs are written: files by their names, and standard output as `-`. */
export type LogDisk = {
  readonly append: (destination: string) => Promise<LogFile>;
  readonly rename: (from: string, to: string) => Promise<void>;
};

export type LogFile = { readonly write: (text: string) => Promise<void>; readonly close: () => Promise<void> };

export const realDisk: LogDisk = {
  append: async (destination) => {
    if (destination === '-') return standardOutput;
    // It names tenants' Jobs.
    const handle = await open(destination, 'a', 0o600);
    return { write: (text) => handle.appendFile(text), close: () => handle.close() };
  },
  rename,
};

/** Node's own stream waits where a pipe is full, and everything with it. */
const standardOutput: LogFile = {
  write: async (text) => {
    const bytes = Buffer.from(text);
    for (let offset = 0; offset < bytes.length; ) offset += await writeSome(bytes, offset);
  },
  close: () => Promise.resolve(),
};

const FULL_PIPE_MS = 20;

async function writeSome(bytes: Buffer, offset: number): Promise<number> {
  try {
    return await new Promise<number>((resolve, reject) => {
      writeToDescriptor(1, bytes, offset, bytes.length - offset, null, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    await sleep(systemClock, FULL_PIPE_MS);
    return 0;
  }
}
