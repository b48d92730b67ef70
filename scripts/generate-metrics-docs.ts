#!/usr/bin/env node
/** Writes docs/metrics.md from what the programs register; test/unit/scripts/metrics/metrics-docs.test.ts compares. */
import { writeFileSync } from 'node:fs';
import { metricsDocs } from './metrics/metrics-docs.ts';

writeFileSync(new URL('../docs/metrics.md', import.meta.url), await metricsDocs());
