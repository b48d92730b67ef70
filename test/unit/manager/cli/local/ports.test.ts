import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { choosePorts, PORT_NAMES, portProblem } from '../../../../../manager/cli/local/ports.ts';
import { isRefusedByFetch } from '../../../../../shared/runtime/fetch-ports.ts';

describe('ports of a run', () => {
  test('that fetch refuses are refused before anything starts', () => {
    expect(portProblem(80)).toBe('of the ports 80 to 88, browsers and fetch refuse to connect to 87; choose another, such as 18080');
    expect(portProblem(18_080)).toBeUndefined();
  });

  test('must not go beyond the last there is', () => {
    expect(portProblem(65_527)).toBeUndefined();
    expect(portProblem(65_528)).toBe('a run needs 9 ports, and 65528 to 65536 goes beyond 65535; write at most 65527');
  });

  test('are all different when any will do', async () => {
    const ports = await choosePorts(0);
    expect(Object.keys(ports)).toEqual(PORT_NAMES);
    expect(new Set(Object.values(ports)).size).toBe(PORT_NAMES.length);
  });

  test('in use are named, with what would listen there', async () => {
    await using server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(choosePorts(port - 3)).rejects.toThrow(
      new RegExp(`^port (${port}, which webhook|${port - 3}, .*|${port - 2}, .*|${port - 1}, .*) would listen on, is in use`),
    );
  });
});

test('the ports that fetch refuses are those that the fetch of Node refuses', { timeout: 60_000 }, async () => {
  const refuses = async (port: number): Promise<boolean> => {
    try {
      // Aborted from the start, so that no permitted port is connected to: the port is judged first.
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(0) });
      return false;
    } catch (error) {
      return error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port';
    }
  };
  const ports = Array.from({ length: 10_100 }, (_, index) => index + 1);
  const refused: number[] = [];
  for (const port of ports.filter((each) => each < 1100 || isRefusedByFetch(each) || isRefusedByFetch(each - 1))) {
    if (await refuses(port)) refused.push(port);
  }
  expect(refused).toEqual(ports.filter(isRefusedByFetch));
});
