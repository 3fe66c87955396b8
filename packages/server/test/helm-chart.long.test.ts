import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { helm, kubeCheck, startPostgres, tempDir } from '@svc/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { startSvc } from './start-server.ts';

const run = promisify(execFile);
const chart = join(import.meta.dirname, '../../../deploy/helm/svc');
let programs: { readonly helm: string; readonly check: string };

beforeAll(async () => {
  programs = { helm: await helm(), check: await kubeCheck() };
}, 1_800_000);

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env: readonly Variable[];
  readonly envFrom?: readonly object[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly strategy?: { readonly type: string };
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly Container[] };
    };
  };
}

/** What Kubernetes would be given: rendered, and read as strictly as its API server can. */
async function render(values: object): Promise<Manifest[]> {
  const folder = tempDir();
  const [given, made] = [join(folder, 'values.yaml'), join(folder, 'manifests.yaml')];
  writeFileSync(given, stringify(values));
  await run(programs.helm, ['lint', '--strict', chart, '--values', given]);
  const { stdout } = await run(programs.helm, ['template', 'data', chart, '--values', given]);
  writeFileSync(made, stdout);
  await run(programs.check, [made]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

function one(manifests: readonly Manifest[], kind: string): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  expect(found.map(({ metadata }) => metadata.name)).toHaveLength(1);
  return found[0] as Manifest;
}

function containerOf(manifests: readonly Manifest[]): Container {
  const [container] = one(manifests, 'Deployment').spec?.template.spec.containers ?? [];
  if (container === undefined) throw new Error('no container');
  return container;
}

/** The variables as the container gets them. */
function environmentOf(manifests: readonly Manifest[]): Record<string, string> {
  const secret = one(manifests, 'Secret');
  return Object.fromEntries(
    containerOf(manifests).env.map(({ name, value, valueFrom }) => {
      const { name: from, key } = valueFrom?.secretKeyRef ?? { name: '', key: '' };
      if (valueFrom !== undefined) expect(from).toBe(secret.metadata.name);
      const held = secret.data?.[key];
      return [name, value ?? Buffer.from(held ?? '', 'base64').toString()];
    }),
  );
}

/** Starts a server with what was rendered, as the container would; only the port and the home differ. */
async function start(manifests: readonly Manifest[]) {
  const home = tempDir();
  const { args = [] } = containerOf(manifests);
  const { SVC_LISTEN_ADDRESS: address, ...env } = environmentOf(manifests);
  expect(address).toBe('0.0.0.0:8000');
  const [command, ...flags] = args;
  expect(command).toBe('run');
  const file = join(home, 'config.yaml');
  const config = manifests.find(({ kind }) => kind === 'ConfigMap')?.data?.['config.yaml'];
  if (config !== undefined) writeFileSync(file, config);
  return startSvc(
    flags.map((flag) => (flag === '/etc/svc/config.yaml' ? file : flag)),
    env,
    home,
  );
}

describe('the chart', () => {
  test('renders a server on embedded stores that starts', async () => {
    const manifests = await render({
      persistence: { enabled: true },
      svcConfig: 'database:\n  type: local\nblockstore:\n  type: local\n',
    });
    expect(one(manifests, 'Deployment').spec?.strategy).toEqual({ type: 'Recreate' });
    one(manifests, 'PersistentVolumeClaim');
    expect(one(manifests, 'Service').spec?.ports).toMatchObject([{ port: 80, targetPort: 'http' }]);
    const server = await start(manifests);
    expect((await server.request('/_health')).status).toBe(200);
    await server.stop();
  });

  test('takes the values of an existing installation', async () => {
    const postgres = await startPostgres();
    const manifests = await render({
      replicaCount: 2,
      lakefsConfig: 'logging:\n  level: INFO\ndatabase:\n  type: postgres\nblockstore:\n  type: local\n',
      secrets: {
        databaseConnectionString: postgres.address['connectionString'],
        authEncryptSecretKey: 'a secret of ours, long enough',
      },
      ingress: { enabled: true, hosts: [{ host: 'data.example.com', paths: ['/'] }] },
      committedLocalCacheVolume: { emptyDir: { sizeLimit: '10Gi' } },
      extraEnvVars: [{ name: 'LAKEFS_STATS_ENABLED', value: 'false' }],
      serviceAccount: { name: 'data' },
    });
    expect(containerOf(manifests).args).toEqual(['run', '--config', '/etc/svc/config.yaml']);
    const env = environmentOf(manifests);
    expect(env).toMatchObject({
      SVC_AUTH_ENCRYPT_SECRET_KEY: 'a secret of ours, long enough',
      SVC_COMMITTED_LOCAL_CACHE_DIR: '/svc-cache',
      LAKEFS_STATS_ENABLED: 'false',
    });
    expect(env['SVC_BLOCKSTORE_SIGNING_SECRET_KEY']).toMatch(/^\w{48}$/);
    one(manifests, 'Ingress');
    const cache = containerOf(manifests).volumeMounts.find(({ mountPath }) => mountPath === '/svc-cache');
    expect(cache).toBeDefined();
    const server = await start(withEnv(manifests, { SVC_COMMITTED_LOCAL_CACHE_DIR: tempDir() }));
    expect((await server.request('/_ready')).status).toBe(200);
    await server.stop();
    await postgres.dispose();
  });

  test('renders everything that can be switched on', async () => {
    const manifests = await render({
      autoscaling: { enabled: true },
      podDisruptionBudget: { enabled: true },
      networkPolicy: {
        enabled: true,
        ingressFrom: [{ namespaceSelector: {} }],
        egressTo: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
      },
      serviceAccount: { create: true, annotations: { role: 'reader' } },
      useDevPostgres: true,
      s3Fallback: { enabled: true, image: 's3-gateway:1', args: ['--port', '7001'] },
      service: { type: 'NodePort', nodePort: 30080 },
      existingSecret: 'mine',
      secretKeys: { authEncryptSecretKey: 'encrypt' },
      extraEnvVarsSecret: 'more',
      extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
      resources: { limits: { memory: '2Gi' } },
      tolerations: [{ key: 'data', operator: 'Exists' }],
      nodeSelector: { disk: 'ssd' },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
      ],
      podAnnotations: { team: 'data' },
      readinessProbe: { periodSeconds: 3 },
    });
    const kinds = manifests.map(({ kind }) => kind).sort();
    expect(kinds).toEqual([
      'Deployment',
      'Deployment',
      'HorizontalPodAutoscaler',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Secret',
      'Service',
      'Service',
      'ServiceAccount',
    ]);
    const [deployment] = manifests.filter(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'data-svc',
    );
    const [own, fallback] = deployment?.spec?.template.spec.containers ?? [];
    expect(fallback?.name).toBe('s3-fallback');
    const refs = Object.fromEntries(
      (own?.env ?? []).map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef.name ?? '']),
    );
    expect(refs).toMatchObject({
      SVC_AUTH_ENCRYPT_SECRET_KEY: 'mine',
      SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'data-svc',
      SVC_DATABASE_POSTGRES_CONNECTION_STRING: 'data-svc',
    });
  });

  test('refuses what would lose data or not start', async () => {
    const local = 'database:\n  type: local\n';
    await expect(render({ svcConfig: local, replicaCount: 2 })).rejects.toThrow("is one server's");
    await expect(render({ persistence: { enabled: true }, autoscaling: { enabled: true } })).rejects.toThrow(
      'persistence is for the embedded stores',
    );
    await expect(render({ svcConfig: 'a: [' })).rejects.toThrow('svcConfig is no YAML');
    await expect(render({ s3Fallback: { enabled: true } })).rejects.toThrow('s3Fallback.image');
  });

  test('starts pods anew when the configuration changes', async () => {
    const sumOf = async (level: string): Promise<string | undefined> => {
      const manifests = await render({ svcConfig: `logging:\n  level: ${level}\n` });
      return one(manifests, 'Deployment').spec?.template.metadata.annotations['checksum/config'];
    };
    expect(await sumOf('INFO')).not.toBe(await sumOf('DEBUG'));
  });
});

function withEnv(manifests: readonly Manifest[], change: Record<string, string>): Manifest[] {
  const text = JSON.stringify(manifests, (_, value: unknown) => {
    const { name } = (typeof value === 'object' && value !== null ? value : {}) as { name?: string };
    const instead = name === undefined ? undefined : change[name];
    return instead === undefined ? value : { name, value: instead };
  });
  return JSON.parse(text) as Manifest[];
}
