import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { crc64Source } from './crc64-wasm.ts';
import { Crc64Nvme } from './crc64nvme.ts';

/** Bit by bit, as the polynomial is defined. */
function slowly(bytes: Uint8Array): string {
  let crc = 0xffffffffffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1n) === 1n ? (crc >> 1n) ^ 0x9a6c9329ac4bc9b5n : crc >> 1n;
  }
  return (crc ^ 0xffffffffffffffffn).toString(16).padStart(16, '0');
}

describe('Crc64Nvme', () => {
  it('is compiled from the source beside it', () => {
    const source = readFileSync(new URL('../wasm/crc64.as', import.meta.url));
    expect(createHash('sha256').update(source).digest('hex'), 'run scripts/build-wasm.ts').toBe(crc64Source);
  });

  it('agrees with itself across the window of the kernel', () => {
    const bytes = Buffer.alloc(300_001, 'window');
    const whole = new Crc64Nvme().update(bytes).digest();
    const cut = new Crc64Nvme().update(bytes.subarray(0, 131_071)).update(bytes.subarray(131_071)).digest();
    expect(cut).toEqual(whole);
  });

  it('has the check value of the standard', () => {
    expect(new Crc64Nvme().update(Buffer.from('123456789')).digest().toString('hex')).toBe(
      'ae8b14860a799888',
    );
    expect(new Crc64Nvme().update(Buffer.from('hello world')).digest().toString('base64')).toBe(
      'jSnVw/bqjr4=',
    );
  });

  it('agrees with the definition at every length and however the input is cut', () => {
    const bytes = Buffer.from(Array.from({ length: 70 }, (_, i) => (i * 151 + 7) & 0xff));
    for (let length = 0; length <= bytes.length; length++) {
      const part = bytes.subarray(0, length);
      const crc = new Crc64Nvme();
      for (let i = 0; i < length; i += 1 + (i % 11))
        crc.update(part.subarray(i, Math.min(length, i + 1 + (i % 11))));
      expect(crc.digest().toString('hex')).toBe(slowly(part));
    }
  });
});
