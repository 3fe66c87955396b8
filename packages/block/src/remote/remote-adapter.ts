import type { BodySource, DeleteFailure, ObjectPointer, ObjectProperties } from '../adapter.ts';
import { discardBody, guardBody } from '../body.ts';
import { BlockError } from '../errors.ts';

const deletesAtOnce = 16;

/** Whether and how long a request to delete may be sent. */
export interface DeleteOptions {
  readonly mayGoOn?: (() => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What adapters of remote stores have in common. */
export abstract class RemoteAdapter {
  abstract properties(pointer: ObjectPointer): Promise<ObjectProperties>;
  abstract delete(pointer: ObjectPointer, options?: DeleteOptions): Promise<void>;
  abstract absoluteUri(pointer: ObjectPointer): string;

  async exists(pointer: ObjectPointer): Promise<boolean> {
    try {
      await this.properties(pointer);
      return true;
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'not_found') return false;
      throw error;
    }
  }

  async deleteMany(
    pointers: readonly ObjectPointer[],
    options: DeleteOptions = {},
  ): Promise<DeleteFailure[]> {
    const failures: DeleteFailure[] = [];
    await inParallel(deletesAtOnce, pointers, async (pointer) => {
      try {
        await this.delete(pointer, options);
      } catch (error) {
        if (!(error instanceof BlockError)) throw error;
        failures.push({ pointer, error });
      }
    });
    return failures;
  }

  importSource(uri: string): Promise<string> {
    return Promise.resolve(uri);
  }

  validateAddress(pointer: ObjectPointer): void {
    this.absoluteUri(pointer);
  }

  spellings(canonical: string): readonly string[] {
    return [canonical];
  }
}

/** Runs a write that owns its body: the body is read, or destroyed when the write fails. */
export async function owningBody<T>(body: BodySource, write: () => Promise<T>): Promise<T> {
  guardBody(body);
  try {
    return await write();
  } catch (error) {
    discardBody(body);
    throw error;
  }
}

export async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
