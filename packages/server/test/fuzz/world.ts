import { hash } from 'node:crypto';
import { forgedToken, tokenKey } from '../attack/forged-token.ts';
import type { TargetServer } from '../attack/target-server.ts';
import type { Caller, Key } from './callers.ts';
import { repositories, secretContent, secretPath, type Facts } from './known-values.ts';
import { signV4 } from './s3-signing.ts';

interface Page {
  readonly results: readonly Record<string, string>[];
}

/** What the requests are about: furnished again and again, because some of it is deleted on the way. */
export class World {
  readonly #target: TargetServer;
  readonly #secrets: string[];
  callers: readonly Caller[] = [];

  constructor(target: TargetServer) {
    this.#target = target;
    this.#secrets = [...target.secrets];
  }

  /** What no answer may show. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  async inviteCallers(): Promise<void> {
    const { admin, encryptSecret } = this.#target;
    const members: Caller[] = [];
    for (const rank of ['Viewers', 'Developers', 'SuperUsers', 'Admins'] as const) {
      const name = `caller-${rank.toLowerCase()}`;
      const key = await this.#newUser(name);
      await this.#try('PUT', `/auth/groups/${rank}/members/${name}`);
      members.push({ name, rank, key, tokens: [await this.#login(key)], readsSecret: true });
    }
    const denied = await this.#newUser('caller-denied');
    await this.#try('POST', '/auth/policies', {
      id: 'all-but-one-path',
      statement: [
        { effect: 'allow', action: ['fs:*', 'ci:*', 'pr:*', 'branches:*', 'retention:*'], resource: '*' },
        { effect: 'deny', action: ['fs:ReadObject'], resource: 'arn:svc:fs:::repository/*/object/secret/*' },
      ],
    });
    await this.#try('PUT', '/auth/users/caller-denied/policies/all-but-one-path');
    const nobody = await this.#newUser('caller-nobody');
    const revoked = await this.#newUser('caller-revoked');
    const revokedToken = await this.#login(revoked);
    await this.#try('DELETE', `/auth/users/caller-revoked/credentials/${revoked.accessKeyId}`);
    const claims = { iss: 'auth', aud: 'login', sub: 'admin', iat: 1_700_000_000 };
    const expired = forgedToken(tokenKey(encryptSecret), { ...claims, exp: 1_700_003_600 });
    const stranger = { rank: 'stranger', readsSecret: false } as const;
    this.callers = [
      ...members,
      { name: 'caller-denied', rank: 'denied', key: denied, tokens: [], readsSecret: false },
      {
        name: 'caller-nobody',
        rank: 'nobody',
        key: nobody,
        tokens: [await this.#login(nobody)],
        readsSecret: false,
      },
      { name: 'without anything', ...stranger, key: undefined, tokens: [] },
      { name: 'with a wrong secret', ...stranger, key: { ...admin, secretAccessKey: 'wrong' }, tokens: [] },
      { name: 'with a revoked key', ...stranger, key: revoked, tokens: [revokedToken] },
      { name: 'with an expired token', ...stranger, key: undefined, tokens: [expired] },
    ];
  }

  async furnish(): Promise<Facts> {
    await Promise.all(repositories.map((name) => this.#furnishRepository(name)));
    for (const id of ['bob', 'carol']) await this.#try('POST', '/auth/users', { id });
    await this.#try('POST', '/auth/groups', { id: 'team' });
    await this.#try('POST', '/auth/policies', {
      id: 'custom',
      statement: [{ effect: 'allow', action: ['fs:ReadObject'], resource: '*' }],
    });
    return await this.#facts();
  }

  async #furnishRepository(name: string): Promise<void> {
    const repository = `/repositories/${name}`;
    const put = (branch: string, path: string, content: string): Promise<unknown> =>
      this.#try('POST', `${repository}/branches/${branch}/objects?path=${encodeURIComponent(path)}`, content);
    const storageNamespace = `${this.#target.namespace}/${name}`;
    await this.#try('POST', '/repositories', { name, storage_namespace: storageNamespace });
    await this.#try('POST', `${repository}/branches`, { name: 'main', source: 'dev' });
    await this.#try('PUT', `${repository}/settings/branch_protection`, []);
    await put('main', 'a', 'content of a');
    await put('main', secretPath, secretContent);
    await this.#try('POST', `${repository}/branches/main/commits`, {
      message: 'furnished',
      allow_empty: true,
    });
    await this.#try('POST', `${repository}/branches`, { name: 'dev', source: 'main' });
    await this.#try('POST', `${repository}/tags`, { id: 'v1', ref: 'main' });
    await put('dev', 'dir/b', `b at ${Date.now()}`);
    await this.#try('POST', `${repository}/branches/dev/commits`, { message: 'furnished' });
    await put('main', 'html', '<html><script>1</script></html>');
    const pull = { title: 't', source_branch: 'dev', destination_branch: 'main' };
    await this.#try('POST', `${repository}/pulls`, pull);
  }

  /** Everything that somebody without rights must leave as it is. */
  async snapshot(): Promise<string> {
    const paths = ['/repositories?amount=1000'];
    for (const kind of ['users', 'groups', 'policies']) paths.push(`/auth/${kind}?amount=1000`);
    for (const user of ['admin', 'bob', 'carol', 'caller-viewers', 'caller-nobody'])
      paths.push(`/auth/users/${user}/groups`, `/auth/users/${user}/policies?effective=true`);
    for (const user of ['admin', 'bob']) paths.push(`/auth/users/${user}/credentials`);
    for (const name of repositories) {
      const repository = `/repositories/${name}`;
      for (const path of [
        'tags',
        'pulls?status=all',
        'metadata',
        'settings/branch_protection',
        'settings/gc_rules',
      ])
        paths.push(`${repository}/${path}`);
      const branches = `${repository}/branches?amount=1000&show_hidden=true`;
      const listed = (await this.#try('GET', branches)) as Page | undefined;
      paths.push(branches);
      for (const { id = '' } of listed?.results ?? [])
        paths.push(`${repository}/refs/${encodeURIComponent(id)}/objects/ls?amount=1000`);
    }
    const parts = await Promise.all(paths.map(async (path) => [path, await this.#try('GET', path)]));
    return JSON.stringify(parts, undefined, 1);
  }

  async #facts(): Promise<Facts> {
    const commits = (
      (await this.#try('GET', '/repositories/fuzz-one/refs/main/commits?amount=3')) as Page | undefined
    )?.results;
    const metaranges = commits?.map(({ meta_range_id = '' }) => meta_range_id) ?? [];
    const objects = (
      (await this.#try('GET', '/repositories/fuzz-one/refs/main/objects/ls')) as Page | undefined
    )?.results;
    const keys = (await this.#try('POST', '/auth/users/bob/credentials')) as
      | Record<string, string>
      | undefined;
    const pulls = ((await this.#try('GET', '/repositories/fuzz-one/pulls?status=all')) as Page | undefined)
      ?.results;
    return {
      commits: commits?.map(({ id = '' }) => id) ?? [],
      metaranges,
      ranges: [hash('sha256', 'no range')],
      addresses: objects?.map(({ physical_address = '' }) => physical_address) ?? [],
      uploads: await this.#uploads(),
      pulls: pulls?.map(({ id = '' }) => id) ?? [],
      accessKeys: [keys?.['access_key_id'] ?? 'NOBODY'],
      namespace: this.#target.namespace,
      outside: this.#target.outside,
    };
  }

  /** Multipart uploads that have begun. */
  async #uploads(): Promise<string[]> {
    const { server, admin } = this.#target;
    const host = `127.0.0.1:${server.port}`;
    const request = {
      method: 'POST',
      path: '/fuzz-one/main/a',
      query: 'uploads',
      host,
      headers: {},
      now: new Date(),
    };
    const { headers } = signV4({ ...request, payloadHash: hash('sha256', '') }, admin);
    const answer = await server.request('/fuzz-one/main/a?uploads', { method: 'POST', headers });
    const id = /<UploadId>([^<]+)</.exec(answer.body)?.[1];
    return id === undefined ? [] : [id];
  }

  async #newUser(id: string): Promise<Key> {
    await this.#try('POST', '/auth/users', { id });
    const made = (await this.#target.manage('POST', `/auth/users/${id}/credentials`)) as Record<
      string,
      string
    >;
    const key = {
      accessKeyId: made['access_key_id'] ?? '',
      secretAccessKey: made['secret_access_key'] ?? '',
    };
    this.#secrets.push(key.secretAccessKey);
    return key;
  }

  async #login({ accessKeyId, secretAccessKey }: Key): Promise<string> {
    const body = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
    const { token } = (await this.#target.manage('POST', '/auth/login', body)) as { token: string };
    this.#secrets.push(token);
    return token;
  }

  /** What is there already, or cannot be now, stays as it is. */
  async #try(method: string, path: string, body?: unknown): Promise<unknown> {
    try {
      return await this.#target.manage(method, path, body);
    } catch (error) {
      if (/: [45]\d\d /.test((error as Error).message)) return undefined;
      throw error;
    }
  }
}
