import { Type } from 'typebox';
import { flag, int64, integer, text } from './values.ts';

export const VersionConfig = Type.Object(
  {
    version: Type.Optional(text),
    version_context: Type.Optional(text),
    latest_version: Type.Optional(text),
    upgrade_recommended: Type.Optional(flag),
    upgrade_url: Type.Optional(text),
  },
  { title: 'VersionConfig' },
);

export const StorageConfig = Type.Object(
  {
    blockstore_type: text,
    blockstore_namespace_example: text,
    blockstore_namespace_ValidityRegex: text,
    default_namespace_prefix: Type.Optional(text),
    pre_sign_support: flag,
    pre_sign_support_ui: flag,
    import_support: flag,
    import_validity_regex: text,
    pre_sign_multipart_upload: Type.Optional(flag),
    blockstore_id: Type.Optional(text),
    blockstore_description: Type.Optional(text),
  },
  { title: 'StorageConfig' },
);

export const StorageConfigList = Type.Array(StorageConfig, { title: 'StorageConfigList' });

export const CustomViewer = Type.Object(
  {
    name: text,
    url: text,
    extensions: Type.Optional(Type.Array(text)),
    content_types: Type.Optional(Type.Array(text)),
  },
  { title: 'CustomViewer' },
);

export const UIConfig = Type.Object(
  {
    custom_viewers: Type.Optional(Type.Array(CustomViewer)),
  },
  { title: 'UIConfig' },
);

/** What this server can do beyond the compatible API. */
export const CapabilitiesConfig = Type.Object(
  {
    reflog: Type.Optional(flag),
    time_refs: Type.Optional(flag),
    aliases: Type.Optional(flag),
    events: Type.Optional(flag),
    /** Whether it is kept who did what. */
    audit: Type.Optional(flag),
    /** Lists of branches and tags take `search`. */
    ref_search: Type.Optional(flag),
    /** Folders can be read as one archive. */
    archive: Type.Optional(flag),
    /** Lists of repositories take `summary`. */
    repo_summary: Type.Optional(flag),
    /** Garbage is collected by the server itself. */
    gc_runs: Type.Optional(flag),
    /** Merges take pins and resolutions. */
    merge_resolutions: Type.Optional(flag),
    /** Whether hooks run. */
    actions_enabled: Type.Optional(flag),
  },
  { title: 'CapabilitiesConfig' },
);

export const Config = Type.Object(
  {
    version_config: Type.Optional(VersionConfig),
    storage_config: Type.Optional(StorageConfig),
    storage_config_list: Type.Optional(StorageConfigList),
    ui_config: Type.Optional(UIConfig),
    capabilities_config: Type.Optional(CapabilitiesConfig),
  },
  { title: 'Config' },
);

export const StatsEvent = Type.Object(
  {
    class: text,
    name: text,
    count: integer,
  },
  { title: 'StatsEvent' },
);

export const StatsEventsList = Type.Object(
  {
    events: Type.Array(StatsEvent),
  },
  { title: 'StatsEventsList' },
);

export const UsageReport = Type.Object(
  {
    year: integer,
    month: integer,
    count: int64,
  },
  { title: 'UsageReport' },
);

export const InstallationUsageReport = Type.Object(
  {
    installation_id: text,
    reports: Type.Array(UsageReport),
  },
  { title: 'InstallationUsageReport' },
);
