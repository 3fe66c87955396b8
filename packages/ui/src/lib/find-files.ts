import { baseName } from './paths.ts';

/** The paths that contain every word: first those whose names begin with the text, then names, then folders. */
export function findFiles(paths: readonly string[], text: string, amount: number): string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranked: string[][] = [[], [], []];
  for (const path of paths) {
    const whole = path.toLowerCase();
    if (!words.every((word) => whole.includes(word))) continue;
    const name = baseName(whole);
    const rank = name.startsWith(words[0] ?? '') ? 0 : words.every((word) => name.includes(word)) ? 1 : 2;
    ranked[rank]?.push(path);
    if (ranked[0]?.length === amount) break;
  }
  return ranked.flat().slice(0, amount);
}
