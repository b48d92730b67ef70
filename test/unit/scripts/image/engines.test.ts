import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ENGINES, imageCommands, probeCommand, withoutEngine, type ImageWish } from '../../../../scripts/image/engines.ts';

const WISH: ImageWish = {
  tag: 'registry.example/switchyard:1.2.3',
  nodeDigest: `sha256:${'a'.repeat(64)}`,
  platform: 'linux/arm64',
  revision: 'abc',
  sourceDateEpoch: 1_700_000_000,
  version: '1.2.3',
  context: '/source',
  save: '/tmp/image.tar',
  push: true,
};

describe('the commands', () => {
  test('build, show, save and push with any engine, the base by its digest', () => {
    expect(imageCommands('docker', WISH)).toEqual([
      [
        'docker',
        'build',
        '--tag=registry.example/switchyard:1.2.3',
        `--build-arg=NODE_DIGEST=@${WISH.nodeDigest}`,
        '--platform=linux/arm64',
        '--build-arg=SOURCE_DATE_EPOCH=1700000000',
        '--label=org.opencontainers.image.version=1.2.3',
        '--label=org.opencontainers.image.revision=abc',
        '/source',
      ],
      ['docker', 'images', 'registry.example/switchyard:1.2.3'],
      ['docker', 'save', '--output=/tmp/image.tar', 'registry.example/switchyard:1.2.3'],
      ['docker', 'push', 'registry.example/switchyard:1.2.3'],
    ]);
    expect(ENGINES.map((engine) => imageCommands(engine, WISH)[2]?.join(' '))).toEqual([
      'docker save --output=/tmp/image.tar registry.example/switchyard:1.2.3',
      'podman save --format=docker-archive --output=/tmp/image.tar registry.example/switchyard:1.2.3',
      'nerdctl save --output=/tmp/image.tar registry.example/switchyard:1.2.3',
      'buildah push registry.example/switchyard:1.2.3 docker-archive:/tmp/image.tar:registry.example/switchyard:1.2.3',
    ]);
  });

  test('say only what was asked for', () => {
    const little: ImageWish = { ...WISH, nodeDigest: undefined, platform: undefined, revision: undefined, sourceDateEpoch: undefined };
    expect(imageCommands('podman', { ...little, save: undefined, push: false })).toEqual([
      ['podman', 'build', `--tag=${WISH.tag}`, '--label=org.opencontainers.image.version=1.2.3', '/source'],
      ['podman', 'images', WISH.tag],
    ]);
  });

  test('ask an engine whether it works: buildah has no daemon', () => {
    expect(ENGINES.map((engine) => probeCommand(engine).join(' '))).toEqual([
      'docker info',
      'podman info',
      'nerdctl info',
      'buildah version',
    ]);
  });
});

describe('npm run image', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-engines-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const script = path.join(import.meta.dirname, '..', '..', '..', '..', 'scripts', 'image', 'build.ts');
  /** With these engines on the PATH and no other; each prints what it is asked, and fails to `info` where it is broken. */
  const run = (engines: Readonly<Record<string, 'works' | 'broken'>>, ...args: readonly string[]) => {
    const bin = mkdtempSync(path.join(folder, 'bin-'));
    for (const [name, state] of Object.entries(engines)) {
      const file = path.join(bin, name);
      writeFileSync(file, `#!/bin/sh\n[ "$1" = info ] && exit ${state === 'works' ? 0 : 1}\necho "did $0 $*"\n`.replaceAll('$0', name));
      chmodSync(file, 0o755);
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', env: { PATH: bin } });
    return { status, stdout, stderr };
  };

  test('takes the first engine that works', () => {
    const { status, stdout } = run({ docker: 'broken', podman: 'works' }, '--tag', 'a:1', '--save', 'x.tar');
    expect(status).toBe(0);
    expect(
      stdout
        .split('\n')
        .filter((line) => line.startsWith('did '))
        .map((line) => line.split(' ').slice(0, 3).join(' ')),
    ).toEqual(['did podman build', 'did podman images', 'did podman save']);
  });

  test('without one it says which there could be, and what can be had without', () => {
    expect(run({})).toEqual({ status: 1, stdout: '', stderr: `image: ${withoutEngine([])}\n` });
    expect(run({ docker: 'broken' }).stderr).toContain('docker is installed and gives no answer');
    expect(withoutEngine([])).toContain('scripts/image/assemble.ts --into DIR');
  });

  test('a dry run prints the commands and runs none; what it cannot read it refuses', () => {
    const { status, stdout } = run({}, '--dry-run', '--engine', 'buildah', '--push');
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^\$ buildah build .*\n\$ buildah images .*\n\$ buildah push .*\n$/),
    });
    for (const args of [['--node-digest', 'latest'], ['--engine', 'make'], ['--nonsense']])
      expect(run({ docker: 'works' }, ...args), args.join(' ')).toMatchObject({ status: 2, stdout: '' });
  });
});
