/** The seed of PostgreSQL's hash partitioning, in halves. */
const seedHigh = 0x7a5b2236;
const seedLow = 0x7996dcfd;
const combined = 0x49a0f4dd15e5a8e3n;

/**
 * Which of `modulus` hash partitions PostgreSQL puts a `bytea` into. Knowing it lets a statement name the partition
 * itself: a statement on the parent table opens and locks all of them on every execution.
 */
export function hashPartition(key: Uint8Array, modulus: number): number {
  const { b, c } = hashBytes(key);
  const hash = BigInt.asUintN(64, ((BigInt(b) << 32n) | BigInt(c)) + combined);
  return Number(hash % BigInt(modulus));
}

/** Bob Jenkins's lookup3, as PostgreSQL has it. */
function hashBytes(key: Uint8Array): { b: number; c: number } {
  const { length } = key;
  const start = (0x9e3779b9 + length + 3_923_095) | 0;
  const state = new Int32Array([start + seedHigh, start + seedLow, start]);
  mix(state);
  let at = 0;
  for (; length - at >= 12; at += 12) {
    for (let word = 0; word < 3; word += 1)
      state[word] = at32(state, word) + littleEndian(key, at + word * 4, 4);
    mix(state);
  }
  const rest = length - at;
  state[0] = at32(state, 0) + littleEndian(key, at, Math.min(rest, 4));
  state[1] = at32(state, 1) + littleEndian(key, at + 4, Math.min(Math.max(rest - 4, 0), 4));
  // The lowest byte is the length's.
  state[2] = at32(state, 2) + (littleEndian(key, at + 8, Math.max(rest - 8, 0)) << 8);
  finish(state);
  return { b: at32(state, 1) >>> 0, c: at32(state, 2) >>> 0 };
}

function at32(state: Int32Array, index: number): number {
  return state[index] ?? 0;
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let index = count - 1; index >= 0; index -= 1) word = (word << 8) | (bytes[at + index] ?? 0);
  return word;
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function mix(state: Int32Array): void {
  let [a, b, c] = [at32(state, 0), at32(state, 1), at32(state, 2)];
  a = (a - c) ^ rotate(c, 4);
  c = (c + b) | 0;
  b = (b - a) ^ rotate(a, 6);
  a = (a + c) | 0;
  c = (c - b) ^ rotate(b, 8);
  b = (b + a) | 0;
  a = (a - c) ^ rotate(c, 16);
  c = (c + b) | 0;
  b = (b - a) ^ rotate(a, 19);
  a = (a + c) | 0;
  c = (c - b) ^ rotate(b, 4);
  b = (b + a) | 0;
  state.set([a, b, c]);
}

function finish(state: Int32Array): void {
  let [a, b, c] = [at32(state, 0), at32(state, 1), at32(state, 2)];
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  c = ((c ^ b) - rotate(b, 24)) | 0;
  state.set([a, b, c]);
}
