import { expect, test } from 'vitest';
import { openLakefsSecret } from './secret-box.ts';

// Sealed by another implementation of NaCl's secretbox.
const short =
  '00010203040506076465666768696a6b6c6d6e6f707172737475767778797a7b67936a4336374ff445d6243594cb74e1456fa6b48adba94dc9669b013ac2906c7245de54b519a89489d1c1d0979b71b39fff6b3e186e8503';
const long =
  '00010203040506076465666768696a6b6c6d6e6f707172737475767778797a7b4dc667e693367c260ee26c2db754e8b14a5dbfa080fb8441df58a6340b95a3234779e3628a4eb2bc89fbdfc1acba4c93a6ca430a255db822e3eed6ad2edd389e9795d5c6ec3a78b9ad247f7e085e3f8a7d9cec5d690f22cf49453bce526f596849cdb7e102183e79a222f5660c513b4e2a23382ccd0e2a47b8f8f7cd2db909b8fe43b938b19c1639c96343bdef4a7c3668f2ca7c953b93c275fe3810b3ede4f5f01c96a86ff0d9bbfecc664d670619d9440fcfc45c0fd39a4a5e0771124519912ce8d894e8a547385342492d2c0317aa4a4d774ed370aa11';

test('a secret that lakeFS sealed is opened with its key only, and only unchanged', () => {
  const sealed = Buffer.from(short, 'hex');
  expect(openLakefsSecret('some secret', sealed)).toBe('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY');
  expect(openLakefsSecret('some secret', Buffer.from(long, 'hex'))).toBe('x'.repeat(200));
  expect(openLakefsSecret('another secret', sealed)).toBeUndefined();
  for (const at of [0, 8, 32, 48, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(openLakefsSecret('some secret', changed), `byte ${at}`).toBeUndefined();
  }
  expect(openLakefsSecret('some secret', sealed.subarray(0, 40))).toBeUndefined();
});
