import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Files with a certificate for 127.0.0.1, its key, and the authority that signed it. */
export async function certifyLoopback(folder: string): Promise<Certificate> {
  const openssl = (...args: string[]): Promise<unknown> => runCommand('openssl', args, { cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-subj', '/CN=authority', '-out', 'ca.crt');
  await openssl('req', ...newKey, '-keyout', 'server.key', '-subj', '/CN=server', '-out', 'server.csr');
  await writeFile(join(folder, 'server.ext'), 'subjectAltName=IP:127.0.0.1');
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  const input = ['-in', 'server.csr', '-extfile', 'server.ext'];
  await openssl('x509', '-req', ...input, ...signing, '-out', 'server.crt');
  return {
    cert: join(folder, 'server.crt'),
    key: join(folder, 'server.key'),
    ca: join(folder, 'ca.crt'),
  };
}
