import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Block {
  /** What runs it: `python`, `sh`, `duckdb`, `spark`; or `file <path>`, which is written. */
  readonly kind: string;
  readonly code: string;
  /** What the page says it prints. */
  readonly prints: string | undefined;
}

export const docsFolder = join(import.meta.dirname, '../../../../docs');

/** The blocks of a page that can be run, for a server at an address. Its keys are those of a quick start. */
export function blocksOf(page: string, url: string): Block[] {
  const text = readFileSync(join(docsFolder, page), 'utf8');
  const pattern =
    /<!-- (?:run: ([\w ]+)|file: (\S+)) -->\n```\w*\n(.*?)```\n(?:\n<!-- prints -->\n```\n(.*?)```\n)?/gs;
  return [...text.matchAll(pattern)].map(([, kind, file, code = '', prints]) => ({
    kind: kind ?? `file ${file}`,
    code: code.replaceAll('http://localhost:8000', url).replaceAll('localhost:8000', new URL(url).host),
    prints,
  }));
}

/** A folder of its own for a page, with `svcctl` and other programs on its path. */
export class PageFolder {
  readonly path: string;
  readonly bin: string;

  constructor(path: string) {
    this.path = path;
    this.bin = join(path, '.bin');
    mkdirSync(this.bin);
  }

  program(name: string, command: readonly string[]): void {
    const words = command.map((word) => `'${word}'`).join(' ');
    writeFileSync(join(this.bin, name), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  }

  write(file: string, text: string): void {
    const path = join(this.path, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
