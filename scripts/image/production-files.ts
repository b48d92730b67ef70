import type { PackageLock } from '../supply-chain/production-packages.ts';

/** Places of package-lock.json, such as `node_modules/a/node_modules/b`, of the packages without which a program could not run. */
export const productionPlaces = ({ packages = {} }: PackageLock): string[] =>
  Object.entries(packages)
    .filter(([place, { dev, optional, devOptional, link }]) => place !== '' && ![dev, optional, devOptional, link].includes(true))
    .map(([place]) => place)
    .toSorted();

/**
 * Whether a file of a package is of use to a program that runs: not its types, the maps to its sources, nor what tells people of it.
 * Licences stay.
 */
export const isRuntimeFile = (file: string): boolean =>
  /(^|\/)(licen[cs]e|copying|notice)/i.test(file) ||
  !/(\.d\.[cm]?ts|\.[cm]?ts|\.tsx|\.map|\.md|\.markdown|\.flow|\.tsbuildinfo)$/i.test(file);
