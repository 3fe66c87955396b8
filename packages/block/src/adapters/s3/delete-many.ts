import { createHash } from 'node:crypto';
import type { DeleteFailure, DeleteManyOptions, ObjectPointer } from '../../adapter.ts';
import { resolveBucketObject } from '../../address.ts';
import { BlockError } from '../../errors.ts';
import type { S3Client } from './client.ts';
import { refusalError } from './errors.ts';
import { longAnswerMs } from '../../remote/answers.ts';
import { bytesRequest } from '../../remote/request-body.ts';
import { childText, escapeXml, fitsXml, requireXml } from '../../remote/xml.ts';

const batchSize = 1000;

interface Named {
  readonly key: string;
  readonly pointer: ObjectPointer;
}

/** Deletes many objects with few requests. */
export async function deleteMany(
  client: S3Client,
  pointers: readonly ObjectPointer[],
  options: DeleteManyOptions,
): Promise<DeleteFailure[]> {
  const failures: DeleteFailure[] = [];
  const byBucket = new Map<string, Named[]>();
  for (const pointer of pointers) {
    const { bucket, key } = resolveBucketObject('s3', pointer);
    if (fitsXml(key)) {
      const group = byBucket.get(bucket);
      if (group === undefined) byBucket.set(bucket, [{ key, pointer }]);
      else group.push({ key, pointer });
      continue;
    }
    // The batch request is XML, which cannot hold such a key.
    await deleteOne(client, bucket, key, options).catch((error: unknown) => {
      if (!(error instanceof BlockError)) throw error;
      failures.push({ pointer, error });
    });
  }
  for (const [bucket, group] of byBucket) {
    for (let start = 0; start < group.length; start += batchSize) {
      const batch = group.slice(start, start + batchSize);
      failures.push(...(await deleteBatch(client, bucket, batch, options)));
    }
  }
  return failures;
}

/** Idempotent. */
export async function deleteOne(
  client: S3Client,
  bucket: string,
  key: string,
  options: DeleteManyOptions = {},
): Promise<void> {
  try {
    await (await client.send({ method: 'DELETE', bucket, key, ...options })).body.dump();
  } catch (error) {
    if (!(error instanceof BlockError && error.kind === 'not_found')) throw error;
  }
}

async function deleteBatch(
  client: S3Client,
  bucket: string,
  group: readonly Named[],
  options: DeleteManyOptions,
): Promise<DeleteFailure[]> {
  const keys = group.map(({ key }) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
  const body = Buffer.from(
    `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${keys}<Quiet>true</Quiet></Delete>`,
  );
  const response = await client.send({
    method: 'POST',
    bucket,
    query: [['delete', '']],
    headers: {
      'content-md5': createHash('md5').update(body).digest('base64'),
      'content-type': 'application/xml',
    },
    body: bytesRequest(body),
    answerTimeoutMs: longAnswerMs,
    ...options,
  });
  const result = requireXml(await response.body.text(), 'DeleteResult');
  const failures: DeleteFailure[] = [];
  for (const refused of result.children.filter((child) => child.name === 'Error')) {
    const key = childText(refused, 'Key');
    const code = childText(refused, 'Code') ?? '';
    const pointer = group.find((item) => item.key === key)?.pointer;
    if (pointer === undefined || code === 'NoSuchKey') continue;
    const refusal = {
      status: code === 'AccessDenied' ? 403 : 400,
      code,
      message: childText(refused, 'Message') ?? '',
    };
    failures.push({ pointer, error: refusalError(refusal, 'write', `s3://${bucket}/${key}`) });
  }
  return failures;
}
