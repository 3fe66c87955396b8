import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchOnce } from '../fetch/fetch-once.ts';
import { freePort } from '../free-port.ts';
import { runCommand } from '../run-command.ts';
import { UnavailableError } from '../unavailable-error.ts';
import type { RunningServer } from './running-server.ts';
import { acceptsConnections, ServerProcess } from './server-process.ts';

/** Libraries of the server that machines without it mostly lack. */
const libraries = /^\s*Depends: (lib(?:ldap|ltdl|wrap|sasl2-2|odbc|argon2|perl)[^\s]*)$/gm;

/** The folder that OpenLDAP's server of this Debian release was unpacked to. It is not installed. */
export function fetchSlapd(): Promise<string> {
  return fetchOnce('slapd', 'OpenLDAP', async (folder) => {
    try {
      const depends = await runCommand('apt-cache', ['depends', 'slapd']);
      const names = [...depends.matchAll(libraries)].map(([, name = '']) => name);
      await runCommand('apt-get', ['download', 'slapd', ...names], { cwd: folder });
      for (const file of await readdir(folder)) {
        if (!file.endsWith('.deb')) continue;
        await runCommand('dpkg-deb', ['-x', join(folder, file), folder]);
        await rm(join(folder, file));
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UnavailableError(`OpenLDAP cannot be had from Debian's packages: ${reason}`);
    }
  });
}

export interface SlapdOptions {
  /** LDIF of everything below the base. */
  readonly entries: string;
  readonly certificate: { readonly cert: string; readonly key: string; readonly ca: string };
}

/**
 * A directory below `dc=example,dc=com` whose service account may read it; nobody may without a bind. Everybody but
 * the service account is shown one entry of each search.
 */
export async function startSlapd({ entries, certificate }: SlapdOptions): Promise<RunningServer> {
  const root = await fetchSlapd();
  const folder = await mkdtemp(join(tmpdir(), 'svc-slapd-'));
  await mkdir(join(folder, 'data'));
  const config = join(folder, 'slapd.conf');
  await writeFile(
    config,
    `include ${root}/etc/ldap/schema/core.schema
include ${root}/etc/ldap/schema/cosine.schema
include ${root}/etc/ldap/schema/inetorgperson.schema
modulepath ${root}/usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/slapd.pid
TLSCertificateFile ${certificate.cert}
TLSCertificateKeyFile ${certificate.key}
TLSCACertificateFile ${certificate.ca}
database mdb
suffix "dc=example,dc=com"
directory ${folder}/data
rootdn "cn=service,dc=example,dc=com"
rootpw the-password-of-the-service
dbnosync
sizelimit 1
access to attrs=userPassword by anonymous auth by * none
access to * by users read by * none
`,
  );
  const libs = readdirSync(join(root, 'usr/lib'))
    .filter((name) => name.includes('-linux-'))
    .map((name) => join(root, 'usr/lib', name));
  const env = { ...process.env, LD_LIBRARY_PATH: libs.join(':') };
  const ldif = join(folder, 'entries.ldif');
  await writeFile(ldif, entries);
  const slapd = join(root, 'usr/sbin/slapd');
  await runCommand(slapd, ['-T', 'add', '-f', config, '-l', ldif], { env });
  const [port, tlsPort] = [await freePort(), await freePort()];
  const urls = `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${tlsPort}`;
  const server = new ServerProcess(slapd, ['-f', config, '-h', urls, '-d', '0'], {
    cwd: folder,
    env,
    ready: () => acceptsConnections(port),
  });
  await server.start();
  return {
    address: {
      url: `ldap://127.0.0.1:${port}`,
      tlsUrl: `ldaps://127.0.0.1:${tlsPort}`,
      bindDn: 'cn=service,dc=example,dc=com',
      bindPassword: 'the-password-of-the-service',
    },
    start: () => server.start(),
    stop: () => server.stop(),
    dispose: async () => {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
