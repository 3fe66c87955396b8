import type { SourceFile } from './import-rules.ts';

export interface NamedKey {
  readonly name: string;
  /** Why it has no effect; undefined for a key that has. */
  readonly ignored: string | undefined;
}

/** Lists every key that nobody asks for by name and every excuse that is not true, each as one readable line. */
export function findUnreadKeys(keys: readonly NamedKey[], files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { name, ignored } of keys) {
    const reader = files.find(({ text }) => text.includes(`get('${name}')`));
    if (reader === undefined && ignored === undefined) problems.push(`nothing reads ${name}`);
    if (reader !== undefined && ignored !== undefined) {
      problems.push(`${name} is marked as without effect, but ${reader.path} reads it`);
    }
  }
  return problems;
}
