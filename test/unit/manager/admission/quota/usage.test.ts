import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAmount, UNLIMITED } from '../../../../../manager/api/amount.ts';
import { cellOf, clusterHolder, createUsage, freeOn, type Usage } from '../../../../../manager/admission/quota/usage.ts';
import { aCluster } from '../setup.ts';

const cores = (count: number) => parseAmount('cpu', count);

test('whatever is forked and changed in whatever order, each sees what it began with and its own changes, as if it were built anew', () => {
  const step = fc.record({
    of: fc.nat(7),
    forks: fc.boolean(),
    // More than one block of rows.
    holder: fc.integer({ min: 0, max: 150 }).map((number) => `holder-${number}`),
    key: fc.constantFrom('cpu', 'default/cpu', 'pods'),
    amount: fc.nat(9),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const all: { readonly usage: Usage; readonly model: Map<string, number> }[] = [{ usage: createUsage(), model: new Map() }];
      for (const { of, forks, holder, key, amount } of steps) {
        const chosen = all[of % all.length];
        if (chosen === undefined) continue;
        if (forks) all.push({ usage: chosen.usage.fork(), model: new Map(chosen.model) });
        chosen.usage.set(holder, key, cores(amount));
        chosen.model.set(`${holder} ${key}`, cores(amount));
      }
      for (const { holder, key } of steps) {
        expect(all.map(({ usage }) => usage.get(holder, key))).toEqual(all.map(({ model }) => model.get(`${holder} ${key}`) ?? 0));
      }
    }),
    { numRuns: 300 },
  );
});

test('what nobody has used is not used, and what no cluster limits is free without a limit', () => {
  const usage = createUsage();
  const cluster = aCluster('eu', { capacity: { cpu: '4' } });
  expect([usage.get('nobody', 'cpu'), usage.columnOf('cpu'), freeOn(cluster, usage, 'cpu')]).toEqual([0, undefined, 4000]);
  usage.set(clusterHolder('eu'), 'cpu', cores(3));
  expect([freeOn(cluster, usage, 'cpu'), freeOn(cluster, usage, 'memory')]).toEqual([1000, UNLIMITED]);
});

test('the table of a list of clusters is made once, and its rows are those of every fork', () => {
  const usage = createUsage();
  const clusters = [aCluster('eu'), aCluster('us')];
  const table = usage.tableOf(clusters);
  const fork = usage.fork();
  fork.set(clusterHolder('us'), 'cpu', cores(2));
  expect(fork.tableOf(clusters)).toBe(table);
  const column = fork.columnOf('cpu');
  expect(column && table.rows.map((row) => cellOf(column, row))).toEqual([0, 2000]);
  expect(usage.columnOf('cpu')).toBeUndefined();
});

test('what is charged has a new version, other holders keep theirs, and the charges to a fork have none', () => {
  const usage = createUsage();
  const versions = (): number[] => ['tree', 'other'].map((holder) => usage.versionOf(holder));
  const before = versions();
  usage.changed('tree');
  const [tree, other] = versions();
  expect([tree !== before[0], other === before[1]]).toEqual([true, true]);
  const fork = usage.fork();
  fork.changed('tree');
  expect([fork.versionOf('tree'), ...versions()]).toEqual([tree, tree, other]);
  // Other quota makes another usage of every holder.
  const rebuilt = usage.restrictedTo(() => true);
  expect(rebuilt.versionOf('tree')).toBeGreaterThan(tree ?? 0);
  expect(rebuilt.versionOf('other')).toBeGreaterThan(other ?? 0);
});
