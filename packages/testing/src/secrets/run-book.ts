import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFolderVariable } from '../temp-dir.ts';
import { SecretBook } from './secret-book.ts';

let book: SecretBook | undefined;

/** The book of this test run. */
export function runBook(): SecretBook {
  return (book ??= new SecretBook(
    process.env[runFolderVariable] ?? join(tmpdir(), `svc-alone-${process.pid}`),
  ));
}

/** Keeps what a program wrote, to be searched for secrets when the run ends. */
export function keepLog(name: string, text: string): void {
  runBook().log(name, text);
}

/** Notes a secret that no log of the run may hold. Those that go over the wire of a started server are noted anyway. */
export function noteSecret(what: string, secret: string): void {
  runBook().note(what, secret);
}
