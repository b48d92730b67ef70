import { expect, test } from 'vitest';
import { DASHBOARD_FLAGS } from '../../../../manager/config/dashboard-flags.ts';

const traceUrl = DASHBOARD_FLAGS['dashboard-trace-url'].parse;

test('where traces are to be seen is an address of the web with the id in it, once', () => {
  for (const good of ['https://jaeger.example/trace/{traceId}', 'http://10.0.0.1:3000/explore?left=%5B%22{traceId}%22%5D'])
    expect(traceUrl(good)).toBe(good);
  for (const wrong of [
    'https://jaeger.example/trace/',
    'jaeger/{traceId}',
    'javascript:alert("{traceId}")',
    'https://me:secret@jaeger.example/{traceId}',
    'https://jaeger.example/{traceId}/{traceId}',
    'https://jaeger.example/{span}/{traceId}',
  ])
    expect(() => traceUrl(wrong), wrong).toThrow('write an address such as https://jaeger.example/trace/{traceId}');
});
