import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { host, packageOf, type LuaValue } from '../lua-value.ts';

const raw = (bytes: string): Buffer => Buffer.from(bytes, 'latin1');

function hmac(algorithm: string, message: string, key: string): string {
  return createHmac(algorithm, raw(key)).update(raw(message)).digest('latin1');
}

function aesName(key: Buffer): string {
  if (![16, 24, 32].includes(key.length)) throw new RangeError(`crypto/aes: invalid key size ${key.length}`);
  return `aes-${key.length * 8}-cbc`;
}

function encryptCbc(keyText: string, plain: string): string {
  const [key, iv] = [raw(keyText), randomBytes(16)];
  const cipher = createCipheriv(aesName(key), key, iv);
  return Buffer.concat([iv, cipher.update(raw(plain)), cipher.final()]).toString('latin1');
}

function decryptCbc(keyText: string, data: string): string {
  const [key, bytes] = [raw(keyText), raw(data)];
  if (bytes.length < 32 || bytes.length % 16 !== 0)
    throw new RangeError('the data is not a number of whole blocks');
  const decipher = createDecipheriv(aesName(key), key, bytes.subarray(0, 16));
  return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString('latin1');
}

export const cryptoPackages: Readonly<Record<string, () => LuaValue>> = {
  'crypto/hmac': () =>
    packageOf({
      sign_sha256: host((args) => hmac('sha256', args.bytes(1), args.bytes(2))),
      sign_sha1: host((args) => hmac('sha1', args.bytes(1), args.bytes(2))),
    }),
  'crypto/sha256': () =>
    packageOf({
      digest: host((args) =>
        createHash('sha256')
          .update(raw(args.bytes(1)))
          .digest('latin1'),
      ),
    }),
  'crypto/md5': () =>
    packageOf({
      digest: host((args) =>
        createHash('md5')
          .update(raw(args.bytes(1)))
          .digest('hex'),
      ),
    }),
  'crypto/aes': () =>
    packageOf({
      encryptCBC: host((args) => encryptCbc(args.bytes(1), args.bytes(2))),
      decryptCBC: host((args) => decryptCbc(args.bytes(1), args.bytes(2))),
    }),
  uuid: () => packageOf({ new: host(() => randomUUID()) }),
};
