import type { Writable } from 'node:stream';
import { once } from 'node:events';
import type { Conflict } from '@svc/engine';
import { Answer, type SentBody } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { conflictPageView, conflictView, previewView } from '../views/conflict.ts';
import { pageRequest } from './shared/page-request.ts';
import { mergeSteering } from './shared/steering.ts';
import { scratchUploadHandler } from './shared/upload.ts';

const linesHeaders = {
  'content-type': 'application/x-ndjson',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;
/** Lines are written together up to about this size. */
const pieceLength = 64 * 1024;

export function mergeHandlers({
  engine: { merges, objects },
  appendTable,
}: ApiOptions): HandlersOf<'merges'> {
  return {
    async listMergeConflicts({ params, query, request }) {
      const refs = {
        repository: params.repository,
        source: params.sourceRef,
        destination: params.destinationBranch,
      };
      if ((request.headers.accept ?? '').includes('application/x-ndjson')) {
        return new Answer(
          200,
          linesHeaders,
          new ConflictLines(await merges.everyConflict({ ...refs, ...pageRequest(query) })),
        );
      }
      return conflictPageView(await merges.conflicts({ ...refs, ...pageRequest(query) }));
    },

    async previewMerge(call) {
      const { params, query, body } = call;
      const refs = {
        repository: params.repository,
        source: params.sourceRef,
        destination: params.destinationBranch,
      };
      const preview = await merges.preview({
        ...refs,
        after: query.after,
        ...(await mergeSteering(call, appendTable, refs, body)),
      });
      return previewView(preview);
    },

    uploadScratchObject: scratchUploadHandler(objects),

    async listCherryPickConflicts({ params, query }) {
      const change = { ...params, ref: query.ref, parentNumber: query.parent_number };
      return conflictPageView(await merges.cherryPickConflicts({ ...change, ...pageRequest(query) }));
    },

    async listRevertConflicts({ params, query }) {
      const change = { ...params, ref: query.ref, parentNumber: query.parent_number };
      return conflictPageView(await merges.revertConflicts({ ...change, ...pageRequest(query) }));
    },

    async listCommitResolutions({ params, query }) {
      const commit = { repository: params.repository, commit: params.commitId };
      return conflictPageView(
        await merges.resolvedBy({ ...commit, after: query.after, amount: query.amount }),
      );
    },
  };
}

/** One conflict a line; the last line says how many there were: without it the stream was cut. */
class ConflictLines implements SentBody {
  readonly #conflicts: AsyncIterable<Conflict>;

  constructor(conflicts: AsyncIterable<Conflict>) {
    this.#conflicts = conflicts;
  }

  async sendTo(sink: Writable): Promise<void> {
    let piece = '';
    let results = 0;
    const write = async (): Promise<void> => {
      if (!sink.write(piece) && !sink.destroyed)
        await Promise.race([once(sink, 'drain'), once(sink, 'close')]);
      piece = '';
    };
    for await (const conflict of this.#conflicts) {
      if (sink.destroyed) return;
      piece += `${JSON.stringify(conflictView(conflict))}\n`;
      results += 1;
      if (piece.length >= pieceLength) await write();
    }
    piece += `${JSON.stringify({ end: true, results })}\n`;
    await write();
    sink.end();
  }
}
