import { describe, expect, test } from 'vitest';
import { parseConnectionString } from './connection-string.ts';

const defaults = String.raw`-c statement_timeout=30000 -c default_transaction_isolation=read\ committed -c enable_seqscan=off -c enable_bitmapscan=off -c plan_cache_mode=force_generic_plan`;

describe('connection strings', () => {
  test('a URL', () => {
    expect(
      parseConnectionString(
        'postgres://us%40er:p%2Fw@db.example.com:6432/my%20db?sslmode=disable&search_path=tenant&pool_max_conns=4',
      ),
    ).toEqual({
      host: 'db.example.com',
      port: 6432,
      user: 'us@er',
      password: 'p/w',
      database: 'my db',
      applicationName: undefined,
      connectTimeoutMs: undefined,
      encryption: false,
      table: 'kv',
      options: `${defaults} -c search_path=tenant`,
    });
  });

  test('a DSN with quotes and escapes', () => {
    const address = parseConnectionString(
      String.raw`host=/var/run/postgresql user = me password='it\'s a \\ secret' dbname=data  connect_timeout=3 svckv_table=t1 statement_timeout=5s`,
    );
    expect(address).toMatchObject({
      host: '/var/run/postgresql',
      user: 'me',
      password: String.raw`it's a \ secret`,
      database: 'data',
      connectTimeoutMs: 3000,
      encryption: false,
      table: 't1',
      options: String.raw`-c statement_timeout=5s -c default_transaction_isolation=read\ committed -c enable_seqscan=off -c enable_bitmapscan=off -c plan_cache_mode=force_generic_plan`,
    });
  });

  test('several hosts of one cluster, in both forms', () => {
    const others = [
      { host: '::1', port: 2 },
      { host: 'c', port: undefined },
    ];
    expect(parseConnectionString('postgres://u:p@a:1,[::1]:2,c/d')).toMatchObject({
      host: 'a',
      port: 1,
      user: 'u',
      database: 'd',
      others,
    });
    expect(parseConnectionString('host=a,b port=7 dbname=d')).toMatchObject({
      host: 'a',
      port: 7,
      others: [{ host: 'b', port: 7 }],
    });
    expect(() => parseConnectionString('host=a,b port=1,2,3')).toThrow('2 hosts and 3 ports');
  });

  test('both names of the table parameter, ours first', () => {
    expect(parseConnectionString('postgres://h/d?lakefskv_table=old').table).toBe('old');
    expect(parseConnectionString('postgres://h/d?lakefskv_table=old&svckv_table=new').table).toBe('new');
    expect(parseConnectionString('postgres://h/d?lakefskv_table=old').options).toBe(defaults);
  });

  test('encryption as libpq means it', () => {
    const encryption = (query: string): unknown =>
      parseConnectionString(`postgres://h/d?${query}`).encryption;
    expect(encryption('')).toBe('prefer');
    expect(encryption('sslmode=prefer')).toBe('prefer');
    expect(encryption('sslmode=require')).toEqual({ rejectUnauthorized: false });
    expect(encryption('sslmode=verify-full')).toEqual({});
    expect(encryption('sslmode=verify-ca')).toEqual({ checkServerIdentity: expect.any(Function) as unknown });
    expect(() => encryption('sslmode=maybe')).toThrow('sslmode must be disable, allow');
    expect(() => encryption('sslmode=verify-full&sslrootcert=/no/such/file')).toThrow(
      'cannot read /no/such/file',
    );
  });

  test.each(['', 'postgres://user:secret@host:port/db', 'just words', "host=a password='secret", 'port=x'])(
    'an unusable string is refused without repeating it: %s',
    (text) => {
      let message = '';
      try {
        parseConnectionString(text);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toMatch(/^database\.postgres\.connection_string: /);
      expect(message).not.toContain('secret');
    },
  );
});
