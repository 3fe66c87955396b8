import type { AcceptedImport, Engine, EngineErrorKind, EngineSubject } from '@svc/engine';
import type { Exchange } from '../processes/exchange.ts';

/**
 * Work that goes on long after its request was answered. Restores stay with the worker: they ask what the caller may
 * read while they run, and only the worker knows the caller.
 */
interface TaskOrder {
  readonly task: 'dump-refs' | 'prepare-collection';
  readonly repository: string;
}
interface ImportOrder {
  readonly task: 'import';
  readonly accepted: AcceptedImport;
}
type Order = TaskOrder | ImportOrder;

/** An `EngineError` on its way between processes. */
interface Refusal {
  readonly kind: EngineErrorKind;
  readonly message: string;
  readonly subject?: EngineSubject;
}

type Answer = { readonly id: string } | { readonly refusal: Refusal };

/** Answers with the id to ask for. An import that another process has taken is in good hands. */
async function submit(engine: Engine, order: Order): Promise<string> {
  switch (order.task) {
    case 'dump-refs':
      return engine.dumps.submitDump(order.repository);
    case 'prepare-collection':
      return engine.gc.submitPrepareCommits(order.repository);
    case 'import':
      await engine.imports.run(order.accepted);
      return order.accepted.id;
  }
}

/** In the background process: takes long tasks off the workers. */
export async function takeLongTasks(exchange: Exchange, engine: Engine): Promise<void> {
  const { EngineError } = await import('@svc/engine');
  exchange.answer('long-task', async (payload): Promise<Answer | undefined> => {
    try {
      return { id: await submit(engine, payload as Order) };
    } catch (error) {
      // On any other failure the worker does the work itself and reports what goes wrong there.
      if (!(error instanceof EngineError)) return undefined;
      const { kind, message, subject } = error;
      return { refusal: { kind, message, ...(subject !== undefined && { subject }) } };
    }
  });
}

/** In a worker: the same engine, whose long tasks run in the background process while there is one. */
export async function handOverLongTasks(exchange: Exchange, engine: Engine): Promise<Engine> {
  const { EngineError } = await import('@svc/engine');
  const handOver = async (order: Order): Promise<string> => {
    const [answer] = (await exchange.askOthers('long-task', order)) as Answer[];
    if (answer === undefined) return submit(engine, order);
    if ('id' in answer) return answer.id;
    const { kind, message, ...options } = answer.refusal;
    throw new EngineError(kind, message, options);
  };
  return {
    ...engine,
    dumps: {
      ...engine.dumps,
      submitDump: (repository) => handOver({ task: 'dump-refs', repository }),
    },
    imports: {
      ...engine.imports,
      // What the caller may import is asked here, where the caller is known.
      start: async (options) => handOver({ task: 'import', accepted: await engine.imports.accept(options) }),
    },
    gc: {
      ...engine.gc,
      submitPrepareCommits: (repository) => handOver({ task: 'prepare-collection', repository }),
    },
  };
}
