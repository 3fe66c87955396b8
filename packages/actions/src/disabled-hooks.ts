import type { EngineLogger, HookEvent, HookPoints } from '@svc/engine';
import { actionFolders } from './file/folders.ts';
import { ActionLoader, type FileSource } from './loading/load-actions.ts';

/** Stands where hooks are switched off: runs none, and says once per repository that there are some. */
export class DisabledHooks implements HookPoints {
  readonly folders: readonly string[] = actionFolders;
  readonly #loader: ActionLoader;
  readonly #logger: EngineLogger;
  readonly #seen = new Set<string>();

  constructor(options: { readonly engine: () => FileSource; readonly logger: EngineLogger }) {
    this.#loader = new ActionLoader(options.engine);
    this.#logger = options.logger;
  }

  async before({ repository, sourceRef: ref }: HookEvent): Promise<undefined> {
    if (this.#seen.has(repository.instanceUid)) return;
    this.#seen.add(repository.instanceUid);
    try {
      if (!(await this.#loader.hasFiles({ repository, ref }))) return;
      this.#logger.warn(
        { repository: repository.id, ref },
        'the repository has action files, but hooks are switched off (actions.enabled)',
      );
    } catch (error) {
      this.#logger.debug({ error, repository: repository.id }, 'action files could not be looked for');
    }
  }

  noteAfter(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  after(): undefined {}
}
