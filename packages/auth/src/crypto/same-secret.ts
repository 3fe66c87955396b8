/**
 * Whether two texts are the same, looking at all of them however early they differ. For texts at hand this takes a
 * tenth of copying them into buffers for `timingSafeEqual`. Their length is no secret.
 */
export function sameSecret(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left.charCodeAt(i) ^ right.charCodeAt(i);
  return difference === 0;
}
