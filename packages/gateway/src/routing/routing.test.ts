import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { s3RequestOf } from '../../test/s3-request-of.ts';
import { addressOf } from './address.ts';
import { GatewayDomains } from './domains.ts';
import { isGatewayRequest } from './is-gateway-request.ts';
import { operations } from './operations.ts';
import { routeOf } from './route.ts';
import { checkSupported } from './unsupported.ts';

const domains = new GatewayDomains(['s3.a.test', 'S3.B.test:8000']);

describe('gateway domains', () => {
  it.each([
    ['s3.a.test', true],
    ['S3.A.TEST:9000', true],
    ['repo.s3.a.test', true],
    ['repo.s3.b.test', true],
    ['a.b.s3.a.test', false],
    ['xs3.a.test', false],
    ['a.test', false],
  ])('%s: %s', (host, matches) => {
    expect(domains.matches(host)).toBe(matches);
  });

  it('refuse a domain inside another', () => {
    expect(() => new GatewayDomains(['s3.a.test', 'x.s3.a.test'])).toThrow('is a sub-domain of "s3.a.test"');
  });
});

describe('isGatewayRequest', () => {
  const ask = (url: string, headers: Record<string, string>) =>
    isGatewayRequest({ url, headers: { host: 'a.test', ...headers } } as unknown as IncomingMessage, domains);
  it.each([
    ['/', {}, false],
    ['/api/v1/repositories', { authorization: 'Basic AWS4' }, false],
    ['/', { authorization: 'AWS4-HMAC-SHA256 x' }, true],
    ['/', { authorization: 'AWS x:y' }, true],
    ['/', { authorization: 'AWSOME' }, false],
    ['/', { 'x-amz-signature': 'x' }, true],
    ['/', { host: 's3.a.test:80' }, true],
    ['/x?AWSAccessKeyId=a', {}, true],
    ['/x?b=1&X-Amz-Credential=a', {}, true],
    ['/x?X-Amz-Credential=', {}, false],
    ['/AWSAccessKeyId=a', {}, false],
  ])('%s %j: %s', (url, headers, expected) => {
    expect(ask(url, headers as Record<string, string>)).toBe(expected);
  });
});

describe('addressOf', () => {
  it.each([
    ['/', 'h', undefined, undefined, ''],
    ['', 'h', undefined, undefined, ''],
    ['/r', 'h', 'r', undefined, ''],
    ['/r/', 'h', 'r', undefined, ''],
    ['/r//', 'h', 'r', undefined, ''],
    ['/r//x', 'h', 'r', '', 'x'],
    ['/r/main', 'h', 'r', 'main', ''],
    ['/r/main/', 'h', 'r', 'main', ''],
    ['/r/main//a', 'h', 'r', 'main', '/a'],
    ['/r/main/a/../b/./c/', 'h', 'r', 'main', 'a/../b/./c/'],
    ['/r/main%7E1/a%2Fb+c%00', 'h', 'r', 'main~1', 'a/b+c\0'],
    ['/r/main/%zz', 'h', 'r', 'main', '%zz'],
    ['/main/x', 'r.s3.a.test', 'r', 'main', 'x'],
    ['/', 'r.s3.a.test:8000', 'r', undefined, ''],
    ['/r/main/x', 'xs3.a.test', 'r', 'main', 'x'],
    ['/r/main/x', 'S3.A.TEST', 'r', 'main', 'x'],
    ['/r/main/%E8%92%99', 'h', 'r', 'main', '蒙'],
  ])('%s at %s', (path, host, repository, ref, rest) => {
    expect(addressOf(path, host, domains)).toMatchObject({ repository, ref, path: rest });
  });

  it('refuses keys that are not UTF-8', () => {
    expect(() => addressOf('/r/main/%ff', 'h', domains)).toThrow('not UTF-8');
  });
});

describe('routeOf', () => {
  const nameOf = (method: string, target: string, headers: Record<string, string> = {}): string => {
    const request = s3RequestOf(method, target, headers);
    try {
      const { operation } = routeOf(request, addressOf(request.rawPath, 'h', domains));
      return Object.entries(operations).find(([, value]) => value === operation)?.[0] ?? '';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it.each([
    ['GET', '/', 'listBuckets'],
    ['HEAD', '/', 'NoSuchBucket'],
    ['PATCH', '/', 'MethodNotAllowed'],
    ['GET', '/r', 'listObjects'],
    ['GET', '/r/?list-type=2', 'listObjects'],
    ['GET', '/r?location', 'getBucketLocation'],
    ['GET', '/r?versioning=', 'getBucketVersioning'],
    ['GET', '/r?uploads', 'listMultipartUploads'],
    ['HEAD', '/r', 'headBucket'],
    ['PUT', '/r', 'createBucket'],
    ['POST', '/r?delete', 'deleteObjects'],
    ['POST', '/r', 'unsupported'],
    ['DELETE', '/r', 'unsupported'],
    ['PATCH', '/r', 'MethodNotAllowed'],
    ['GET', '/r/main/x', 'getObject'],
    ['HEAD', '/r/main/x', 'headObject'],
    ['GET', '/r/main/x?uploadId=u', 'listParts'],
    ['GET', '/r/main/x?tagging', 'getObjectTagging'],
    ['PUT', '/r/main/x?tagging', 'putObjectTagging'],
    ['DELETE', '/r/main/x?tagging', 'deleteObjectTagging'],
    ['GET', '/r/main/x?attributes', 'getObjectAttributes'],
    ['PUT', '/r/main/x', 'putObject'],
    ['PUT', '/r/main/x?partNumber=1&uploadId=u', 'uploadPart'],
    ['PUT', '/r/main/x?partNumber=1', 'InvalidArgument'],
    ['PUT', '/r/main/x?uploads', 'InvalidArgument'],
    ['POST', '/r/main/x?uploads=', 'createMultipartUpload'],
    ['POST', '/r/main/x?uploadId=u', 'completeMultipartUpload'],
    ['POST', '/r/main/x', 'MethodNotAllowed'],
    ['POST', '/r/main/x?select', 'unsupported'],
    ['DELETE', '/r/main/x', 'deleteObject'],
    ['DELETE', '/r/main/x?uploadId=u', 'abortMultipartUpload'],
    ['PUT', '/r/main/', 'putBranchMarker'],
    ['GET', '/r/main', 'noSuchObject'],
    ['DELETE', '/r/main', 'deleteObject'],
    ['PATCH', '/r/main/x', 'MethodNotAllowed'],
  ])('%s %s is %s', (method, target, name) => {
    expect(nameOf(method, target)).toBe(name);
  });

  it('tells copies by their header, even an empty one', () => {
    expect(nameOf('PUT', '/r/main/x', { 'x-amz-copy-source': '' })).toBe('copyObject');
    expect(nameOf('PUT', '/r/main/x?partNumber=1&uploadId=u', { 'x-amz-copy-source': 'a/b/c' })).toBe(
      'uploadPartCopy',
    );
  });
});

describe('checkSupported', () => {
  const statusOf = (method: string, query: string, shape: 'bucket' | 'object', verify: boolean): number => {
    try {
      checkSupported(s3RequestOf(method, `/r?${query}`, {}), shape, verify);
      return 200;
    } catch (error) {
      return (error as { status: number }).status;
    }
  };

  it.each([
    ['GET', 'acl', 'bucket', 501, 200],
    ['GET', 'lifecycle', 'bucket', 501, 200],
    ['GET', 'cors=', 'bucket', 501, 200],
    ['GET', 'policy', 'bucket', 405, 200],
    ['GET', 'acl', 'object', 501, 200],
    ['GET', 'attributes', 'object', 200, 200],
    ['PUT', 'acl', 'object', 405, 405],
    ['PUT', 'tagging', 'object', 200, 200],
    ['PUT', 'legal-hold=x', 'object', 405, 405],
    ['DELETE', 'tagging', 'object', 200, 200],
    ['PUT', 'policy', 'bucket', 405, 200],
    ['PUT', 'x-id=PutObject', 'object', 200, 200],
    ['GET', 'ACL', 'object', 200, 200],
  ] as const)('%s ?%s on a %s', (method, query, shape, strict, lax) => {
    expect(statusOf(method, query, shape, true)).toBe(strict);
    expect(statusOf(method, query, shape, false)).toBe(lax);
  });
});
