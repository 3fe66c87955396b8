import { deriveSigningKey } from '@svc/encoding';
import { expect, test } from 'vitest';
import { s3RequestOf } from '../../test/s3-request-of.ts';
import { readQuerySignature } from './sigv4.ts';
import { VerifiedUrls } from './verified-urls.ts';

const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
const key = deriveSigningKey('secret', scope);
const target = (path: string, signedHeaders = 'host'): string =>
  `${path}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=ID/20130524/us-east-1/s3/aws4_request` +
  `&X-Amz-Date=20130524T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=${signedHeaders}&X-Amz-Signature=00`;

/** Its query is kept from its second time on. */
function asked(method: string, url: string, host = 'a') {
  s3RequestOf(method, url, { host });
  const request = s3RequestOf(method, url, { host });
  return { request, signature: readQuerySignature(request) };
}

test('a URL is known by method, host, target and key', () => {
  const urls = new VerifiedUrls();
  const first = asked('GET', target('/r/main/x'));
  expect(urls.has(first.request, first.signature, key)).toBe(false);
  urls.add(first.request, first.signature, key);
  const again = asked('GET', target('/r/main/x'));
  expect(urls.has(again.request, again.signature, key)).toBe(true);
  expect(urls.has(again.request, again.signature, deriveSigningKey('other', scope))).toBe(false);
  for (const other of [
    asked('PUT', target('/r/main/x')),
    asked('GET', target('/r/main/y')),
    asked('GET', target('/r/main/x'), 'b'),
    asked('GET', `${target('/r/main/x')}&partNumber=1`),
  ])
    expect(urls.has(other.request, other.signature, key)).toBe(false);
});

test('a URL that came once is not remembered', () => {
  const urls = new VerifiedUrls();
  const ask = () => {
    const request = s3RequestOf('PUT', target('/r/main/once').replace('Signature=00', 'Signature=01'), {
      host: 'a',
    });
    return { request, signature: readQuerySignature(request) };
  };
  for (const isKnown of [false, false, true]) {
    const { request, signature } = ask();
    expect(urls.has(request, signature, key)).toBe(isKnown);
    urls.add(request, signature, key);
  }
});

test('a URL whose signature covers more is not remembered', () => {
  const urls = new VerifiedUrls();
  const { request, signature } = asked('GET', target('/r/main/x', 'host;range'));
  urls.add(request, signature, key);
  expect(urls.has(request, signature, key)).toBe(false);
});
