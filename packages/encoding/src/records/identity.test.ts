import { expect, test } from 'vitest';
import { commitId, entryIdentity, IdentityHasher } from './index.ts';

test('typed encodings', () => {
  const text = new IdentityHasher();
  text.string('ab');
  expect(text.gathered().toString('hex')).toBe('01020800000000000000026162');
  const integer = new IdentityHasher();
  integer.integer(-1);
  expect(integer.gathered().toString('hex')).toBe('0208ffffffffffffffff');
  const map = new IdentityHasher();
  map.map({});
  expect(map.gathered().toString('hex')).toBe('0402080000000000000000');
});

const root = { committer: '', message: 'Repository created', metaRangeId: '', metadata: {}, parents: [] };

test('commit ids of the format', () => {
  const first = commitId({ ...root, creationDate: { seconds: 1_700_000_000, nanos: 5 } });
  expect(first).toBe('e7720703b5e19f0c37c665b0bf14fc291522d882cd951d854edb8b1f1c33689d');
  expect(
    commitId({
      committer: 'admin',
      message: 'first',
      metaRangeId: 'aadb45d2ebce5837592b19199b16e078f8ae92b1d10b870b76856a579cc7aa09',
      creationDate: { seconds: 1_700_000_100, nanos: 0 },
      metadata: { k: 'v' },
      parents: [first],
    }),
  ).toBe('ec1d3f8180064b6f0b53d4f773bd251bd553c9ec24c30cbd49982cd400388823');
  expect(
    commitId({
      committer: 'some-committer',
      message: 'I just committed',
      metaRangeId: '123456789987654321',
      creationDate: { seconds: Date.parse('2021-01-24T15:10:12Z') / 1000, nanos: 0 },
      metadata: { sdkafjnb: '1234', sdkjvcnbkjndsc: 'asnjkdl' },
      parents: ['132456987153687sdfsdf', '1324569csfvdkjhcsdkjc'],
    }),
  ).toBe('f1a106bbeb12d3eb54418d6000f4507501d289d0d0879dcce6f4d31425587df1');
  expect(
    commitId({
      committer: 'Committer',
      message: 'message',
      metaRangeId: 'metarangeId',
      creationDate: { seconds: 1_000_000_000, nanos: 0 },
      metadata: { key: 'value' },
      parents: ['parent1', 'parent2'],
    }),
  ).toBe('0c5f9d6fde638a6aa82840caf2485bdbe6ad0fc3f220ea88884df9ed99d7cf19');
});

test('twenty chained commits', () => {
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    ids.push(
      commitId({
        committer: 'user1',
        message: 'message1',
        metaRangeId: 'deadbeef123',
        creationDate: { seconds: Date.parse('2020-12-01T15:00:00Z') / 1000 + index * 60, nanos: 0 },
        metadata: { foo: 'bar' },
        parents: ids.slice(-1),
      }),
    );
  }
  expect(ids[0]).toBe('fac53a04432b2e6e7185f3ac8314a874c556b2557adf3aa8d5b1df985cf96566');
  expect(ids[19]).toBe('de85cde9a3871433ed0afad67d6505aef3b3a779223916be237b44bbdc1b65ed');
});

test('entry identities: content type counts only when set, keys sort by bytes', () => {
  const entry = { size: 38, etag: '7e70ed4aa82063dd88ca47e91a8c6e09', metadata: {}, contentType: '' };
  expect(entryIdentity({ ...entry, contentType: 'application/octet-stream' }).toString('hex')).toBe(
    'dd7de5fb303d3687e99578d9609ae22342aeb95649133a4ccf9ca0259c59c1a9',
  );
  expect(entryIdentity(entry)).not.toEqual(
    entryIdentity({ ...entry, contentType: 'application/octet-stream' }),
  );
  expect(
    entryIdentity({
      size: 0,
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
      contentType: 'application/octet-stream',
      metadata: { '\u{1F600}': '2', '\uFF5E': '1' },
    }).toString('hex'),
  ).toBe('09c45a8752d630840d383fae4157e9be15aebd32075c4acdc51536b85a987cc7');
});

test('swapping parents or changing metadata changes a commit id; version and nanoseconds do not', () => {
  const base = { ...root, creationDate: { seconds: 1, nanos: 0 }, parents: ['a', 'b'] };
  expect(commitId(base)).not.toBe(commitId({ ...base, parents: ['b', 'a'] }));
  expect(commitId({ ...base, metadata: { x: '1', y: '2' } })).toBe(
    commitId({ ...base, metadata: { y: '2', x: '1' } }),
  );
  expect(commitId(base)).toBe(commitId({ ...base, creationDate: { seconds: 1, nanos: 7 } }));
});

test('the identity of an entry does not depend on the one before it', () => {
  const entry = { size: 1, etag: 'e', metadata: {}, contentType: '' };
  const first = entryIdentity(entry);
  const longer = entryIdentity({ ...entry, metadata: { long: 'x'.repeat(5000) }, contentType: 'text/plain' });
  expect(entryIdentity(entry)).toEqual(first);
  expect(longer).not.toEqual(first);
});
