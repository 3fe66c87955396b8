import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BlockStoreConfig } from '@svc/block';
import {
  awsClients,
  dataClients,
  mc as fetchMc,
  orSkipReason,
  rclone as fetchRclone,
  runCommand,
  tempDir,
} from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AwsCli } from './aws-cli.ts';
import { adminKey, composeGateway, type TestGateway } from './compose.ts';
import { digestTree, oddNames, pseudoRandom, writeTree } from './sample-tree.ts';

/** At least three parts for every client: theirs are 5 to 16 MiB. */
const bigSize = 40_000_000;
const tours = join(import.meta.dirname, 'tours');
const certificate = join(import.meta.dirname, 'fixtures', 'localhost.cert.pem');

const work = tempDir('svc-tours');
const tree = join(work, 'tree');
const bigFile = join(work, 'big');
mkdirSync(tree);
writeTree(tree);
writeFileSync(bigFile, pseudoRandom(bigSize, 'big'));
const bigDigest = digestTree(work)['big'];

export const localStore = (): Promise<BlockStoreConfig> =>
  Promise.resolve({ type: 'local', path: tempDir('svc-tours-data') });

/**
 * The programs; undefined, with a message, where a registry cannot be reached. They are fetched before the first test:
 * on a fresh machine that takes a while.
 */
const [aws, data, rclone, mc] = await Promise.all([
  orSkipReason('the AWS clients', awsClients),
  orSkipReason('the data clients', dataClients),
  orSkipReason('rclone', fetchRclone),
  orSkipReason('mc', fetchMc),
]);
const programs = { aws, data, rclone, mc };

const actor = { committer: 'admin' };

/** Writes an object to the branch `then` twice; answers ways to name the branch in between. */
async function writeTwice(gateway: TestGateway): Promise<string[]> {
  const { engine } = gateway;
  const place = { repository: 'tours', branch: 'then' };
  await engine.branches.create({ repository: 'tours', name: place.branch, source: 'main', actor });
  for (const content of ['one', 'two']) {
    await gateway.client().put('/tours/then/a b+c.txt', content);
    await engine.commits.create({ ...place, message: content, actor });
  }
  const moves = await engine.reflog.list({ repository: 'tours', ref: 'then', types: ['branch'] });
  const { seconds, nanos } = moves.items[1]?.time ?? { seconds: 0, nanos: 0 };
  const instant = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`;
  return ['then@-1', 'then@{1}', 'then@{commit 2099-01-01}~1', `then@${instant}`, `then@{${instant}}`];
}

let counter = 0;
const fresh = (): string => {
  const folder = join(work, `out-${counter++}`);
  mkdirSync(folder);
  return folder;
};

export const clients = [
  'boto3',
  'boto3 over TLS',
  'boto3 over TLS with virtual hosts',
  'pyarrow',
  'delta-rs',
  's3fs',
  'DuckDB',
  'Polars',
  'PyIceberg',
  'delta-rs, PyIceberg and DuckDB at a time',
  'rclone',
  'the AWS CLI',
  'the MinIO client',
  's5cmd',
  's3cmd with SigV2',
  's3cmd with SigV4',
] as const;
type Client = (typeof clients)[number];

export interface ClientsOn {
  readonly name: string;
  readonly open: () => Promise<BlockStoreConfig | undefined>;
  readonly chosen: readonly Client[];
}

/** Tours of real clients through the gateway. */
export function describeClients(stores: readonly ClientsOn[]): void {
  describe.each(stores)('real clients on $name', ({ open, chosen }) => {
    const tour = (client: Client, run: () => Promise<void>): void => {
      if (chosen.includes(client)) it(client, run);
    };
    let gateway: TestGateway | undefined;
    let secure: TestGateway | undefined;
    /** The branch `then`, whose object was changed, before that: without braces, in braces, by an instant. */
    let then: readonly string[] = [];

    beforeAll(async () => {
      const block = await open();
      if (block === undefined) return;
      gateway = await composeGateway({ block });
      await gateway.createRepository('tours');
      then = await writeTwice(gateway);
      if (!chosen.some((client) => client.includes('TLS'))) return;
      secure = await composeGateway({ block: await localStore(), tls: true });
      await secure.createRepository('tours');
      // A first run compiles the S3 server.
    }, 900_000);
    afterAll(async () => {
      await gateway?.close();
      await secure?.close();
      expect(gateway?.errors ?? []).toEqual([]);
      expect(secure?.errors ?? []).toEqual([]);
    });

    const environment = (more: Record<string, string>): NodeJS.ProcessEnv => ({
      PATH: process.env['PATH'],
      HOME: work,
      LANG: 'C.UTF-8',
      ...more,
    });

    const python = async (
      which: 'aws' | 'data',
      script: string,
      on = gateway,
      more: readonly string[] = [],
    ): Promise<void> => {
      const program = programs[which];
      if (program === undefined || on === undefined) return;
      const key = [adminKey.accessKeyId, adminKey.secretAccessKey];
      await runCommand(program, [join(tours, script), on.endpoint, ...key, 'tours', bigFile, ...more], {
        env: environment(on.endpoint.startsWith('https') ? { AWS_CA_BUNDLE: certificate } : {}),
      });
    };

    tour('boto3', () => python('aws', 'boto3_tour.py', gateway, then));
    tour('boto3 over TLS', () => python('aws', 'boto3_tour.py', secure));
    tour('boto3 over TLS with virtual hosts', () => python('aws', 'virtual_hosts_tour.py', secure));
    tour('pyarrow', () => python('data', 'pyarrow_tour.py'));
    tour('delta-rs', () => python('data', 'deltalake_tour.py'));
    tour('s3fs', () => python('data', 's3fs_tour.py'));
    tour('DuckDB', () => python('data', 'duckdb_tour.py'));
    tour('Polars', () => python('data', 'polars_tour.py'));
    tour('PyIceberg', () => python('data', 'iceberg_tour.py'));
    tour('delta-rs, PyIceberg and DuckDB at a time', async () => {
      if (programs.data === undefined || gateway === undefined) return;
      const { engine } = gateway;
      const place = { repository: 'tours', branch: 'tables' };
      await engine.branches.create({ repository: 'tours', name: place.branch, source: 'main', actor });
      await python('data', 'time_tour.py', gateway, ['write']);
      await engine.commits.create({ ...place, message: 'two rounds', actor });
      const { text } = await gateway.client().get('/tours', { query: 'list-type=2&prefix=tables%2F' });
      const last = [
        ...text.matchAll(/<Key>tables\/([^<]*(?:0001\.json|100\.parquet|00002-[^<]*json))</g),
      ].map(([, path = '']) => path);
      expect(last).toHaveLength(3);
      await engine.objects.deleteMany({ ...place, paths: last });
      await engine.commits.create({ ...place, message: 'one round', actor });
      await python('data', 'time_tour.py', gateway, ['read', 'tables@-1', 'tables@c20990101~1']);
    });

    tour('rclone', async () => {
      const program = programs.rclone;
      if (program === undefined || gateway === undefined) return;
      const rclone = (...args: string[]) =>
        runCommand(program, args, {
          env: environment({
            RCLONE_CONFIG: '/dev/null',
            RCLONE_CONFIG_SVC_TYPE: 's3',
            RCLONE_CONFIG_SVC_PROVIDER: 'Other',
            RCLONE_CONFIG_SVC_ENDPOINT: gateway?.endpoint ?? '',
            RCLONE_CONFIG_SVC_ACCESS_KEY_ID: adminKey.accessKeyId,
            RCLONE_CONFIG_SVC_SECRET_ACCESS_KEY: adminKey.secretAccessKey,
            RCLONE_RETRIES: '1',
            RCLONE_LOW_LEVEL_RETRIES: '1',
          }),
        });
      const root = 'svc:tours/main/rclone';
      await rclone('copy', tree, `${root}/tree`);
      await rclone('check', tree, `${root}/tree`);
      const listed = (await rclone('lsf', '-R', '--files-only', `${root}/tree`)).trimEnd().split('\n');
      expect(listed.sort()).toEqual([...oddNames].sort());
      await rclone('copyto', bigFile, `${root}/big`, '--s3-upload-cutoff', '20M', '--s3-chunk-size', '10M');
      await rclone('copyto', `${root}/big`, `${root}/big-copy`);
      const out = fresh();
      await rclone('copy', `${root}/tree`, join(out, 'tree'));
      expect(digestTree(join(out, 'tree'))).toEqual(digestTree(tree));
      await rclone('copyto', `${root}/big-copy`, join(out, 'big'));
      expect(digestTree(out)['big']).toBe(bigDigest);
      const piece = await rclone('cat', '--offset', '5', '--count', '7', `${root}/tree/plain.txt`);
      expect(piece).toBe(pseudoRandom(10_009, 'plain.txt').subarray(5, 12).toString());
      await rclone('moveto', `${root}/tree/plain.txt`, `${root}/tree/moved.txt`);
      for (const ref of then) {
        expect(await rclone('cat', `svc:tours/${ref}/a b+c.txt`)).toBe('one');
        expect(await rclone('lsf', `svc:tours/${ref}`)).toBe('a b+c.txt\n');
      }
      await rclone('purge', root);
      expect(await rclone('lsf', '-R', 'svc:tours/main')).not.toContain('rclone');
    });

    tour('the AWS CLI', async () => {
      const program = programs.aws;
      if (program === undefined || gateway === undefined) return;
      const { endpoint } = gateway;
      const cli = new AwsCli(
        program,
        endpoint,
        environment({
          AWS_ACCESS_KEY_ID: adminKey.accessKeyId,
          AWS_SECRET_ACCESS_KEY: adminKey.secretAccessKey,
          AWS_DEFAULT_REGION: 'us-east-1',
          AWS_EC2_METADATA_DISABLED: 'true',
          AWS_MAX_ATTEMPTS: '1',
        }),
      );
      onTestFinished(() => cli.close());
      const aws = (...args: string[]): Promise<string> => cli.run(args);
      const root = 's3://tours/main/aws';
      await aws('s3', 'sync', tree, `${root}/tree`);
      expect(await aws('s3', 'sync', tree, `${root}/tree`)).toBe('');
      await aws('s3', 'cp', bigFile, `${root}/big`);
      await aws('s3', 'cp', `${root}/big`, `${root}/big-copy`);
      expect(await aws('s3', 'ls', 's3://tours/')).toContain('PRE main/');
      const out = fresh();
      await aws('s3', 'cp', '--recursive', root, out);
      expect(digestTree(join(out, 'tree'))).toEqual(digestTree(tree));
      const digests = digestTree(out);
      expect([digests['big'], digests['big-copy']]).toEqual([bigDigest, bigDigest]);
      const url = (await aws('s3', 'presign', `${root}/tree/with space.txt`)).trim();
      const fetched = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(fetched.equals(readFileSync(join(tree, 'with space.txt')))).toBe(true);
      for (const ref of then) {
        expect(await aws('s3', 'cp', `s3://tours/${ref}/a b+c.txt`, '-')).toBe('one');
        expect(await aws('s3', 'ls', `s3://tours/${ref}/`)).toContain('a b+c.txt');
      }
      await aws('s3', 'cp', `s3://tours/then@-1/a b+c.txt`, `${root}/copied back`);
      expect(await aws('s3', 'cp', `${root}/copied back`, '-')).toBe('one');
      await aws('s3', 'mv', `${root}/tree/plain.txt`, `${root}/moved.txt`);
      await aws('s3', 'rm', '--recursive', root);
      const left = [
        's3api',
        'list-objects-v2',
        '--bucket',
        'tours',
        '--prefix',
        'main/aws/',
        '--query',
        'Contents',
      ];
      expect((await aws(...left)).trim()).toBe('null');
    });

    tour('the MinIO client', async () => {
      const program = programs.mc;
      if (program === undefined || gateway === undefined) return;
      const host = gateway.endpoint.replace('//', `//${adminKey.accessKeyId}:${adminKey.secretAccessKey}@`);
      const mc = (...args: string[]) =>
        runCommand(program, ['--config-dir', join(work, 'mc'), '--quiet', ...args], {
          env: environment({ MC_HOST_svc: host }),
        });
      const root = 'svc/tours/main/mc';
      await mc('mirror', tree, `${root}/tree`);
      const listed = (await mc('ls', '--recursive', '--json', `${root}/tree`)).trim().split('\n');
      expect(listed.map((line) => (JSON.parse(line) as { key: string }).key).sort()).toEqual(
        [...oddNames].sort(),
      );
      await mc('cp', bigFile, `${root}/big`);
      await mc('cp', '--checksum', 'CRC32C', join(tree, 'plain.txt'), `${root}/checksummed`);
      await mc('stat', `${root}/big`);
      await mc('cp', `${root}/big`, `${root}/big-copy`);
      const out = fresh();
      await mc('mirror', `${root}/tree`, join(out, 'tree'));
      expect(digestTree(join(out, 'tree'))).toEqual(digestTree(tree));
      await mc('cp', `${root}/big-copy`, join(out, 'big'));
      expect(digestTree(out)['big']).toBe(bigDigest);
      await mc('ls', '--incomplete', 'svc/tours');
      for (const ref of then) {
        expect(await mc('cat', `svc/tours/${ref}/a b+c.txt`)).toBe('one');
        expect(await mc('ls', `svc/tours/${ref}/`)).toContain('a b+c.txt');
      }
      await mc('rm', '--recursive', '--force', root);
      expect(await mc('ls', '--recursive', 'svc/tours/main/')).not.toContain('mc/');
    });

    tour('s5cmd', async () => {
      const program = programs.data;
      if (program === undefined || gateway === undefined) return;
      const { endpoint } = gateway;
      const s5cmd = (...args: string[]) =>
        runCommand(join(dirname(program), 's5cmd'), ['--endpoint-url', endpoint, ...args], {
          env: environment({
            AWS_ACCESS_KEY_ID: adminKey.accessKeyId,
            AWS_SECRET_ACCESS_KEY: adminKey.secretAccessKey,
            AWS_REGION: 'us-east-1',
          }),
        });
      const root = 's3://tours/main/s5cmd';
      await s5cmd('cp', `${tree}/`, `${root}/tree/`);
      await s5cmd('cp', '--part-size', '10', bigFile, `${root}/big`);
      const listed = (await s5cmd('ls', `${root}/tree/*`)).trim().split('\n');
      expect(listed).toHaveLength(oddNames.length);
      await s5cmd('mv', `${root}/big`, `${root}/moved`);
      const out = fresh();
      await s5cmd('cp', `${root}/tree/*`, `${out}/tree/`);
      expect(digestTree(join(out, 'tree'))).toEqual(digestTree(tree));
      await s5cmd('cp', `${root}/moved`, join(out, 'big'));
      expect(digestTree(out)['big']).toBe(bigDigest);
      await s5cmd('rm', `${root}/*`);
      await expect(s5cmd('ls', `${root}/*`)).rejects.toThrow('no object found');
    });

    const s3cmdTour = async (flags: readonly string[]): Promise<void> => {
      const program = programs.aws;
      if (program === undefined || gateway === undefined) return;
      const host = gateway.endpoint.replace('http://', '');
      const s3cmd = (...args: string[]) =>
        runCommand(
          join(dirname(program), 's3cmd'),
          [
            '--config=/dev/null',
            `--access_key=${adminKey.accessKeyId}`,
            `--secret_key=${adminKey.secretAccessKey}`,
            `--host=${host}`,
            `--host-bucket=${host}`,
            '--no-ssl',
            '--no-progress',
            '--max-retries=1',
            ...flags,
            ...args,
          ],
          { env: environment({}) },
        );
      const root = 's3://tours/main/s3cmd';
      await s3cmd('sync', `${tree}/`, `${root}/tree/`);
      await s3cmd('put', '--multipart-chunk-size-mb=15', bigFile, `${root}/big`);
      const listed = (await s3cmd('ls', '--recursive', `${root}/`)).trim().split('\n');
      expect(listed).toHaveLength(oddNames.length + 1);
      await s3cmd('info', 's3://tours');
      await s3cmd('info', `${root}/big`);
      await s3cmd('cp', `${root}/tree/plus+sign.txt`, `${root}/copied file.txt`);
      await s3cmd('modify', '--add-header=x-amz-meta-color:blue', `${root}/copied file.txt`);
      await s3cmd('mv', `${root}/copied file.txt`, `${root}/moved.txt`);
      const out = fresh();
      await s3cmd('sync', `${root}/tree/`, `${out}/tree/`);
      expect(digestTree(join(out, 'tree'))).toEqual(digestTree(tree));
      await s3cmd('get', `${root}/big`, join(out, 'big'));
      await s3cmd('get', `${root}/moved.txt`, join(out, 'moved'));
      expect(digestTree(out)['big']).toBe(bigDigest);
      expect(digestTree(out)['moved']).toBe(digestTree(tree)['plus+sign.txt']);
      const url = (await s3cmd('signurl', `${root}/moved.txt`, '+600')).trim();
      expect((await fetch(url)).status).toBe(200);
      await s3cmd('del', '--recursive', '--force', `${root}/`);
      expect(await s3cmd('ls', '--recursive', 's3://tours/main/')).not.toContain('s3cmd');
    };
    tour('s3cmd with SigV2', () => s3cmdTour(['--signature-v2']));
    tour('s3cmd with SigV4', () => s3cmdTour([]));
  });
}
