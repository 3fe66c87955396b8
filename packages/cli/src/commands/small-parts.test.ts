import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/config.ts';
import { humanSize } from '../output/format.ts';
import { zoneName } from '../output/zone-name.ts';
import { findPlugin, listPlugins } from '../plugins.ts';
import { splitList } from '../list-flag.ts';
import { Histogram } from '../stress/histogram.ts';
import { identityToken } from '../auth/aws-iam.ts';
import { shortMessage } from './annotate.ts';
import { keepBeforeMiddle, keepFromMiddle } from './bisect.ts';

describe('histogram', () => {
  it('counts up to each bucket', () => {
    const histogram = new Histogram([1, 5, 10]);
    for (const value of [1, 343, 2, 1]) histogram.add(value);
    expect(histogram.lines()).toEqual(['1\t2', '5\t3', '10\t3', 'min\t1', 'max\t343', 'total\t4']);
  });
});

describe('bisect', () => {
  const commits = ['c4', 'c3', 'c2', 'c1', 'c0'].map((id) => ({ id }) as never);
  const session = { created: '', repository: 'r', badCommit: 'c4', goodCommit: 'g', commits };
  const ids = (found: { commits: readonly { id: string }[] }): string[] => found.commits.map(({ id }) => id);

  it('shows and splits at the same commit', () => {
    const good = keepBeforeMiddle(session);
    expect(ids(good)).toEqual(['c4', 'c3']);
    expect(ids(keepFromMiddle(good))).toEqual(['c3']);
    expect(ids(keepBeforeMiddle(good))).toEqual(['c4']);
    expect(ids(keepFromMiddle(session))).toEqual(['c2', 'c1', 'c0']);
    expect(ids(keepFromMiddle(keepFromMiddle(good)))).toEqual(['c3']);
  });
});

describe('messages', () => {
  it('are cut at a real newline and at 200 characters', () => {
    expect(shortMessage('one\ntwo')).toBe('one');
    expect(shortMessage('a\\nb')).toBe('a\\nb');
    expect(shortMessage('x'.repeat(201))).toBe(`${'x'.repeat(200)}...`);
  });
});

describe('flags and sizes', () => {
  it('split like CSV', () => {
    expect(splitList('a=1,b=x=y')).toEqual(['a=1', 'b=x=y']);
    expect(splitList('"c=1,2"')).toEqual(['c=1,2']);
  });

  it('are shown in decimal units', () => {
    expect([999, 1024, 999_950, 1e9].map(humanSize)).toEqual(['999 B', '1.0 kB', '1.0 MB', '1.0 GB']);
  });
});

describe('zone names', () => {
  it.each([
    ['UTC', '2026-07-01T12:00:00Z', 'UTC'],
    ['Europe/Berlin', '2026-07-01T12:00:00Z', 'CEST'],
    ['Europe/Berlin', '2026-01-01T12:00:00Z', 'CET'],
    ['America/New_York', '2026-01-01T12:00:00Z', 'EST'],
    ['Africa/Johannesburg', '2026-01-01T12:00:00Z', 'SAST'],
    ['Asia/Tokyo', '2026-01-01T12:00:00Z', 'GMT+9'],
  ])('%s at %s is %s', (timeZone, date, name) => {
    expect(zoneName(new Date(date), timeZone)).toBe(name);
  });
});

describe('plugins', () => {
  it('are executable files on PATH', () => {
    const folder = tempDir();
    writeFileSync(join(folder, 'svcctl-foo'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(join(folder, 'svcctl-plain'), '', { mode: 0o644 });
    writeFileSync(join(folder, 'svcctl-'), '', { mode: 0o755 });
    mkdirSync(join(folder, 'svcctl-folder'));
    const environment = { PATH: `${folder}:${folder}:/does/not/exist` };
    expect(listPlugins(environment, () => expect.unreachable())).toEqual(['foo']);
    expect(findPlugin('foo', environment)).toBe(join(folder, 'svcctl-foo'));
    expect(findPlugin('../foo', environment)).toBeUndefined();
  });
});

describe('configuration', () => {
  const load = (text: string, environment: Record<string, string> = {}) => {
    const file = join(tempDir(), 'config.yaml');
    writeFileSync(file, text);
    return loadConfig({ file, environment });
  };

  it('lets the environment win over the file', () => {
    const config = load('server:\n  endpoint_url: http://a\n', { SVCCTL_SERVER_ENDPOINT_URL: 'http://b' });
    expect(config.get('server.endpoint_url')).toBe('http://b');
    expect(config.get('server.retries.min_wait_interval')).toBe(200);
  });

  it.each([
    ['credentials:\n  access_key_id: 0123\n', 'must be a string'],
    ['credentials:\n  access_key: x\n', 'unknown key "credentials.access_key"'],
    ['a: [', 'error reading configuration file'],
    ['options:\n  parallelism: 0\n', 'above 0'],
  ])('refuses %j', (text, message) => {
    expect(() => load(text)).toThrow(message);
  });

  it('signs who we are for AWS without telling the secret', () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'AKIDEXAMPLE';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'hidden-secret';
    try {
      const token = identityToken(load(''), 'http://svc.example:8000/api/v1', new Date(0));
      const facts = JSON.parse(Buffer.from(token, 'base64').toString()) as Record<string, unknown>;
      expect(facts).toMatchObject({
        access_key_id: 'AKIDEXAMPLE',
        action: 'GetCallerIdentity',
        date: '19700101T000000Z',
        signed_headers: ['host', 'x-lakefs-server-id'],
      });
      expect(facts['signature']).toMatch(/^[0-9a-f]{64}$/);
      expect(JSON.stringify(facts)).not.toContain('hidden-secret');
    } finally {
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
    }
  });
});
