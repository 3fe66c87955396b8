import { createHash, createHmac } from 'node:crypto';
import type { Credentials } from './api.ts';

/** A SigV4 URL for one request, so that a plain load driver can use the S3 gateway. */
export function presignTarget(
  endpoint: URL,
  credentials: Credentials,
  method: string,
  path: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const now = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = now.slice(0, 8);
  const scope = `${day}/us-east-1/s3/aws4_request`;
  const query = new URLSearchParams({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${credentials.accessKeyId}/${scope}`,
    'X-Amz-Date': now,
    'X-Amz-Expires': '3600',
    'X-Amz-SignedHeaders': 'host',
    ...parameters,
  });
  query.sort();
  const queryText = query.toString();
  const canonical = [method, path, queryText, `host:${endpoint.host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join(
    '\n',
  );
  const digest = createHash('sha256').update(canonical).digest('hex');
  let key: Buffer | string = `AWS4${credentials.secretAccessKey}`;
  for (const part of [day, 'us-east-1', 's3', 'aws4_request'])
    key = createHmac('sha256', key).update(part).digest();
  const signature = createHmac('sha256', key)
    .update(['AWS4-HMAC-SHA256', now, scope, digest].join('\n'))
    .digest('hex');
  return `${path}?${queryText}&X-Amz-Signature=${signature}`;
}
