import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { basic, type Key } from '../fuzz/callers.ts';
import { signV4 } from '../fuzz/s3-signing.ts';
import type { Answer, RunningSvc } from '../start-server.ts';
import { startTarget, type TargetServer } from './target-server.ts';

/** Stands in the one object that none of the attackers may read. */
export const canary = 'canary-71c1f2-nobody-may-read-this';
export const secretKey = 'secret/plan';

export interface Sent {
  /** Nobody where left out. */
  readonly as?: Key | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

export interface SentToS3 {
  readonly body?: string;
  /** Signed; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the digest of the body. */
  readonly payloadHash?: string;
}

/**
 * A server with something to steal, and those who try. Every answer an attacker gets is kept; `expectUnharmed` holds
 * that nothing was stored, leaked or stopped.
 *
 * - `nobody`: a user without any right;
 * - `mallory`: may do everything in the repository `hers`, and nothing elsewhere;
 * - `denied`: may do everything everywhere, but not read `secret/` of any repository.
 */
export class AttackedServer {
  readonly target: TargetServer;
  readonly nobody: Key;
  readonly mallory: Key;
  readonly denied: Key;
  readonly #answers: string[] = [];
  #pids = '';
  #state = '';
  #files = '';

  private constructor(target: TargetServer, [nobody, mallory, denied]: readonly [Key, Key, Key]) {
    this.target = target;
    this.nobody = nobody;
    this.mallory = mallory;
    this.denied = denied;
  }

  static async start(settings: object = {}): Promise<AttackedServer> {
    const target = await startTarget('embedded', { server: { workers: 1 }, ...settings });
    if (target === undefined) throw new Error('the embedded stores are always there');
    const { manage } = target;
    for (const name of ['victim', 'hers']) {
      await manage('POST', '/repositories', { name, storage_namespace: `local://${name}` });
      await manage('POST', `/repositories/${name}/branches/main/objects?path=public%2Fa`, `a of ${name}`);
    }
    const secret = `path=${encodeURIComponent(secretKey)}`;
    await manage('POST', `/repositories/victim/branches/main/objects?${secret}`, canary);
    for (const name of ['victim', 'hers'])
      await manage('POST', `/repositories/${name}/branches/main/commits`, { message: 'first' });
    const all = (resource: string): object => ({
      effect: 'allow',
      action: ['fs:*', 'pr:*', 'branches:*', 'retention:*', 'ci:*'],
      resource,
    });
    const keys = [
      await newUser(target, 'nobody', []),
      await newUser(target, 'mallory', [
        all('arn:svc:fs:::repository/hers'),
        all('arn:svc:fs:::repository/hers/*'),
        { effect: 'allow', action: ['fs:AttachStorageNamespace', 'fs:ImportFromStorage'], resource: '*' },
      ]),
      await newUser(target, 'denied', [
        all('*'),
        {
          effect: 'deny',
          action: ['fs:ReadObject'],
          resource: 'arn:svc:fs:::repository/*/object/secret/*',
        },
      ]),
    ] as const;
    const attacked = new AttackedServer(target, keys);
    await attacked.remember();
    return attacked;
  }

  get server(): RunningSvc {
    return this.target.server;
  }

  get host(): string {
    return `127.0.0.1:${this.server.port}`;
  }

  /** Takes the present state for the one that must stay. */
  async remember(): Promise<void> {
    this.#pids = String(this.server.childPids());
    this.#state = await this.state();
    this.#files = this.files();
  }

  /** Nothing stored, nothing leaked, nothing stopped. */
  async expectUnharmed(): Promise<void> {
    expect(await this.state()).toBe(this.#state);
    expect(this.files()).toBe(this.#files);
    expect(String(this.server.childPids())).toBe(this.#pids);
    const seen = this.#answers.join('\n');
    this.#answers.length = 0;
    for (const secret of [canary, ...this.target.secrets]) expect(seen.includes(secret), secret).toBe(false);
  }

  /** A request of the API by an attacker. */
  async call(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const { as, body, headers = {}, from } = sent;
    const bytes = Buffer.from(
      body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
    );
    const answer = await this.server.request(path.startsWith('/api/') ? path : `/api/v1${path}`, {
      method,
      ...(from === undefined ? {} : { localAddress: from }),
      headers: {
        ...(as === undefined ? {} : { authorization: basic(as) }),
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': bytes.length }),
        ...headers,
      },
      body: bytes,
    });
    this.#note(`${JSON.stringify(answer.headers)}\n${answer.body}`);
    return answer;
  }

  /** A signed request of the gateway by an attacker. `target` is the encoded path with its query. */
  async s3(method: string, target: string, as: Key, sent: SentToS3 = {}): Promise<Answer> {
    const [path = '', query = ''] = target.split('?', 2);
    const body = Buffer.from(sent.body ?? '');
    const { headers } = signV4(
      {
        method,
        path,
        query,
        host: this.host,
        headers: { ...sent.headers },
        payloadHash: sent.payloadHash ?? hash('sha256', body),
        now: new Date(),
      },
      as,
    );
    const length = body.length === 0 ? {} : { 'content-length': body.length };
    const answer = await this.server.request(target, { method, headers: { ...headers, ...length }, body });
    this.#note(`${JSON.stringify(answer.headers)}\n${answer.body}`);
    return answer;
  }

  /** Bytes as they are; answers everything that came until the server closed, or fell silent behind an answer. */
  raw(bytes: string | Buffer): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(this.server.port, '127.0.0.1');
      let text = '';
      let silence: NodeJS.Timeout | undefined;
      const quiet = (milliseconds: number): void => {
        clearTimeout(silence);
        silence = setTimeout(() => socket.destroy(), milliseconds);
      };
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1');
        quiet(200);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(silence);
        this.#note(text);
        resolve(text);
      });
      quiet(10_000);
      socket.write(bytes);
    });
  }

  #note(text: string): void {
    this.#answers.push(text);
  }

  /** Refs, objects and identities, as an administrator sees them. */
  async state(): Promise<string> {
    const paths = ['/repositories', '/auth/users', '/auth/groups', '/auth/policies'];
    for (const user of ['admin', 'nobody', 'mallory', 'denied'])
      for (const what of ['groups', 'policies', 'credentials']) paths.push(`/auth/users/${user}/${what}`);
    for (const name of ['victim', 'hers'])
      for (const what of [
        'branches',
        'tags',
        'pulls?status=all',
        'refs/main/objects/ls',
        'refs/main/commits',
        'metadata',
        'settings/branch_protection',
      ])
        paths.push(`/repositories/${name}/${what}`);
    const parts = await Promise.all(
      paths.map(async (path) => [path, await this.target.manage('GET', path)] as const),
    );
    return JSON.stringify(parts, undefined, 1);
  }

  /** Files of the block store, and those beside it that no request may touch. */
  files(): string {
    return ['blocks', 'outside']
      .flatMap((folder) => readdirSync(join(this.server.home, folder), { recursive: true, encoding: 'utf8' }))
      .toSorted()
      .join('\n');
  }
}

async function newUser(target: TargetServer, id: string, statement: readonly object[]): Promise<Key> {
  await target.manage('POST', '/auth/users', { id });
  const made = (await target.manage('POST', `/auth/users/${id}/credentials`)) as Record<string, string>;
  if (statement.length > 0) {
    await target.manage('POST', '/auth/policies', { id: `of-${id}`, statement });
    await target.manage('PUT', `/auth/users/${id}/policies/of-${id}`);
  }
  return { accessKeyId: made['access_key_id'] ?? '', secretAccessKey: made['secret_access_key'] ?? '' };
}

/** The statuses of all answers in a text. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1]));
}
