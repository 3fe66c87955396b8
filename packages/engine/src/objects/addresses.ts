import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import { partitionTimeBase, xidSeconds, type XidGenerator } from '@svc/encoding';
import { invalid } from '../context/refusals.ts';
import type { EngineError } from '../errors.ts';

const maxNamesPerPartition = 50_000;
const partitionLifetimeMs = 3_600_000;
const addressLifetimeSeconds = 24 * 3600;

/** Gives out fresh data addresses, `data/<partition>/<name>`; newer partitions sort first. */
export class AddressAllocator {
  readonly #xids: XidGenerator;
  readonly #clock: () => number;
  #partition = '';
  #issued = 0;
  #expires = 0;

  constructor(xids: XidGenerator, clock: () => number) {
    this.#xids = xids;
    this.#clock = clock;
  }

  next(): string {
    const now = this.#clock();
    if (this.#issued === 0 || this.#issued >= maxNamesPerPartition || now >= this.#expires) {
      this.#partition = this.#xids.nextDescending(partitionTimeBase);
      this.#issued = 0;
      this.#expires = now + partitionLifetimeMs;
    }
    this.#issued += 1;
    return `data/${this.#partition}/${this.#xids.next()}`;
  }
}

/** What a signed address may be linked to. */
export interface AddressClaim {
  readonly repository: string;
  readonly branch: string;
  readonly path: string;
}

/** `relative` with the signature appended; the result is the object's name in the store. */
export function signAddress(key: KeyObject, claim: AddressClaim, relative: string): string {
  return `${relative},${signature(key, claim, relative).toString('base64url')}`;
}

/** Throws unless `signed` was issued for this claim within the last 24 hours. */
export function verifyAddress(key: KeyObject, claim: AddressClaim, signed: string, nowMs: number): void {
  const comma = signed.lastIndexOf(',');
  if (comma < 0) throw linkInvalid('address is not signed');
  const relative = signed.slice(0, comma);
  const text = signed.slice(comma + 1);
  const given = Buffer.from(text, 'base64url');
  if (text === '' || given.toString('base64url') !== text) {
    throw linkInvalid('malformed address signature: not base64url');
  }
  const expected = signature(key, claim, relative);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw invalid('invalid address signature: invalid address', 'object');
  }
  const issued = xidSeconds(relative.slice(relative.lastIndexOf('/') + 1));
  if (issued === undefined) throw linkInvalid('malformed address signature: no time in the address');
  if (nowMs / 1000 - issued > addressLifetimeSeconds) throw invalid('link address expired', 'object');
}

function linkInvalid(reason: string): EngineError {
  return invalid(`${reason}: link address invalid`, 'object');
}

function signature(key: KeyObject, claim: AddressClaim, relative: string): Buffer {
  const payload = goJson({
    Repository: claim.repository,
    Branch: claim.branch,
    Path: claim.path,
    PhysicalAddress: relative,
  });
  return createHmac('sha256', key).update(payload).digest();
}

/** JSON with the escapes Go adds, which signatures of other servers cover. */
function goJson(value: Readonly<Record<string, string>>): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
