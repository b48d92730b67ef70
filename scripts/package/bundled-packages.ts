import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { BundledPackage } from './notices.ts';
import { ROOT } from './program-files.ts';

type PackageFile = { readonly name: string; readonly version: string; readonly license: string; readonly dependencies?: object };

/** Reads what a package in this folder says of itself, with its licence and notices. */
export function readPackage(folder: string): BundledPackage {
  const { name, version, license } = packageFileIn(folder);
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .toSorted()
    .map((file) => readFileSync(path.join(folder, file), 'utf8'));
  return { name, version, license, texts };
}

/** The folders of the packages that are built into the page of the dashboard. */
export function packagesOfPage(): readonly string[] {
  const page = path.join(ROOT, 'manager', 'dashboard', 'page');
  const sources = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(tsx?|css)$/.test(file));
  const found = new Set<string>();
  const add = (name: string): void => {
    const folder = path.join(ROOT, 'node_modules', name);
    if (found.has(folder)) return;
    found.add(folder);
    for (const each of Object.keys(packageFileIn(folder).dependencies ?? {})) add(each);
  };
  for (const file of sources) for (const [, name = ''] of readFileSync(path.join(page, file), 'utf8').matchAll(PACKAGE_NAMES)) add(name);
  return [...found].toSorted();
}

/** Names of packages in imports, without the path within the package. */
const PACKAGE_NAMES = /(?:\bfrom |\bimport |@import )['"]((?:@[\w.-]+\/)?[\w-][\w.-]*)[^'"]*['"]/g;

const packageFileIn = (folder: string): PackageFile => JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as PackageFile;
