/** ANSI codes of the tool's palette. */
const codes = {
  red: 91,
  yellow: 93,
  green: 92,
  blue: 94,
  bold: 1,
  underline: 4,
  added: 32,
  removed: 31,
  modified: 33,
  conflict: 93,
} as const;

export type Style = keyof typeof codes;

/** Colours text on a terminal and leaves it alone elsewhere. */
export function paint(enabled: boolean, text: string, ...styles: Style[]): string {
  if (!enabled || styles.length === 0) return text;
  return `\u001B[${styles.map((style) => codes[style]).join(';')}m${text}\u001B[0m`;
}
