// The cost of knowing a caller and of one permission check, in one process with everything in memory.
import { createAuth, and, arn, one, soft, type Identity, type Requirement, type Statement } from '@svc/auth';
import { createMemStore, LocalCacheBus } from '@svc/kv';

const client = { ip: '10.1.2.3', secure: false };
const actor = { username: 'bench' };
const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const auth = await createAuth({
  kv: createMemStore(),
  cacheBus: new LocalCacheBus(),
  encryptSecretKey: 'a secret key for the benchmark only',
  mode: 'internal',
  cache: { enabled: true, size: 1024, ttlMs: 3_600_000, jitterMs: 0 },
  loginDurationMs: 3_600_000,
  loginMaxDurationMs: 3_600_000,
  logger: quiet,
});

/** Four statements each, as a policy for one repository has, every fifth with a condition and a denial. */
function repositoryPolicy(index: number): Statement[] {
  const repository = `arn:svc:fs:::repository/team-${index}-*`;
  const condition = index % 5 === 0 ? { condition: { IpAddress: { SourceIp: ['10.0.0.0/8', '::1'] } } } : {};
  return [
    {
      effect: 'allow',
      action: ['fs:ReadRepository', 'fs:ReadCommit', 'fs:ListBranches', 'fs:ListTags', 'fs:ListObjects'],
      resource: repository,
      ...condition,
    },
    {
      effect: 'allow',
      action: ['fs:RevertBranch', 'fs:ReadBranch', 'fs:CreateBranch', 'fs:DeleteBranch', 'fs:CreateCommit'],
      resource: `${repository}/branch/*`,
    },
    {
      effect: 'allow',
      action: ['fs:ListObjects', 'fs:ReadObject', 'fs:WriteObject', 'fs:DeleteObject'],
      resource: `["${repository}/object/*.parquet","${repository}/object/\${user}/*"]`,
    },
    { effect: 'deny', action: ['fs:Delete*'], resource: `${repository}/object/protected/*`, ...condition },
  ];
}

async function userWith(username: string, policies: number): Promise<Identity> {
  await auth.users.create({ username }, actor);
  for (let index = 0; index < policies; index++) {
    const id = `${username}-${index}`;
    await auth.policies.create({ id, statement: repositoryPolicy(index) }, actor);
    await auth.users.attachPolicy(username, id, actor);
  }
  const user = await auth.users.get(username);
  return { user, method: 'basic' };
}

async function measure(name: string, run: () => unknown): Promise<void> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const count = 20_000;
    const before = process.cpuUsage();
    for (let index = 0; index < count; index++) {
      const result = run();
      if (result instanceof Promise) await result;
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / count);
  }
  console.log(`${name.padEnd(62)} ${best.toFixed(2).padStart(8)} µs`);
}

for (const policies of [5, 50, 500]) {
  const identity = await userWith(`user${policies}`, policies);
  const last = policies - 1;
  const checks: [string, Requirement][] = [
    [
      'read an object, allowed',
      one('fs:ReadObject', arn.object(`team-${last}-x`, 'year=2026/part-0.parquet')),
    ],
    ['read an object, no policy', one('fs:ReadObject', arn.object('elsewhere', 'year=2026/part-0.parquet'))],
    ['delete an object, denied', one('fs:DeleteObject', arn.object('team-0-x', 'protected/a.parquet'))],
    [
      'two leaves and a soft one',
      and(
        one('fs:WriteObject', arn.object(`team-${last}-x`, `user${policies}/a`)),
        one('fs:CreateCommit', arn.branch(`team-${last}-x`, 'main')),
        soft('fs:ImportFromStorage', arn.namespace('s3://bucket/prefix/a')),
      ),
    ],
  ];
  for (const [name, requirement] of checks) {
    await measure(`${policies} policies: ${name}`, () => auth.authorize(identity, requirement, client));
  }
}

await auth.users.create({ username: 'caller' }, actor);
const key = await auth.credentials.create('caller', actor);
const basic = Buffer.from(`${key.accessKeyId}:${key.secretAccessKey}`).toString('base64');
const { token } = await auth.login({ username: key.accessKeyId, password: key.secretAccessKey, client });
const request = (authorization: string) => ({ method: 'GET', headers: { authorization }, client });
await measure('authenticate: Basic', () => auth.authenticate(request(`Basic ${basic}`)));
await measure('authenticate: bearer token', () => auth.authenticate(request(`Bearer ${token}`)));
await measure('secret of an access key, for a signature', () => auth.credentialsFor(key.accessKeyId));
auth.close();
