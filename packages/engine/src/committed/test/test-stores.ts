import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type BlockAdapter, createMemAdapter, type ObjectPointer, openBlockStores } from '@svc/block';
import { tempDir, testServerOrSkip } from '@svc/testing';
import { randomBytes } from 'node:crypto';

/** A store on a folder of its own. */
export async function localStore(): Promise<BlockAdapter> {
  const stores = await openBlockStores([{ type: 'local', path: tempDir('store') }]);
  return relocated(stores.get(''), 'local://repo');
}

/** A store in a fresh bucket of the run's S3 server, or undefined (said aloud) where that cannot be had. */
export async function s3Store(): Promise<BlockAdapter | undefined> {
  const server = await testServerOrSkip('versitygw');
  if (server === undefined) return undefined;
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  const bucket = `svc-trees-${randomBytes(6).toString('hex')}`;
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const stores = await openBlockStores([{ type: 's3', endpoint, region, credentials, forcePathStyle: true }]);
  return relocated(stores.get(''), `s3://${bucket}/repo`);
}

/** A store in memory that makes every reader wait for some turns of the loop, each time another number. */
export function slowStore(): BlockAdapter {
  const adapter = createMemAdapter({});
  let reads = 0;
  const get: BlockAdapter['get'] = async (...asked) => {
    for (let turns = reads++ % 7; turns > 0; turns--) await new Promise(setImmediate);
    return adapter.get(...asked);
  };
  return new Proxy(adapter, { get: (target, name) => (name === 'get' ? get : bound(target, name)) });
}

/** The tests name one namespace; this is where it lies. */
function relocated(adapter: BlockAdapter, storageNamespace: string): BlockAdapter {
  return new Proxy(adapter, {
    get(target, name) {
      const found = bound(target, name);
      if (typeof found !== 'function') return found;
      return (pointer: ObjectPointer, ...rest: unknown[]) => found({ ...pointer, storageNamespace }, ...rest);
    },
  });
}

function bound(target: BlockAdapter, name: string | symbol): unknown {
  const found: unknown = Reflect.get(target, name);
  return typeof found === 'function' ? found.bind(target) : found;
}
