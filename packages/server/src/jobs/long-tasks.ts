import type { Engine, EngineErrorKind, EngineSubject } from '@svc/engine';
import type { Exchange } from '../processes/exchange.ts';

/** Operations that answer with the id of a task and then go on for long. */
type LongTask = 'dump-refs' | 'prepare-collection';

interface Order {
  readonly task: LongTask;
  readonly repository: string;
}

/** An `EngineError` on its way between processes. */
interface Refusal {
  readonly kind: EngineErrorKind;
  readonly message: string;
  readonly subject?: EngineSubject;
}

type Answer = { readonly id: string } | { readonly refusal: Refusal };

function submit(engine: Pick<Engine, 'dumps' | 'gc'>, { task, repository }: Order): Promise<string> {
  return task === 'dump-refs'
    ? engine.dumps.submitDump(repository)
    : engine.gc.submitPrepareCommits(repository);
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
    gc: {
      ...engine.gc,
      submitPrepareCommits: (repository) => handOver({ task: 'prepare-collection', repository }),
    },
  };
}
