import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import type { RaceWriter } from './collector-race-servers.ts';
import { branches, paths, refused, type RaceState } from './collector-race-state.ts';
import { actor, put } from './fixture.ts';
import { day } from './gc-world.ts';

const everything = [
  'put',
  'put',
  'put',
  'put',
  'delete',
  'commit',
  'commit',
  'commit',
  'old commit',
  'merge',
  'merge by id',
  'commit refused',
  'commit refused',
  'commit refused',
  'revert',
  'cherry-pick',
  'hard reset',
  'rollback',
  'reset',
  'branch',
  'branch by id',
  'branch by id',
  'delete branch',
  'tag',
  'tag by id',
  'tag by id',
  'delete tag',
  'undelete',
  'copy',
  'stage',
  'stage',
  'stage elsewhere',
  'link',
  'link',
  'get address',
  'begin upload',
  'complete',
  'metadata',
  'rename',
  'import',
  'alias',
  'alias by id',
  'alias by id',
  'rollback alias',
  'view by id',
  'lagging alias',
  'delete alias',
  'record by id',
  'rescue',
  'delete and restore',
  'trash elsewhere',
];

const resets = ['reset', 'common_prefix', 'object'] as const;

/** An external collector knows nothing of what comes back to life meanwhile: its lists are made once. */
const livingOnly = everything.filter(
  (name) =>
    !/by id|stage|rescue|undelete|roll|revert|cherry|hard reset|lagging|delete and restore|refused/.test(
      name,
    ),
);

/** What these leave behind when they are cut off needs nothing that may be garbage. */
const mayBeCutOff = new Set([
  'put',
  'delete',
  'commit',
  'old commit',
  'merge',
  'reset',
  'complete',
  'metadata',
  'import',
  'rename',
  'delete tag',
  'delete branch',
]);

/** One random thing that a person or a program does. */
export async function raceStep(
  race: RaceState,
  writer: RaceWriter,
  pause: () => Promise<void>,
): Promise<void> {
  const { engine } = writer;
  const random = race.random;
  const { repository } = race.main;
  const [branch, other, path] = [random.pick(branches), random.pick(branches), random.pick(paths)];
  const value = String((race.counter += 1));
  const mayCommitRefused = !race.hasExternal && race.isRefusedDue && random.next() < 0.3;
  const name = mayCommitRefused ? 'commit refused' : random.pick(race.hasExternal ? livingOnly : everything);
  const commit = (): string => random.pick(race.commits) ?? 'main';
  const noteCommit = ({ id }: { id: string }): void => {
    race.commits.push(id);
    race.log.push(`commit ${id.slice(0, 8)}`);
  };
  /** The commit that something now points to although no living ref showed it, or that took from such a one. */
  let byId: string | undefined;
  /** As time goes by it shows one position of the branch after the other. */
  let isLagging = false;
  const chosen = (): string => {
    byId = commit();
    return byId;
  };
  const operations: Record<string, () => Promise<unknown>> = {
    put: () => put(engine, repository, branch, path, value),
    delete: () => engine.objects.delete({ repository, branch, path }),
    commit: async () =>
      noteCommit(await engine.commits.create({ repository, branch, message: value, actor })),
    'old commit': async () =>
      noteCommit(await engine.commits.create({ repository, branch, message: value, actor, date: 1000 })),
    'commit refused': async () => {
      if (!race.isRefusedDue) return;
      writer.meetsBatches = true;
      noteCommit(await engine.commits.create({ repository, branch: refused, message: value, actor }));
    },
    merge: async () =>
      noteCommit(
        await engine.merges.merge({
          repository,
          source: branch,
          destination: other,
          actor,
          strategy: 'source-wins',
        }),
      ),
    'merge by id': async () => {
      const merge = { repository, source: commit(), destination: branch, actor };
      const made = await engine.merges.merge({ ...merge, strategy: 'source-wins' });
      byId = made.id;
      noteCommit(made);
    },
    revert: async () => {
      const made = await engine.commits.revert({ repository, branch, ref: commit(), actor });
      byId = made.id;
      noteCommit(made);
    },
    'cherry-pick': async () => {
      const made = await engine.commits.cherryPick({ repository, branch, ref: commit(), actor });
      byId = made.id;
      noteCommit(made);
    },
    'hard reset': async () => {
      await engine.branches.hardReset({ repository, branch, ref: chosen(), actor });
    },
    rollback: async () => {
      const to = chosen();
      await engine.reflog.rollback({ repository, branch, to, mode: 'commit', actor });
    },
    reset: () => engine.branches.reset({ repository, branch, type: random.pick(resets), path }),
    branch: () => engine.branches.create({ repository, name: branch, source: other, actor }),
    'branch by id': async () => {
      await engine.branches.create({ repository, name: `x${value}`, source: chosen(), actor });
    },
    'delete branch': () =>
      branch === 'main' ? Promise.resolve() : engine.branches.delete({ repository, branch, actor }),
    tag: () => engine.tags.create({ repository, id: `t${value}`, ref: branch, actor }),
    'tag by id': async () => {
      await engine.tags.create({ repository, id: `t${value}`, ref: chosen(), actor });
    },
    'delete tag': async () => {
      const { items } = await engine.tags.list({ repository, amount: 100 });
      if (items.length > 0) await engine.tags.delete({ repository, id: random.pick(items).id, actor });
    },
    undelete: async () => {
      const undeleted = await engine.reflog.undelete({ repository, type: 'branch', id: branch, actor });
      byId = undeleted.commitId;
    },
    copy: () =>
      engine.objects.copy({
        source: { repository, ref: branch, path },
        destination: { repository, branch: other, path: random.pick(paths) },
      }),
    stage: async () => {
      const physicalAddress = random.pick(race.old);
      if (physicalAddress === undefined) return;
      const brought = { repository, branch, path, physicalAddress, checksum: 'x', size: 1 };
      const stage = () => engine.objects.stage({ ...brought, mayReadRepository: () => true });
      await race.staying(physicalAddress, stage);
    },
    'stage elsewhere': async () => {
      const physicalAddress = random.pick(race.old);
      if (physicalAddress === undefined) return;
      const place = { repository: race.other.repository, branch: 'main', path: `${path}${value}` };
      const brought = { ...place, physicalAddress };
      const given = { ...brought, checksum: 'x', size: 1, mayReadRepository: () => true };
      race.heldElsewhere.add(physicalAddress);
      await race.staying(physicalAddress, () => engine.objects.stage(given));
    },
    'get address': async () => {
      const linked = await engine.objects.getPhysicalAddress({ repository, branch, path });
      const pointer = {
        storageNamespace: race.main.namespace,
        identifier: linked.physicalAddress,
      } as const;
      await race.world.adapter.put({ ...pointer, identifierType: 'full' }, Buffer.from(value));
      race.linked.push({ path: `${branch}/${path}`, address: linked.physicalAddress });
    },
    link: async () => {
      const linked = race.linked.pop();
      if (linked === undefined) return;
      const [to = '', key = ''] = linked.path.split('/');
      const size = value.length;
      await engine.objects.link({
        repository,
        branch: to,
        path: key,
        physicalAddress: linked.address,
        checksum: 'x',
        size,
      });
    },
    'begin upload': async () => {
      const target = { repository, branch, path };
      const { uploadId } = await engine.uploads.create({ ...target, owner: 'me' });
      const body = Buffer.from(value);
      const { etag } = await engine.uploads.putPart({ ...target, uploadId, partNumber: 1, body });
      race.uploads.push({ path, branch, uploadId, etag });
    },
    complete: async () => {
      const upload = race.uploads.pop();
      if (upload === undefined) return;
      const { etag, ...target } = upload;
      await engine.uploads.complete({ repository, ...target, parts: [{ partNumber: 1, etag }] });
    },
    metadata: () => engine.objects.updateMetadata({ repository, branch, path, metadata: { value } }),
    rename: async () => {
      await engine.branches.create({ repository, name: `n${value}`, source: branch, actor });
      if (branch !== 'main') await engine.branches.delete({ repository, branch, actor });
    },
    alias: () =>
      engine.bindings.createAlias({ name: `alias-${value}`, target: { repository, ref: branch }, actor }),
    'alias by id': async () => {
      const target = { repository, ref: chosen(), pin: true };
      const name = `alias-${value}`;
      await engine.bindings.createAlias({ name, target: { repository, ref: 'main' }, actor });
      race.aliases.push(name);
      await engine.bindings.setAlias({ name, target, actor });
    },
    'rollback alias': async () => {
      const name = random.pick(race.aliases);
      if (name === undefined) return;
      byId = (await engine.bindings.rollbackAlias({ name, actor })).commitId;
    },
    'view by id': async () => {
      const target = { repository, ref: chosen(), pin: true };
      await engine.bindings.setView({ accessKeyId: `AK${value}`, bucket: 'bucket', target, actor });
    },
    'lagging alias': async () => {
      const target = { repository, ref: `${branch}@{2 days ago}` };
      const made = await engine.bindings.createAlias({ name: `alias-${value}`, target, actor });
      byId = made.commitId;
      isLagging = true;
    },
    'delete alias': async () => {
      const name = race.aliases.pop();
      if (name !== undefined) await engine.bindings.deleteAlias({ name, actor });
    },
    'record by id': async () => {
      const { metaRangeId } = await engine.commits.get({ repository, ref: commit() });
      const made = await engine.commits.create({
        repository,
        branch,
        message: value,
        actor,
        sourceMetaRange: metaRangeId,
      });
      byId = made.id;
      noteCommit(made);
    },
    rescue: async () => {
      const ref = chosen();
      await engine.gcRuns.rescue({ repository, user: 'race', ref, days: 365 });
    },
    'delete and restore': async () => {
      const { instanceUid } = await engine.repositories.get(repository);
      await engine.repositories.delete({ repository, actor });
      race.log.push('deleted');
      try {
        for (let wait = random.below(30); wait > 0; wait -= 1) await pause();
      } finally {
        await race.quiet.repositories.restore({ instance: instanceUid, actor });
      }
    },
    'trash elsewhere': async () => {
      const other = race.other.repository;
      const { instanceUid } = await engine.repositories.get(other);
      await engine.repositories.delete({ repository: other, actor });
      for (let wait = random.below(30); wait > 0; wait -= 1) await pause();
      await race.quiet.repositories.restore({ instance: instanceUid, actor });
    },
    import: async () => {
      const uri = `mem://outside/${value}`;
      const pointer = {
        storageNamespace: 'mem://outside',
        identifier: value,
        identifierType: 'relative',
      } as const;
      await race.world.adapter.put(pointer, Buffer.from(value));
      const imported = { type: 'object', path: uri, destination: path } as const;
      const id = await engine.imports.start({ repository, branch, paths: [imported], actor });
      while (!(await isOver(engine, repository, id))) await pause();
    },
  };
  if (random.next() < 0.3) await race.rememberAddresses(branch);
  writer.mayDie = mayBeCutOff.has(name);
  writer.meetsBatches = false;
  try {
    await operations[name]?.();
    race.log.push(`${name} ${branch} ${other} ${path} ${value}`);
    if (byId !== undefined) await race.allowMissing(byId, pause);
    if (isLagging)
      for (const id of await race.positionsOf(branch, 2 * day)) await race.allowMissing(id, pause);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

async function isOver(engine: Engine, repository: string, id: string): Promise<boolean> {
  const { completed, error } = await engine.imports.status({ repository, id });
  return completed || error !== undefined;
}
