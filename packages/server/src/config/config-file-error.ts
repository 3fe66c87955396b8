/** The file itself cannot be used, so no key can be looked at. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
}
