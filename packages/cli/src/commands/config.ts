import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { Document, isMap, parseDocument } from 'yaml';
import { configFile } from '../config/config.ts';
import { action } from '../context.ts';
import { CliError } from '../errors.ts';
import { Questions } from '../questions.ts';

const keys = {
  id: ['credentials', 'access_key_id'],
  secret: ['credentials', 'secret_access_key'],
  endpoint: ['server', 'endpoint_url'],
} as const;

export function register(program: Command): void {
  program
    .command('config')
    .description('ask for credentials and the endpoint URL, and write the configuration file')
    .action(
      action<[]>(async ({ out, options }) => {
        const file = configFile({ file: options.config, environment: process.env });
        out.line(`Config file ${file} will be used`);
        const document = readDocument(file);
        const current = (path: readonly string[]): string => {
          const value = document.getIn(path);
          return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
        };
        const questions = new Questions();
        try {
          const id = await questions.ask('Access key ID', { current: current(keys.id) });
          const secret = await questions.ask('Secret access key', {
            current: current(keys.secret),
            secret: true,
          });
          const endpoint = await questions.ask('Server endpoint URL', {
            current: current(keys.endpoint) || 'http://127.0.0.1:8000',
            check: (text) => (URL.canParse(text) ? undefined : `"${text}" is not an absolute URL`),
          });
          document.setIn(keys.id, id);
          document.setIn(keys.secret, secret);
          document.setIn(keys.endpoint, endpoint);
        } finally {
          questions.close();
        }
        replaceFile(file, document.toString());
      }),
    );
}

/** The file with its comments; an invalid one is replaced by an empty document. */
function readDocument(file: string): Document {
  if (!existsSync(file)) return new Document({});
  const document = parseDocument(readFileSync(file, 'utf8'));
  return document.errors.length > 0 || !isMap(document.contents) ? new Document({}) : document;
}

function replaceFile(file: string, text: string): void {
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(fresh, text, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, file);
  } catch (error) {
    throw new CliError(`cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}
