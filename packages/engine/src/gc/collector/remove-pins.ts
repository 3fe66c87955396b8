import { gcPinMessage, timestampToMillis } from '@svc/encoding';
import type { EngineContext } from '../../context/engine-context.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { pinsPrefix } from '../gc-keys.ts';

/** What met this run, or an earlier one, has done its part. */
export async function removePins(
  context: EngineContext,
  scope: RepositoryScope,
  generation: number,
): Promise<void> {
  for await (const page of context.kv.scan(scope.partition, { prefix: pinsPrefix })) {
    const over = page.filter(({ value }) => {
      const pin = gcPinMessage.decode(value);
      const isOld = pin.generation > 0 && pin.generation <= generation;
      return isOld || timestampToMillis(pin.expires) < context.clock();
    });
    if (over.length > 0) {
      await context.kv.deleteMany(
        scope.partition,
        over.map(({ key }) => key),
      );
    }
  }
}
