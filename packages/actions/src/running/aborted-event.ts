/** Something in the repository keeps an event from passing. The message goes behind the run's id. */
export class AbortedEvent extends Error {
  override readonly name = 'AbortedEvent';
}

/** Several errors as one text, in the form that clients know. */
export function countedErrors(errors: readonly string[]): string {
  const count = errors.length === 1 ? '1 error' : `${errors.length} errors`;
  return `${count} occurred:\n${errors.map((error) => `\t* ${error}\n`).join('')}\n`;
}
