import type { Random } from './random.ts';

export interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Somebody who sends requests. */
export interface Caller {
  readonly name: string;
  /** The group they are in; `stranger`: not to be let in; `nobody`: known, but without any right. */
  readonly rank: 'stranger' | 'nobody' | 'Viewers' | 'Developers' | 'SuperUsers' | 'Admins' | 'denied';
  readonly key: Key | undefined;
  /** Tokens of sessions. */
  readonly tokens: readonly string[];
  readonly readsSecret: boolean;
}

/** Who must not change anything. */
export const powerlessRanks: ReadonlySet<Caller['rank']> = new Set(['stranger', 'nobody', 'Viewers']);

type Headers = readonly (readonly [string, string])[];

/** How a caller of the API says who they are, now and then in a way that must not be believed. */
export function apiProof(
  random: Random,
  caller: Caller,
): { readonly headers: Headers; readonly isRight: boolean } {
  if (caller.rank !== 'stranger' && random.chance(0.03))
    return { headers: brokenProof(random, caller), isRight: false };
  const token = caller.tokens.length === 0 ? undefined : random.pick(caller.tokens);
  if (token !== undefined && (caller.key === undefined || random.chance(0.3)))
    return {
      headers: [
        random.chance(0.5) ? ['authorization', `Bearer ${token}`] : ['cookie', `access_token=${token}`],
      ],
      isRight: true,
    };
  return { headers: caller.key === undefined ? [] : [['authorization', basic(caller.key)]], isRight: true };
}

export function basic({ accessKeyId, secretAccessKey }: Key): string {
  return `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`;
}

function brokenProof(random: Random, { key, tokens: [token = 'a.b.c'] }: Caller): Headers {
  const [head = '', claims = '', signature = ''] = token.split('.');
  const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const id = key?.accessKeyId ?? 'NOBODY';
  return random.pick<Headers>([
    [['authorization', basic({ accessKeyId: id, secretAccessKey: 'wrong' })]],
    [['authorization', basic({ accessKeyId: id, secretAccessKey: '' })]],
    [['authorization', 'Basic AAAA']],
    [['authorization', 'Basic %%%']],
    [['authorization', `Bearer ${unsigned}.${claims}.`]],
    [['authorization', `Bearer ${head}.${claims}.${signature.slice(1)}A`]],
    [['authorization', 'Bearer ']],
    [['cookie', `access_token=${unsigned}.${claims}.${signature}`]],
    [['authorization', 'Negotiate x']],
    [['cookie', `internal_auth_session=${token.slice(0, -4)}AAAA`]],
  ]);
}
