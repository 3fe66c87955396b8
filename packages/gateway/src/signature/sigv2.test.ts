import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { s3RequestOf } from '../../test/s3-request-of.ts';
import { checkV2Time, readV2Header, readV2Query, stringToSign, verifyV2 } from './sigv2.ts';

const secret = 'secret';

describe('SigV2', () => {
  it('verifies URLs signed with an expiry', () => {
    for (const [method, signature] of [
      ['GET', 'Y9ey+rmfA70aXG1MRQx+5SaGkYk='],
      ['PUT', 't8qiP2KpbJ5pdI02fWD9NwsNlIc='],
    ] as const) {
      const target = `/repo/main/x?AWSAccessKeyId=AKID&Expires=1794706343&Signature=${encodeURIComponent(signature)}`;
      const request = s3RequestOf(method, target, { host: 'localhost' });
      const given = readV2Query(request);
      expect(given.form).toBe('query');
      expect(verifyV2(request, given, secret, undefined)).toBe(true);
      expect(verifyV2(request, given, 'other', undefined)).toBe(false);
      expect(() => checkV2Time(request, given, 1794706343_000)).not.toThrow();
      expect(() => checkV2Time(request, given, 1794706344_000)).toThrow('expired');
    }
  });

  it('signs the sub-resources of a part upload with their exact names', () => {
    const request = s3RequestOf('PUT', '/repo/main/x%20y?uploadId=u%2F1&partNumber=1&x-id=UploadPart', {
      host: 'localhost',
      date: 'Sun, 15 Nov 2026 00:32:56 GMT',
      'x-amz-checksum-crc32': 'NhCmhg==',
      'x-amz-sdk-checksum-algorithm': 'CRC32',
      authorization: 'AWS AKID:OhX6oucVvqkMpAOjh9/LYuIiCSU=',
    });
    expect(
      stringToSign(request, readV2Header(request), 'Sun, 15 Nov 2026 00:32:56 GMT', '/repo/main/x%20y'),
    ).toBe(
      'PUT\n\n\nSun, 15 Nov 2026 00:32:56 GMT\nx-amz-checksum-crc32:NhCmhg==\n' +
        'x-amz-sdk-checksum-algorithm:CRC32\n/repo/main/x%20y?partNumber=1&uploadId=u/1',
    );
    expect(verifyV2(request, readV2Header(request), secret, undefined)).toBe(true);
  });

  it('leaves the date line empty beside x-amz-date, or signs Date as minio-go does', () => {
    const sign = (dateLine: string, headers: Record<string, string>) => {
      const request = s3RequestOf('GET', '/repo/', { host: 'h', ...headers });
      const signature = createHmac('sha1', secret)
        .update(
          stringToSign(request, { form: 'header', accessKeyId: 'AKID', signature: '' }, dateLine, '/repo/'),
        )
        .digest('base64');
      return s3RequestOf('GET', '/repo/', { host: 'h', ...headers, authorization: `AWS AKID:${signature}` });
    };
    const amz = { 'x-amz-date': 'Sun, 15 Nov 2026 00:32:56 +0000' };
    const date = 'Sun, 15 Nov 2026 00:32:56 GMT';
    for (const request of [
      sign('', amz),
      sign('', { ...amz, date }),
      sign(date, { ...amz, date }),
      sign(date, { date }),
    ])
      expect(verifyV2(request, readV2Header(request), secret, undefined)).toBe(true);
    const wrong = sign('Sun, 15 Nov 2026 00:32:57 GMT', { ...amz, date });
    expect(verifyV2(wrong, readV2Header(wrong), secret, undefined)).toBe(false);
  });

  it('puts the repository of a virtual host in front of the path', () => {
    const signature = createHmac('sha1', secret).update('GET\n\n\nd\n/repo/main/x').digest('base64');
    const request = s3RequestOf('GET', '/main/x', { date: 'd', authorization: `AWS AKID:${signature}` });
    expect(verifyV2(request, readV2Header(request), secret, 'repo')).toBe(true);
    expect(verifyV2(request, readV2Header(request), secret, undefined)).toBe(false);
  });

  it('takes a repository with and without the slash behind it, as botocore signs, but nothing deeper', () => {
    const signed = (resource: string, target: string, repository?: string) => {
      const signature = createHmac('sha1', secret).update(`GET\n\n\nd\n${resource}`).digest('base64');
      const request = s3RequestOf('GET', target, { date: 'd', authorization: `AWS AKID:${signature}` });
      return verifyV2(request, readV2Header(request), secret, repository);
    };
    expect(signed('/repo/', '/repo')).toBe(true);
    expect(signed('/repo', '/repo/')).toBe(true);
    expect(signed('/repo/?location', '/repo?location&prefix=a')).toBe(true);
    expect(signed('/repo', '/', 'repo')).toBe(true);
    expect(signed('/repo/x/', '/repo/x')).toBe(false);
    expect(signed('/repo/x', '/repo/x/')).toBe(false);
    expect(signed('/repo//', '/repo/')).toBe(false);
    expect(signed('/repo/', '/')).toBe(false);
    const expires = createHmac('sha1', secret).update('GET\n\n\n1\n/repo/').digest('base64');
    const url = `/repo?AWSAccessKeyId=A&Expires=1&prefix=main/&Signature=${encodeURIComponent(expires)}`;
    const request = s3RequestOf('GET', url, {});
    expect(verifyV2(request, readV2Query(request), secret, undefined)).toBe(true);
  });

  it('covers what a presigned URL says in place of headers', () => {
    const text = 'PUT\n\ntext/x\n1\nx-amz-meta-a:b c\n/repo/main/x';
    const signature = encodeURIComponent(createHmac('sha1', secret).update(text).digest('base64'));
    const verified = (query: string, headers: Record<string, string> = {}) => {
      const target = `/repo/main/x?AWSAccessKeyId=A&Expires=1&Signature=${signature}&${query}`;
      const request = s3RequestOf('PUT', target, headers);
      return verifyV2(request, readV2Query(request), secret, undefined);
    };
    expect(verified('content-type=text%2Fx&x-amz-meta-a=b+c')).toBe(true);
    expect(verified('x-amz-meta-a=b+c', { 'content-type': 'text/x' })).toBe(true);
    expect(verified('content-type=text%2Fx&x-amz-meta-a=b+c&x-amz-meta-more=x')).toBe(false);
    expect(verified('content-type=text%2Fx&x-amz-meta-a=b+c', { 'x-amz-meta-a': 'other' })).toBe(false);
    expect(verified('content-type=text%2Fx')).toBe(false);
  });

  it('binds a storage class and metadata in the query of a URL that was signed without them', () => {
    const signature = encodeURIComponent(
      createHmac('sha1', secret).update('PUT\n\n\n1\n/repo/main/x').digest('base64'),
    );
    const verified = (query: string) => {
      const target = `/repo/main/x?AWSAccessKeyId=A&Expires=1&Signature=${signature}${query}`;
      const request = s3RequestOf('PUT', target, {});
      return verifyV2(request, readV2Query(request), secret, undefined);
    };
    expect(verified('')).toBe(true);
    expect(verified('&x-amz-storage-class=GLACIER')).toBe(false);
    expect(verified('&X-Amz-Meta-Owner=mallory')).toBe(false);
    expect(verified('&x-amz-meta-owner=')).toBe(false);
  });

  it('takes a header of a presigned URL only as it was signed, not in other pieces', () => {
    const verifier = (lines: string) => {
      const text = `PUT\n\n\n1\n${lines}/repo/main/x`;
      const signature = encodeURIComponent(createHmac('sha1', secret).update(text).digest('base64'));
      return (query: string, headers: Record<string, string> = {}) => {
        const target = `/repo/main/x?AWSAccessKeyId=A&Expires=1&Signature=${signature}&${query}`;
        const request = s3RequestOf('PUT', target, headers);
        return verifyV2(request, readV2Query(request), secret, undefined);
      };
    };
    // Taken apart, only the last piece would be stored.
    const list = verifier('x-amz-meta-a:b,c\n');
    expect(list('x-amz-meta-a=b%2Cc')).toBe(true);
    expect(list('x-amz-meta-a=b%2Cc', { 'x-amz-meta-a': 'b,c' })).toBe(true);
    expect(list('x-amz-meta-a=b&x-amz-meta-a=c')).toBe(false);
    expect(list('x-amz-meta-a=b&X-Amz-Meta-A=c')).toBe(false);
    expect(list('x-amz-meta-a=c', { 'x-amz-meta-a': 'b' })).toBe(false);
    // Run together, the storage class would be part of the metadata.
    const two = verifier('x-amz-meta-a:b\nx-amz-storage-class:GLACIER\n');
    expect(two('x-amz-meta-a=b&x-amz-storage-class=GLACIER')).toBe(true);
    expect(two('x-amz-meta-a=b%0Ax-amz-storage-class:GLACIER')).toBe(false);
    expect(two('x-amz-meta-a%3Ab%0Ax-amz-storage-class=GLACIER')).toBe(false);
  });

  it.each([
    'Sun, 15 Nov 2026 00:32:56 GMT',
    'Sun, 15 Nov 2026 00:32:56 UTC',
    'Sun, 15 Nov 2026 00:32:56 +0000',
    'Sun, 15 Nov 2026 02:32:56 +0200',
    '20261115T003256Z',
  ])('understands the date %s', (date) => {
    const request = s3RequestOf('GET', '/', { authorization: 'AWS AKID:x', 'x-amz-date': date });
    const time = Date.UTC(2026, 10, 15, 0, 32, 56);
    expect(() => checkV2Time(request, readV2Header(request), time + 14 * 60_000)).not.toThrow();
    expect(() => checkV2Time(request, readV2Header(request), time + 16 * 60_000)).toThrow('too large');
  });

  it('verifies the old Java query form', () => {
    const timestamp = '2026-11-15T00:32:56.000Z';
    const query = `AWSAccessKeyId=AKID&SignatureMethod=HmacSHA256&SignatureVersion=2&Timestamp=${encodeURIComponent(timestamp)}&z=a+b`;
    const text = `POST\nh:8000\n/repo/main/x%20y\n${query}`;
    const signature = createHmac('sha256', secret).update(text).digest('base64');
    const request = s3RequestOf(
      'GET',
      `/repo/main/x%20y?${query}&Signature=${encodeURIComponent(signature)}`,
      {
        host: 'h:8000',
      },
    );
    const given = readV2Query(request);
    expect(given.form).toBe('java');
    expect(verifyV2(request, given, secret, undefined)).toBe(true);
    expect(() => checkV2Time(request, given, Date.parse(timestamp) + 16 * 60_000)).toThrow('too large');
  });

  it.each([
    '/x?AWSAccessKeyId=A',
    '/x?AWSAccessKeyId=A&Signature=s',
    '/x?AWSAccessKeyId=&Signature=s&Expires=1',
  ])('misses fields in %s', (target) => {
    expect(() => readV2Query(s3RequestOf('GET', target, {}))).toThrow('Missing fields');
  });
});
