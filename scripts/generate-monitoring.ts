#!/usr/bin/env node
/**
 * Writes what is made of shared/monitoring: rules and dashboards of the charts, and the list of runbooks.
 * test/unit/charts/monitoring.test.ts compares.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { monitoringFiles } from '../shared/monitoring/files.ts';

for (const [name, text] of monitoringFiles()) {
  const file = path.join(import.meta.dirname, '..', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
