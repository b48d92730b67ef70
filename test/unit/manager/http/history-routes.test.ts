import { describe, expect, test } from 'vitest';
import { historyRoutes, type HistoryReader } from '../../../../manager/http/history-routes.ts';
import { matchRoute } from '../../../../manager/http/match-route.ts';
import { TooMuchWaits } from '../../../../shared/runtime/fair-slots.ts';
import { RequestRefused, type ApiAnswer } from '../../../../manager/http/route.ts';

const asked: object[] = [];
const history: HistoryReader = {
  async query(query) {
    asked.push(query);
    return query.name === 'never' ? [] : [{ uid: 'u1' }];
  },
  async usage(query) {
    asked.push(query);
    if (query.namespace === 'busy') throw new TooMuchWaits('too much');
    return { rows: [] };
  },
  podsOf: async () => [{ copyUid: 'c1', cluster: 'east', pods: [{ pod: 'sum-a' }, { pod: 'sum-b' }] }],
  tail: async (uid, copyUid, pod) => (pod === 'sum-a' ? `log of ${uid}/${copyUid}/${pod}\n` : undefined),
};
function routeOf(path: string) {
  const match = matchRoute(historyRoutes(history), 'GET', `/apis/history/v1/namespaces/team${path}`);
  if (match.kind !== 'Route') throw new Error(match.kind);
  return match;
}
const ask = async (path: string, query = ''): Promise<ApiAnswer> => {
  const { route, parameters } = routeOf(path);
  const signal = new AbortController().signal;
  const request = { parameters, query: new URLSearchParams(query), body: undefined, lastEventId: undefined, caller: NOBODY };
  return route.handle({ ...request, countFor: () => undefined, signal });
};

const NOBODY = { authorization: undefined, address: undefined, header: () => undefined };

describe('history over HTTP', () => {
  test('is asked for by namespace, and no more of it at once than some', async () => {
    expect(await ask('/jobs', 'limit=7')).toEqual({ kind: 'Json', status: 200, body: { items: [{ uid: 'u1' }] } });
    expect(asked.at(-1)).toEqual({ namespace: 'team', hidesCanaries: true, limit: 7 });
    await ask('/jobs', 'canaries=1');
    expect(asked.at(-1)).toEqual({ namespace: 'team', hidesCanaries: false, limit: 100 });
    await ask('/jobs', 'name=sum&outcome=Failed&user=ann&since=2026-01-01T00:00:00Z');
    expect(asked.at(-1)).toEqual({
      namespace: 'team',
      hidesCanaries: false,
      limit: 100,
      name: 'sum',
      outcome: 'Failed',
      user: 'ann',
      sinceMs: Date.parse('2026-01-01T00:00:00Z'),
    });
    await expect(ask('/jobs', 'outcome=Lost')).rejects.toThrow('outcome: write one of Complete, Failed, Deleted');
    await expect(ask('/jobs', 'since=yesterday')).rejects.toThrow('since: write a time such as');
    await expect(ask('/jobs', 'limit=100000')).rejects.toThrow(
      new RequestRefused(422, 'Invalid', 'limit: is no whole number from 1 to 1000'),
    );
  });

  test('has a Job with its pods, and the end of a log', async () => {
    expect(await ask('/jobs/sum')).toMatchObject({ body: { uid: 'u1', copies: [{ cluster: 'east' }] } });
    expect(await ask('/jobs/sum/pods/sum-a/log')).toMatchObject({ body: { pod: 'sum-a', cluster: 'east', log: 'log of u1/c1/sum-a\n' } });
    await expect(ask('/jobs/never')).rejects.toThrow('there is no history of a Job team/never');
    expect(asked.at(-1)).toEqual({ namespace: 'team', resource: 'jobs', name: 'never', limit: 1 });
    for (const pod of ['sum-b', 'foreign']) await expect(ask(`/jobs/sum/pods/${pod}/log`)).rejects.toThrow(`no log of pod ${pod} is kept`);
  });

  test('sums what Jobs used in a period, for those who may list them', async () => {
    const times = 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z';
    expect(await ask('/usage', `by=user&${times}`)).toEqual({ kind: 'Json', status: 200, body: { rows: [] } });
    expect(asked.at(-1)).toEqual({ namespace: 'team', by: 'user', fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 1, 1) });
    await expect(ask('/usage', `by=namespace&${times}`)).rejects.toThrow('by: write one of user, queue, cluster');
    await expect(ask('/usage', 'by=user&from=2026-01-01T00:00:00Z')).rejects.toThrow('to: write a time such as');
    await expect(ask('/usage', 'by=user&from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z')).rejects.toThrow('to: must be later than from');
    const { route, parameters } = routeOf('/usage');
    const signal = new AbortController().signal;
    const busy = {
      parameters: { namespace: 'busy' },
      query: new URLSearchParams(`by=user&${times}`),
      body: undefined,
      lastEventId: undefined,
    };
    await expect(route.handle({ ...busy, caller: NOBODY, countFor: () => undefined, signal })).rejects.toThrow(
      'too many sums of this namespace wait',
    );
    expect(route.access === 'Own' ? undefined : route.access(parameters)).toEqual({
      resourceAttributes: { namespace: 'team', verb: 'list', group: 'batch', resource: 'jobs' },
    });
  });

  test('is for those who may read the Jobs, and logs for those who may read the Job and its logs', () => {
    const accessTo = (path: string) => {
      const { route, parameters } = routeOf(path);
      return route.access === 'Own' ? undefined : route.access(parameters);
    };
    expect(accessTo('/jobs')).toEqual({ resourceAttributes: { namespace: 'team', verb: 'list', group: 'batch', resource: 'jobs' } });
    expect(accessTo('/jobs/sum')).toEqual({
      resourceAttributes: { namespace: 'team', verb: 'get', group: 'batch', resource: 'jobs', name: 'sum' },
    });
    expect(accessTo('/jobs/sum/pods/sum-a/log')).toEqual([
      { resourceAttributes: { namespace: 'team', verb: 'get', group: 'batch', resource: 'jobs', name: 'sum' } },
      { resourceAttributes: { namespace: 'team', verb: 'get', group: '', resource: 'pods', subresource: 'log', name: 'sum-a' } },
    ]);
  });

  test('has objects of other kinds by resource and group, for those who may get them', async () => {
    await ask('/crews.example.com/sum');
    expect(asked.at(-1)).toEqual({ namespace: 'team', resource: 'crews.example.com', name: 'sum', limit: 1 });
    await ask('/jobs', 'resource=crews.example.com');
    expect(asked.at(-1)).toEqual({ namespace: 'team', resource: 'crews.example.com', hidesCanaries: true, limit: 100 });
    const { route, parameters } = routeOf('/crews.example.com/sum');
    expect(route.access === 'Own' || route.access(parameters)).toEqual({
      resourceAttributes: { namespace: 'team', verb: 'get', group: 'example.com', resource: 'crews', name: 'sum' },
    });
    await expect(ask('/crews.example.com/never')).rejects.toThrow('there is no history of crews.example.com team/never');
    const pods = routeOf('/secrets/sum');
    expect(() => pods.route.access === 'Own' || pods.route.access(pods.parameters)).toThrow('there is no secrets here; write jobs, or ');
  });
});
