import { describe, expect, test } from 'vitest';
import { changesOf, type Change, type ChangeFlag } from '../../../../../manager/cli/what-if/changes.ts';

const edits = (flag: ChangeFlag, given: string) =>
  changesOf(flag, given).map((change) => (change.kind === 'Edit' ? { ...change.target, ...change.edit } : change));

describe('flags that stand for changes', () => {
  test('are lists with commas between', () => {
    expect(edits('quota', 'main:default:cpu=40,cohort/all:spot:nvidia.com/gpu=+2')).toEqual([
      { word: 'clusterqueue', name: 'main', field: 'quota', flavor: 'default', resource: 'cpu', amount: '40' },
      { word: 'cohort', name: 'all', field: 'quota', flavor: 'spot', resource: 'nvidia.com/gpu', amount: '+2' },
    ]);
  });

  test('may have spaces around their commas, and commas too many', () => {
    expect(edits('drain', ' east , west,,').map((edit) => ('name' in edit ? edit.name : undefined))).toEqual(['east', 'west']);
    expect(edits('drain', ' ')).toEqual([]);
  });

  test.each<[ChangeFlag, string, object]>([
    ['weight', 'main=0.5', { word: 'clusterqueue', name: 'main', field: 'weight', weight: '0.5' }],
    ['cohort', 'main=', { word: 'clusterqueue', name: 'main', field: 'cohortName', cohort: '' }],
    ['stop', 'main', { word: 'clusterqueue', name: 'main', field: 'stopPolicy', policy: 'Hold' }],
    [
      'stop',
      'team/main=HoldAndDrain',
      { word: 'localqueue', namespace: 'team', name: 'main', field: 'stopPolicy', policy: 'HoldAndDrain' },
    ],
    ['start', 'main', { word: 'clusterqueue', name: 'main', field: 'stopPolicy', policy: 'None' }],
    ['drain', 'east', { word: 'cluster', name: 'east', field: 'state', state: 'Draining' }],
    ['cordon', 'east', { word: 'cluster', name: 'east', field: 'state', state: 'Cordoned' }],
    ['uncordon', 'east', { word: 'cluster', name: 'east', field: 'state', state: 'Active' }],
    ['lose', 'east', { word: 'cluster', name: 'east', field: 'lost' }],
    ['capacity', 'east:cpu=8', { word: 'cluster', name: 'east', field: 'capacity', resource: 'cpu', amount: '8' }],
    ['priority', 'team/train=-3', { word: 'job', namespace: 'team', name: 'train', field: 'priority', priority: '-3' }],
  ])('--%s %s', (flag, given, expected) => {
    expect(edits(flag, given)).toEqual([expected]);
  });

  test('delete objects by kind and name', () => {
    const targets = changesOf('remove', 'flavor/spot,job/team/train').map((change: Change) => change.kind === 'Remove' && change.target);
    expect(targets).toEqual([
      { word: 'flavor', name: 'spot' },
      { word: 'job', namespace: 'team', name: 'train' },
    ]);
  });

  test.each<[ChangeFlag, string]>([
    ['quota', 'main:cpu=3'],
    ['quota', 'main:default:cpu='],
    ['capacity', 'east=3'],
    ['weight', 'main'],
    ['cohort', 'main'],
    ['start', 'main=Hold'],
    ['stop', 'main='],
    ['stop', '=Hold'],
    ['stop', 'team/main/more'],
    ['stop', 'team/'],
    ['stop', '/main'],
    ['start', 'team/main/more'],
    ['start', '/'],
    ['weight', '=1'],
    ['weight', 'main='],
    ['cohort', '=all'],
    ['capacity', ':cpu=3'],
    ['capacity', 'east:cpu:more=3'],
    ['capacity', 'east:cpu'],
    ['quota', ':default:cpu=3'],
    ['quota', 'main::cpu=3'],
    ['quota', 'main:default:=3'],
    ['quota', 'main:default:cpu:more=3'],
    ['priority', '/train=3'],
    ['priority', 'team/=3'],
    ['priority', 'team/train/more=3'],
    ['priority', 'team/train'],
    ['drain', 'east=now'],
    ['priority', 'train=3'],
    ['remove', 'spot'],
  ])('say what to write instead of --%s %s', (flag, given) => {
    expect(() => changesOf(flag, given)).toThrow(/cannot be read; write [A-Z]/);
  });
});
