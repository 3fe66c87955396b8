import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { storageView, versionView, viewerView } from '../views/installation.ts';

export function configHandlers({ installation, audit }: ApiOptions): HandlersOf<'config'> {
  return {
    getConfig() {
      const facts = installation();
      return {
        version_config: versionView(facts),
        storage_config: facts.storage === undefined ? undefined : storageView(facts.storage),
        storage_config_list: facts.storages.map(storageView),
        ui_config:
          facts.customViewers.length === 0 ? {} : { custom_viewers: facts.customViewers.map(viewerView) },
        capabilities_config: {
          reflog: true,
          time_refs: true,
          aliases: true,
          events: true,
          audit: audit !== undefined,
          ref_search: true,
          archive: true,
          repo_summary: true,
          gc_runs: true,
          merge_resolutions: true,
          actions_enabled: facts.actionsEnabled,
        },
      };
    },
  };
}
