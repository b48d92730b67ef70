import { describe, expect, test } from 'vitest';
import { parseStoreAddress } from '../../../../manager/history/store-address.ts';

describe('where history is kept', () => {
  test.each([
    ['/var/lib/switchyard', { kind: 'Directory', path: '/var/lib/switchyard' }],
    ['history', { kind: 'Directory', path: 'history' }],
    ['redis://u:p@redis:6379/2', { kind: 'Redis', url: 'redis://u:p@redis:6379/2', prefix: 'switchyard:history:' }],
    ['rediss://redis?prefix={h}:', { kind: 'Redis', url: 'rediss://redis', prefix: '{h}:' }],
    ['s3://jobs', { kind: 'S3', endpoint: 'https://s3.us-east-1.amazonaws.com', region: 'us-east-1', bucket: 'jobs', prefix: '' }],
    [
      's3://jobs/a/b/?endpoint=http://minio:9000/&region=eu-1',
      { kind: 'S3', endpoint: 'http://minio:9000', region: 'eu-1', bucket: 'jobs', prefix: 'a/b/' },
    ],
  ])('%s', (given, address) => expect(parseStoreAddress(given)).toEqual(address));

  test.each([
    ['', 'is empty'],
    ['ftp://x', 'neither a directory nor'],
    ['redis://[', 'is no URL'],
    ['s3://B', 'names no bucket'],
    ['s3://jobs?endpoint=minio', 'endpoint that is no http'],
  ])('not at %j', (given, problem) => expect(() => parseStoreAddress(given)).toThrow(problem));
});
