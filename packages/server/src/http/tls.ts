import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Config } from '../config/index.ts';
import type { TlsPair } from './listener.ts';

/** Reads the configured pair; throws a sentence when the files cannot be read or do not belong together. */
export function readTlsPair(tls: Config['tls']): TlsPair {
  const cert = readFileSync(tls.cert_file);
  const key = readFileSync(tls.key_file);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new Error(
      `tls.cert_file ${tls.cert_file} and tls.key_file ${tls.key_file} cannot be used together: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return { cert, key };
}
