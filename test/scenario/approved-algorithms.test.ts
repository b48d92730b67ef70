/**
 * Goal: wherever the programs choose an algorithm themselves, it is one that FIPS 140-3 approves: SHA-2, HMAC of it, ECDSA with P-256,
 * Ed25519 (FIPS 186-5), AES-256-GCM, HKDF of SHA-2 (SP 800-56C). The rest is TLS, which is left to OpenSSL and so to its provider.
 * docs/security.md says what was tried.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSources } from '../support/source-files.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LIMIT_MS = 120_000;
/** Without what runs in browsers, and the embedded control plane, which is for trials. */
const product = readSources()
  .filter(({ name }) => /^(shared|worker|manager)\//.test(name) && !/^(manager\/dashboard\/page|shared\/controlplane)\//.test(name))
  .map(({ name }) => ({ name, text: readFileSync(path.join(ROOT, name), 'utf8') }));
/** File and what is found there. */
const found = (pattern: RegExp): string[] =>
  product.flatMap(({ name, text }) => [...text.matchAll(pattern)].map(([match]) => `${name}: ${match}`));

describe('in the sources', () => {
  test('hashes and HMACs are of SHA-2, each by its name', () => {
    const calls = found(/(?<![.\w])(createHash|createHmac|hash)\((?=['"`\w])[^,)]*/g).filter((call) => !/hash\(\w+: /.test(call));
    expect(calls.length).toBeGreaterThan(15);
    expect(calls.filter((call) => !/\((['"])sha(256|512)\1$/.test(call))).toEqual([]);
  });

  test('keys are made for ECDSA with P-256 and SHA-256', () => {
    expect(found(/generateKey(Pair|PairSync)?\([^,)]*/g).map((call) => call.split(': ')[1])).toEqual([
      'generateKey(ALGORITHM',
      'generateKey(ALGORITHM',
    ]);
    expect(new Set(found(/const ALGORITHM = .*/g).map((line) => line.split('ALGORITHM = ')[1]))).toEqual(
      new Set(["{ name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;", "'aes-256-gcm';"]),
    );
  });

  test('cookies of the dashboard alone are encrypted, by AES-256-GCM with a key of HKDF, and TLS is as Node and OpenSSL have it', () => {
    const encryption =
      /\b(createCipheriv|createDecipheriv|createDiffieHellman|pbkdf2|scrypt|hkdf|publicEncrypt|privateDecrypt)\w*\([^,)]*/g;
    expect(found(encryption).map((call) => call.split(': ')[1])).toEqual([
      "hkdfSync('sha256'",
      'createCipheriv(ALGORITHM',
      'createDecipheriv(ALGORITHM',
    ]);
    expect(found(/\b(ciphers|cipherSuites|minVersion|maxVersion|secureProtocol|sigalgs|ecdhCurve)\b\??:/g)).toEqual([]);
  });
});

/** Writes down what is asked of node:crypto and of WebCrypto, also by packages. */
const HOOK = `
const crypto = require('node:crypto');
const used = new Set();
const name = (algorithm) => (typeof algorithm === 'string' ? algorithm : [algorithm?.name, algorithm?.namedCurve, algorithm?.hash?.name ?? algorithm?.hash].filter(Boolean).join(' '));
for (const call of ['createHash', 'createHmac', 'hash', 'createCipheriv', 'createSign', 'createVerify', 'createDecipheriv', 'pbkdf2', 'scrypt', 'hkdf', 'hkdfSync']) {
  const original = crypto[call];
  crypto[call] = (algorithm, ...rest) => (used.add(call + ' ' + name(algorithm)), original(algorithm, ...rest));
}
for (const call of ['sign', 'verify']) {
  const original = crypto[call];
  crypto[call] = (algorithm, data, key, ...rest) => (used.add(call + ' ' + (algorithm ?? key.asymmetricKeyType)), original(algorithm, data, key, ...rest));
}
for (const call of ['digest', 'sign', 'verify', 'generateKey']) {
  const original = crypto.subtle[call];
  crypto.subtle[call] = (algorithm, ...rest) => (used.add('subtle.' + call + ' ' + name(algorithm)), original.call(crypto.subtle, algorithm, ...rest));
}
require('node:module').syncBuiltinESMExports();
process.on('exit', () => require('node:fs').writeSync(1, JSON.stringify([...used].sort())));
`;
/**
 * What the programs do with cryptography, but for TLS: certificates, seals, signatures, hashes, and the scripts of BullMQ, which Redis
 * knows by their SHA-1.
 */
const WORK = `
import { generateKeyPairSync } from 'node:crypto';
const load = (file) => import(new URL(file, 'file://' + process.cwd() + '/'));
const { makeKeyPair } = await load('manager/certificates/make-key-pair.ts');
await makeKeyPair(['a.example'], Date.now());
const keys = { current: new Uint8Array(32), others: [] };
const { sealHomeVersion, openHomeVersion } = await load('manager/api/home-version.ts');
openHomeVersion(keys, { origin: 'a', homeUid: 'b' }, sealHomeVersion(keys, { origin: 'a', homeUid: 'b' }, '1'));
const { createCookieSeal } = await load('manager/sign-in/cookie-seal.ts');
const cookies = createCookieSeal(keys, ['session']);
cookies.open(cookies.seal({}));
const { createSigner } = await load('shared/client/signing.ts');
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
createSigner({ key: 'k', privateKey, queue: 'a/b' })({ kind: 'Job' }, 'key', Date.now());
const { verify } = await import('node:crypto');
verify(null, Buffer.from('text'), publicKey, Buffer.alloc(64));
const { Redis } = await import('ioredis');
const redis = new Redis({ lazyConnect: true });
redis.defineCommand('own', { numberOfKeys: 0, lua: 'return 1' });
redis.disconnect();
`;

test('what runs asks for nothing else, but for SHA-1 where it is a name: of a key in a certificate (RFC 5280), of a script in Redis', {
  timeout: LIMIT_MS,
}, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-crypto-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hook = path.join(folder, 'hook.cjs');
  writeFileSync(hook, HOOK);
  const flags = ['--disable-warning=ExperimentalWarning', '--require', hook, '--input-type=module', '--eval', WORK];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: ROOT });
  const used = JSON.parse(stdout) as string[];
  expect(used).toEqual(
    expect.arrayContaining(['createHmac sha256', 'createHash sha256', 'sign ed25519', 'subtle.generateKey ECDSA P-256 SHA-256']),
  );
  expect(used.filter((each) => !/ (sha256|sha512|SHA-256|aes-256-gcm|ed25519|ECDSA( P-256)? SHA-256)$/.test(each))).toEqual([
    'createHash sha1',
    'subtle.digest SHA-1',
  ]);
});

/** OpenSSL's FIPS provider, as Debian's package openssl-provider-fips or SWITCHYARD_FIPS_MODULE has it; undefined: there is none. */
const fipsModule = [
  process.env['SWITCHYARD_FIPS_MODULE'] ?? '',
  '/usr/lib/x86_64-linux-gnu/ossl-modules/fips.so',
  '/usr/lib/aarch64-linux-gnu/ossl-modules/fips.so',
  '/usr/lib64/ossl-modules/fips.so',
].find((file) => existsSync(file));
const TRIES = `
const { createHash, createCipheriv, getFips } = await import('node:crypto');
const refused = [() => createHash('md5'), () => createCipheriv('chacha20-poly1305', Buffer.alloc(32), Buffer.alloc(12)), () => generateKeyPairSync('x25519')].filter((act) => {
  try {
    act();
    return false;
  } catch {
    return true;
  }
});
console.log('fips ' + getFips() + ', refused ' + refused.length);
`;

test.skipIf(fipsModule === undefined)(
  'all of it works with the FIPS provider of OpenSSL, which refuses what is not approved',
  {
    timeout: 3 * LIMIT_MS,
  },
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-fips-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [installed, config] = [path.join(folder, 'fipsmodule.cnf'), path.join(folder, 'openssl.cnf')];
    execFileSync('openssl', ['fipsinstall', '-module', fipsModule ?? '', '-out', installed], { stdio: 'ignore' });
    writeFileSync(
      config,
      `nodejs_conf = init\n.include ${installed}\n[init]\nproviders = used\n[used]\nfips = fips_sect\nbase = base_sect\n[base_sect]\nactivate = 1\n`,
    );
    const env = { ...process.env, OPENSSL_CONF: config, OPENSSL_MODULES: path.dirname(fipsModule ?? '') };
    const flags = ['--force-fips', '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', `${WORK}${TRIES}`];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: ROOT, env });
    expect(stdout).toContain('fips 1, refused 3');
    for (const program of ['worker/main.ts', 'manager/main.ts', 'manager/certificates.ts', 'manager/cli/main.ts'])
      expect(spawnSync(process.execPath, ['--force-fips', program, '--help'], { cwd: ROOT, env }).status).toBe(0);
  },
);

test('where Node has no FIPS provider, a program that is to run with one does not start without', { timeout: LIMIT_MS }, () => {
  const { status, stderr } = spawnSync(process.execPath, ['--force-fips', 'worker/main.ts', '--help'], { cwd: ROOT, encoding: 'utf8' });
  // With a provider it does what it always does.
  if (status === 0) return;
  expect(stderr).toContain('--force-fips requires an active OpenSSL provider named "fips"');
});
