import { branchMessage, repositoryMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { wholeRound, type JobRound } from '../face/jobs.ts';
import { listTrash } from '../store/deleted-repositories.ts';
import {
  branchesPrefix,
  cleanupTokensPartition,
  gravelerPartition,
  multipartPartsPartition,
  multipartsPartition,
  repositoriesPrefix,
  repositoryPartition,
} from '../store/keys.ts';
import { retireTokens } from './tokens.ts';

/**
 * A token is filled before a branch names it (when many are folded into one, or a prefix is reset), and the parts of an
 * upload are written while it ends. No operation takes longer than this from its first write to its last.
 */
const lostAfterMs = 24 * 3_600_000;

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const tokenName = new RegExp(`^[^:]+-[^:]+:${uuid}$`);
const partsPrefix = multipartPartsPartition('').toString();

/**
 * Finds staged entries and parts that a crash has cut off from everything that would ever remove them: tokens that no
 * branch names and no cleaner knows, parts whose upload is gone. What stays so for a whole day is removed.
 */
export class LostStaging {
  readonly #context: EngineContext;
  /** By partition: when it was first found lost, and ever since. */
  readonly #lostSince = new Map<string, number>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** One round; returns how many partitions were given up. */
  async run(round: JobRound = wholeRound): Promise<number> {
    const now = this.#context.clock();
    // What could be lost is read first: whatever is named from then on is found below.
    const lost = await this.#candidates();
    await this.#keepNamed(lost);
    for (const name of this.#lostSince.keys()) if (!lost.has(name)) this.#lostSince.delete(name);
    let given = 0;
    for (const name of lost) {
      const since = this.#lostSince.get(name);
      if (since === undefined) this.#lostSince.set(name, now);
      else if (now - since >= lostAfterMs) {
        if (!(await round.mayGoOn())) break;
        await this.#giveUp(name);
        given += 1;
      }
    }
    return given;
  }

  async #candidates(): Promise<Set<string>> {
    const found = new Set<string>();
    for await (const partition of this.#context.kv.partitions()) {
      const name = partition.toString();
      if (tokenName.test(name) || name.startsWith(partsPrefix)) found.add(name);
    }
    return found;
  }

  async #keepNamed(lost: Set<string>): Promise<void> {
    const { kv } = this.#context;
    for await (const page of kv.scan(gravelerPartition, { prefix: repositoriesPrefix })) {
      for (const { value } of page) {
        const { id, instanceUid } = repositoryMessage.decode(value);
        await this.#keepBranches(repositoryPartition(id, instanceUid), lost);
      }
    }
    // A deleted repository may come back, with what is staged in it.
    for await (const { repository } of listTrash(this.#context)) {
      await this.#keepBranches(repositoryPartition(repository.id, repository.instanceUid), lost);
    }
    for await (const page of kv.scan(cleanupTokensPartition)) {
      for (const { key } of page) lost.delete(key.toString());
    }
    for await (const page of kv.scan(multipartsPartition)) {
      for (const { key } of page) lost.delete(multipartPartsPartition(key.toString()).toString());
    }
  }

  async #keepBranches(partition: Buffer, lost: Set<string>): Promise<void> {
    for await (const page of this.#context.kv.scan(partition, { prefix: branchesPrefix })) {
      for (const { value } of page) {
        const { stagingToken, sealedTokens } = branchMessage.decode(value);
        for (const token of [stagingToken, ...sealedTokens]) lost.delete(token);
      }
    }
  }

  /** Tokens are retired like all others: a reader that still holds one gets the usual grace. */
  async #giveUp(name: string): Promise<void> {
    const { kv, logger } = this.#context;
    logger.info({ partition: name }, 'lost staging is removed');
    if (!name.startsWith(partsPrefix)) {
      await retireTokens(this.#context, [name]);
      return;
    }
    const partition = Buffer.from(name);
    for await (const page of kv.scan(partition)) {
      await Promise.all(page.map(({ key }) => kv.delete(partition, key)));
    }
  }
}
