import { isMap, isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml';
import { ActionFileError } from './action.ts';

type Path = readonly (string | number)[];

/** The first document of a YAML text: plain values, the text of scalars as written, and where they stand. */
export class YamlFile {
  readonly value: unknown;
  readonly #document: Document | undefined;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    const documents = parseAllDocuments(text, {
      version: '1.2',
      merge: true,
      prettyErrors: false,
      lineCounter: this.#lines,
    });
    this.#document = Array.isArray(documents) ? documents[0] : undefined;
    const [problem] = this.#document?.errors ?? [];
    if (problem !== undefined) throw this.#error(problem.message, this.#lineOf(problem.pos[0]));
    try {
      this.value = this.#document?.toJS();
    } catch (error) {
      // Aliases that would grow beyond measure, or point nowhere.
      throw this.#error((error as Error).message, 1);
    }
  }

  /** A scalar as text; null is the empty text. Anything else is refused. */
  text(path: Path, value: unknown): string {
    if (value === undefined || value === null) return '';
    if (
      typeof value !== 'string' &&
      typeof value !== 'number' &&
      typeof value !== 'boolean' &&
      typeof value !== 'bigint'
    ) {
      throw this.mismatch(path, 'a string');
    }
    const node: unknown = this.#document?.getIn(path, true);
    return isScalar(node) && typeof node.source === 'string' ? node.source : String(value);
  }

  /** A map, or undefined for null. */
  map(path: Path, value: unknown): Readonly<Record<string, unknown>> | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.mismatch(path, 'a map');
    return value as Record<string, unknown>;
  }

  /** A list; null is the empty one. */
  list(path: Path, value: unknown): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.mismatch(path, 'a list');
    return value;
  }

  mismatch(path: Path, expected: string): ActionFileError {
    const what = path.length === 0 ? 'the file' : `'${path.join('.')}'`;
    return this.#error(`${what} must be ${expected}`, this.line(path));
  }

  /** The line of a value; of the nearest thing around it when it is not written there. */
  line(path: Path): number {
    for (let length = path.length; length > 0; length -= 1) {
      const parent: unknown = this.#document?.getIn(path.slice(0, length - 1), true);
      const key = path[length - 1];
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && item.key.source === key)
        : undefined;
      const node: unknown = pair?.key ?? this.#document?.getIn(path.slice(0, length), true);
      const range = (node as { range?: readonly number[] | null } | undefined)?.range;
      if (range?.[0] !== undefined) return this.#lineOf(range[0]);
    }
    return 1;
  }

  #lineOf(offset: number): number {
    return Math.max(1, this.#lines.linePos(offset).line);
  }

  #error(message: string, line: number): ActionFileError {
    return new ActionFileError(`yaml: line ${line}: ${message}`, line);
  }
}
