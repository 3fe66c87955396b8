import { describe, expect, it } from 'vitest';
import { UriParser, formatUri } from './uri.ts';

const uris = new UriParser('');
const repo = 'repo1';

describe('UriParser', () => {
  it.each([
    ['svc://repo1/main/a/b.txt', { repository: repo, ref: 'main', path: 'a/b.txt' }],
    ['svc://repo1/main/', { repository: repo, ref: 'main', path: '' }],
    ['svc://repo1/main//', { repository: repo, ref: 'main', path: '/' }],
    ['svc://repo1/main/a%20b%2Fc', { repository: repo, ref: 'main', path: 'a b/c' }],
    ['svc://repo1/main@{2 hours ago}/x', { repository: repo, ref: 'main@{2 hours ago}', path: 'x' }],
    ['svc://repo1/main@20261101/x', { repository: repo, ref: 'main@20261101', path: 'x' }],
    ['svc://repo1/main~2/x', { repository: repo, ref: 'main~2', path: 'x' }],
    ['lakefs://repo1/main/x', { repository: repo, ref: 'main', path: 'x' }],
  ])('reads the path URI %s', (text, uri) => {
    expect(uris.path(text, 'path')).toEqual(uri);
  });

  it('takes ? and # as part of the key', () => {
    expect(uris.path('svc://repo1/main/a?b#c', 'path').path).toBe('a?b#c');
  });

  it.each([
    ['http://repo1/main', 'ref malformed svc URI'],
    ['svc:/repo1/main', 'ref malformed svc URI'],
    ['svc://user@repo1/main', 'ref malformed svc URI'],
    ['svc://repo1:80/main', 'ref malformed svc URI'],
    ['svc://repo1/ma%zzin', 'ref malformed svc URI'],
    ['svc:///main', 'ref missing repository part: not a valid ref URI'],
    ['svc://R/main', 'ref invalid repository name: not a valid ref URI'],
    ['svc://repo1', 'ref missing reference part: not a valid ref URI'],
    ['svc://repo1/', 'ref missing reference part: not a valid ref URI'],
    ['svc://repo1/a%20b', 'ref invalid reference name: not a valid ref URI'],
    ['svc://repo1/a{b c}', 'ref invalid reference name: not a valid ref URI'],
    ['svc://repo1/main@{1} x', 'ref invalid reference name: not a valid ref URI'],
    ['svc://repo1/main/x', 'ref includes a path part: not a valid ref URI'],
  ])('refuses %s as a ref URI', (text, message) => {
    expect(() => uris.ref(text, 'ref')).toThrow(message);
  });

  it('tells branches from refs', () => {
    expect(uris.branch('svc://repo1/main/', 'branch').ref).toBe('main');
    expect(() => uris.branch('svc://repo1/main~1', 'branch')).toThrow(
      'invalid branch name: not a valid branch URI',
    );
    expect(uris.ref('svc://repo1/dev$', 'ref').ref).toBe('dev$');
  });

  it('takes a repository with or without a trailing slash', () => {
    expect(uris.repository('svc://repo1/', 'repository').repository).toBe(repo);
    expect(() => uris.repository('svc://repo1/main', 'repository')).toThrow('includes a ref part');
  });

  it('completes arguments with the base URI, one slash between', () => {
    for (const base of ['svc://repo1/main', 'svc://repo1/main/']) {
      expect(new UriParser(base).path('path/x', 'path').path).toBe('path/x');
    }
    expect(new UriParser('svc://repo1/main').path('/path/x', 'path').path).toBe('path/x');
    expect(new UriParser('svc://repo1/main').ref('svc://other/dev', 'ref').repository).toBe('other');
  });

  it('prints what it read', () => {
    for (const text of ['svc://repo1', 'svc://repo1/main', 'svc://repo1/main/', 'svc://repo1/main/a b?c']) {
      expect(formatUri(uris.any(text, 'uri'))).toBe(text);
    }
  });
});
