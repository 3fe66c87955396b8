import { expect } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { actor, contents, paths, put, refusal } from './fixture.ts';
import {
  byteSorted,
  diffContents,
  isDirty,
  mergeBases,
  mergeContents,
  Model,
  sameContent,
  type ModelBranch,
  type ModelRule,
} from './model.ts';
import type { Random } from './scheduler.ts';

const keys = ['a', 'a/b', 'a/b/c', 'b', 'dir/1', 'dir/2', 'dir/sub/3', 'z', 'é', '\u{1F600}', '\uFF5E'];
const values = ['1', '2', '3'];
const branchNames = ['main', 'dev', 'feature', 'other'];

export interface ModelRunOptions {
  readonly engines: readonly Engine[];
  readonly repository: string;
  readonly random: Random;
  readonly steps: number;
  /** Called before every step, so that commits of one content differ. */
  readonly tick: () => void;
}

/** Runs random operations and compares now and then; a failure names the last operations. */
export async function runModel(options: ModelRunOptions): Promise<void> {
  const run = new ModelRun(options.engines, options.repository, options.random);
  await run.start();
  const done: string[] = [];
  try {
    for (let step = 0; step < options.steps; step += 1) {
      options.tick();
      done.push(await run.step());
      if (step % 6 === 5) await run.compare();
    }
    await run.compare();
  } catch (error) {
    throw new Error(`after: ${done.slice(-12).join('; ')}`, { cause: error });
  }
}

/** Drives engines (taken at random, as if behind a balancer) and a model by the same operations, and compares. */
class ModelRun {
  readonly model = new Model();
  readonly #engines: readonly Engine[];
  readonly #repository: string;
  readonly #random: Random;

  constructor(engines: readonly Engine[], repository: string, random: Random) {
    this.#engines = engines;
    this.#repository = repository;
    this.#random = random;
  }

  get #engine(): Engine {
    return this.#random.pick(this.#engines);
  }

  async start(): Promise<void> {
    const [root] = (await this.#engine.commits.log({ repository: this.#repository, ref: 'main' })).items;
    this.model.commits.set(root!.id, { id: root!.id, parents: [], generation: 1, content: new Map() });
    this.model.branches.set('main', { head: root!.id, now: new Map() });
  }

  async step(): Promise<string> {
    const steps: [number, () => Promise<string>][] = [
      [20, () => this.#write()],
      [8, () => this.#delete()],
      [3, () => this.#copy()],
      [10, () => this.#commit()],
      [4, () => this.#createBranch()],
      [2, () => this.#deleteBranch()],
      [8, () => this.#merge()],
      [3, () => this.#revertOrPick()],
      [2, () => this.#hardReset()],
      [4, () => this.#reset()],
      [1, () => this.#tag()],
    ];
    let at = this.#random.below(steps.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, run] of steps) {
      at -= weight;
      if (at < 0) return run();
    }
    throw new Error('weights do not add up');
  }

  /** Everything observable agrees with the model. */
  async compare(): Promise<void> {
    const repository = this.#repository;
    const { items } = await this.#engine.branches.list({ repository, amount: 1000 });
    expect(items.map((item) => [item.id, item.commitId])).toEqual(
      byteSorted(this.model.branches.keys()).map((name) => [name, this.model.branches.get(name)!.head]),
    );
    for (const [name, branch] of this.model.branches) {
      expect(new Map(Object.entries(await contents(this.#engine, repository, name)))).toEqual(branch.now);
      const amount = 1 + this.#random.below(4);
      expect(await paths(this.#engine, repository, name, { amount })).toEqual(byteSorted(branch.now.keys()));
      const folded = byteSorted(new Set([...branch.now.keys()].map((key) => key.replace(/\/.*$/s, '/'))));
      expect(await paths(this.#engine, repository, name, { amount, delimiter: '/' })).toEqual(folded);
      const committed = this.model.commits.get(branch.head)!.content;
      const diff = await this.#engine.refs.diffUncommitted({ repository, branch: name, amount: 1000 });
      expect(diff.items.map((item) => `${item.type} ${item.path}`)).toEqual(
        diffContents(committed, branch.now),
      );
      const log = await this.#engine.commits.log({ repository, ref: name, amount: 1000 });
      expect(new Set(log.items.map((item) => item.id))).toEqual(this.#history(branch.head));
    }
    await this.#compareTwo();
  }

  async #compareTwo(): Promise<void> {
    const [left, right] = [this.#branch(), this.#branch()];
    const two = await this.#engine.refs.diff({
      repository: this.#repository,
      left: `${left.name}$`,
      right: `${right.name}$`,
      type: 'two_dot',
      amount: 1000,
    });
    const shown = two.items.map((item) => `${item.type} ${item.path}`);
    expect(shown).toEqual(diffContents(left.branch.now, right.branch.now));
  }

  #history(head: string): Set<string> {
    const found = new Set<string>();
    const queue = [head];
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      queue.push(...this.model.commits.get(id)!.parents);
    }
    return found;
  }

  #branch(): { name: string; branch: ModelBranch } {
    const name = this.#random.pick([...this.model.branches.keys()]);
    return { name, branch: this.model.branches.get(name)! };
  }

  async #write(): Promise<string> {
    const { name, branch } = this.#branch();
    const [key, value] = [this.#random.pick(keys), this.#random.pick(values)];
    if (this.#random.next() < 0.3) {
      const upload = this.#engine.objects.upload({
        repository: this.#repository,
        branch: name,
        path: key,
        body: Buffer.from(value),
        ifNoneMatch: '*',
      });
      if (branch.now.has(key)) expect((await refusal(upload)).kind).toBe('precondition_failed');
      else {
        await upload;
        branch.now.set(key, value);
      }
      return `create ${name} ${key}`;
    }
    await put(this.#engine, this.#repository, name, key, value);
    branch.now.set(key, value);
    return `put ${name} ${key}=${value}`;
  }

  async #delete(): Promise<string> {
    const { name, branch } = this.#branch();
    const key = this.#random.pick(keys);
    const noTombstone = this.#random.next() < 0.3;
    await this.#engine.objects.delete({ repository: this.#repository, branch: name, path: key, noTombstone });
    branch.now.delete(key);
    return `delete ${name} ${key}`;
  }

  async #copy(): Promise<string> {
    const repository = this.#repository;
    const [source, target] = [this.#branch(), this.#branch()];
    const [from, to] = [this.#random.pick(keys), this.#random.pick(keys)];
    const copied = this.#engine.objects.copy({
      source: { repository, ref: source.name, path: from },
      destination: { repository, branch: target.name, path: to },
    });
    const value = source.branch.now.get(from);
    if (value === undefined) expect((await refusal(copied)).kind).toBe('not_found');
    else {
      await copied;
      target.branch.now.set(to, value);
    }
    return `copy ${source.name}/${from} ${target.name}/${to}`;
  }

  async #commit(): Promise<string> {
    const { name, branch } = this.#branch();
    const made = this.#engine.commits.create({
      repository: this.#repository,
      branch: name,
      message: 'm',
      actor,
    });
    if (!isDirty(this.model, branch)) {
      expect((await refusal(made)).kind).toBe('no_changes');
      return `empty commit ${name}`;
    }
    this.#moved(branch, await made, new Map(branch.now));
    return `commit ${name}`;
  }

  #moved(
    branch: ModelBranch,
    made: { id: string; parents: readonly string[]; generation: number },
    content: ReadonlyMap<string, string>,
  ): void {
    const { id, parents, generation } = made;
    expect(parents[0]).toBe(branch.head);
    this.model.commits.set(id, { id, parents, generation, content });
    branch.head = id;
    branch.now.clear();
    for (const [key, value] of content) branch.now.set(key, value);
  }

  async #createBranch(): Promise<string> {
    const name = this.#random.pick(branchNames);
    const source = this.#branch();
    const created = this.#engine.branches.create({
      repository: this.#repository,
      name,
      source: source.name,
      actor,
    });
    if (this.model.branches.has(name)) expect((await refusal(created)).kind).toBe('already_exists');
    else {
      await created;
      const { head } = source.branch;
      this.model.branches.set(name, { head, now: new Map(this.model.commits.get(head)!.content) });
    }
    return `branch ${name} from ${source.name}`;
  }

  async #deleteBranch(): Promise<string> {
    const { name } = this.#branch();
    const deleted = this.#engine.branches.delete({ repository: this.#repository, branch: name, actor });
    if (name === 'main') expect((await refusal(deleted)).kind).toBe('forbidden');
    else {
      await deleted;
      this.model.branches.delete(name);
    }
    return `delete branch ${name}`;
  }

  async #merge(): Promise<string> {
    const [source, target] = [this.#branch(), this.#branch()];
    const strategy = this.#random.pick([undefined, undefined, 'source-wins', 'dest-wins']);
    const rules = this.#rules();
    const merged = this.#engine.merges.merge({
      repository: this.#repository,
      source: source.name,
      destination: target.name,
      strategy,
      // Rules are for what both sides hold now.
      ...(rules.length > 0 && {
        resolutions: rules,
        expectedSource: source.branch.head,
        expectedDestination: target.branch.head,
      }),
      actor,
    });
    const told = rules.map(({ prefix, take }) => `${prefix}*=${take}`).join(' ');
    const label = `merge ${source.name} into ${target.name} ${strategy ?? ''} ${told}`;
    if (isDirty(this.model, target.branch)) {
      expect((await refusal(merged)).kind).toBe('dirty_branch');
      return label;
    }
    const [theirs, ours] = [source.branch.head, target.branch.head].map((id) => this.model.commits.get(id)!);
    // Where several bases are equally good, any of their outcomes is right.
    const outcomes = mergeBases(this.model, theirs!.id, ours!.id).map((id) => {
      const base = this.model.commits.get(id)!.content;
      if (sameContent(base, theirs!.content)) return 'no_changes' as const;
      return mergeContents(base, theirs!.content, ours!.content, strategy, rules) ?? ('conflict' as const);
    });
    try {
      const commit = await merged;
      const shown = new Map(Object.entries(await contents(this.#engine, this.#repository, commit.id)));
      const allowed = outcomes.filter((outcome) => outcome === 'no_changes' || typeof outcome === 'object');
      // Equal content under different tree ids merges without effect instead of being refused.
      expect(
        allowed.some((outcome) => sameContent(outcome === 'no_changes' ? ours!.content : outcome, shown)),
      ).toBe(true);
      this.#moved(target.branch, commit, shown);
    } catch (error) {
      expect(outcomes).toContain((error as { kind?: string }).kind);
    }
    return label;
  }

  /** Resolutions for half of the merges; an earlier one goes before a later one that covers the same. */
  #rules(): ModelRule[] {
    const count = this.#random.pick([0, 0, 0, 1, 2, 3]);
    return Array.from({ length: count }, () => ({
      prefix: this.#random.pick(['', 'a', 'a/b', 'dir/', 'é', 'z']),
      take: this.#random.pick(['source', 'destination', 'base', 'delete', 'fail'] as const),
    }));
  }

  async #revertOrPick(): Promise<string> {
    const { name, branch } = this.#branch();
    const commit = this.#random.pick([...this.model.commits.values()]);
    const [parentId] = commit.parents;
    if (parentId === undefined || commit.parents.length > 1) return 'no single parent';
    const parent = this.model.commits.get(parentId)!.content;
    const picks = this.#random.next() < 0.5;
    const options = { repository: this.#repository, branch: name, ref: commit.id, actor };
    const made = picks ? this.#engine.commits.cherryPick(options) : this.#engine.commits.revert(options);
    const label = `${picks ? 'pick' : 'revert'} on ${name}`;
    if (sameContent(parent, commit.content)) {
      expect(['no_changes', 'dirty_branch']).toContain(
        await made.then(
          () => 'no_changes',
          (error) => error.kind,
        ),
      );
      return this.#resync(name, branch, label);
    }
    if (isDirty(this.model, branch)) {
      expect((await refusal(made)).kind).toBe('dirty_branch');
      return label;
    }
    const ours = this.model.commits.get(branch.head)!.content;
    const result = picks
      ? mergeContents(parent, commit.content, ours, undefined)
      : mergeContents(commit.content, parent, ours, undefined);
    if (result === undefined) expect((await refusal(made)).kind).toBe('conflict');
    else if (!picks && sameContent(result, ours)) {
      expect(['no_changes', undefined]).toContain(
        await made.then(
          () => undefined,
          (error) => error.kind,
        ),
      );
      return this.#resync(name, branch, label);
    } else this.#moved(branch, await made, result);
    return label;
  }

  /** Takes over a head that may or may not have moved without changing content. */
  async #resync(name: string, branch: ModelBranch, label: string): Promise<string> {
    const { commitId } = await this.#engine.branches.get({ repository: this.#repository, branch: name });
    if (commitId !== branch.head) {
      const commit = await this.#engine.commits.get({ repository: this.#repository, ref: commitId });
      this.#moved(branch, commit, new Map(branch.now));
    }
    return label;
  }

  async #hardReset(): Promise<string> {
    const { name, branch } = this.#branch();
    const target = this.#random.pick([...this.model.commits.values()]);
    const reset = this.#engine.branches.hardReset({
      repository: this.#repository,
      branch: name,
      ref: target.id,
      actor,
    });
    if (isDirty(this.model, branch)) expect((await refusal(reset)).kind).toBe('dirty_branch');
    else {
      await reset;
      this.model.branches.set(name, { head: target.id, now: new Map(target.content) });
    }
    return `hard reset ${name}`;
  }

  async #reset(): Promise<string> {
    const { name, branch } = this.#branch();
    const committed = this.model.commits.get(branch.head)!.content;
    const type = this.#random.pick(['reset', 'common_prefix', 'object'] as const);
    const path = type === 'object' ? this.#random.pick(keys) : this.#random.pick(['', 'a/', 'dir/', 'd']);
    await this.#engine.branches.reset({ repository: this.#repository, branch: name, type, path });
    for (const key of new Set([...branch.now.keys(), ...committed.keys()])) {
      const covered = type === 'reset' || (type === 'object' ? key === path : key.startsWith(path));
      if (!covered) continue;
      const value = committed.get(key);
      if (value === undefined) branch.now.delete(key);
      else branch.now.set(key, value);
    }
    return `${type} ${name} ${path}`;
  }

  async #tag(): Promise<string> {
    const { name, branch } = this.#branch();
    const id = `tag-${this.model.tags.size}`;
    await this.#engine.tags.create({ repository: this.#repository, id, ref: name, actor });
    this.model.tags.set(id, branch.head);
    expect((await this.#engine.tags.get({ repository: this.#repository, id })).commitId).toBe(branch.head);
    return `tag ${id}`;
  }
}
