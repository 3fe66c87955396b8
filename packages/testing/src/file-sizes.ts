import type { SourceFile } from './import-rules.ts';

/** A file that is longer holds more than one thing. */
export const mostLines = 400;

/** Files that nobody writes by hand. */
const generated: readonly string[] = ['packages/client/src/generated/api.ts'];

/** Lists every file that is too long, and every exception that is not needed, each as one readable line. */
export function findLongFiles(
  files: readonly SourceFile[],
  exceptions: readonly string[] = generated,
): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    const lines = text.split('\n').length - 1;
    const isException = exceptions.includes(path);
    if (lines > mostLines && !isException) {
      problems.push(`${path}: ${lines} lines; split it, ${mostLines} are enough for one thing`);
    }
    if (lines <= mostLines && isException) {
      problems.push(`${path}: has only ${lines} lines and needs no exception any more`);
    }
  }
  return problems;
}
