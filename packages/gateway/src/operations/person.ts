import { element } from '../xml/write.ts';

/** An `Owner` or `Initiator`. */
export function person(role: 'Owner' | 'Initiator', username: string): string {
  return `<${role}>${element('ID', username)}${element('DisplayName', username)}</${role}>`;
}
