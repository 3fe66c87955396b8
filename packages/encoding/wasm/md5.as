// MD5 of eight messages at once, in AssemblyScript: a lane of a vector for each, and two vectors side by side, because
// every step of one waits for the step before. The caller lays out memory behind `heap`.

/** 64 numbers, which the caller puts there. */
const constants: usize = 1024;
/** For each four messages: a, b, c and d, a vector each. */
const states: usize = 1280;
/** Where the messages go on, a pointer each. */
const sources: usize = 1408;
/** A block of each message: sixteen vectors for the first four, sixteen for the others. */
const words: usize = 1536;

/** Where the caller's memory begins. */
export function heap(): usize {
  return 65536;
}

/** The words of a block of four messages, each with its counterparts in one vector. */
@inline
function gather(pointers: usize, target: usize): void {
  const s0 = <usize>load<u32>(pointers);
  const s1 = <usize>load<u32>(pointers + 4);
  const s2 = <usize>load<u32>(pointers + 8);
  const s3 = <usize>load<u32>(pointers + 12);
  store<u32>(pointers, <u32>(s0 + 64));
  store<u32>(pointers + 4, <u32>(s1 + 64));
  store<u32>(pointers + 8, <u32>(s2 + 64));
  store<u32>(pointers + 12, <u32>(s3 + 64));
  for (let at: usize = 0; at < 64; at += 16) {
    const r0 = v128.load(s0 + at);
    const r1 = v128.load(s1 + at);
    const r2 = v128.load(s2 + at);
    const r3 = v128.load(s3 + at);
    const low0 = v128.shuffle<i32>(r0, r1, 0, 4, 1, 5);
    const high0 = v128.shuffle<i32>(r0, r1, 2, 6, 3, 7);
    const low1 = v128.shuffle<i32>(r2, r3, 0, 4, 1, 5);
    const high1 = v128.shuffle<i32>(r2, r3, 2, 6, 3, 7);
    const to = target + (at << 2);
    v128.store(to, v128.shuffle<i64>(low0, low1, 0, 2));
    v128.store(to + 16, v128.shuffle<i64>(low0, low1, 1, 3));
    v128.store(to + 32, v128.shuffle<i64>(high0, high1, 0, 2));
    v128.store(to + 48, v128.shuffle<i64>(high0, high1, 1, 3));
  }
}

/** What is added in a step: a word of the message and a constant. */
@inline
function addend(word: usize, constant: usize): v128 {
  return i32x4.add(v128.load(words + word), v128.load_splat<u32>(constant));
}

@inline
function turn(sum: v128, b: v128, bits: i32): v128 {
  return i32x4.add(b, v128.or(i32x4.shl(sum, bits), i32x4.shr_u(sum, 32 - bits)));
}

@inline
function first(a: v128, b: v128, c: v128, d: v128, more: v128, bits: i32): v128 {
  return turn(i32x4.add(i32x4.add(a, more), v128.xor(d, v128.and(b, v128.xor(c, d)))), b, bits);
}

@inline
function second(a: v128, b: v128, c: v128, d: v128, more: v128, bits: i32): v128 {
  // No bit is set in both, so a sum is as good as an or; and only one of them waits for b.
  const sum = i32x4.add(i32x4.add(a, more), v128.andnot(c, d));
  return turn(i32x4.add(sum, v128.and(b, d)), b, bits);
}

@inline
function third(a: v128, b: v128, c: v128, d: v128, more: v128, bits: i32): v128 {
  return turn(i32x4.add(i32x4.add(a, more), v128.xor(b, v128.xor(c, d))), b, bits);
}

@inline
function fourth(a: v128, b: v128, c: v128, d: v128, more: v128, bits: i32): v128 {
  return turn(i32x4.add(i32x4.add(a, more), v128.xor(c, v128.or(b, v128.not(d)))), b, bits);
}

/** Continues all eight with `blocks` blocks of 64 bytes each. */
export function update(blocks: u32): void {
  for (; blocks > 0; blocks--) {
    gather(sources, words);
    gather(sources + 16, words + 256);
    let a0 = v128.load(states);
    let b0 = v128.load(states + 16);
    let c0 = v128.load(states + 32);
    let d0 = v128.load(states + 48);
    let a1 = v128.load(states + 64);
    let b1 = v128.load(states + 80);
    let c1 = v128.load(states + 96);
    let d1 = v128.load(states + 112);
    let k = constants;
    let w: usize = 0;
    for (; k < constants + 64; k += 16) {
      a0 = first(a0, b0, c0, d0, addend(w, k), 7);
      a1 = first(a1, b1, c1, d1, addend(w + 256, k), 7);
      d0 = first(d0, a0, b0, c0, addend(w + 16, k + 4), 12);
      d1 = first(d1, a1, b1, c1, addend(w + 272, k + 4), 12);
      c0 = first(c0, d0, a0, b0, addend(w + 32, k + 8), 17);
      c1 = first(c1, d1, a1, b1, addend(w + 288, k + 8), 17);
      b0 = first(b0, c0, d0, a0, addend(w + 48, k + 12), 22);
      b1 = first(b1, c1, d1, a1, addend(w + 304, k + 12), 22);
      w += 64;
    }
    // From here on the words come in another order: every fifth, every third, every seventh.
    w = 16;
    for (; k < constants + 128; k += 16) {
      const x = (w + 80) & 255;
      const y = (w + 160) & 255;
      const z = (w + 240) & 255;
      a0 = second(a0, b0, c0, d0, addend(w, k), 5);
      a1 = second(a1, b1, c1, d1, addend(w + 256, k), 5);
      d0 = second(d0, a0, b0, c0, addend(x, k + 4), 9);
      d1 = second(d1, a1, b1, c1, addend(x + 256, k + 4), 9);
      c0 = second(c0, d0, a0, b0, addend(y, k + 8), 14);
      c1 = second(c1, d1, a1, b1, addend(y + 256, k + 8), 14);
      b0 = second(b0, c0, d0, a0, addend(z, k + 12), 20);
      b1 = second(b1, c1, d1, a1, addend(z + 256, k + 12), 20);
      w = (w + 320) & 255;
    }
    w = 80;
    for (; k < constants + 192; k += 16) {
      const x = (w + 48) & 255;
      const y = (w + 96) & 255;
      const z = (w + 144) & 255;
      a0 = third(a0, b0, c0, d0, addend(w, k), 4);
      a1 = third(a1, b1, c1, d1, addend(w + 256, k), 4);
      d0 = third(d0, a0, b0, c0, addend(x, k + 4), 11);
      d1 = third(d1, a1, b1, c1, addend(x + 256, k + 4), 11);
      c0 = third(c0, d0, a0, b0, addend(y, k + 8), 16);
      c1 = third(c1, d1, a1, b1, addend(y + 256, k + 8), 16);
      b0 = third(b0, c0, d0, a0, addend(z, k + 12), 23);
      b1 = third(b1, c1, d1, a1, addend(z + 256, k + 12), 23);
      w = (w + 192) & 255;
    }
    w = 0;
    for (; k < constants + 256; k += 16) {
      const x = (w + 112) & 255;
      const y = (w + 224) & 255;
      const z = (w + 336) & 255;
      a0 = fourth(a0, b0, c0, d0, addend(w, k), 6);
      a1 = fourth(a1, b1, c1, d1, addend(w + 256, k), 6);
      d0 = fourth(d0, a0, b0, c0, addend(x, k + 4), 10);
      d1 = fourth(d1, a1, b1, c1, addend(x + 256, k + 4), 10);
      c0 = fourth(c0, d0, a0, b0, addend(y, k + 8), 15);
      c1 = fourth(c1, d1, a1, b1, addend(y + 256, k + 8), 15);
      b0 = fourth(b0, c0, d0, a0, addend(z, k + 12), 21);
      b1 = fourth(b1, c1, d1, a1, addend(z + 256, k + 12), 21);
      w = (w + 448) & 255;
    }
    v128.store(states, i32x4.add(v128.load(states), a0));
    v128.store(states + 16, i32x4.add(v128.load(states + 16), b0));
    v128.store(states + 32, i32x4.add(v128.load(states + 32), c0));
    v128.store(states + 48, i32x4.add(v128.load(states + 48), d0));
    v128.store(states + 64, i32x4.add(v128.load(states + 64), a1));
    v128.store(states + 80, i32x4.add(v128.load(states + 80), b1));
    v128.store(states + 96, i32x4.add(v128.load(states + 96), c1));
    v128.store(states + 112, i32x4.add(v128.load(states + 112), d1));
  }
}
