import { expect, test } from 'vitest';
import { tempDir } from '../temp-dir.ts';
import { findLeaks } from './find-leaks.ts';
import { Needles } from './needles.ts';
import { SecretBook } from './secret-book.ts';
import { noteArguments, noteEnvironment, noteJson, noteRequest, noteSettings } from './secrets-of.ts';

function bookOf(secrets: Record<string, string>, logs: Record<string, string>): SecretBook {
  const book = new SecretBook(tempDir());
  for (const [what, secret] of Object.entries(secrets)) book.note(what, secret);
  for (const [name, text] of Object.entries(logs)) book.log(name, text);
  return book;
}

test('a secret in a log is found with its origin, and not repeated', () => {
  const book = bookOf(
    { 'the key of one': 'first-secret', 'the key of two': 'second "secret"' },
    {
      'a.log': 'fine\n{"got":"xfirst-secrety"}\n',
      'b.log': '{"body":"second \\"secret\\""}',
      'c.log': 'fine',
    },
  );
  expect(findLeaks(book)).toStrictEqual([
    'a.log holds the key of one: {"got":"x<the secret>y"}',
    'b.log holds the key of two: {"body":"<the secret>"}',
  ]);
});

test('the beginning of a generated key is a leak, too; words are none', () => {
  const key = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN';
  const book = bookOf(
    { 'secret_access_key in an answer': key, 'a password': 'wrong' },
    { 'a.log': `wrong\ncut ${key.slice(0, 30)}` },
  );
  expect(findLeaks(book)).toHaveLength(1);
});

test('the greeting of the quick start may show its key pair, a log line may not', () => {
  const key = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
  const greeting = `\n  Access Key ID:     AKIAIOSFOLQUICKSTART\n  Secret Access Key: ${key}\n\n  Press Ctrl-C to stop.\n`;
  expect(findLeaks(bookOf({ key }, { 'a.log': greeting }))).toStrictEqual([]);
  expect(findLeaks(bookOf({ key }, { 'a.log': `${greeting}{"key":"${key}"}\n` }))).toHaveLength(1);
});

test('needles are found wherever they stand', () => {
  const needles = new Needles(['abcd', 'abcdef', 'ÿÿÿ']);
  const found = needles.find(Buffer.from('abcdef-abcÿÿÿ'));
  expect(found).toStrictEqual([
    { at: 0, text: 'abcd' },
    { at: 0, text: 'abcdef' },
    { at: 10, text: 'ÿÿÿ' },
  ]);
});

test('secrets are recognised in environments, arguments, settings, requests and answers', () => {
  const secrets: string[] = [];
  const note = (_what: string, secret: string): unknown => secrets.push(secret);
  noteEnvironment(note, {
    SVC_AUTH_ENCRYPT_SECRET_KEY: 'encrypts',
    SVC_DATABASE_POSTGRES_CONNECTION_STRING: 'postgres://svc:pass%20word@127.0.0.1/db',
    SVC_LOGGING_LEVEL: 'TRACE',
  });
  noteArguments(note, ['setup', '--user-name', 'admin', '--secret-access-key', 'of the setup']);
  noteSettings(note, 'a file', 'auth:\n  encrypt:\n    secret_key: "in yaml"\n  ui: true\n');
  noteJson(note, 'an answer', '{"access_key_id":"AKIA","secret_access_key":"in\\u0020json"}');
  noteRequest(note, '/a?token=in-query&x=1', {
    authorization: `Basic ${Buffer.from('AKIA:of basic').toString('base64')}`,
    cookie: 'a=b; access_token=in-cookie; c=d',
  });
  noteRequest(note, '/a', { authorization: `AWS4-HMAC-SHA256 Credential=x, Signature=${'0a'.repeat(32)}` });
  noteRequest(note, '/a', { authorization: 'Bearer a.b.c' });
  expect(secrets).toStrictEqual([
    'encrypts',
    'pass word',
    'of the setup',
    'in yaml',
    'in json',
    'in-query',
    'QUtJQTpvZiBiYXNpYw==',
    'of basic',
    'in-cookie',
    '0a'.repeat(32),
    'a.b.c',
  ]);
});
