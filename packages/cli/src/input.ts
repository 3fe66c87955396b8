import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { CliError } from './errors.ts';

/** The bytes of a file, or of standard input for `-`. */
export async function readInput(file: string): Promise<Buffer> {
  if (file === '-') return readAll(process.stdin);
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}

export async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

export async function readJson<T>(file: string): Promise<T> {
  const text = (await readInput(file)).toString('utf8');
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new CliError(`${file === '-' ? 'standard input' : file} is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
