import type {
  BodySource,
  DeleteFailure,
  DeleteManyOptions,
  ObjectPointer,
  ObjectProperties,
} from '../adapter.ts';
import { discardBody, guardBody } from '../body.ts';
import { BlockError } from '../errors.ts';
import { deleteAll, type BatchDeletes } from './batch-deletes.ts';

/** What adapters of remote stores have in common. */
export abstract class RemoteAdapter {
  abstract properties(pointer: ObjectPointer): Promise<ObjectProperties>;
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

  /** `deleteMany` of a store whose objects `resolve` finds. */
  protected async deletePointers<Place extends object>(
    pointers: readonly ObjectPointer[],
    resolve: (pointer: ObjectPointer) => Place,
    store: BatchDeletes<Place>,
    options: DeleteManyOptions = {},
  ): Promise<DeleteFailure[]> {
    const failures: DeleteFailure[] = [];
    const places = new Map<Place, ObjectPointer>();
    for (const pointer of pointers) {
      try {
        places.set(resolve(pointer), pointer);
      } catch (error) {
        if (!(error instanceof BlockError)) throw error;
        failures.push({ pointer, error });
      }
    }
    for (const { item, error } of await deleteAll(store, [...places.keys()], options)) {
      const pointer = places.get(item);
      if (pointer !== undefined) failures.push({ pointer, error });
    }
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
