import { expect, test } from 'vitest';
import { proxyOf } from './proxy.ts';

const variables = {
  HTTP_PROXY: 'http://web:3128',
  https_proxy: 'secure:3129',
  NO_PROXY: 'intern, .corp.example, 10.0.0.0/8, exact:8080',
};

test.each([
  ['http://example.net/', 'http://web:3128'],
  ['https://example.net/', 'http://secure:3129'],
  ['http://intern/', undefined],
  ['http://a.intern/', undefined],
  ['http://notintern/', 'http://web:3128'],
  ['http://a.corp.example/', undefined],
  ['http://corp.example/', 'http://web:3128'],
  ['http://10.3.4.5/', undefined],
  ['http://11.3.4.5/', 'http://web:3128'],
  ['http://exact:8080/', undefined],
  ['http://exact:8081/', 'http://web:3128'],
  ['http://localhost:9/', undefined],
  ['http://127.0.0.1:9/', undefined],
  ['http://[::1]:9/', undefined],
])('%s goes to %s', (url, proxy) => {
  expect(proxyOf(new URL(url), variables)).toBe(proxy);
});

test('without variables, or with a star, nothing goes to a proxy', () => {
  expect(proxyOf(new URL('http://example.net/'), {})).toBeUndefined();
  expect(proxyOf(new URL('http://example.net/'), { ...variables, NO_PROXY: '*' })).toBeUndefined();
});
