import { parquetMetadata } from 'hyparquet';
import { parse as parseYaml, stringify as stringifyYaml } from 'yaml';
import { bytesOf, host, hostMany, luaOf, packageOf, plainOf, typeName, type LuaValue } from '../lua-value.ts';
import { jsonPackage } from './json.ts';

const raw = (bytes: string): Buffer => Buffer.from(bytes, 'latin1');

function decodeBase64(text: string, alphabet: RegExp, encoding: 'base64' | 'base64url'): string {
  const at = text.search(alphabet);
  if (at !== -1) throw new TypeError(`illegal base64 data at input byte ${at}`);
  return Buffer.from(text, encoding).toString('latin1');
}

function decodeHex(text: string): string {
  if (text.length % 2 !== 0) throw new TypeError('encoding/hex: odd length hex string');
  if (/[^0-9a-fA-F]/.test(text)) throw new TypeError('encoding/hex: invalid byte');
  return Buffer.from(text, 'hex').toString('latin1');
}

/** The columns of a Parquet file in the order of its schema; groups have no type. */
function parquetSchema(file: string): LuaValue {
  const bytes = raw(file);
  const buffer = new Uint8Array(bytes).buffer;
  const { schema } = parquetMetadata(buffer);
  return schema.slice(1).map(
    (element) =>
      new Map<string, LuaValue>([
        ['name', bytesOf(element.name)],
        ['type', element.type ?? 'N/A'],
      ]),
  );
}

const z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/** The UUID in the last twenty characters, and what stands before it. */
function decodeUuid(text: string): readonly LuaValue[] {
  const encoded = text.slice(-20);
  if (encoded.length < 20) throw new TypeError('z85: a UUID has 20 characters');
  const bytes = Buffer.alloc(16);
  for (let group = 0; group < 4; group += 1) {
    let word = 0;
    for (const character of encoded.slice(group * 5, group * 5 + 5)) {
      const digit = z85.indexOf(character);
      if (digit === -1) throw new TypeError(`z85: unexpected character ${character}`);
      word = word * 85 + digit;
    }
    if (word > 0xffff_ffff) throw new RangeError('z85: the value is too large');
    bytes.writeUInt32BE(word, group * 4);
  }
  const hex = bytes.toString('hex');
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  );
  return [uuid, text.slice(0, -20)];
}

export const encodingPackages: Readonly<Record<string, () => LuaValue>> = {
  'encoding/base64': () =>
    packageOf({
      encode: host((args) => raw(args.bytes(1)).toString('base64')),
      decode: host((args) => decodeBase64(args.bytes(1), /[^A-Za-z0-9+/=\r\n]/, 'base64')),
      url_encode: host((args) => raw(args.bytes(1)).toString('base64url')),
      url_decode: host((args) => decodeBase64(args.bytes(1), /[^A-Za-z0-9_-]/, 'base64url')),
    }),
  'encoding/hex': () =>
    packageOf({
      encode: host((args) => raw(args.bytes(1)).toString('hex')),
      decode: host((args) => decodeHex(args.bytes(1))),
    }),
  'encoding/json': jsonPackage,
  'encoding/yaml': () =>
    packageOf({
      marshal: host((args) => {
        const value = args.value(1);
        if (typeof value !== 'object') throw new TypeError(`need a table at index 1, got ${typeName(value)}`);
        return bytesOf(stringifyYaml(plainOf(value), { indent: 4, aliasDuplicateObjects: false }));
      }),
      unmarshal: host((args) => luaOf(parseYaml(args.text(1), { merge: true }) as unknown)),
    }),
  'encoding/parquet': () => packageOf({ get_schema: host((args) => parquetSchema(args.bytes(1))) }),
  'encoding/z85enc': () => packageOf({ decode_uuid: hostMany((args) => decodeUuid(args.bytes(1))) }),
};
