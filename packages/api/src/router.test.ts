import { expect, test } from 'vitest';
import { Router } from './router.ts';

const router = new Router<string>();
router.add('GET', '/things', 'list');
router.add('POST', '/things', 'create');
router.add('GET', '/things/{thing}', 'get');
router.add('GET', '/things/special', 'special');
router.add('GET', '/things/{thing}/parts/{part}', 'part');
router.add('GET', '/things/special/extra', 'extra');

const find = (method: string, path: string): unknown[] => {
  const match = router.find(method, path);
  return match === undefined ? [] : [match.handler, { ...match.params }];
};

test('finds a handler by method and path', () => {
  expect(find('GET', '/things')).toEqual(['list', {}]);
  expect(find('POST', '/things')).toEqual(['create', {}]);
  expect(find('GET', '/things/a')).toEqual(['get', { thing: 'a' }]);
  expect(find('GET', '/things/a/parts/b')).toEqual(['part', { thing: 'a', part: 'b' }]);
});

test('prefers a fixed name and comes back when it leads nowhere', () => {
  expect(find('GET', '/things/special')).toEqual(['special', {}]);
  expect(find('GET', '/things/special/extra')).toEqual(['extra', {}]);
  expect(find('GET', '/things/special/parts/b')).toEqual(['part', { thing: 'special', part: 'b' }]);
});

test('decodes segments, so that an encoded slash stays inside one', () => {
  expect(find('GET', '/things/a%2Fb')).toEqual(['get', { thing: 'a/b' }]);
  expect(find('GET', '/th%69ngs/%C3%A4')).toEqual(['get', { thing: 'ä' }]);
  expect(() => find('GET', '/things/%zz')).toThrow(URIError);
  expect(() => find('GET', '/things/%ff')).toThrow(URIError);
});

test('finds nothing for other methods, trailing slashes and other paths', () => {
  for (const path of [
    '/things/',
    '/',
    '',
    '/thing',
    '/things/a/',
    '/things//',
    '/things/a//b',
    '/things/a/parts',
  ]) {
    expect(find('GET', path), path).toEqual([]);
  }
  expect(find('DELETE', '/things/a')).toEqual([]);
  expect(find('GET', '/__proto__')).toEqual([]);
});

test('finds empty parameters before the end', () => {
  expect(find('GET', '/things//parts/b')).toEqual(['part', { thing: '', part: 'b' }]);
  expect(find('GET', '/things//parts/')).toEqual([]);
});

test('finds each of thousands of paths again as before', () => {
  for (let round = 0; round < 2; round += 1)
    for (let index = 0; index < 3000; index += 1)
      expect(find('GET', `/things/t${index}`)).toEqual(['get', { thing: `t${index}` }]);
  const long = 'x'.repeat(5000);
  for (let round = 0; round < 2; round += 1)
    expect(find('GET', `/things/${long}`)).toEqual(['get', { thing: long }]);
});

test('forgets what it found when another handler is added', () => {
  const later = new Router<string>();
  later.add('GET', '/things/{thing}', 'get');
  expect(later.find('GET', '/things/special')?.handler).toBe('get');
  later.add('GET', '/things/special', 'special');
  expect(later.find('GET', '/things/special')?.handler).toBe('special');
});

test('refuses two handlers in one place', () => {
  expect(() => router.add('GET', '/things/{other}', 'again')).toThrow('routed twice');
});
