declare const __SVC_VERSION__: string | undefined;

/** Set by the build; a server started from its sources is a development version. */
export const version = typeof __SVC_VERSION__ === 'string' ? __SVC_VERSION__ : '0.0.0-dev';

export function isDevelopmentVersion(text: string): boolean {
  return text.endsWith('-dev');
}
