import type { EngineContext } from '../context/engine-context.ts';
import { collectPage } from '../context/page.ts';
import type { Branches, ListBranchesOptions } from '../face/branches.ts';
import type { BranchRef, Page } from '../face/model.ts';
import { checkBranchName } from '../names/names.ts';
import { createBranch } from './create-branch.ts';
import { deleteBranch } from './delete-branch.ts';
import { hardResetBranch } from './hard-reset.ts';
import { resetBranch } from './reset-branch.ts';

export function branches(context: EngineContext): Branches {
  return {
    create: (options) => createBranch(context, options),
    get: async ({ repository, branch }) => {
      checkBranchName(branch);
      const scope = await context.repositories.open(repository);
      const { data } = await context.branches.get(scope, branch);
      return { id: data.id, commitId: data.commitId, hidden: data.hidden };
    },
    list: (options) => listBranches(context, options),
    delete: (options) => deleteBranch(context, options),
    reset: (options) => resetBranch(context, options),
    hardReset: (options) => hardResetBranch(context, options),
  };
}

async function listBranches(context: EngineContext, options: ListBranchesOptions): Promise<Page<BranchRef>> {
  const scope = await context.repositories.open(options.repository);
  async function* shown(): AsyncGenerator<BranchRef> {
    for await (const data of context.branches.list(scope, options.prefix ?? '', options.after ?? '')) {
      if (data.hidden && options.showHidden !== true) continue;
      if (!data.id.includes(options.search ?? '')) continue;
      yield { id: data.id, commitId: data.commitId, hidden: data.hidden };
    }
  }
  return collectPage(shown(), options.amount, (branch) => branch.id);
}
