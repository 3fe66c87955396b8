import { isFullAddress } from '@svc/block';
import { addressRelative, decodeEntry, type Entry } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { Pace } from '../committed/pace.ts';
import type { RangeSpan } from '../committed/tree.ts';
import type { AddressRights } from '../face/objects.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { checkImport, checkMayRead } from './address-rights.ts';
import { pointerOf } from './object-entry.ts';

/**
 * Trees that a caller names by id instead of building them object by object. Anyone who could write into the namespace
 * may have made them, so every address in them counts as one the caller brings.
 */
export class AdoptedTrees {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #rights: AddressRights;
  /** Ranges are named by their content: one look at each is enough. */
  readonly #checked = new Set<string>();
  #trusted: Promise<boolean> | undefined;

  constructor(context: EngineContext, scope: RepositoryScope, rights: AddressRights) {
    this.#context = context;
    this.#scope = scope;
    this.#rights = { ...rights, mayReadRepository: askedOnce(rights.mayReadRepository) };
  }

  /** Refuses a tree that is not one of the repository's own or leads where the caller may not look. */
  async check(id: string): Promise<void> {
    if (id === '') return;
    const outline = await this.#context.trees.outline(this.#scope.committed, id);
    if (outline === undefined || outline.entity !== undefined) {
      throw invalid(`metarange ${id} is no tree of objects in this repository`, 'commit');
    }
    if (await this.isTrusted()) return;
    for (const range of outline.ranges) {
      if (this.#checked.has(range.id)) continue;
      await this.#checkRange(id, range);
      this.#checked.add(range.id);
    }
  }

  /** A caller who may use every address does not wait for a check of each. */
  isTrusted(): Promise<boolean> {
    this.#trusted ??= Promise.resolve(this.#rights.mayUseEveryAddress?.() ?? false);
    return this.#trusted;
  }

  async #checkRange(id: string, { minKey, maxKey }: RangeSpan): Promise<void> {
    const records = this.#context.trees.iterate(this.#scope.committed, id, minKey);
    const pace = new Pace();
    try {
      while (await records.next()) {
        if (Buffer.compare(records.key, maxKey) > 0) return;
        await this.#checkAddress(decodeEntry(records.data));
        if (pace.due()) await pace.pause();
      }
    } finally {
      records.close();
    }
  }

  async #checkAddress(entry: Entry): Promise<void> {
    const { repository } = this.#scope;
    const pointer = pointerOf(repository.storageNamespace, entry);
    if (entry.addressType === addressRelative || !isFullAddress(pointer)) {
      await checkMayRead(repository.id, this.#rights);
      return;
    }
    const { namespaces } = this.#context;
    const adapter = adapterOf(this.#context, this.#scope);
    const canonical = await namespaces.canonicalAddress(adapter, repository.storageNamespace, entry.address);
    const owner = await namespaces.ownerOf(adapter, canonical);
    if (owner !== undefined) await checkMayRead(owner, this.#rights);
    if (owner !== repository.id) await checkImport(adapter, this.#rights, entry.address, canonical);
  }
}

type MayRead = AddressRights['mayReadRepository'];

/** A tree asks of the same few repositories for each of its objects. */
function askedOnce(mayRead: MayRead): MayRead {
  const answers = new Map<string, ReturnType<NonNullable<MayRead>>>();
  return (repository) => {
    const answer = answers.get(repository) ?? mayRead?.(repository) ?? false;
    answers.set(repository, answer);
    return answer;
  };
}
