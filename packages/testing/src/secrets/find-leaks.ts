import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Needles } from './needles.ts';
import type { NotedSecret, SecretBook } from './secret-book.ts';

/** A long random secret is given away by its beginning, too: logs cut long bodies. */
const tellingBeginning = 24;

/** Every line of the run's logs that holds one of its secrets, without the secret itself. */
export function findLeaks(book: SecretBook): string[] {
  const origins = new Map<string, string>();
  for (const file of readdirSync(book.secrets)) {
    for (const line of readFileSync(join(book.secrets, file), 'utf8').split('\n')) {
      if (line === '') continue;
      const { what, secret } = JSON.parse(line) as NotedSecret;
      for (const form of formsOf(what, secret)) origins.set(form, what);
    }
  }
  const needles = new Needles(origins.keys());
  const leaks: string[] = [];
  for (const file of readdirSync(book.logs).toSorted()) {
    const log = readFileSync(join(book.logs, file));
    const greeting = greetingOf(log);
    let reported = -1;
    for (const { at, text } of needles.find(log)) {
      if (at >= greeting.from && at < greeting.to) continue;
      const from = log.lastIndexOf('\n', at) + 1;
      if (from === reported) continue;
      reported = from;
      const end = log.indexOf('\n', at);
      const line = log.toString('utf8', from, end === -1 ? log.length : end).replaceAll(text, '<the secret>');
      leaks.push(`${file} holds ${origins.get(text)}: ${line.slice(0, 1000)}`);
    }
  }
  return leaks;
}

/** As it is, and as JSON and URLs write it. */
function formsOf(what: string, secret: string): Set<string> {
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  if (what.startsWith('secret_access_key') && secret.length > tellingBeginning)
    forms.add(secret.slice(0, tellingBeginning));
  return forms;
}

/** The quick start greets people with its well-known key pair; that is no log line. */
function greetingOf(log: Buffer): { readonly from: number; readonly to: number } {
  const from = log.indexOf('\n  Access Key ID:     AKIAIOSFOLQUICKSTART\n');
  return from === -1 ? { from: 0, to: 0 } : { from, to: log.indexOf('\n  Press Ctrl-C to stop.\n', from) };
}
