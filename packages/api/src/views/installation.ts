import type { CustomViewer, InstallationFacts, StorageFacts } from '../options.ts';

export function versionView(facts: InstallationFacts) {
  return {
    version: facts.version,
    latest_version: facts.latestVersion,
    upgrade_recommended: facts.upgradeRecommended,
    upgrade_url: facts.upgradeUrl,
  };
}

export function storageView(storage: StorageFacts) {
  return {
    blockstore_type: storage.type,
    blockstore_namespace_example: storage.namespaceExample,
    blockstore_namespace_ValidityRegex: storage.namespaceValidityRegex,
    default_namespace_prefix: storage.defaultNamespacePrefix,
    pre_sign_support: storage.preSignSupport,
    pre_sign_support_ui: storage.preSignSupportUi,
    import_support: storage.importSupport,
    import_validity_regex: storage.importValidityRegex,
    pre_sign_multipart_upload: storage.preSignMultipartUpload,
    blockstore_id: storage.storageId,
    blockstore_description: storage.description,
  };
}

export function viewerView(viewer: CustomViewer) {
  return {
    name: viewer.name,
    url: viewer.url,
    extensions: viewer.extensions,
    content_types: viewer.contentTypes,
  };
}
