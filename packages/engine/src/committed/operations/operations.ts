import { applyChanges } from './apply.ts';
import { BaseTrail } from '../reading/base-trail.ts';
import { ConflictPolicy } from './conflict-policy.ts';
import { mergeImported } from './import-merge.ts';
import { mergeRanges } from './merge.ts';
import type { Namespace } from '../store/namespace.ts';
import { PackedChanges } from './packed-changes.ts';
import type { RecordBudget } from './record-budget.ts';
import type { TableStore } from '../store/table-store.ts';
import type { ApplyResult, ImportScope, MergeInput, MergeResult } from '../tree.ts';
import { TreeCursor } from '../reading/tree-cursor.ts';
import { type Hasher, type SplitSettings, TreeWriter } from './tree-writer.ts';

/** Work on trees as plain data, so that it can be done in another thread. */
export type Operation =
  | {
      readonly kind: 'apply';
      readonly namespace: Namespace;
      readonly baseId: string;
      /** Write the tree even when nothing changed. */
      readonly always: boolean;
      readonly properties: Readonly<Record<string, string>> | undefined;
    }
  | { readonly kind: 'merge'; readonly namespace: Namespace; readonly input: MergeInput }
  | {
      readonly kind: 'import';
      readonly namespace: Namespace;
      readonly destinationId: string;
      readonly importedId: string;
      readonly scope: ImportScope;
    };

export type OperationResult = ApplyResult | MergeResult | { readonly metaRangeId: string };

export interface OperationSite {
  readonly store: TableStore;
  readonly split: SplitSettings;
  readonly hasher?: Hasher | undefined;
}

export interface OperationInput {
  /** Packed changes for `apply`; resolutions of single paths for a `merge` with patterns. */
  readonly nextBatch: () => Promise<Buffer | undefined>;
  readonly budget?: RecordBudget | undefined;
  /** Told the id of a merged tree while it is being stored. */
  readonly whileStoring?: ((metaRangeId: string) => void) | undefined;
}

export async function runOperation(
  site: OperationSite,
  operation: Operation,
  input: OperationInput,
): Promise<OperationResult> {
  const { store, split, hasher } = site;
  const { namespace } = operation;
  const properties = operation.kind === 'apply' ? operation.properties : undefined;
  const writer = new TreeWriter({ store, namespace, split, hasher, properties });
  const cursors: TreeCursor[] = [];
  const open = async (id: string): Promise<TreeCursor> => {
    const cursor = new TreeCursor(store, namespace, await store.metaRange(namespace, id));
    cursors.push(cursor);
    return cursor;
  };
  const { budget } = input;
  try {
    switch (operation.kind) {
      case 'apply':
        return await applyChanges({
          base: await open(operation.baseId),
          baseId: operation.baseId,
          changes: new PackedChanges(input.nextBatch),
          writer,
          budget,
          always: operation.always,
        });
      case 'merge': {
        const { base, source, destination, strategy, patterns } = operation.input;
        const result = await mergeRanges({
          source: await open(source),
          destination: await open(destination),
          base: new BaseTrail(await open(base)),
          writer,
          strategy,
          policy: patterns && new ConflictPolicy(strategy, patterns, new PackedChanges(input.nextBatch)),
          budget,
          whileStoring: input.whileStoring,
        });
        if (result.kind !== 'merged') await writer.abort();
        return result;
      }
      case 'import': {
        const imported = await open(operation.importedId);
        const destination = await open(operation.destinationId);
        const { scope } = operation;
        return { metaRangeId: await mergeImported({ imported, destination, scope, writer, budget }) };
      }
    }
    throw new Error('unknown operation');
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    for (const cursor of cursors) cursor.close();
  }
}
