import { EngineError } from '../../errors.ts';

/** Ranges and metaranges are named by the hash of their content. */
const pattern = /^[0-9a-f]{64}$/;

export function isTableId(text: string): boolean {
  return pattern.test(text);
}

/** The file of a table in a folder. Text that is no id never becomes part of a path. */
export function tablePath(folder: string, id: string): string {
  if (!isTableId(id)) {
    throw new EngineError(
      'corrupt',
      `${JSON.stringify(id.slice(0, 100))} is not the id of a range or metarange: expected 64 hexadecimal digits`,
      { subject: 'storage' },
    );
  }
  return `${folder}/${id}`;
}
