import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { certifyLoopback, orSkipReason, startSlapd, tempDir } from '@svc/testing';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { local, makeAuth } from '../../test/make-auth.ts';
import { LdapAuthenticator, type LdapSettings } from './ldap.ts';

const person = (dn: string, uid: string, password: string, kind = 'staff') => `dn: ${dn}
objectClass: inetOrgPerson
cn: ${uid}
sn: ${uid}
uid: ${uid}
employeeType: ${kind}
userPassword: ${password}
`;
const people = 'ou=people,dc=example,dc=com';
const entries = [
  'dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n',
  `dn: ${people}\nobjectClass: organizationalUnit\nou: people\n`,
  person(`uid=ann,${people}`, 'ann', 'the password of ann'),
  person(`uid=guest,${people}`, 'guest', 'the password of guest', 'guest'),
  person(`cn=one twin,${people}`, 'twin', 'the password of twin'),
  person(`cn=other twin,${people}`, 'twin', 'the password of twin'),
  ...['one', 'two', 'three'].map((cn) => person(`cn=${cn},${people}`, 'triplet', 'the password of triplet')),
  person(`cn=odd,${people}`, 'a*b(c)\\d', 'the password of odd'),
].join('\n');

const server = await orSkipReason('OpenLDAP', async () => {
  const certificate = await certifyLoopback(tempDir());
  return { ...(await startSlapd({ entries, certificate })), ca: readFileSync(certificate.ca, 'utf8') };
});
afterAll(() => server?.dispose());

describe.skipIf(server === undefined)('a directory', () => {
  if (server === undefined) return;
  const { url = '', tlsUrl = '', bindDn = '', bindPassword = '' } = server.address;

  const open = (changes: Partial<LdapSettings> = {}): LdapAuthenticator => {
    const directory = new LdapAuthenticator({
      serverEndpoint: url,
      bindDn,
      bindPassword,
      usernameAttribute: 'uid',
      userBaseDn: 'dc=example,dc=com',
      userFilter: '',
      defaultGroup: 'Viewers',
      startTls: false,
      ...changes,
    });
    onTestFinished(() => directory.close());
    return directory;
  };
  const ask = (directory: LdapAuthenticator, username: string, password = `the password of ${username}`) =>
    directory.authenticate({ username, password });

  it('knows people by name and password, once each', async () => {
    const directory = open();
    expect(await ask(directory, 'ann')).toStrictEqual({ userId: `uid=ann,${people}` });
    expect(await ask(directory, 'ann', 'wrong')).toBeUndefined();
    expect(await ask(directory, 'nobody')).toBeUndefined();
    expect(await ask(directory, 'twin')).toBeUndefined();
    // More than the search asks for.
    expect(await ask(directory, 'triplet')).toBeUndefined();
    expect(await ask(directory, 'a*b(c)\\d', 'the password of odd')).toStrictEqual({
      userId: `cn=odd,${people}`,
    });
  });

  it('does not take several for one where the directory shows one only', async () => {
    const directory = open({ bindDn: `uid=ann,${people}`, bindPassword: 'the password of ann' });
    expect(await ask(directory, 'guest')).toStrictEqual({ userId: `uid=guest,${people}` });
    expect(await ask(directory, 'twin')).toBeUndefined();
    expect(await ask(directory, 'triplet')).toBeUndefined();
  });

  it('takes nothing in a name for a filter, and no empty password for a visitor', async () => {
    const directory = open();
    for (const name of ['*', 'an*', '*)(uid=*', 'ann)(objectClass=*', 'a\\2a', 'ann\0', ''])
      expect(await ask(directory, name, 'the password of ann')).toBeUndefined();
    expect(await ask(directory, 'ann', '')).toBeUndefined();
  });

  it.each(['(employeeType=staff)', 'employeeType=staff', '(&(employeeType=staff)(!(uid=x)))'])(
    'lets in only whom the filter %s lets',
    async (userFilter) => {
      const directory = open({ userFilter });
      expect(await ask(directory, 'ann')).toBeDefined();
      expect(await ask(directory, 'guest')).toBeUndefined();
    },
  );

  it('refuses a filter that is none, at the start', () => {
    expect(() => open({ userFilter: '(a=b' })).toThrow('auth.ldap.user_filter');
  });

  it.each<[string, { serverEndpoint: string; startTls: boolean }]>([
    ['LDAPS', { serverEndpoint: tlsUrl, startTls: false }],
    ['StartTLS', { serverEndpoint: url, startTls: true }],
  ])('is spoken to by %s only when its certificate is trusted', async (_name, settings) => {
    expect(await ask(open({ ...settings, ca: server.ca }), 'ann')).toBeDefined();
    await expect(ask(open(settings), 'ann')).rejects.toThrow(/certificate/);
    const otherName = settings.serverEndpoint.replace('127.0.0.1', 'localhost');
    await expect(ask(open({ ...settings, serverEndpoint: otherName, ca: server.ca }), 'ann')).rejects.toThrow(
      /altnames/,
    );
  });

  it('that cannot be searched is an error, not an unknown name', async () => {
    await expect(ask(open({ bindPassword: 'wrong' }), 'ann')).rejects.toThrow();
  });

  it('is found again after it was away', async () => {
    const directory = open();
    expect(await ask(directory, 'ann')).toBeDefined();
    await server.stop();
    await expect(ask(directory, 'ann')).rejects.toThrow();
    await server.start();
    expect(await ask(directory, 'ann')).toBeDefined();
  });

  it('brings users with their names into the group of new ones, and its silence is not told', async () => {
    const { auth, log } = await makeAuth({ passwordAuthenticators: [open()] });
    await auth.setup.run({ username: 'admin' });
    const login = (password: string) => auth.login({ username: 'ann', password, client: local });
    await expect(login('wrong')).rejects.toMatchObject({ kind: 'unauthenticated' });
    const { username } = await login('the password of ann');
    expect(await auth.users.get(username)).toMatchObject({ source: 'ldap', friendlyName: 'ann' });
    expect((await auth.users.groups(username)).results.map(({ id }) => id)).toStrictEqual(['Viewers']);
    expect(log.lines.join('\n')).not.toContain('the password of ann');
    auth.close();
  });
});

it('keeps one connection for searches and ends it', async () => {
  if (server === undefined) return;
  const target = new URL(server.address['url'] ?? '');
  let [opened, open] = [0, 0];
  const { connect } = await import('node:net');
  const proxy = createServer((socket) => {
    opened++;
    open++;
    const behind = connect(Number(target.port), '127.0.0.1');
    socket.pipe(behind).pipe(socket);
    socket.on('error', () => undefined).on('close', () => open--);
    behind.on('error', () => undefined);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const directory = new LdapAuthenticator({
    serverEndpoint: `ldap://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    bindDn: server.address['bindDn'] ?? '',
    bindPassword: server.address['bindPassword'] ?? '',
    usernameAttribute: 'uid',
    userBaseDn: 'dc=example,dc=com',
    userFilter: '',
    defaultGroup: 'Viewers',
    startTls: false,
  });
  const wrong = () => directory.authenticate({ username: 'ann', password: 'wrong' });
  await Promise.all([wrong(), wrong(), wrong()]);
  await wrong();
  expect(opened).toBe(5);
  directory.close();
  await expect.poll(() => open).toBe(0);
});
