import { describe, expect, test } from 'vitest';
import { createReconciliation } from '../../../../../manager/dispatch/listing/reconciliation.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

describe('a worker that asks whether its cluster is in order', () => {
  function asking(first: string | undefined, stale: string[], isListDue = false) {
    const clock = new FakeClock();
    const state = { token: first, confirmed: [] as string[], looks: 0 };
    const stop = new AbortController();
    const reconciliation = createReconciliation({
      asked: () => (state.confirmed.at(-1) === state.token ? undefined : state.token),
      inPlace: (key) => !stale.includes(key),
      outOfPlace: async () => {
        state.looks++;
        return [...stale];
      },
      isListDue: () => isListDue && state.looks === 0,
      confirm: (token) => void state.confirmed.push(token),
      clock,
    });
    const done = reconciliation.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await clock.settle();
      await done;
    };
    return { clock, state, reconciliation, end };
  }

  test('is answered when the last copy in the way is gone, and all were looked at again', async () => {
    const stale = ['team/a', 'team/b'];
    const { clock, state, reconciliation, end } = asking('t1', stale);
    await clock.settle();
    stale.shift();
    reconciliation.copyChanged('team/a');
    await clock.settle();
    expect(state).toMatchObject({ confirmed: [], looks: 1 });
    stale.shift();
    reconciliation.copyChanged('team/b');
    await clock.settle();
    expect(state).toMatchObject({ confirmed: ['t1'], looks: 2 });
    await end();
  });

  test('or whose copies are to be listed unasked, is answered only if it asks', async () => {
    const { clock, state, reconciliation, end } = asking(undefined, ['team/a'], true);
    await clock.settle();
    reconciliation.wake();
    await clock.settle();
    expect(state).toMatchObject({ confirmed: [], looks: 1 });
    await end();
  });

  test('costs nothing once it is answered, whatever changes there', async () => {
    const { clock, state, reconciliation, end } = asking('t1', []);
    await clock.settle();
    for (let change = 0; change < 100; change++) reconciliation.copyChanged('team/a');
    reconciliation.wake();
    await clock.settle();
    expect(state).toMatchObject({ confirmed: ['t1'], looks: 1 });
    await end();
  });

  test('is answered for the token that it asks for now', async () => {
    const { clock, state, reconciliation, end } = asking('t1', []);
    await clock.settle();
    state.token = 't2';
    reconciliation.wake();
    await clock.settle();
    expect(state.confirmed).toEqual(['t1', 't2']);
    await end();
  });
});
