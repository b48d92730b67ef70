import { describe, expect, test } from 'vitest';
import { exported } from '../../../../../manager/dashboard/page/export.ts';
import { aLine } from '../lines.ts';

describe('Jobs as a file', () => {
  const jobs = [
    aLine({ key: 'a/sum', state: 'Failed', user: 'ann', why: '=HYPERLINK("http://x"), "quoted"', failed: 2 }),
    aLine({ key: 'a/example.com/crew', kind: 'Crew' }),
  ];

  test('are CSV with a line of names, in which no text is a formula', () => {
    expect(exported(jobs, 'csv')).toBe(
      'key,kind,uid,state,reason,why,queue,clusterQueue,cluster,user,createdMs,admittedMs,startedMs,endedMs,completions,active,succeeded,failed\r\n' +
        'a/sum,,uid-a/sum,Failed,,"\'=HYPERLINK(""http://x""), ""quoted""",main,,,ann,0,,,,1,0,0,2\r\n' +
        'a/example.com/crew,Crew,uid-a/example.com/crew,Waiting,,,main,,,,0,,,,1,0,0,0\r\n',
    );
  });

  test('are JSON that says the same', () => {
    expect(JSON.parse(exported(jobs, 'json'))).toEqual(jobs);
  });
});
